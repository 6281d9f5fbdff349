import type { Queryable } from '../pool.ts';
import type { ImportSession } from './user-import.ts';

export type ImportKind = 'users' | 'devices' | 'events';

export type ImportKey = { workspaceId: string; kind: ImportKind; fileDigest: Buffer };

/** What a file has brought so far. */
export type ImportCounts = { lines: number; users: number; devices: number; events: number; rejected: number };

/**
 * Takes the loading of a file for a session, until it is released: two at once would store its lines twice.
 *
 * @returns false when another session has it
 */
export async function lockImport(session: ImportSession, key: ImportKey): Promise<boolean> {
  const [row] = await session<{ isOurs: boolean }[]>`
    select pg_try_advisory_lock(hashtextextended(${lockName(key)}, 0)) as "isOurs"`;
  return row!.isOurs;
}

export async function unlockImport(session: ImportSession, key: ImportKey): Promise<void> {
  await session`select pg_advisory_unlock(hashtextextended(${lockName(key)}, 0))`;
}

function lockName({ workspaceId, kind, fileDigest }: ImportKey): string {
  return `import-file:${workspaceId}:${kind}:${fileDigest.toString('hex')}`;
}

/** How the loading of a file stands. Index: primary key. */
export async function findImport(
  tx: Queryable | ImportSession,
  key: ImportKey,
): Promise<(ImportCounts & { endedAt: Date | null }) | undefined> {
  const [row] = await (tx as Queryable)<(ImportCounts & { endedAt: Date | null })[]>`
    select lines, users, devices, events, rejected, ended_at as "endedAt"
    from imports
    where workspace_id = ${key.workspaceId} and kind = ${key.kind} and file_digest = ${key.fileDigest}`;
  return row;
}

/** Notes how far a file has come, in the transaction that stored it. The caller holds lockImport. Index: primary key. */
export async function noteImport(
  tx: Queryable | ImportSession,
  {
    workspaceId,
    kind,
    fileDigest,
    counts,
    at,
    endedAt,
  }: ImportKey & { counts: ImportCounts; at: Date; endedAt: Date | null },
): Promise<void> {
  await (tx as Queryable)`
    insert into imports (workspace_id, kind, file_digest, lines, users, devices, events, rejected, started_at, updated_at,
      ended_at)
    values (${workspaceId}, ${kind}, ${fileDigest}, ${counts.lines}, ${counts.users}, ${counts.devices},
      ${counts.events}, ${counts.rejected}, ${at}, ${at}, ${endedAt})
    on conflict (workspace_id, kind, file_digest) do update
    set lines = excluded.lines, users = excluded.users, devices = excluded.devices, events = excluded.events,
      rejected = excluded.rejected, updated_at = excluded.updated_at, ended_at = excluded.ended_at`;
}

/** Begins a file anew that was loaded before. Index: primary key. */
export async function deleteImport(tx: Queryable | ImportSession, key: ImportKey): Promise<void> {
  await (tx as Queryable)`
    delete from imports
    where workspace_id = ${key.workspaceId} and kind = ${key.kind} and file_digest = ${key.fileDigest}`;
}
