import type { FastifyRequest } from 'fastify';
import { campaignChannels, campaignDeliveryTypes, otherDeliveryTypes } from '../../domain/campaigns/campaign-search.ts';
import type { CampaignSearch, SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import { campaignStatuses } from '../../domain/campaigns/campaign-states.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { parseIsoTime } from '../../domain/segments/iso-time.ts';
import { makeCampaignReader, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { readRequestId } from './parse-authoring.ts';
import { maxCampaignsPerPage } from '../../domain/campaigns/limits.ts';
import { isAbsent } from '../is-absent.ts';

export type PageAsked = { requestId: string | undefined; limit: number; page: number };
export type SearchAsked = PageAsked & { search: CampaignSearch };

/** How a version asks (fact 4.2). */
export type SearchDialect = {
  version: SearchVersion;
  versioning: 'on' | 'off';
  /** V5 takes the id of the request from a header, too; both must agree (fact 4.1). */
  requestIdHeader?: string | undefined;
};

// Beyond any number of campaigns; a page after the last is empty.
const lastPage = 1_000_000_000;

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong */
export function parseSearch(body: Body, dialect: SearchDialect): SearchAsked {
  const reader = makeCampaignReader(body);
  const page = readPage(reader, dialect);
  const children = reader.flag('include_child_campaigns');
  const archived = reader.flag('include_archive_campaigns');
  const filters = readFilters(reader.part('campaign_fields'), dialect);
  refuseFaults(reader);
  return {
    ...page,
    search: { ...filters, children: children ? 'with' : 'without', archived: archived ? 'with' : 'without' },
  };
}

/**
 * The light list takes the filters of a search; of ids it takes one, as a text, in both versions, and V5 has one
 * delivery type, as a text under V1's name (fact 4.7).
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID with everything that is wrong
 */
export function parseMeta(body: Body, dialect: SearchDialect): SearchAsked {
  const fields = body.campaign_fields;
  if (dialect.version === 'V1' || fields === null || typeof fields !== 'object') return parseSearch(body, dialect);
  const { id, delivery_type: type, ...same } = fields as Body;
  const listed = {
    ...(isAbsent(id) ? {} : { ids: [id] }),
    ...(isAbsent(type) ? {} : { campaign_delivery_type: Array.isArray(type) ? type : [type] }),
  };
  return parseSearch({ ...body, campaign_fields: { ...same, ...listed } }, dialect);
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parsePage(body: Body, dialect: SearchDialect): PageAsked {
  const reader = makeCampaignReader(body);
  const page = readPage(reader, dialect);
  refuseFaults(reader);
  return page;
}

/** The body as an object. @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readBody({ body }: FastifyRequest): Body {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as Body;
}

function readPage(reader: RequestReader, { version, requestIdHeader }: SearchDialect): PageAsked {
  const required = version === 'V1' ? ['request_id', 'limit', 'page'] : ['limit', 'page'];
  for (const name of required) reader.requires(name);
  const integer = (name: string, maximum: number): number =>
    (reader.isAbsent(name) ? undefined : reader.integer(name, { minimum: 1, maximum })) ?? 1;
  return {
    requestId: readRequestId(reader, requestIdHeader),
    limit: integer('limit', maxCampaignsPerPage[version]),
    page: integer('page', lastPage),
  };
}

type Filters = Omit<CampaignSearch, 'children' | 'archived'>;

/**
 * Of the renamed keys only those of the version are known; the other version's are unknown fields (interface 9,
 * decision D42).
 */
function readFilters(fields: RequestReader, { version, versioning }: SearchDialect): Filters {
  const types = [...campaignDeliveryTypes, ...otherDeliveryTypes] as const;
  const isV1 = version === 'V1';
  const typesKey = isV1 ? 'delivery_type' : 'campaign_delivery_type';
  const id = isV1 ? fields.text('id') : undefined;
  const v1Ids = id === undefined ? undefined : [id];
  const dates = fields.part('created_date');
  const from = readDate(dates, 'from_date');
  const to = readDate(dates, 'to_date');
  if (from && to && from.startsAt >= to.endsBefore) fields.invalid('created_date', 'ends before it begins');
  return {
    ids: isV1 ? v1Ids : fields.texts('ids'),
    channels: fields.choices('channels', campaignChannels),
    createdBy: fields.texts('created_by'),
    createdFrom: from?.startsAt,
    createdBefore: to?.endsBefore,
    deliveryTypes: fields.choices(typesKey, types),
    name: fields.text('name'),
    statuses: fields.choices('status', campaignStatuses),
    tags: fields.texts('tags'),
    versionNumber:
      isV1 || versioning === 'off' ? undefined : fields.integer('version_number', { minimum: 1, maximum: 1_000_000 }),
  };
}

const dayMilliseconds = 86_400_000;

/** The beginning of a day or an instant, and the first millisecond after it. */
function readDate(dates: RequestReader, name: string): { startsAt: Date; endsBefore: Date } | undefined {
  const value = dates.get(name);
  if (value === undefined) return undefined;
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
  const startsAt = time && (time.kind === 'day' ? time.startsAt : time.at);
  // What a database can hold also a day later, and no campaign is older.
  if (startsAt && startsAt.getUTCFullYear() >= 1970 && startsAt.getUTCFullYear() < 9999)
    return { startsAt, endsBefore: new Date(startsAt.getTime() + (time.kind === 'day' ? dayMilliseconds : 1)) };
  dates.invalid(name, 'must be a date (YYYY-MM-DD) or a date and time (YYYY-MM-DDThh:mm:ss)');
  return undefined;
}
