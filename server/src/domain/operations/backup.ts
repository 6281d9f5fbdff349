import { createHash } from 'node:crypto';

/** The rows of one table, or of one day of a table that is partitioned by day. */
export type BackupTable = {
  name: string;
  /** Of which table it is a day, as YYYY-MM-DD. */
  day: { table: 'deliveries' | 'events'; day: string } | null;
  columns: string[];
  /** Below the folder of the backup. */
  file: string;
  rows: number;
  /** As PostgreSQL wrote them, before they were compressed. */
  textBytes: number;
  fileBytes: number;
  /** Of the file. */
  sha256: string;
};

/** Where a table's numbers go on. As text: wider than a number that JavaScript keeps exactly. */
export type BackupSequence = { name: string; value: string; isCalled: boolean };

/** What a backup is. Written last: a folder without it is no backup. */
export type BackupManifest = {
  format: 1;
  /** By the database's clock: what was committed before is in it, what was committed later is not. */
  madeAt: Date;
  carillonVersion: string;
  postgresVersion: string;
  migrations: { name: string; digest: string }[];
  /** Ids of the master keys that it takes to read what is encrypted: two while a rotation is under way. */
  masterKeyIds: string[];
  tables: BackupTable[];
  sequences: BackupSequence[];
};

export const manifestFile = 'backup.json';

/** What was read is no manifest, or not the one that was written. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Its last member is the SHA-256 of the others as they are written in one line. Pure. */
export function writeManifest(manifest: BackupManifest): string {
  return `${JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, undefined, 2)}\n`;
}

/** @throws ManifestError */
export function parseManifest(text: string): BackupManifest {
  let read: Record<string, unknown>;
  try {
    read = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new ManifestError('is torn');
  }
  const { sha256, ...rest } = read;
  if (typeof rest.format === 'number' && rest.format > 1)
    throw new ManifestError(`has the format ${rest.format}, which this version of Carillon does not know`);
  // What has the digest was written by us: its shape is not asked for member by member.
  if (rest.format !== 1 || sha256 !== digestOf(rest)) throw new ManifestError('was changed, or is torn');
  const manifest = rest as Omit<BackupManifest, 'madeAt'> & { madeAt: string };
  return { ...manifest, madeAt: new Date(manifest.madeAt) };
}

function digestOf(rest: object): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex');
}

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

/**
 * Tables whose rows a backup leaves out, with the reason; docs/backup.md shows them. What is true only of the processes
 * and browsers of the instant it was made, or would open again what was closed since.
 */
export const leftOutTables: Readonly<Record<string, string>> = {
  schema_migrations: 'a restore applies the migrations itself',
  transaction_receipts: 'receipts of commits, for connections that are gone',
  nodes: 'nodes report themselves anew',
  access_tokens: 'clients fetch new ones: a token that was revoked since would be valid again',
  refresh_tokens: 'as access tokens',
  console_sessions: 'everybody signs in again: a session that was ended since would be open again',
  company_sign_ins: 'signing in with a company account takes seconds',
  account_links: 'links that work once: one that was used since would work again',
};
