import type { FastifyRequest } from 'fastify';
import {
  campaignChannels,
  campaignDeliveryTypes,
  maxCampaignsPerPage,
  otherDeliveryTypes,
} from '../../domain/campaigns/campaign-search.ts';
import type { CampaignSearch, SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import { campaignStatuses } from '../../domain/campaigns/campaign-states.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeCampaignReader } from './campaign-reader.ts';
import type { Body, CampaignReader } from './campaign-reader.ts';

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
  const reader = makeCampaignReader();
  const page = readPage(reader, body, dialect);
  const children = reader.flag(body.include_child_campaigns, 'include_child_campaigns');
  const archived = reader.flag(body.include_archive_campaigns, 'include_archive_campaigns');
  const fields = reader.record(body.campaign_fields, 'campaign_fields') ?? {};
  const filters = readFilters(reader, fields, dialect);
  reader.throwFaults();
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
    ...(id === undefined ? {} : { ids: [id] }),
    ...(type === undefined ? {} : { campaign_delivery_type: Array.isArray(type) ? type : [type] }),
  };
  return parseSearch({ ...body, campaign_fields: { ...same, ...listed } }, dialect);
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parsePage(body: Body, dialect: SearchDialect): PageAsked {
  const reader = makeCampaignReader();
  const page = readPage(reader, body, dialect);
  reader.throwFaults();
  return page;
}

/** The body as an object. @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readBody({ body }: FastifyRequest): Body {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as Body;
}

function readPage(reader: CampaignReader, body: Body, { version, requestIdHeader }: SearchDialect): PageAsked {
  // An empty text is a missing field, as in the other families.
  const sent = (field: string): unknown => (body[field] === '' || body[field] === null ? undefined : body[field]);
  const required = version === 'V1' ? ['request_id', 'limit', 'page'] : ['limit', 'page'];
  for (const field of required) if (sent(field) === undefined) reader.missing(field);
  const sentId = reader.text(sent('request_id'), 'request_id');
  if (sentId !== undefined && requestIdHeader !== undefined && sentId !== requestIdHeader)
    reader.invalid('request_id', 'must be the same in header and body');
  const limits = { minimum: 1, maximum: maxCampaignsPerPage[version] };
  return {
    requestId: sentId ?? requestIdHeader,
    limit: reader.integer(sent('limit'), 'limit', limits) ?? 1,
    page: reader.integer(sent('page'), 'page', { minimum: 1, maximum: lastPage }) ?? 1,
  };
}

type Filters = Omit<CampaignSearch, 'children' | 'archived'>;

/**
 * The keys that were renamed are those of the version alone; the other version's are unknown (interface 9, decision
 * D42).
 */
function readFilters(reader: CampaignReader, fields: Body, { version, versioning }: SearchDialect): Filters {
  const at = (key: string): string => `campaign_fields.${key}`;
  const types = [...campaignDeliveryTypes, ...otherDeliveryTypes] as const;
  const isV1 = version === 'V1';
  const typesKey = isV1 ? 'delivery_type' : 'campaign_delivery_type';
  const id = isV1 ? reader.text(fields.id, at('id')) : undefined;
  const v1Ids = id === undefined ? undefined : [id];
  const dates = reader.record(fields.created_date, at('created_date'));
  const from = reader.moment(dates?.from_date, at('created_date.from_date'));
  const to = reader.moment(dates?.to_date, at('created_date.to_date'));
  if (from && to && from.startsAt >= to.endsBefore) reader.invalid(at('created_date'), 'ends before it begins');
  return {
    ids: isV1 ? v1Ids : reader.texts(fields.ids, at('ids')),
    channels: reader.choices(fields.channels, at('channels'), campaignChannels),
    createdBy: reader.texts(fields.created_by, at('created_by')),
    createdFrom: from?.startsAt,
    createdBefore: to?.endsBefore,
    deliveryTypes: reader.choices(fields[typesKey], at(typesKey), types),
    name: reader.text(fields.name, at('name')),
    statuses: reader.choices(fields.status, at('status'), campaignStatuses),
    tags: reader.texts(fields.tags, at('tags')),
    versionNumber:
      isV1 || versioning === 'off'
        ? undefined
        : reader.integer(fields.version_number, at('version_number'), { minimum: 1, maximum: 1_000_000 }),
  };
}
