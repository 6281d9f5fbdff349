/** Backups that a node makes by itself (docs/backup.md). */
export const backupSettings = {
  backupFolder: {
    kind: 'text',
    variable: 'CARILLON_BACKUP_DIR',
    default: undefined,
    sentence:
      'Folder in which the nodes that send make a backup by themselves: of all that share it one, when the newest there is old enough. Without it none is made.',
  },
  backupHours: {
    kind: 'integer',
    variable: 'CARILLON_BACKUP_HOURS',
    minimum: 1,
    maximum: 8_760,
    default: 24,
    unit: 'hours',
    sentence: 'How old the newest backup may be before the next is made.',
  },
  backupsKept: {
    kind: 'integer',
    variable: 'CARILLON_BACKUPS_KEPT',
    minimum: 1,
    maximum: 1_000,
    default: 7,
    unit: 'backups',
    sentence: 'How many of them are kept; older ones are removed when a newer one is whole.',
  },
} as const;
