import { readBusinessAttributes } from '../../domain/business-events/business-event.ts';
import type { BusinessAttribute } from '../../domain/business-events/business-event.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { makeCampaignReader, optionalText, refuseFaults } from '../campaigns/campaign-reader.ts';
import type { Body } from '../campaigns/campaign-reader.ts';
import { readRequestId } from '../campaigns/parse-authoring.ts';
import { maxBusinessEventsPerPage, maxBusinessNameCharacters } from '../../domain/business-events/limits.ts';

export type EventAsked = { name: string; attributes: BusinessAttribute[]; createdBy: string };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong */
export function parseEvent(body: Body): EventAsked {
  const reader = makeCampaignReader(body);
  const name = requiredText(reader, 'event_name').trim();
  const createdBy = requiredText(reader, 'created_by');
  const attributes = readBusinessAttributes(body.event_attributes);
  if ('reason' in attributes) reader.invalid('event_attributes', attributes.reason);
  refuseFaults(reader);
  return { name, attributes: attributes as BusinessAttribute[], createdBy };
}

export type TriggerAsked = { event: string; attributes: Record<string, unknown>; triggeredBy: string | undefined };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong */
export function parseTrigger(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): TriggerAsked {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  const event = requiredText(reader, 'event_name').trim();
  const attributes = reader.part('event_attributes').members;
  // Fact 6.3: required in V5 alone.
  if (version === 'V5') reader.requires('triggered_by');
  const triggeredBy = optionalText(reader, 'triggered_by');
  refuseFaults(reader);
  return { event, attributes, triggeredBy };
}

export type EventsAsked = {
  ids: string[] | undefined;
  names: string[] | undefined;
  limit: number;
  after: string | undefined;
};

/** V1 names events, at least one; V5 may name some and has pages. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseEventSearch(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): EventsAsked {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  const ids = reader.texts('event_ids');
  const names = reader.texts('event_names');
  if (version === 'V1' && reader.isAbsent('event_names')) reader.requires('event_ids');
  const page = version === 'V1' ? { limit: 100, after: undefined } : readPage(reader);
  refuseFaults(reader);
  return { ids, names, ...page };
}

/** The pages of the list come in the query, where a number is a text. */
export function parseEventPage(query: Record<string, unknown>): EventsAsked {
  const limit = typeof query.limit === 'string' && /^\d{1,3}$/.test(query.limit) ? Number(query.limit) : query.limit;
  const reader = makeCampaignReader({ ...query, limit });
  const page = readPage(reader);
  refuseFaults(reader);
  return { ids: undefined, names: undefined, ...page };
}

function readPage(reader: RequestReader): { limit: number; after: string | undefined } {
  const limit = reader.integer('limit', { minimum: 1, maximum: maxBusinessEventsPerPage }) ?? maxBusinessEventsPerPage;
  return { limit, after: optionalText(reader, 'cursor') };
}

function requiredText(reader: RequestReader, name: string): string {
  const text = reader.requiredText(name);
  if (text.length > maxBusinessNameCharacters)
    reader.invalid(name, `must have at most ${maxBusinessNameCharacters} characters`);
  return text;
}
