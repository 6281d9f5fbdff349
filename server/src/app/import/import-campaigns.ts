import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import { partNames } from '../../domain/campaign-document/campaign.ts';
import { campaignChannels, campaignDeliveryTypes } from '../../domain/campaigns/campaign.ts';
import { platforms } from '../../domain/content/content.ts';
import { isId, makeId } from '../../domain/ids.ts';
import { isObject } from '../../fields/request-reader.ts';
import { parseIsoTime } from '../../domain/timing/iso-time.ts';
import { textFault } from '../../domain/users/user-attributes.ts';
import { findForeignIds, insertImportedCampaigns } from '../../storage/campaigns/authored-campaigns.ts';
import type { ImportedCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { openImportFile, readLines, makeRejectsFile } from './read-lines.ts';
import type { Reject, FileLine } from './read-lines.ts';

export type CampaignImportProgress = {
  lines: number;
  /** Bytes read from the file, compressed or not. */
  bytes: number;
  totalBytes: number;
  campaigns: number;
  /** Records that existed already: a file may be loaded again. */
  known: number;
  rejected: number;
  firstReject: Reject | undefined;
};

export type CampaignImport = {
  workspaceId: string;
  path: string;
  onProgress: (progress: CampaignImportProgress) => void;
};

const batchCampaigns = 1_000;

/**
 * Loads a file of JSON lines (`.gz` too) with one campaign per line, as campaign search returns it, for history: records that
 * can be found and are never sent. Each batch of 1,000 is one transaction, in bounded memory. A killed import can be run again
 * and adds the missing records. Rejected lines go to `<file>.rejects.ndjson` with their number and reason.
 */
export async function importCampaignsFile(
  { database, clock }: { database: Database; clock: Clock },
  { workspaceId, path, onProgress }: CampaignImport,
): Promise<CampaignImportProgress> {
  const { size } = await stat(path);
  const progress: CampaignImportProgress = {
    lines: 0,
    bytes: 0,
    totalBytes: size,
    campaigns: 0,
    known: 0,
    rejected: 0,
    firstReject: undefined,
  };
  const rejects = makeRejectsFile(`${path}.rejects.ndjson`, { isContinued: false });
  const now = clock.now();
  // By id, with the line number: the first of repeats in a batch counts, as it does between batches.
  let batch = new Map<string, { line: number; campaign: ImportedCampaign }>();
  const reject = async (line: number, reason: string): Promise<void> => {
    progress.rejected += 1;
    progress.firstReject ??= { line, reason };
    await rejects.add([{ line, reason }]);
  };
  const store = async (): Promise<void> => {
    const campaigns = [...batch.values()].map(({ campaign }) => campaign);
    const { added, foreign } = await storeBatch(database, { workspaceId, campaigns });
    for (const id of foreign) await reject(batch.get(id)!.line, "'id' is that of another campaign");
    progress.campaigns += added;
    progress.known += batch.size - added - foreign.size;
    batch = new Map();
    onProgress({ ...progress });
  };
  try {
    for await (const line of readLines(openImportFile(path, progress))) {
      progress.lines += 1;
      const parsed = parseCampaignLine(line, { workspaceId, now });
      if (parsed === undefined) continue;
      if ('reason' in parsed) await reject(progress.lines, parsed.reason);
      else if (batch.has(parsed.campaign.id)) progress.known += 1;
      else batch.set(parsed.campaign.id, { line: progress.lines, campaign: parsed.campaign });
      if (batch.size >= batchCampaigns) await store();
    }
    if (batch.size > 0) await store();
    return progress;
  } finally {
    await rejects.close();
  }
}

type Batch = { workspaceId: string; campaigns: ImportedCampaign[] };

async function storeBatch(database: Database, batch: Batch): Promise<{ added: number; foreign: ReadonlySet<string> }> {
  return await inTransaction(database, async (tx) => {
    const added = await insertImportedCampaigns(tx, batch);
    const present = batch.campaigns.map(({ id }) => id).filter((id) => !added.has(id));
    const { workspaceId } = batch;
    const foreign = present.length === 0 ? new Set<string>() : await findForeignIds(tx, { workspaceId, ids: present });
    return { added: added.size, foreign };
  });
}

export type CampaignLine = { campaign: ImportedCampaign } | { reason: string } | undefined;

/** Statuses of ended campaigns: a record is never sent, so it cannot wait for anything. */
const endedStatuses = {
  ONE_TIME: ['SENT', 'STOPPED', 'FAILED', 'ARCHIVED'],
  recurring: ['RETIRED', 'STOPPED', 'FAILED', 'ARCHIVED'],
} as const;

class LineFault extends Error {}

/**
 * Parses one line of a campaign file: a record as campaign search returns it, in V1's words or V5's. Returns undefined for an
 * empty line. The same line always gets the same id, its own or one derived from its text, so that a file can be loaded again.
 */
function parseCampaignLine(line: FileLine, { workspaceId, now }: { workspaceId: string; now: Date }): CampaignLine {
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
  // The database can store neither.
  if (textFault(line) !== undefined || /\\u0000/.test(line))
    throw new LineFault('must be well-formed Unicode without NUL');
  return value;
}

/** Returns the record's own id; if that is missing or not in our form, an id derived from its text. */
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

/** Ignores case, because existing services differ in it. */
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
