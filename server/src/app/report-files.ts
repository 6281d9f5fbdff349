import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { hashReportSignature, opensReport, signReport } from '../domain/crypto/signatures.ts';
import { ServiceError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { maxReportFiles, reportFileDays } from '../domain/limits/campaigns.ts';
import {
  findReadableReport,
  findReportPiece,
  insertReportFile,
  listReportFiles as listFiles,
} from '../storage/campaigns/report-files.ts';
import type { ReadableReport, ReportFile, ReportRequest } from '../storage/campaigns/report-files.ts';
import type { Database } from '../storage/database.ts';
import { answerOnce } from './idempotency.ts';
import type { ApiKey } from './keys/authenticate-key.ts';

export type { ReportFile };
export type ReportFileDependencies = { database: Database; clock: Clock; encryption: Encryption };

type Asked = {
  workspaceId: string;
  request: ReportRequest;
  /** Undefined for a request from the command line. */
  key: ApiKey | undefined;
  /** The secret that the caller proved to have; undefined for a caller with a token. */
  secret: string | undefined;
  once: { key: string | undefined; rawBody: string };
};

export type RequestedReport = { name: string; signature: string; expiresAt: Date };

const dayMilliseconds = 86_400_000;

/**
 * Requests a file of figures. Its signature uses the secret that the caller proved to have. The file keeps only a hash of the
 * signature, because secrets are not kept.
 *
 * @throws ServiceError REPORT_FILES_LIMITED, IDEMPOTENCY_CONFLICT
 */
export async function requestReportFile(
  deps: ReportFileDependencies,
  { workspaceId, request, key, secret = randomBytes(32).toString('hex'), once }: Asked,
): Promise<RequestedReport> {
  const at = deps.clock.now();
  const made = await answerOnce(deps, { workspaceId, operation: 'report-file', ...once, at }, async (tx) => {
    const id = makeId(at);
    const name = `${request.startDate}_${request.endDate}-${id}.jsonl.gz`;
    const signature = signReport({ workspaceId, name, secret });
    const expiresAt = new Date(at.getTime() + reportFileDays * dayMilliseconds);
    const file = {
      ...{ id, workspaceId, name, request, at, expiresAt, maxFiles: maxReportFiles },
      key: key ? { id: key.id, generation: key.generation } : null,
      signatureHash: hashReportSignature(signature),
    };
    if (!(await insertReportFile(tx, file))) throw new ServiceError('REPORT_FILES_LIMITED');
    return { name, signature, expiresAt: expiresAt.toISOString() };
  });
  return { ...made, expiresAt: new Date(made.expiresAt) };
}

/** Lists a workspace's files that are not gone, newest first. */
export async function listReportFiles(
  { database, clock }: Pick<ReportFileDependencies, 'database' | 'clock'>,
  workspaceId: string,
): Promise<ReportFile[]> {
  return listFiles(database, { workspaceId, at: clock.now() });
}

/**
 * Opens a file without a signature, for callers who may read the database anyway.
 *
 * @throws ServiceError REPORT_FILE_UNREADABLE
 */
export async function openOwnReportFile(
  deps: Pick<ReportFileDependencies, 'database' | 'clock'>,
  of: OfReport,
): Promise<OpenedReport> {
  return openFile(deps.database, await findFile(deps, of));
}

type OfReport = { workspaceId: string; name: string };

export type OpenedReport = { bytes: number; pieces: AsyncIterable<Buffer> };

/**
 * Returns the bytes of a file, read from the database piece by piece on demand.
 *
 * @throws ServiceError REPORT_FILE_UNREADABLE for a file that is unknown, gone, or not made; REPORT_SIGNATURE_INVALID
 */
export async function openReportFile(
  { database, clock }: Pick<ReportFileDependencies, 'database' | 'clock'>,
  { workspaceId, name, signature }: OfReport & { signature: string },
): Promise<OpenedReport> {
  const file = await findFile({ database, clock }, { workspaceId, name });
  if (!opensReport(signature, file.signatureHash) || !file.isKeyCurrent)
    throw new ServiceError('REPORT_SIGNATURE_INVALID');
  return openFile(database, file);
}

async function findFile(
  { database, clock }: Pick<ReportFileDependencies, 'database' | 'clock'>,
  of: OfReport,
): Promise<ReadableReport> {
  const file = await findReadableReport(database, of);
  if (!file || file.expiresAt <= clock.now()) throw unreadable('no such file, or it is gone');
  return file;
}

function openFile(database: Database, file: ReadableReport): OpenedReport {
  if (file.state === 'WAITING') throw unreadable('is not made yet');
  if (file.state === 'FAILED') throw unreadable(`could not be made: ${file.reason}`);
  return { bytes: file.bytes!, pieces: readPieces(database, file.id) };
}

function unreadable(reason: string): ServiceError {
  return new ServiceError('REPORT_FILE_UNREADABLE', { field: 'FILENAME', reason });
}

async function* readPieces(database: Database, reportId: string): AsyncGenerator<Buffer, void, undefined> {
  for (let number = 0; ; number += 1) {
    const piece = await findReportPiece(database, { reportId, number });
    if (!piece) return;
    yield piece;
  }
}
