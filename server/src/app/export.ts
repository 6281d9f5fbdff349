import { defaultAppId } from '../domain/apps.ts';
import type { Platform } from '../domain/content/content.ts';
import { providerOf } from '../domain/delivery/providers.ts';
import { ServiceError } from '../domain/errors.ts';
import { eventPlatforms } from '../domain/events/events.ts';
import { expandStoredFilters } from '../domain/segments/filter-reader.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import { countRunsWithoutLedger } from '../storage/campaigns/campaign-failures.ts';
import { findCampaignSummary } from '../storage/campaigns/campaigns.ts';
import type { Database, Transaction } from '../storage/database.ts';
import {
  readStream,
  streamDeliveries,
  streamDevices,
  streamEvents,
  streamMembers,
  streamTopicChoices,
  streamUsers,
} from '../storage/exports.ts';
import type { DeliveryToExport, DeviceToExport, EventToExport, UserToExport } from '../storage/exports.ts';
import { streamFilterUsers } from '../storage/segments/segment-filters.ts';
import { findReferencedSegments } from '../storage/segments/segment-members.ts';
import { streamInbox, withContents } from '../storage/inbox.ts';
import { listTopics } from '../storage/topics.ts';
import { findSegmentByName } from '../storage/segments/segments.ts';

export type ExportSubject =
  | { kind: 'users' | 'devices' | 'events' | 'topics' | 'inbox' }
  | { kind: 'segment'; name: string }
  | { kind: 'ledger'; campaignId: string };

export type ExportRequest = {
  workspaceId: string;
  subject: ExportSubject;
  format: 'ndjson' | 'csv';
  at: Date;
  /** Writes a piece of text; the next is read once it resolves. */
  write: (piece: string) => Promise<void>;
};

/**
 * Writes the data of a workspace as JSON lines or CSV, as of one point in time. A page is read only after the previous one was
 * consumed, so memory is bounded whatever the size.
 *
 * @returns the number of rows; for a ledger also the number of runs that were sent and no longer have rows
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
    case 'topics':
      return openChoices(tx, workspaceId);
    case 'inbox':
      return openInbox(tx, workspaceId);
    case 'segment':
      return mapPages(await openSegment(tx, { workspaceId, name: subject.name, at }), ({ customerId }) => ({
        customer_id: customerId,
      }));
    case 'ledger': {
      const campaign = await findCampaignSummary(tx, { workspaceId, id: subject.campaignId });
      if (!campaign) throw new ServiceError('NOT_FOUND', { detail: 'no such campaign' });
      return mapPages(streamDeliveries(tx, { workspaceId, campaignId: campaign.id }), presentDelivery);
    }
    default:
      return unknownCase(subject);
  }
}

/** The choices of topics that were removed are left out: they are about to be deleted. */
async function openChoices(tx: Transaction, workspaceId: string): Promise<AsyncIterable<ExportedRow[]>> {
  const keys = new Map((await listTopics(tx, workspaceId)).map(({ id, key }) => [id, key]));
  const choices = streamTopicChoices(tx, { workspaceId, topicIds: [...keys.keys()] });
  return mapPages(choices, ({ customerId, topicId, isIn, source, chosenAt }) => ({
    customer_id: customerId,
    topic: keys.get(topicId)!,
    opted_in: isIn,
    chosen_at: chosenAt,
    source: source.toLowerCase(),
  }));
}

