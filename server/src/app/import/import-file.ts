import { createHash } from 'node:crypto';
import { stat, open } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps.ts';
import type { Logger } from '../../log.ts';
import { listApps } from '../../storage/apps.ts';
import { isDistributed } from '../../storage/cluster.ts';
import { inTransaction, withSession } from '../../storage/database.ts';
import type { Database, Session } from '../../storage/database.ts';
import { ensureEventsPartition } from '../../storage/users/events.ts';
import {
  deleteImport,
  findImport,
  lockImport,
  lockImportsOf,
  noteImport,
  unlockImport,
  unlockImportsOf,
} from '../../storage/users/user-import.ts';
import type { ImportCounts, ImportKey, ImportKind } from '../../storage/users/user-import.ts';
import { findZoneAttribute } from '../../storage/workspaces.ts';
import { eventDay } from '../users/events.ts';
import { makeImportBatches } from './import-batch.ts';
import type { Batch } from './import-batch.ts';
import { openImportFile, makeRejectsFile, readLines } from './read-lines.ts';
import type { Reject, Rejects } from './read-lines.ts';
import { readCsvRows, readJsonRows } from './read-rows.ts';
import type { CsvRules } from './read-rows.ts';

export type ImportProgress = ImportCounts & {
  /** Bytes read from the file, compressed or not. */
  bytes: number;
  totalBytes: number;
  /** Lines stored by an earlier call. */
  resumedAt: number;
  /** True if the events file was loaded before; nothing was done. */
  isKnown: boolean;
  /** The first line that this call rejected. */
  firstReject: Reject | undefined;
};

export type ImportFile = {
  workspaceId: string;
  kind: ImportKind;
  path: string;
  /** Loads events again that were loaded before. */
  again?: true;
  onProgress: (progress: ImportProgress) => void;
};

export type ImportDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Spellings of the vendor's abbreviation in names such as `svc_push_opted`. */
  prefixes: readonly string[];
};

/** Another process is loading this file. */
export class ImportUnderWayError extends Error {
  override readonly name = 'ImportUnderWayError';
}

const batchRows = 20_000;

/**
 * Loads a file of users, devices or events, as JSON lines or CSV, `.gz` too, by the rules of the API. Streams batches of 20,000
 * rows in bounded memory; each is one transaction with the number of its last line. An import that was killed resumes after
 * that line when run again. While a batch is stored, the next is read and copied on a second connection. Rejected lines go to
 * `<file>.rejects.ndjson` with their number and reason.
 *
 * @throws ImportUnderWayError, ImportRefusedError
 */
export async function importFile(deps: ImportDependencies, file: ImportFile): Promise<ImportProgress> {
  const { size } = await stat(file.path);
  const key = { workspaceId: file.workspaceId, kind: file.kind, fileDigest: await fileDigest(file.path, size) };
  return withSession(deps.database, async (session) => {
    if (!(await lockImport(session, key))) throw new ImportUnderWayError(`${file.path} is being loaded.`);
    // Released one by one: the end of a session is noticed later, and the next import of the file would be rejected.
    try {
      await lockImportsOf(session, file.workspaceId);
      // Measured: a third connection gains nothing on two cores.
      return await withSession(deps.database, (second) =>
        load(deps, { file, key, sessions: [session, second], totalBytes: size }),
      );
    } finally {
      await unlockImportsOf(session, file.workspaceId);
      await unlockImport(session, key);
    }
  });
}

type Load = { file: ImportFile; key: ImportKey; sessions: [Session, Session]; totalBytes: number };

async function load(deps: ImportDependencies, { file, key, sessions, totalBytes }: Load): Promise<ImportProgress> {
  const [session] = sessions;
  const before = await findBegun(session, { file, key });
  const counts = before?.counts ?? { lines: 0, users: 0, devices: 0, events: 0, rejected: 0 };
  const progress: ImportProgress = {
    ...{ ...counts, bytes: 0, totalBytes, resumedAt: counts.lines },
    ...{ isKnown: before?.isKnown ?? false, firstReject: undefined },
  };
  if (progress.isKnown) return progress;
  const { workspaceId } = file;
  const zoneAttribute = await findZoneAttribute(session, workspaceId);
  const apps = new Set((await listApps(session, workspaceId)).map(({ platform, appId }) => `${platform} ${appId}`));
  const batches = makeImportBatches(file.kind, {
    workspaceId,
    zoneAttribute,
    prefixes: deps.prefixes,
    isApp: ({ platform, appId }) => appId === defaultAppId || apps.has(`${platform} ${appId}`),
  });
  for (const one of sessions) await batches.prepare(one);
  const rejects = makeRejectsFile(`${file.path}.rejects.ndjson`, { isContinued: counts.lines > 0 });
  const isCluster = await isDistributed(session, 'users');
  const writer = makeWriter(deps, { file, key, sessions, progress, rejects, isCluster });
  try {
    let batch = batches.begin(deps.clock.now());
    let refused: Reject[] = [];
    let last = progress.resumedAt;
    for await (const row of readRows(file, batches.csv, progress)) {
      if (row.line <= progress.resumedAt) continue;
      last = row.line;
      if ('value' in row && row.value === undefined) continue;
      const reason = 'reason' in row ? row.reason : batch.add(row.value, row.line);
      if (reason !== undefined) refused.push({ line: row.line, reason });
      if (batch.size() < batchRows && refused.length < batchRows) continue;
      await writer.write({ batch, refused, line: row.line });
      batch = batches.begin(deps.clock.now());
      refused = [];
    }
    await writer.write({ batch, refused, line: last });
    await writer.end();
    await batches.finish(session);
    const at = deps.clock.now();
    await noteImport(session, { ...key, counts: progress, at, endedAt: at });
    return progress;
  } finally {
    // A running batch must end before its connection is released.
    await writer.settle();
    await rejects.close();
  }
}

