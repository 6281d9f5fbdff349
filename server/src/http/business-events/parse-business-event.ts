import { maxBusinessName, readBusinessAttributes } from '../../domain/business-events/business-event.ts';
import type { BusinessAttribute } from '../../domain/business-events/business-event.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import { makeCampaignReader } from '../campaigns/campaign-reader.ts';
import type { Body, CampaignReader } from '../campaigns/campaign-reader.ts';
import { isAbsent, readRequestId } from '../campaigns/parse-authoring.ts';

export type EventAsked = { name: string; attributes: BusinessAttribute[]; createdBy: string };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong */
export function parseEvent(body: Body): EventAsked {
  const reader = makeCampaignReader();
  const name = requiredText(reader, body, 'event_name').trim();
  const createdBy = requiredText(reader, body, 'created_by');
  const attributes = readBusinessAttributes(body.event_attributes);
  if ('reason' in attributes) reader.invalid('event_attributes', attributes.reason);
  reader.throwFaults();
  return { name, attributes: attributes as BusinessAttribute[], createdBy };
}

export type TriggerAsked = { event: string; attributes: Record<string, unknown>; triggeredBy: string | undefined };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong */
export function parseTrigger(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): TriggerAsked {
  const reader = makeCampaignReader();
  readRequestId(reader, body, requestIdHeader);
  const event = requiredText(reader, body, 'event_name').trim();
  const attributes = reader.record(body.event_attributes, 'event_attributes') ?? {};
  // Fact 6.3: required in V5 alone.
  if (version === 'V5' && isAbsent(body.triggered_by)) reader.missing('triggered_by');
  const triggeredBy = isAbsent(body.triggered_by) ? undefined : reader.text(body.triggered_by, 'triggered_by');
  reader.throwFaults();
  return { event, attributes, triggeredBy };
}

export type EventsAsked = {
  ids: string[] | undefined;
  names: string[] | undefined;
  limit: number;
  after: string | undefined;
};

const maxPerPage = 20;

/** V1 names events, at least one; V5 may name some and has pages. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseEventSearch(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): EventsAsked {
  const reader = makeCampaignReader();
  readRequestId(reader, body, requestIdHeader);
  const ids = reader.texts(body.event_ids, 'event_ids');
  const names = reader.texts(body.event_names, 'event_names');
  if (version === 'V1' && isAbsent(body.event_ids) && isAbsent(body.event_names)) reader.missing('event_ids');
  const page = version === 'V1' ? { limit: 100, after: undefined } : readPage(reader, body);
  reader.throwFaults();
  return { ids, names, ...page };
}

/** The pages of the list come in the query, where a number is a text. */
export function parseEventPage(query: Record<string, unknown>): EventsAsked {
  const reader = makeCampaignReader();
  const limit = typeof query.limit === 'string' && /^\d{1,3}$/.test(query.limit) ? Number(query.limit) : query.limit;
  const page = readPage(reader, { ...query, limit });
  reader.throwFaults();
  return { ids: undefined, names: undefined, ...page };
}

function readPage(reader: CampaignReader, body: Body): { limit: number; after: string | undefined } {
  const limit = reader.integer(body.limit, 'limit', { minimum: 1, maximum: maxPerPage }) ?? maxPerPage;
  const cursor = isAbsent(body.cursor) ? undefined : reader.text(body.cursor, 'cursor');
  return { limit, after: cursor };
}

function requiredText(reader: CampaignReader, body: Body, field: string): string {
  if (isAbsent(body[field])) {
    reader.missing(field);
    return '';
  }
  const text = reader.text(body[field], field) ?? '';
  if (text.length > maxBusinessName) reader.invalid(field, `must have at most ${maxBusinessName} characters`);
  return text;
}