/** The contents that users share are read for each page: on a cluster they are not on the machines of the messages. */
async function* openInbox(tx: Transaction, workspaceId: string): AsyncGenerator<ExportedRow[]> {
  for await (const page of streamInbox(tx, workspaceId))
    yield (await withContents(tx, { workspaceId, rows: page })).map((message) => ({
      customer_id: message.customerId,
      campaign_id: message.campaignId,
      message_id: message.runId,
      ...{ title: message.content.title, message: message.content.message, link: message.content.link },
      tags: message.tags.join(' '),
      ...{ kept_at: message.keptAt, expires_at: message.expiresAt },
      ...{ read_at: message.readAt, archived_at: message.archivedAt },
    }));
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

/** A row as it is written; `import` reads back the fields that it knows. */
type ExportedRow = Record<string, unknown>;

/** Columns of CSV files; `:json` and `:number` declare the type of the cells for an import. */
const columnsOf = {
  users: ['customer_id', 'attributes:json'],
  devices: [
    ...[
      'customer_id',
      'device_id',
      'platform',
      'push_id',
      'push_id_type',
      'push_provider',
      'app_id',
      'svc_push_opted',
      'svc_push_provisional_opted',
      'model',
    ],
    ...[
      'app_version',
      'os_version',
      'svc_gaid',
      'idfv',
      'locale',
      'badge_count',
      'state',
      'registered_at',
      'block_reason',
    ],
    'client_reference_id',
  ],
  events: [
    ...['customer_id', 'action', 'user_time', 'device_id', 'platform', 'app_version', 'user_timezone_offset'],
    'attributes:json',
  ],
  topics: ['customer_id', 'topic', 'opted_in', 'chosen_at', 'source'],
  inbox: [
    ...['customer_id', 'campaign_id', 'message_id', 'title', 'message', 'link', 'tags'],
    ...['kept_at', 'expires_at', 'read_at', 'archived_at'],
  ],
  segment: ['customer_id'],
  ledger: [
    ...[
      'run_id',
      'customer_id',
      'device_id',
      'platform',
      'app_id',
      'push_provider',
      'outcome',
      'code',
      'provider_message_id',
      'attempts',
      'variation',
      'locale',
    ],
    'sent_at',
  ],
} as const;

const platformNames: Record<Platform, string> = { ANDROID: 'ANDROID', IOS: 'iOS', WEB: 'web' };
const eventPlatformNames = new Map<string, string>(Object.entries(eventPlatforms).map(([name, word]) => [word, name]));

function presentUser({ customerId, id, attributes, createdAt, updatedAt }: UserToExport): ExportedRow {
  return { customer_id: customerId, id, attributes, created_at: createdAt, updated_at: updatedAt };
}

/** Exports the opt-in that a blocked device has once it is unblocked. */
function presentDevice(device: DeviceToExport): ExportedRow {
  return {
    customer_id: device.customerId,
    device_id: device.deviceId,
    platform: platformNames[device.platform],
    push_id: device.pushId,
    push_id_type: device.pushIdType ?? 'token',
    push_provider: providerOf(device),
    app_id: device.appId ?? defaultAppId,
    svc_push_opted: (device.blockedState ?? device.state) === 'OPTED_OUT' ? 'False' : 'True',
    svc_push_provisional_opted: device.isProvisional ? 'True' : 'False',
    model: device.model,
    app_version: device.appVersion,
    os_version: device.osVersion,
    svc_gaid: device.gaid,
    idfv: device.idfv,
    locale: device.locale,
    badge_count: device.badgeCount,
    state: device.state,
    registered_at: device.registeredAt,
    block_reason: device.blockReason,
    client_reference_id: device.blockReference,
  };
}

function presentEvent(event: EventToExport): ExportedRow {
  return {
    customer_id: event.customerId,
    action: event.name,
    user_time: event.occurredAt,
    device_id: event.deviceId,
    platform: event.platform === null ? null : eventPlatformNames.get(event.platform),
    app_version: event.appVersion,
    user_timezone_offset: event.utcOffsetSeconds,
    attributes: event.attributes,
    received_at: event.receivedAt,
  };
}

function presentDelivery(delivery: DeliveryToExport): ExportedRow {
  return {
    run_id: delivery.runId,
    customer_id: delivery.customerId,
    device_id: delivery.deviceId,
    platform: delivery.platform,
    app_id: delivery.appId,
    push_provider: delivery.provider,
    outcome: delivery.outcome,
    code: delivery.code,
    provider_message_id: delivery.providerMessageId,
    attempts: delivery.attempts,
    variation: delivery.variation,
    locale: delivery.locale,
    sent_at: delivery.sentAt,
  };
}

/**
 * Returns one CSV line (RFC 4180); the column names may end with a type. A text that a spreadsheet would read as a formula gets
 * a `'` before it and quotes around it, so that opening an export runs nothing; `import` removes the `'`.
 */
export function toCsvLine(row: ExportedRow, columns: readonly string[]): string {
  return `${columns.map((column) => toCell(row[column.replace(/:json$/, '')])).join(',')}\r\n`;
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : value instanceof Date ? value.toISOString() : JSON.stringify(value);
  if (/^'?[=+\-@\t\r＝＋－＠]/.test(text)) return quote(`'${text}`);
  return /[",\r\n]/.test(text) || text !== text.trim() ? quote(text) : text;
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
