import { stat } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/pool.ts';
import { analyzePeople, makeStaging, storeStagedBatch } from '../../storage/sql/user-import.ts';
import type { ImportSession } from '../../storage/sql/user-import.ts';
import { copyBatch } from './copy-batch.ts';
import { openImportFile } from './open-import-file.ts';
import { parseUserLine } from './parse-user-line.ts';
import type { ImportedUser } from './parse-user-line.ts';
import { readLines } from './read-lines.ts';
import { makeRejectedLines } from './rejected-lines.ts';

export type ImportProgress = {
  lines: number;
  /** Bytes of the file read, compressed or not. */
  bytes: number;
  totalBytes: number;
  users: number;
  devices: number;
  rejected: number;
};

export type ImportFile = { workspaceId: string; path: string; onProgress: (progress: ImportProgress) => void };

export type ImportDependencies = { database: Database; clock: Clock; log: Logger };

const batchUsers = 20_000;

/**
 * Loads a file of JSON lines (`.gz` too) with one user and their devices a line:
 * `{"customer_id", "attributes": {…}, "devices": [{"device_id", "platform", "push_id", …}]}`. The rules are those of the
 * API. Streams in batches of 20,000 users, each one transaction, in bounded memory; a killed import is run again and
 * changes nothing it has stored. Refused lines go to `<file>.rejects.ndjson` with their number and reason.
 */
export async function importUsersFile(deps: ImportDependencies, file: ImportFile): Promise<ImportProgress> {
  const { size } = await stat(file.path);
  const progress: ImportProgress = { lines: 0, bytes: 0, totalBytes: size, users: 0, devices: 0, rejected: 0 };
  const rejects = makeRejectedLines(file.path);
  const session = (await deps.database.reserve()) as unknown as ImportSession;
  try {
    await makeStaging(session);
    let batch = new Map<string, ImportedUser>();
    for await (const line of readLines(openImportFile(file.path, progress))) {
      progress.lines += 1;
      const parsed = parseUserLine(line);
      if (parsed === undefined) continue;
      if ('reason' in parsed) {
        progress.rejected += 1;
        await rejects.add({ line: progress.lines, reason: parsed.reason });
        continue;
      }
      // A customer that comes again in a batch: the last line stands, and the batch is one row a customer.
      batch.delete(parsed.user.customerId);
      batch.set(parsed.user.customerId, parsed.user);
      if (batch.size < batchUsers) continue;
      await storeBatch(deps, session, { file, batch, progress });
      batch = new Map();
    }
    if (batch.size > 0) await storeBatch(deps, session, { file, batch, progress });
    await analyzePeople(session);
    return progress;
  } finally {
    session.release();
    await rejects.close();
  }
}

type Batch = { file: ImportFile; batch: Map<string, ImportedUser>; progress: ImportProgress };

async function storeBatch(
  { clock }: ImportDependencies,
  session: ImportSession,
  { file, batch, progress }: Batch,
): Promise<void> {
  const at = clock.now();
  await session`begin`;
  try {
    const counts = await copyBatch(session, { users: [...batch.values()], at });
    await storeStagedBatch(session, { workspaceId: file.workspaceId, at });
    await session`commit`;
    progress.users += counts.users;
    progress.devices += counts.devices;
  } catch (error) {
    await session`rollback`;
    throw error;
  }
  file.onProgress({ ...progress });
}
