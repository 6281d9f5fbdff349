import { stat } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { parseIsoTime } from '../../domain/timing/iso-time.ts';
import { mergeChoices, noSuchTopic } from '../../domain/topics.ts';
import type { TopicChoice } from '../../domain/topics.ts';
import { customerIdFault } from '../../domain/users/user-attributes.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { isObject } from '../../fields/request-reader.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { listTopics } from '../../storage/topics.ts';
import { findRetainedCustomerIds, hasMergedUsers } from '../../storage/users/merged-users.ts';
import { upsertNewerChoices } from '../../storage/users/topic-choices.ts';
import { findNamedUsers, lockUsersInOrder } from '../../storage/users/users.ts';
import { requireWorkspace } from '../workspaces.ts';
import { makeRejectsFile, openImportFile, readLines } from './read-lines.ts';
import type { Reject } from './read-lines.ts';
import { readCsvRows, readJsonRows } from './read-rows.ts';

export type TopicImportProgress = {
  rows: number;
  /** Bytes read from the file, compressed or not. */
  bytes: number;
  totalBytes: number;
  /** Choices that were stored. */
  choices: number;
  /** Choices that are not newer than the stored one, or than another row of the file. */
  known: number;
  rejected: number;
  firstReject: Reject | undefined;
};

export type TopicImport = {
  workspaceId: string;
  path: string;
  onProgress: (progress: TopicImportProgress) => void;
};

type ChoiceRow = { line: number; customerId: string; topicId: string; isIn: boolean; chosenAt: Date };

const batchChoices = 1_000;

/**
 * Loads a file of choices (JSON lines or CSV, `.gz` too), as `export topics` writes it. Of two choices of a user about a topic the newer
 * one stays, as in a merge, so loading a file twice or late changes nothing that the user chose since. Each batch of 1,000 is one
 * transaction, in bounded memory; a killed import can be run again. Rejected rows go to `<file>.rejects.ndjson`.
 *
 * @throws ServiceError NOT_FOUND
 * @throws ImportRefusedError if a CSV file lacks a required column
 */
export async function importTopicChoices(
  { database, clock }: { database: Database; clock: Clock },
  { workspaceId, path, onProgress }: TopicImport,
): Promise<TopicImportProgress> {
  await requireWorkspace(database, workspaceId);
  const { size: totalBytes } = await stat(path);
  const counts = { rows: 0, bytes: 0, choices: 0, known: 0, rejected: 0 };
  const progress: TopicImportProgress = { ...counts, totalBytes, firstReject: undefined };
  const rejects = makeRejectsFile(`${path}.rejects.ndjson`, { isContinued: false });
  const topicIds = new Map((await listTopics(database, workspaceId)).map(({ id, key }) => [key, id]));
  const now = clock.now();
  let batch: ChoiceRow[] = [];
  const reject = async (line: number, reason: string): Promise<void> => {
    progress.rejected += 1;
    progress.firstReject ??= { line, reason };
    await rejects.add([{ line, reason }]);
  };
  const store = async (): Promise<void> => {
    const { stored, strangers } = await storeBatch(database, { workspaceId, rows: batch });
    for (const line of strangers) await reject(line, "'customer_id' must exist");
    progress.choices += stored;
    progress.known += batch.length - stored - strangers.length;
    batch = [];
    onProgress({ ...progress });
  };
  try {
    for await (const row of readRows(path, progress)) {
      if ('value' in row && row.value === undefined) continue;
      progress.rows += 1;
      const parsed = 'reason' in row ? row : parseChoice(row.value, { topicIds, now });
      if ('reason' in parsed) await reject(row.line, parsed.reason);
      else batch.push({ ...parsed, line: row.line });
      if (batch.length >= batchChoices) await store();
    }
    if (batch.length > 0) await store();
    return progress;
  } finally {
    await rejects.close();
  }
}

function readRows(path: string, progress: { bytes: number }) {
  const lines = readLines(openImportFile(path, progress));
  const requiredColumns = ['customer_id', 'topic', 'opted_in'];
  return /\.csv(\.gz)?$/i.test(path)
    ? readCsvRows(lines, { fromCells: (cells) => cells, requiredColumns })
    : readJsonRows(lines);
}

type Known = { topicIds: ReadonlyMap<string, string>; now: Date };

