import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import {
  campaignChannels,
  campaignDeliveryTypes,
  otherDeliveryTypes,
  campaignStatuses,
} from '../../domain/campaigns/campaign.ts';
import type { CampaignSearch, SearchVersion } from '../../domain/campaigns/campaign.ts';
import { maxCampaignsPerPage } from '../../domain/limits/campaigns.ts';
import {
  choices,
  flag,
  part,
  readWith,
  text,
  texts,
  unlessEmpty,
  whole,
  wholeFrom,
  word,
} from '../../fields/combinators.ts';
import { reading, schemaRequiring } from '../../fields/field.ts';
import type { Description, Fields } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { parseIsoTime } from '../../domain/timing/iso-time.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { isAbsent } from '../route/json-body.ts';
import { readRequestId } from './authoring.ts';
import { makeCampaignReader, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { campaignV1Errors } from './v1-answers.ts';
import { campaignV5Errors } from './v5-answers.ts';

export type PageAsked = { requestId: string | undefined; limit: number; page: number };
export type SearchAsked = PageAsked & { search: CampaignSearch };

/** The request format of a version (fact 4.2). */
export type SearchDialect = {
  version: SearchVersion;
  versioning: 'on' | 'off';
  /** V5 also accepts the id of the request in a header; both must agree (fact 4.1). */
  requestIdHeader?: string | undefined;
};

const bound = readWith<Bound>(text(), readBound);
const createdDate = { from_date: bound, to_date: bound };

const typeNames = [...campaignDeliveryTypes, ...otherDeliveryTypes] as const;
const typesDescription = `${campaignDeliveryTypes.join(', ')}; other documented types find no campaign`;
const deliveryTypes = choices(typeNames, typesDescription);

const sameFilters = {
  channels: choices(campaignChannels, `${campaignChannels.join(', ')}; V1 finds no SMS, V5 only when asked`),
  created_by: texts({ description: 'Names of keys or people, any of them' }),
  created_date: part(createdDate, {
    description: 'YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, UTC unless it has an offset; both ends are included',
  }),
  name: text({ description: 'A part of the name, in any case' }),
  status: choices(campaignStatuses, campaignStatuses.join(', ')),
  tags: texts({ description: 'Any of them' }),
};

/** Only the version's own spelling of renamed keys is known (interface 9, decision D42). */
const v1Filters = { ...sameFilters, id: text(), delivery_type: deliveryTypes };
const v5Filters = {
  ...sameFilters,
  ids: texts({ description: 'At most 100' }),
  campaign_delivery_type: deliveryTypes,
};
const versionFilter = { version_number: whole(1, 1_000_000, 'Only with campaign versioning') };
/** The filters of V5's light list (fact 4.7). */
const metaFilters = { ...sameFilters, id: text(), delivery_type: word(typeNames, typesDescription), ...versionFilter };

// More than any number of campaigns; a page after the last is empty.
const lastPage = 1_000_000_000;

const pageMembers = (version: SearchVersion) => ({
  request_id: text(),
  limit: unlessEmpty(whole(1, maxCampaignsPerPage[version])),
  page: unlessEmpty(wholeFrom(1, { max: lastPage, description: 'From 1' })),
});
const pages = { V1: pageMembers('V1'), V5: pageMembers('V5') };

const requiredOfPage = { V1: ['request_id', 'limit', 'page'], V5: ['limit', 'page'] } as const;

const searchFlags = {
  include_child_campaigns: flag('Runs of recurring campaigns, with `parent_id`'),
  include_archive_campaigns: flag(),
};

const searchBody = (version: SearchVersion, filters: Fields, named: Description = {}) =>
  schemaRequiring(
    { ...pages[version], ...searchFlags, campaign_fields: part(filters) },
    { ...named, names: requiredOfPage[version] },
  );

export const v1SearchBody = searchBody('V1', v1Filters, { title: 'CampaignSearchV1' });
export const v5SearchBody = searchBody('V5', { ...v5Filters, ...versionFilter }, { title: 'CampaignSearchV5' });
/** The body of a workspace without campaign versioning (interface 2.12). */
export const v5SearchBodyWithoutVersions = searchBody('V5', v5Filters);
export const v5MetaBody = searchBody('V5', metaFilters, { title: 'CampaignMetaSearchV5' });
export const v1PageBody = schemaRequiring(pages.V1, { title: 'ExecutionsPageV1', names: requiredOfPage.V1 });
export const v5PageBody = schemaRequiring(pages.V5, { title: 'ExecutionsPageV5', names: requiredOfPage.V5 });

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function parseSearch(body: Body, dialect: SearchDialect): SearchAsked {
  const reader = makeCampaignReader(body);
  const page = readPage(reader, dialect);
  const read = reading(reader, searchFlags);
  const children = read('include_child_campaigns');
  const archived = read('include_archive_campaigns');
  const filters = readFilters(reader.part('campaign_fields'), dialect);
  refuseFaults(reader);
  return {
    ...page,
    search: { ...filters, children: children ? 'with' : 'without', archived: archived ? 'with' : 'without' },
  };
}

/**
 * Parses the body of the light list, which has the filters of a search. Both versions accept one id, as a text. V5 accepts
 * one delivery type, as a text under V1's name (fact 4.7).
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults
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

function readPage(reader: RequestReader, { version, requestIdHeader }: SearchDialect): PageAsked {
  for (const name of requiredOfPage[version]) reader.requires(name);
  const read = reading(reader, pages[version]);
  return {
    requestId: readRequestId(reader, requestIdHeader),
    limit: read('limit') ?? 1,
    page: read('page') ?? 1,
  };
}

type Filters = Omit<CampaignSearch, 'children' | 'archived'>;

function readFilters(fields: RequestReader, { version, versioning }: SearchDialect): Filters {
  const read = reading(fields, { ...v1Filters, ...v5Filters, ...versionFilter });
  const isV1 = version === 'V1';
  const id = isV1 ? read('id') : undefined;
  const v1Ids = id === undefined ? undefined : [id];
  const readDate = reading(fields.part('created_date'), createdDate);
  const from = readDate('from_date');
  const to = readDate('to_date');
  if (from && to && from.startsAt >= to.endsBefore) fields.invalid('created_date', 'ends before it begins');
  return {
    ids: isV1 ? v1Ids : read('ids'),
    channels: read('channels'),
    createdBy: read('created_by'),
    createdFrom: from?.startsAt,
    createdBefore: to?.endsBefore,
    deliveryTypes: read(isV1 ? 'delivery_type' : 'campaign_delivery_type'),
    name: read('name'),
    statuses: read('status'),
    tags: read('tags'),
    versionNumber: isV1 || versioning === 'off' ? undefined : read('version_number'),
  };
}

const dayMilliseconds = 86_400_000;

type Bound = { startsAt: Date; endsBefore: Date };

/** Returns the beginning of a day or an instant, and the first millisecond after it. */
function readBound(dates: RequestReader, name: string): Bound | undefined {
  const value = dates.get(name);
  if (value === undefined) return undefined;
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
  const startsAt = time && (time.kind === 'day' ? time.startsAt : time.at);
  // A database can store these years plus one day, and no campaign is older.
  if (startsAt && startsAt.getUTCFullYear() >= 1970 && startsAt.getUTCFullYear() < 9999)
    return { startsAt, endsBefore: new Date(startsAt.getTime() + (time.kind === 'day' ? dayMilliseconds : 1)) };
  dates.invalid(name, 'must be a date (YYYY-MM-DD) or a date and time (YYYY-MM-DDThh:mm:ss)');
  return undefined;
}

/* Responses of campaign search. */

const recordPart = (description: string) => Type.Optional(Type.Unsafe<unknown>({ type: 'object', description }));

/** Upper-case in both versions (decision D44). */
const shownStatuses = campaignStatuses.filter((status) => (status as string) !== 'QUEUED');

const statusReason = Type.Optional(
  Type.String({
    description:
      'The reason for FAILED, PAUSED, STOPPED or MISSED, or the reason why a SENDING campaign waits; otherwise absent',
  }),
);

const record = {
  status: codeShape(shownStatuses, 'A run that waits in the queue is SCHEDULED'),
  status_reason: statusReason,
  channel: codeShape(campaignChannels, 'Includes SMS campaigns if requested'),
  campaign_delivery_type: codeShape(typeNames, 'How the campaign is started'),
  created_by: Type.String(),
  updated_by: Type.Optional(Type.String({ description: 'The last editor' })),
  created_at: Type.String({ description: 'UTC: 2024-07-04 08:00:54.847000' }),
  updated_at: Type.String(),
  sent_time: Type.Optional(Type.String()),
  planned_time: Type.Optional(
    Type.String({ description: 'The time at which a child was due, or at which a FAILED campaign was due and missed' }),
  ),
  parent_id: Type.Optional(Type.String({ description: 'Children only' })),
  basic_details: recordPart('name, platforms, tags'),
  campaign_content: recordPart('The content for each platform'),
  segmentation_details: recordPart('The audience'),
  scheduling_details: recordPart('The schedule'),
  advanced: recordPart('Priorities and time to live'),
  conversion_goal_details: recordPart('Goals'),
};

const v1Campaign = named('CampaignV1', Type.Object({ campaign_id: Type.String(), ...record }));
export const v1SearchAnswer = named(
  'CampaignsFoundV1',
  Type.Union([
    Type.Object({ total_count: Type.Integer(), campaigns: Type.Array(v1Campaign) }),
    Type.Array(v1Campaign, {
      description:
        'The default form; a setting of the workspace selects the object. X-Total-Count has the total number',
    }),
  ]),
);

const v5Campaign = named(
  'CampaignV5',
  Type.Object({
    id: Type.String(),
    campaign_id: Type.String({ description: 'Shared by all versions' }),
    version_number: Type.Optional(Type.Integer({ description: 'Only with campaign versioning' })),
    ...record,
  }),
);

const envelope = (data: TSchema) => Type.Object({ response_id: Type.String(), type: Type.Literal('campaign'), data });
export const v5SearchAnswer = named('CampaignsFoundV5', envelope(Type.Object({ campaigns: Type.Array(v5Campaign) })));
export const v5CampaignAnswer = named('CampaignAnswerV5', envelope(v5Campaign));

const executionStatuses = ['SCHEDULED', 'SENDING', 'PAUSED', 'SENT', 'FAILED', 'STOPPED', 'MISSED'] as const;
const execution = {
  campaign_id: Type.String(),
  sent_time: Type.Union([Type.String(), Type.Null()], {
    description: 'As in 2024-06-24T14:30:18.908000; null if not sent yet',
  }),
  status: codeShape(executionStatuses, 'The state of the run'),
  status_reason: statusReason,
  planned_time: Type.Optional(
    Type.String({
      description: 'The time at which it was due, in the format of `sent_time`; absent if an event started it',
    }),
  ),
};
export const v1ExecutionsAnswer = named(
  'ExecutionsV1',
  Type.Object({
    executions: Type.Array(Type.Object(execution)),
    total_instances: Type.Integer(),
  }),
);
export const v5ExecutionsAnswer = named(
  'ExecutionsV5',
  envelope(
    Type.Object({
      executions: Type.Array(Type.Object({ id: Type.String(), ...execution })),
      total_instances: Type.Integer(),
    }),
  ),
);

const detail = { target: Type.String(), message: Type.String() };
export const v1CampaignError = named(
  'CampaignErrorV1',
  Type.Object({
    error: Type.Object({
      code: codeShape(
        [...Object.values(campaignV1Errors).map(({ code }) => code), '500 Internal Server Error'],
        'The status in words',
      ),
      message: Type.String(),
      target: Type.String({ description: 'The subject; empty if there is none' }),
      details: Type.Array(Type.Object({ code: Type.Optional(Type.String()), ...detail })),
      request_id: Type.String({ description: 'As sent; empty if the request had none' }),
    }),
  }),
);
export const v5CampaignError = named(
  'CampaignErrorV5',
  Type.Object({
    response_id: Type.String({ description: 'Identifies this call in the API log' }),
    error: Type.Object({
      code: codeShape(
        [...Object.values(campaignV5Errors).map(({ code }) => code), 'INTERNAL_ERROR'],
        'The kind of error',
      ),
      message: Type.String(),
      target: Type.Optional(Type.String()),
      details: Type.Array(Type.Object(detail)),
      request_id: Type.Optional(Type.String()),
    }),
  }),
);
