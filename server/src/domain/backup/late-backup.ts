/** A backup takes its time, and one that failed is tried again after an hour; the alert of Prometheus has the same share. */
const lateShare = 1.5;
const hourMilliseconds = 3_600_000;
/** What a node that makes backups said is believed for as long after its last look. */
const believedMilliseconds = 7 * 24 * hourMilliseconds;

export type BackupFacts = {
  /** As of when the newest is; null where none is known. */
  madeAt: Date | null;
  /** Null before the first start. */
  installedAt: Date | null;
  /** How often nodes make one by themselves, and when one was last at it; null where none does. */
  schedule: { everyHours: number; lookedAt: Date } | null;
};

/** Whether the next backup should be there already. Pure. */
export function isBackupLate({ since, everyHours, now }: { since: Date; everyHours: number; now: Date }): boolean {
  return now.getTime() - since.getTime() > lateShare * everyHours * hourMilliseconds;
}

/**
 * Since when a backup is missing that nodes should have made by themselves: the newest one, or the installation where there was
 * none. Undefined where none is late. Pure.
 */
export function findLateBackup({ madeAt, installedAt, schedule }: BackupFacts, now: Date) {
  if (!schedule || now.getTime() - schedule.lookedAt.getTime() > believedMilliseconds) return undefined;
  const { everyHours } = schedule;
  const since = madeAt ?? installedAt;
  return since !== null && isBackupLate({ since, everyHours, now }) ? { since, everyHours } : undefined;
}
