import { createHash } from 'node:crypto';
import { textFault } from '../../domain/users/user-attributes.ts';
import { isObject } from '../../domain/request-reader/request-reader.ts';
import { partNames } from '../../domain/campaign-document/read-campaign.ts';
import { campaignChannels, campaignDeliveryTypes } from '../../domain/campaigns/campaign-search.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import { isId, makeId } from '../../domain/ids.ts';
import { parseIsoTime } from '../../domain/segments/iso-time.ts';
import type { ImportedCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import type { FileLine } from './read-lines.ts';

export type CampaignLine = { campaign: ImportedCampaign } | { reason: string } | undefined;

/** What is over: a record is never sent, so it can wait for nothing. */
const endedStatuses = {
  ONE_TIME: ['SENT', 'STOPPED', 'FAILED', 'ARCHIVED'],
  recurring: ['RETIRED', 'STOPPED', 'FAILED', 'ARCHIVED'],
} as const;

class LineFault extends Error {}

/**
 * One line of a file of campaigns: a record as campaign search shows it, in V1's words or V5's. Undefined for an empty
 * line. The same line always gets the same id, its own or one derived from its text, so that a file can be loaded
 * again.
 */
export function parseCampaignLine(
  line: FileLine,
  { workspaceId, now }: { workspaceId: string; now: Date },
): CampaignLine {
  if ('tooLong' in line) return { reason: 'the line is longer than 128 KB' };
  const text = line.text.trim();
  if (text === '') return undefined;
  try {
    return { campaign: readRecord(parseObject(text), { workspaceId, now }) };
  } catch (error) {
    if (error instanceof LineFault) return { reason: error.message };
    throw error;
  }
}

type Members = Record<string, unknown>;

function readRecord(record: Members, { workspaceId, now }: { workspaceId: string; now: Date }): ImportedCampaign {
  const details = record.basic_details ?? {};
  if (!isObject(details)) throw new LineFault("'basic_details' must be an object");
  const deliveryType = choice(
    record.campaign_delivery_type ?? 'ONE_TIME',
    'campaign_delivery_type',
    campaignDeliveryTypes,
  );
  const createdAt = time(record.created_at, 'created_at');
  if (!createdAt) throw new LineFault("'created_at' is not found");
  if (createdAt > now) throw new LineFault("'created_at' is in the future");
  return {
    id: idOf(record, { workspaceId, createdAt }),
    name: text(details.name ?? record.name, 'basic_details.name'),
    channel: choice(record.channel, 'channel', campaignChannels),
    deliveryType,
    status: choice(record.status, 'status', endedStatuses[deliveryType === 'ONE_TIME' ? 'ONE_TIME' : 'recurring']),
    platforms: list(details.platforms, 'basic_details.platforms').map((item) =>
      choice(item, 'basic_details.platforms', platforms),
    ),
    tags: [...new Set(list(details.tags, 'basic_details.tags').map((item) => text(item, 'basic_details.tags')))],
    parts: takeParts(record),
    createdBy: text(record.created_by, 'created_by'),
    updatedBy: record.updated_by === undefined ? null : text(record.updated_by, 'updated_by'),
    createdAt,
    updatedAt: time(record.updated_at, 'updated_at') ?? createdAt,
    sentAt: time(record.sent_time, 'sent_time') ?? null,
  };
}

function parseObject(line: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new LineFault('not JSON');
  }
  if (!isObject(value)) throw new LineFault('not a JSON object');
  // The database stores neither.
  if (textFault(line) !== undefined || /\\u0000/.test(line))
    throw new LineFault('must be well-formed Unicode without NUL');
  return value;
}

/** Its own id; if that is missing or not in our form, an id derived from its text. */
function idOf(record: Members, { workspaceId, createdAt }: { workspaceId: string; createdAt: Date }): string {
  const own = record.id ?? record.campaign_id;
  if (own !== undefined && (typeof own !== 'string' || own === '')) throw new LineFault("'id' must be a text");
  if (typeof own === 'string' && isId(own)) return own;
  const named = typeof own === 'string' ? own : JSON.stringify(record);
  return makeId(createdAt, createHash('sha256').update(`${workspaceId}|${named}`).digest());
}

function takeParts(record: Members): Members {
  const names = [...partNames, 'connector', 'sender_name'];
  const parts = Object.fromEntries(names.flatMap((name) => (record[name] === undefined ? [] : [[name, record[name]]])));
  return { ...parts, basic_details: { name: record.name, ...(record.basic_details as object | undefined) } };
}

function text(value: unknown, field: string): string {
  if (value === undefined || value === null || value === '') throw new LineFault(`'${field}' is not found`);
  if (typeof value !== 'string' || value.length > 256)
    throw new LineFault(`'${field}' must be a text of up to 256 characters`);
  return value;
}

function list(value: unknown, field: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > 100) throw new LineFault(`'${field}' must be a list of up to 100 items`);
  return value;
}

/** Words of existing services differ in case. */
function choice<const Word extends string>(value: unknown, field: string, words: readonly Word[]): Word {
  const found = words.find((word) => typeof value === 'string' && word === value.toUpperCase());
  if (found !== undefined) return found;
  throw new LineFault(
    value === undefined ? `'${field}' is not found` : `'${field}' must be one of ${words.join(', ')}`,
  );
}

function time(value: unknown, field: string): Date | undefined {
  if (value === undefined || value === null) return undefined;
  const parsed = typeof value === 'string' ? parseIsoTime(value) : undefined;
  if (!parsed) throw new LineFault(`'${field}' must be a time such as 2024-07-04 08:00:54.847000`);
  const at = parsed.kind === 'day' ? parsed.startsAt : parsed.at;
  if (at.getUTCFullYear() < 1970) throw new LineFault(`'${field}' is before 1970`);
  return at;
}
