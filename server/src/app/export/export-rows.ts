import { ServiceError } from '../../domain/errors.ts';
import { expandStoredFilters } from '../../domain/segments/parse-stored-filters.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { findCampaignRecord } from '../../storage/campaigns/campaigns.ts';
import {
  readStream,
  streamDeliveries,
  streamDevices,
  streamEvents,
  streamMembers,
  streamUsers,
} from '../../storage/ledger/exports.ts';
import { countRunsWithoutLedger } from '../../storage/retention/run-failures.ts';
import { streamFilterUsers } from '../../storage/segments/segment-filters.ts';
import { findReferencedSegments } from '../../storage/segments/segment-members.ts';
import { findSegmentByName } from '../../storage/segments/segments.ts';
import { columnsOf, presentDelivery, presentDevice, presentEvent, presentUser } from './present-rows.ts';
import type { ExportedRow } from './present-rows.ts';
import { toCsvLine } from './write-csv.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

export type ExportSubject =
  { kind: 'users' | 'devices' | 'events' } | { kind: 'segment'; name: string } | { kind: 'ledger'; campaignId: string };

export type ExportRequest = {
  workspaceId: string;
  subject: ExportSubject;
  format: 'ndjson' | 'csv';
  at: Date;
  /** Takes a piece of text; the next is read when it has been taken. */
  write: (piece: string) => Promise<void>;
};

/**
 * Writes the data of a workspace as JSON lines or CSV, as of one point in time. A page is read only after the previous
 * one was consumed, so memory is bounded whatever the size.
 *
 * @returns the number of rows; of a ledger also how many runs were sent and have none any more
 * @throws ServiceError NOT_FOUND for an unknown segment or campaign
 */
export async function exportRows(
  database: Database,
  request: ExportRequest,
): Promise<{ rows: number; runsWithoutLedger: number }> {
  const columns = columnsOf[request.subject.kind];
  const toLine =
    request.format === 'csv'
      ? (row: ExportedRow) => toCsvLine(row, columns)
      : (row: ExportedRow) => `${JSON.stringify(row)}\n`;
  let rows = 0;
  let runsWithoutLedger = 0;
  await readStream(database, async (tx) => {
    const pages = await openPages(tx, request);
    if (request.format === 'csv') await request.write(`${columns.join(',')}\r\n`);
    for await (const page of pages) {
      rows += page.length;
      await request.write(page.map(toLine).join(''));
    }
    const { subject } = request;
    if (subject.kind === 'ledger') runsWithoutLedger = await countRunsWithoutLedger(tx, subject.campaignId);
  });
  return { rows, runsWithoutLedger };
}

async function openPages(tx: Transaction, { workspaceId, subject, at }: ExportRequest) {
  switch (subject.kind) {
    case 'users':
      return mapPages(streamUsers(tx, workspaceId), presentUser);
    case 'devices':
      return mapPages(streamDevices(tx, workspaceId), presentDevice);
    case 'events':
      return mapPages(streamEvents(tx, workspaceId), presentEvent);
    case 'segment':
      return mapPages(await openSegment(tx, { workspaceId, name: subject.name, at }), ({ customerId }) => ({
        customer_id: customerId,
      }));
    case 'ledger': {
      const campaign = await findCampaignRecord(tx, { workspaceId, id: subject.campaignId });
      if (!campaign) throw new ServiceError('NOT_FOUND', { detail: 'no such campaign' });
      return mapPages(streamDeliveries(tx, { workspaceId, campaignId: campaign.id }), presentDelivery);
    }
    default:
      return unknownCase(subject);
  }
}

/** A filter segment consists of the users who pass its filters at the time of the export. */
async function openSegment(
  tx: Transaction,
  { workspaceId, name, at }: { workspaceId: string; name: string; at: Date },
): Promise<AsyncIterable<{ customerId: string }[]>> {
  const segment = await findSegmentByName(tx, { workspaceId, name });
  if (!segment) throw new ServiceError('NOT_FOUND', { detail: 'no such segment' });
  if (segment.kind !== 'FILTER') return streamMembers(tx, { workspaceId, id: segment.id, version: segment.version });
  const referenced = await findReferencedSegments(tx, { workspaceId, ids: segment.usesSegments });
  return streamFilterUsers(tx, { workspaceId, ...expandStoredFilters(segment, referenced), at });
}

async function* mapPages<Row>(
  pages: AsyncIterable<Row[]>,
  present: (row: Row) => ExportedRow,
): AsyncGenerator<ExportedRow[]> {
  for await (const page of pages) yield page.map(present);
}
