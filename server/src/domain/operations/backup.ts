import { createHash } from 'node:crypto';

/** The rows of one table, or of one day of a table that is partitioned by day. */
export type BackupTable = {
  name: string;
  /** The table and its day, as YYYY-MM-DD; null: a whole table. */
  day: { table: 'deliveries' | 'events'; day: string } | null;
  columns: string[];
  /** Path relative to the folder of the backup. */
  file: string;
  rows: number;
  /** Bytes as PostgreSQL wrote them, before compression. */
  textBytes: number;
  fileBytes: number;
  /** Digest of the file. */
  sha256: string;
};

/** The state of a sequence. The value is text, because a JavaScript number cannot hold it exactly. */
export type BackupSequence = { name: string; value: string; isCalled: boolean };

/** The description of a backup. It is written last: a folder without it is not a backup. */
export type BackupManifest = {
  format: 1;
  /** By the database's clock: the backup contains what was committed before this time and nothing that was committed later. */
  madeAt: Date;
  carillonVersion: string;
  postgresVersion: string;
  migrations: { name: string; digest: string }[];
  /** Ids of the master keys that are needed to decrypt the data: two while a rotation is in progress. */
  masterKeyIds: string[];
  tables: BackupTable[];
  sequences: BackupSequence[];
};

export const manifestFile = 'backup.json';

/** The text is not a manifest, or it was changed after it was written. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Returns the text of a manifest. Its last member is the SHA-256 of the others, written on one line. Pure. */
export function writeManifest(manifest: BackupManifest): string {
  return `${JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, undefined, 2)}\n`;
}

/** Parses and checks a manifest. @throws ManifestError */
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
  // A matching digest means that we wrote it, so the members are not checked one by one.
  if (rest.format !== 1 || sha256 !== digestOf(rest)) throw new ManifestError('was changed, or is torn');
  const manifest = rest as Omit<BackupManifest, 'madeAt'> & { madeAt: string };
  return { ...manifest, madeAt: new Date(manifest.madeAt) };
}

function digestOf(rest: object): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex');
}

/** An automatic backup of a node, identified by the name of its folder. */
export type ScheduledBackup = { name: string; madeAt: Date };

/** Returns the name of an automatic backup. Names sort by time. Pure. */
export function nameScheduledBackup(at: Date): string {
  return `carillon-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

/**
 * Returns the automatic backups among the names of a folder, newest first. All others belong to someone else and are
 * never touched. Pure.
 */
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

/** A backup takes time, and a failed one is retried after an hour. */
export const backupLateShare = 1.5;
/** A node's backup schedule is trusted for this many days after its last check. */
export const backupTrustedDays = 7;
const hourMilliseconds = 3_600_000;

export type BackupFacts = {
  /** When the newest backup was made; null if none is known. */
  madeAt: Date | null;
  /** Null before the first start. */
  installedAt: Date | null;
  /** The interval of automatic backups, and when a node last checked whether one was due; null if there are none. */
  schedule: { everyHours: number; lookedAt: Date } | null;
};

/** True if the next backup should exist by now. Pure. */
export function isBackupLate({ since, everyHours, now }: { since: Date; everyHours: number; now: Date }): boolean {
  return now.getTime() - since.getTime() > backupLateShare * everyHours * hourMilliseconds;
}

/**
 * Returns since when an automatic backup is overdue: the time of the newest one, or of the installation if there is
 * none. Undefined if no backup is late. Pure.
 */
export function findLateBackup({ madeAt, installedAt, schedule }: BackupFacts, now: Date) {
  if (!schedule || now.getTime() - schedule.lookedAt.getTime() > backupTrustedDays * 24 * hourMilliseconds)
    return undefined;
  const { everyHours } = schedule;
  const since = madeAt ?? installedAt;
  return since !== null && isBackupLate({ since, everyHours, now }) ? { since, everyHours } : undefined;
}

/**
 * Tables that a backup leaves out, with the reason; docs/backup.md lists them. Their rows are valid only for the
 * processes and browsers at the time of the backup, or would reopen access that was closed since then.
 */
export const leftOutTables: Readonly<Record<string, string>> = {
  schema_migrations: 'a restore applies the migrations itself',
  transaction_receipts: 'receipts of commits, for connections that are gone',
  nodes: 'nodes report themselves again',
  access_tokens: 'clients fetch new ones: a token that was revoked since would be valid again',
  refresh_tokens: 'as access tokens',
  token_revocations: 'a restore ends all tokens',
  console_sessions: 'users sign in again: a session that has ended since would be open again',
  agent_tokens: 'operators create new ones: a token that was revoked since would be valid again',
  company_sign_ins: 'signing in with a company account takes seconds',
  account_links: 'links that work once: one that was used since would work again',
};
