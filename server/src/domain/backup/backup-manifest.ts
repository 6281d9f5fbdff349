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
