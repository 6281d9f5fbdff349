import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { addReportPiece, claimReportFile, endReportFile, keepReportFile } from '../storage/campaigns/report-files.ts';
import type { DueReport, ReportRequest } from '../storage/campaigns/report-files.ts';
import type { Database } from '../storage/database.ts';
import type { Job } from './jobs/job.ts';
import { makeLease } from './jobs/leased-job.ts';

/** Yields the lines of a report on demand, one per campaign. */
export type ReadReport = (report: ReportRequest & { workspaceId: string }) => AsyncIterable<string>;

export type WriteReportFilesDependencies = { database: Database; clock: Clock; log: Logger; readReport: ReadReport };

const pieceBytes = 256 * 1024;
const maxAttempts = 5;
const retrySeconds = 60;
/** Extended with each piece. */
const leaseMilliseconds = 300_000;

/**
 * The job that makes report files. Memory holds one page of campaigns and one piece of the file at a time. If a worker dies,
 * another starts its file again; pieces that the dead worker may still store are rejected by their attempt number.
 */
export function makeWriteReportFiles(deps: WriteReportFilesDependencies): Job {
  const { database, clock, log } = deps;
  return {
    name: 'write-report-files',
    intervalMilliseconds: 1_000,
    async runOnce(now) {
      const report = await claimReportFile(database, { at: now, ...makeLease(clock, leaseMilliseconds) });
      if (!report) return 0;
      try {
        // The workers of five attempts died while making it.
        if (report.attempts > maxAttempts) throw new Error('no attempt came to an end');
        await writeReport(deps, report);
      } catch (error) {
        const at = clock.now();
        const isLast = report.attempts >= maxAttempts;
        const nextAt = isLast ? undefined : new Date(at.getTime() + retrySeconds * 1000);
        log.error({ reportId: report.id, err: error }, 'report file not made');
        await keepReportFile(database, { ...report, reason: 'a fault of the service', nextAt, at });
      }
      return 1;
    },
  };
}

async function writeReport(deps: WriteReportFilesDependencies, report: DueReport): Promise<void> {
  const { database, clock } = deps;
  const { id, attempts, workspaceId } = report;
  let campaigns = 0;
  async function* lines() {
    for await (const line of deps.readReport({ ...report.request, workspaceId })) {
      campaigns += 1;
      yield line;
    }
  }
  let number = 0;
  let bytes = 0;
  const compressed = Readable.from(lines(), { objectMode: true, highWaterMark: 1 }).compose(createGzip());
  for await (const piece of cutPieces(compressed as AsyncIterable<Buffer>)) {
    const { leaseUntil } = makeLease(clock, leaseMilliseconds);
    if (!(await addReportPiece(database, { id, attempts, number, bytes: piece, leaseUntil }))) return;
    number += 1;
    bytes += piece.length;
  }
  await endReportFile(database, { id, attempts, campaigns, bytes, at: clock.now() });
}

/** Yields pieces of 256 KiB, the last one shorter. */
async function* cutPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < pieceBytes) continue;
    yield Buffer.concat(held);
    held = [];
    heldBytes = 0;
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}