/** Parses a row. Without `chosen_at` the choice is of now. The source of the file is not stored: the choice comes from an import. */
function parseChoice(value: unknown, { topicIds, now }: Known): Omit<ChoiceRow, 'line'> | { reason: string } {
  if (!isObject(value)) return { reason: 'not a JSON object' };
  const { customer_id: customer, topic, opted_in: optedIn, chosen_at: chosen } = value;
  if (typeof customer !== 'string' && !Number.isSafeInteger(customer))
    return { reason: "'customer_id' is missing or is neither a text nor a whole number" };
  const customerId = String(customer);
  const fault = customerIdFault(customerId);
  if (fault !== undefined) return { reason: `'customer_id' ${fault}` };
  const topicId = typeof topic === 'string' ? topicIds.get(topic) : undefined;
  if (topicId === undefined)
    return {
      reason: typeof topic === 'string' ? `'topic': ${noSuchTopic(topic)}` : "'topic' must be the key of a topic",
    };
  // A cell of CSV is a text.
  const isIn = optedIn === true || optedIn === 'true';
  if (!isIn && optedIn !== false && optedIn !== 'false') return { reason: "'opted_in' must be true or false" };
  const chosenAt = chosen === undefined || chosen === null ? now : readTime(chosen);
  if (chosenAt === undefined) return { reason: "'chosen_at' must be a time such as 2026-07-04T08:00:54Z" };
  if (chosenAt > now) return { reason: "'chosen_at' is in the future" };
  return { customerId, topicId, isIn, chosenAt };
}

function readTime(value: unknown): Date | undefined {
  const parsed = typeof value === 'string' ? parseIsoTime(value) : undefined;
  if (!parsed) return undefined;
  const at = parsed.kind === 'day' ? parsed.startsAt : parsed.at;
  return at.getUTCFullYear() < 1970 ? undefined : at;
}

type Batch = { workspaceId: string; rows: readonly ChoiceRow[] };

/** Returns how many choices were stored, and the lines of rows whose user does not exist. */
function storeBatch(
  database: Database,
  { workspaceId, rows }: Batch,
): Promise<{ stored: number; strangers: number[] }> {
  return retryDeadlock(() =>
    inTransaction(database, async (tx) => {
      const users = await lockNamedUsers(tx, { workspaceId, customerIds: rows.map(({ customerId }) => customerId) });
      // A statement cannot store two choices of a user about one topic.
      const choices = new Map<string, UserKey & { topicId: string } & TopicChoice>();
      for (const { customerId, topicId, isIn, chosenAt } of rows) {
        const user = users.get(customerId);
        if (!user) continue;
        const key = `${user.userId}/${topicId}`;
        const choice: TopicChoice = { isIn, chosenAt, source: 'IMPORT' };
        const before = choices.get(key);
        choices.set(key, { ...user, topicId, ...(before ? mergeChoices(choice, before) : choice) });
      }
      const stored = await upsertNewerChoices(tx, { workspaceId, choices: [...choices.values()] });
      return { stored, strangers: rows.filter(({ customerId }) => !users.has(customerId)).map(({ line }) => line) };
    }),
  );
}

/** Locks users against a merge or an erasure under way, and returns them by the given customer ids, also those of merged users. */
async function lockNamedUsers(
  tx: Transaction,
  { workspaceId, customerIds }: { workspaceId: string; customerIds: readonly string[] },
): Promise<Map<string, UserKey>> {
  const merged = (await hasMergedUsers(tx, workspaceId))
    ? await findRetainedCustomerIds(tx, { workspaceId, customerIds: [...new Set(customerIds)] })
    : [];
  const retainedOf = new Map(merged.map(({ customerId, retained }) => [customerId, retained]));
  const meant = customerIds.map((customerId) => retainedOf.get(customerId) ?? customerId);
  await lockUsersInOrder(tx, { workspaceId, customerIds: meant });
  const found = await findNamedUsers(tx, { workspaceId, customerIds: meant });
  const keyOf = new Map(found.map(({ customerId, bucket, userId }) => [customerId, { bucket, userId }]));
  return new Map(
    customerIds.flatMap((customerId) => {
      const key = keyOf.get(retainedOf.get(customerId) ?? customerId);
      return key ? [[customerId, key] as const] : [];
    }),
  );
}
