import type { Clock } from '../../clock.ts';
import { maxRejectsKept } from '../../domain/segments/limits.ts';
import type { RejectReason } from '../../domain/segments/file-rules.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Session } from '../../storage/database.ts';
import type { ClaimedOperation } from '../../storage/segments/segment-operations.ts';
import {
  analyzeSegmentLines,
  countDistinctValues,
  listRepeatedLines,
  stageSegmentLines,
  stagingKeyOf,
} from '../../storage/segments/segment-staging.ts';
import { makeLinePreparer } from './prepare-lines.ts';
import type { OpenFile } from './open-file.ts';

export type FillDependencies = {
  database: Database;
  clock: Clock;
};

/** Progress of a fill; read once a second for display. */
export type FillProgress = { bytesRead: number; valuesFound: number };

export type StagedFile = {
  valuesFound: number;
  /** Lines that are values; repeats among them are found by `countValues`. */
  valuesKept: number;
  /** In the order of the file, at most 10,000. */
  rejects: Reject[];
};

export type Reject = { line: number; reason: RejectReason };

type Fill = {
  operation: ClaimedOperation;
  file: OpenFile;
  session: Session;
  progress: FillProgress;
  signal: AbortSignal;
};

/**
 * Reads the file of an operation into its staging table. Everything streams: bytes are decoded, cut into lines, checked
 * and copied to the database piece by piece, so memory does not grow with the file. Nothing a reader can see has changed
 * yet.
 *
 * @throws DownloadFailedError, FileUnreadableError, the abort's reason, and the database's errors
 */
export async function stageFile(fill: Fill): Promise<StagedFile> {
  const { operation, session, signal } = fill;
  const stagingKey = stagingKeyOf(operation);
  const lines = await copyFile(fill);
  signal.throwIfAborted();
  await analyzeSegmentLines(session, stagingKey);
  signal.throwIfAborted();
  return { valuesFound: lines.found(), valuesKept: lines.kept(), rejects: lines.rejects() };
}

export type CountedValues = { valuesProcessed: number; rejects: Reject[] };

/**
 * Counts the distinct values of a staged file. The database finds the duplicates, because more than 16.7 million values
 * do not fit in a JavaScript set (finding 10). Uses its own connection, so that it runs in parallel with the matching.
 */
export async function countValues(
  { database }: FillDependencies,
  { operation, staged }: { operation: ClaimedOperation; staged: StagedFile },
): Promise<CountedValues> {
  const stagingKey = stagingKeyOf(operation);
  return await inTransaction(database, async (tx) => {
    const values = await countDistinctValues(tx, stagingKey);
    if (values === staged.valuesKept) return { valuesProcessed: values, rejects: staged.rejects };
    const repeated = await listRepeatedLines(tx, { stagingKey, limit: maxRejectsKept });
    const rejects = [...staged.rejects, ...repeated.map((line) => ({ line, reason: 'repeated' as const }))];
    return {
      valuesProcessed: values,
      rejects: rejects.sort((one, other) => one.line - other.line).slice(0, maxRejectsKept),
    };
  });
}

async function copyFile({ operation, file, session, progress, signal }: Fill) {
  const lines = makeLinePreparer(operation.attributeType);
  async function* prepared(): AsyncGenerator<Buffer> {
    for await (const piece of file.pieces) {
      signal.throwIfAborted();
      progress.bytesRead += piece.length;
      const rows = lines.push(piece);
      if (rows !== undefined) yield rows;
      progress.valuesFound = lines.found();
    }
    const rows = lines.end();
    if (rows !== undefined) yield rows;
    progress.valuesFound = lines.found();
  }
  await stageSegmentLines(session, { stagingKey: stagingKeyOf(operation), lines: prepared() });
  return lines;
}
