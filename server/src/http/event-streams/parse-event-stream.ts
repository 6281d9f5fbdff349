import type { EventStreamSettings } from '../../app/event-streams/manage-event-streams.ts';
import { maxStreamedAttributes } from '../../domain/event-streams/limits.ts';
import { streamedDeviceAttributes, streamedKinds } from '../../domain/event-streams/streamed-event.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import { makeCampaignReader, optionalText, refuseFaults } from '../campaigns/campaign-reader.ts';
import type { Body } from '../campaigns/campaign-reader.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong */
export function parseStream(body: Body): EventStreamSettings {
  const reader = makeCampaignReader(body);
  reader.requires('url');
  const sent = readSettings(reader);
  refuseFaults(reader);
  return { events: [...streamedKinds], userAttributes: [], deviceAttributes: [], url: '', ...sent };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong */
export function parseStreamChange(body: Body): Partial<EventStreamSettings> {
  const reader = makeCampaignReader(body);
  const sent = readSettings(reader);
  refuseFaults(reader);
  return sent;
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseResend(body: Body): { batchId: string | undefined } {
  const reader = makeCampaignReader(body);
  const batchId = optionalText(reader, 'batch_id');
  refuseFaults(reader);
  return { batchId };
}

const maxPage = 100;

/** What comes in the query is text. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseDeadBatches(query: Record<string, unknown>): { limit: number; before: string | undefined } {
  const limit = typeof query.limit === 'string' && /^\d{1,3}$/.test(query.limit) ? Number(query.limit) : query.limit;
  const reader = makeCampaignReader({ ...query, limit });
  const page = {
    limit: reader.integer('limit', { minimum: 1, maximum: maxPage }) ?? maxPage,
    before: optionalText(reader, 'before'),
  };
  refuseFaults(reader);
  return page;
}

const maxUrlCharacters = 2_048;

function readSettings(reader: RequestReader): Partial<EventStreamSettings> {
  const url = reader.isAbsent('url') ? undefined : reader.text('url', maxUrlCharacters);
  if (url !== undefined && !isWebAddress(url))
    reader.invalid('url', 'must be an http or https URL without credentials');
  const events = readWords(reader, { name: 'events', words: streamedKinds, minimum: 1 });
  const deviceAttributes = readWords(reader, {
    name: 'device_attributes',
    words: streamedDeviceAttributes,
    minimum: 0,
  });
  const userAttributes = readNames(reader);
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events }),
    ...(userAttributes === undefined ? {} : { userAttributes }),
    ...(deviceAttributes === undefined ? {} : { deviceAttributes }),
  };
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

type Words<Word extends string> = { name: string; words: readonly Word[]; minimum: 0 | 1 };

function readWords<Word extends string>(reader: RequestReader, { name, words, minimum }: Words<Word>) {
  const sent = reader.get(name);
  if (sent === undefined) return undefined;
  const isGood =
    Array.isArray(sent) && sent.length >= minimum && sent.every((word) => words.some((known) => known === word));
  if (!isGood) reader.invalid(name, `must be a list of ${minimum === 1 ? 'at least one of ' : ''}${words.join(', ')}`);
  return isGood ? [...new Set(sent as Word[])] : undefined;
}

function readNames(reader: RequestReader): string[] | undefined {
  const sent = reader.get('user_attributes');
  if (sent === undefined) return undefined;
  const isGood =
    Array.isArray(sent) &&
    sent.length <= maxStreamedAttributes &&
    sent.every((name) => typeof name === 'string' && name !== '' && name.length <= 256 && isStorableText(name));
  if (!isGood)
    reader.invalid('user_attributes', `must be a list of up to ${maxStreamedAttributes} texts of 1 to 256 characters`);
  return isGood ? [...new Set(sent as string[])] : undefined;
}
