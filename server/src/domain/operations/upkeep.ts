import { findLateBackup } from './backup.ts';
import type { BackupFacts } from './backup.ts';
import type { Issue } from './issue.ts';

export type UpkeepFacts = {
  /** In real time, which applies to backups and certificates. */
  realAt: Date;
  backup: BackupFacts;
  /** Certificates of the nodes that reported themselves recently. */
  certificates: { host: string; endsAt: Date }[];
};

const place = { screen: 'system' } as const;
const hourMilliseconds = 3_600_000;
/** Certificates that renew automatically do so with a third of their lifetime left: 30 days of the usual 90, or 15 of 45. */
export const shortCertificateDays = 14;

/** Returns the issue of a late backup. Pure. */
export function judgeBackup({ backup, realAt }: UpkeepFacts): Issue[] {
  const late = findLateBackup(backup, realAt);
  if (!late) return [];
  const hours = Math.floor((realAt.getTime() - late.since.getTime()) / hourMilliseconds);
  const due = `one is due every ${count(late.everyHours, 'hour')}`;
  return [
    {
      level: 'attention',
      place,
      alert: { subject: 'backups' },
      what:
        backup.madeAt === null
          ? `There is no backup yet, ${count(hours, 'hour')} after the installation; ${due}.`
          : `The newest backup is ${count(hours, 'hour')} old; ${due}.`,
      todo: 'Check on the system page whether the backup job fails, and in the log of its node why. "carillon backup --out <folder>" makes a backup now.',
    },
  ];
}

/** Returns one issue for all nodes with the same expiry: they share the file, or were renewed together. Pure. */
export function judgeCertificates({ certificates, realAt }: UpkeepFacts): Issue[] {
  const byEnd = Map.groupBy(certificates, ({ endsAt }) => endsAt.getTime());
  return [...byEnd]
    .sort(([one], [other]) => one - other)
    .filter(([end]) => end - realAt.getTime() < shortCertificateDays * 24 * hourMilliseconds)
    .map(([end, nodes]) => {
      const hosts = [...new Set(nodes.map(({ host }) => host))].sort().join(', ');
      const day = new Date(end).toISOString().slice(0, 10);
      const hasEnded = end <= realAt.getTime();
      return {
        level: hasEnded ? 'trouble' : 'attention',
        place,
        alert: { subject: `certificate until ${day}` },
        what: hasEnded
          ? `The certificate of ${hosts} expired on ${day}, so callers and browsers reject it.`
          : `The certificate of ${hosts} expires on ${day}, ${remaining(end - realAt.getTime())}.`,
        todo: 'Renew the files of CARILLON_TLS_CERT and CARILLON_TLS_KEY, or find out why they were not renewed automatically. A node loads new files within a minute.',
      };
    });
}

function remaining(milliseconds: number): string {
  const days = Math.floor(milliseconds / (24 * hourMilliseconds));
  return days === 0 ? 'within a day' : `in ${count(days, 'day')}`;
}

function count(many: number, word: string): string {
  return `${many.toLocaleString('en')} ${word}${many === 1 ? '' : 's'}`;
}
