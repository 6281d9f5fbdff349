/** A backup that a node made by itself, by the name of its folder. */
export type ScheduledBackup = { name: string; madeAt: Date };

/** Names sort as their times do. Pure. */
export function nameScheduledBackup(at: Date): string {
  return `carillon-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

/** Those of ours among the names of a folder, newest first; all others are somebody else's and are never touched. Pure. */
export function findScheduledBackups(names: readonly string[]): ScheduledBackup[] {
  return names
    .flatMap((name) => {
      const match = /^carillon-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(name);
      if (!match) return [];
      const [, year, month, day, hour, minute, second] = match;
      const madeAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
      return Number.isNaN(madeAt.getTime()) ? [] : [{ name, madeAt }];
    })
    .sort((a, b) => b.madeAt.getTime() - a.madeAt.getTime());
}