/** Returns how far an earlier call got. A completed import starts over, except for events, which would be stored twice. */
async function findBegun(
  session: Session,
  { file, key }: { file: ImportFile; key: ImportKey },
): Promise<{ counts: ImportCounts; isKnown: boolean } | undefined> {
  const found = await findImport(session, key);
  if (!found) return undefined;
  const { endedAt, ...counts } = found;
  if (endedAt === null) return { counts, isKnown: false };
  if (file.kind === 'events' && file.again !== true) return { counts, isKnown: true };
  await deleteImport(session, key);
  return undefined;
}

function readRows(file: ImportFile, csv: CsvRules, progress: ImportProgress) {
  const lines = readLines(openImportFile(file.path, progress));
  return /\.csv(\.gz)?$/i.test(file.path) ? readCsvRows(lines, csv) : readJsonRows(lines);
}

type Writer = Load & { progress: ImportProgress; rejects: Rejects; isCluster: boolean };
type Written = { batch: Batch; committed: Promise<void> };
type Piece = { batch: Batch; refused: Reject[]; line: number };

/**
 * Stores batches while the next are copied. Connections alternate, each with its own staging tables. Batches that share no row
 * are stored concurrently, but always committed in the order of the file, so that the number of the last line is correct. On a
 * cluster they are stored one after the other: Citus lets one multi-shard statement at a time change a shard, until its
 * transaction ends. A batch that overtook the previous one would hold that lock while it waits for it to commit.
 */
function makeWriter(
  { database, clock }: ImportDependencies,
  { file, key, sessions, progress, rejects, isCluster }: Omit<Writer, 'totalBytes'>,
) {
  let turn = 0;
  /** The newest batches, one per connection, oldest first; each is committed after the previous one. */
  let recent: Written[] = [];

  async function store(session: Session, { batch, refused, line }: Piece, before: Written[]): Promise<void> {
    const shared = before.findLast((other) => isCluster || !batch.isApart(other.batch));
    await shared?.committed;
    const at = clock.now();
    if (file.kind === 'events') await ensureEventsPartition(database, eventDay(at));
    const stored = await inTransaction(session, async (tx) => {
      const result = await batch.store(tx, at);
      await before.at(-1)?.committed;
      const all = [...refused, ...result.rejects].sort((a, b) => a.line - b.line);
      const counts = {
        lines: line,
        users: progress.users + result.users,
        devices: progress.devices + result.devices,
        events: progress.events + result.events,
        rejected: progress.rejected + all.length,
      };
      await noteImport(tx, { ...key, counts, at, endedAt: null });
      return { counts, all };
    });
    Object.assign(progress, stored.counts);
    progress.firstReject ??= stored.all[0];
    await rejects.add(stored.all);
    file.onProgress({ ...progress });
  }

  return {
    async write(piece: Piece): Promise<void> {
      const session = sessions[turn % sessions.length]!;
      turn += 1;
      // The connection is free when its last batch is committed.
      if (recent.length === sessions.length) await recent.shift()!.committed;
      await piece.batch.stage(session, clock.now());
      const committed = store(session, piece, recent);
      recent = [...recent, { batch: piece.batch, committed }];
      // The next await reports the error; here it must not end the process.
      committed.catch(() => {});
    },
    async end(): Promise<void> {
      await recent.at(-1)?.committed;
    },
    async settle(): Promise<void> {
      await Promise.allSettled(recent.map(({ committed }) => committed));
    },
  };
}

const endBytes = 1024 * 1024;

/** Identifies a file: SHA-256 of its size, its first and its last MiB. */
async function fileDigest(path: string, size: number): Promise<Buffer> {
  const hash = createHash('sha256').update(`${size}\0`);
  const handle = await open(path);
  try {
    for (const position of [0, Math.max(0, size - endBytes)]) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(endBytes, size)), { position });
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
  return hash.digest();
}
