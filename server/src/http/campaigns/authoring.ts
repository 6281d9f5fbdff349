import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { partNames } from '../../domain/campaign-document/campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { statusActions } from '../../domain/campaigns/campaign.ts';
import type { StatusAction, SearchVersion } from '../../domain/campaigns/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxActedCampaigns } from '../../domain/limits/campaigns.ts';
import { isObject } from '../../fields/request-reader.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { findUnstorable, unstorable } from '../../domain/storable-text.ts';
import { text, named } from '../openapi/shapes.ts';
import { makeCampaignReader, optionalText, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { campaignPartShapes } from './document-shapes.ts';

const ownParts = ['channel', 'campaign_delivery_type', 'connector', 'sender_name', ...partNames];

/**
 * Returns the members of a body that are parts of a campaign; the domain parses them. They are stored as sent; those of a
 * draft are not validated.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID for values that cannot be stored
 */
export function takeParts(body: Body): CampaignParts {
  const parts = Object.fromEntries(ownParts.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
  const field = findUnstorable(parts);
  if (field !== undefined)
    throw new ServiceError('CAMPAIGN_REQUEST_INVALID', {
      faults: [{ field, reason: unstorable }],
      detail: `${field}: ${unstorable}`,
    });
  return parts;
}

const required: Record<SearchVersion, readonly string[]> = {
  V1: [
    'request_id',
    'channel',
    'campaign_delivery_type',
    'created_by',
    'basic_details',
    'campaign_content',
    'segmentation_details',
    'scheduling_details',
    'delivery_controls',
    'advanced',
  ],
  V5: ['channel', 'campaign_delivery_type', 'created_by'],
};

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseCreate(body: Body, asked: { version: SearchVersion; requestIdHeader?: string | undefined }) {
  const reader = makeCampaignReader(body);
  for (const name of required[asked.version]) reader.requires(name);
  const requestId = readRequestId(reader, asked.requestIdHeader);
  const createdBy = optionalText(reader, 'created_by');
  refuseFaults(reader);
  return { parts: takeParts(body), createdBy: createdBy!, requestId };
}

const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/;

/**
 * Appends the UTC offset to V1's times: they are in UTC (fact 6.2), while those of a stored campaign are in its zone. A
 * campaign created through V1 has the zone UTC; one changed through V1 keeps its own.
 */
export function withUtcTimes(parts: CampaignParts, zone: 'UTC' | 'its own'): CampaignParts {
  const details = parts.scheduling_details;
  if (!isObject(details)) return parts;
  const { timezone: _unknown, ...rest } = details;
  const times = ['start_time', 'expiry_time'].flatMap((name) => {
    const sent = rest[name];
    return typeof sent === 'string' && sent !== '' && !hasOffset.test(sent) ? [[name, `${sent}Z`]] : [];
  });
  const zoned = zone === 'UTC' ? { timezone: 'UTC' } : {};
  return { ...parts, scheduling_details: { ...rest, ...Object.fromEntries(times), ...zoned } };
}

export type ChangeAsked = { change: CampaignParts; updatedBy: string | undefined; requestId: string | undefined };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseChange(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): ChangeAsked {
  const reader = makeCampaignReader(body);
  if (version === 'V1') for (const name of ['request_id', 'updated_by']) reader.requires(name);
  const requestId = readRequestId(reader, requestIdHeader);
  const updatedBy = optionalText(reader, 'updated_by');
  refuseFaults(reader);
  return { change: takeParts(body), updatedBy, requestId };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseV5Status(body: Body, requestIdHeader: string | undefined): StatusAction {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  const action = readAction(reader, 'V5');
  refuseFaults(reader);
  return action!;
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseV1Status(body: Body): { action: Exclude<StatusAction, 'PUBLISH'>; ids: string[] } {
  const reader = makeCampaignReader(body);
  reader.requires('request_id');
  readRequestId(reader, undefined);
  const action = readAction(reader, 'V1');
  reader.requires('campaign_ids');
  const ids = reader.texts('campaign_ids');
  if (ids && ids.length > maxActedCampaigns)
    reader.invalid('campaign_ids', `must be a list of 1 to ${maxActedCampaigns} texts`);
  refuseFaults(reader);
  return { action: action as Exclude<StatusAction, 'PUBLISH'>, ids: ids! };
}

function readAction(reader: RequestReader, version: SearchVersion): StatusAction | undefined {
  return reader.requires('action') ? reader.choice('action', statusActions[version]) : undefined;
}

/** V5 also accepts the id of the request in a header; both must agree (fact 4.1). */
export function readRequestId(reader: RequestReader, requestIdHeader: string | undefined): string | undefined {
  const sent = optionalText(reader, 'request_id');
  if (sent !== undefined && requestIdHeader !== undefined && sent !== requestIdHeader)
    reader.invalid('request_id', 'must be the same in header and body');
  return sent ?? requestIdHeader;
}

/* Bodies and responses of campaign authoring (fact 6). They document the fields; the parsers implement the rules. */

/** The members that V1 requires of every campaign, even where they are empty. */
const v1Parts = Type.Required(
  Type.Pick(Type.Object(campaignPartShapes), [
    'basic_details',
    'campaign_content',
    'segmentation_details',
    'scheduling_details',
    'delivery_controls',
    'advanced',
  ]),
).properties;

const optionalParts = {
  ...campaignPartShapes,
  channel: Type.Optional(campaignPartShapes.channel),
  campaign_delivery_type: Type.Optional(campaignPartShapes.campaign_delivery_type),
};

export const v5CreateBody = named(
  'CampaignDraftRequest',
  Type.Object({
    request_id: text(),
    ...campaignPartShapes,
    created_by: Type.String(),
  }),
);
export const v5ChangeBody = named(
  'CampaignDraftChange',
  Type.Object({ request_id: text(), ...optionalParts, updated_by: text() }),
);
export const v5StatusBody = named(
  'CampaignStatusRequestV5',
  Type.Object({
    request_id: text(),
    action: Type.String({ description: 'STOP, PAUSE, RESUME, or PUBLISH for a draft' }),
  }),
);

const shownVariant = {
  locale_name: text('default or a language of the campaign; absent: each person’s own'),
  variation: Type.Optional(Type.Unsafe<unknown>({ description: 'variation_1, variation_2 …; absent: variation_1' })),
};
const testMeta = named(
  'CampaignTestMeta',
  Type.Object({
    identifier: Type.String({ description: 'USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute' }),
    identifier_values: Type.Array(Type.String(), { description: 'At most ten' }),
    platform: text(),
    ...shownVariant,
  }),
);
const refused = Type.Optional(Type.Unsafe<unknown>({ type: 'object', description: 'Refused' }));
const testBody = { ...optionalParts, test_campaign_meta: testMeta, personalization_details: refused };
export const v5TestBody = named(
  'CampaignTestRequestV5',
  Type.Object({
    request_id: text(),
    draft_id: text('Instead of campaign_content'),
    ...testBody,
  }),
);
export const v5PreviewBody = named(
  'CampaignPreviewRequest',
  Type.Object({
    draft_id: text('Instead of campaign_content'),
    channel: optionalParts.channel,
    basic_details: optionalParts.basic_details,
    campaign_content: optionalParts.campaign_content,
    platform: text('One of the campaign’s; every one when absent'),
    ...shownVariant,
    identifier: Type.String({ description: 'USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute' }),
    identifier_value: Type.String(),
    event_attributes: Type.Optional(
      Type.Unsafe<unknown>({ type: 'object', description: 'What a firing of the business event would say' }),
    ),
  }),
);
export const v1TestBody = named('CampaignTestRequestV1', Type.Object({ request_id: Type.String(), ...testBody }));

export const v1CreateBody = named(
  'CampaignRequestV1',
  Type.Object({
    request_id: Type.String(),
    ...campaignPartShapes,
    ...v1Parts,
    created_by: Type.String(),
  }),
);
export const v1ChangeBody = named(
  'CampaignChangeV1',
  Type.Object({ request_id: Type.String(), ...optionalParts, updated_by: Type.String() }),
);
export const v1StatusBody = named(
  'CampaignStatusRequestV1',
  Type.Object({
    request_id: Type.String(),
    action: Type.String({ description: 'STOP, PAUSE or RESUME' }),
    campaign_ids: Type.Array(Type.String(), { description: '1 to 10' }),
  }),
);

const v5Answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('campaign'), data: Type.Object(data) });
export const v5CreateAnswer = named(
  'CampaignDraftAnswer',
  v5Answer({ id: Type.String(), status: Type.Literal('DRAFT') }),
);
export const v5ChangeAnswer = named('CampaignChangedAnswer', v5Answer({ id: Type.String() }));
export const v5ValidateAnswer = named(
  'CampaignValidation',
  v5Answer({
    valid: Type.Boolean(),
    errors: Type.Array(Type.Object({ field: Type.String(), issue: Type.String() })),
  }),
);
export const v5PreviewAnswer = named(
  'CampaignPreview',
  v5Answer({
    customer_id: Type.String(),
    platforms: Type.Record(
      Type.String(),
      Type.Object({
        outcome: Type.String({ description: 'RENDERED, FALLBACK or FAILED' }),
        language: text('Of the locales; absent: the texts for everybody else'),
        content: Type.Optional(Type.Unsafe<unknown>({ type: 'object', description: 'As in campaign_content' })),
        failure: Type.Optional(Type.Object({ field: Type.String(), cause: Type.String(), reason: Type.String() })),
      }),
    ),
  }),
);
export const v5StatusAnswer = named('CampaignStatusAnswer', v5Answer({ id: Type.String(), action: Type.String() }));

const testResults = Type.Record(
  Type.String(),
  Type.Object({ status: Type.String({ description: 'success or failed' }), failure_reason: text() }),
);
export const v1TestAnswer = named('CampaignTestAnswerV1', Type.Object({ data: testResults, message: Type.String() }));
export const v5TestAnswer = named(
  'CampaignTestAnswerV5',
  Type.Object({
    response_id: Type.String(),
    type: Type.Literal('campaign'),
    data: testResults,
  }),
);
export const v1CreateAnswer = named('CampaignCreatedV1', Type.Object({ campaign_id: Type.String() }));

export const v1StatusAnswer = named('CampaignsChangedV1', Type.Object({}));

const metaRow = {
  campaign_id: Type.String(),
  channel: Type.String(),
  platform: Type.Array(Type.String()),
  created_by: Type.String(),
  campaign_delivery_type: Type.String(),
  campaign_name: Type.String(),
  campaign_team: Type.String(),
  campaign_tags: Type.Array(Type.String()),
  campaign_status: Type.String(),
  campaign_start_time: Type.String(),
  parent_campaign_id: text(),
  total_child_campaigns: Type.Integer(),
  reachability_details: Type.Optional(Type.Object({ count: Type.Integer(), last_updated_time: Type.String() })),
};
export const v1MetaAnswer = named('CampaignMetaListV1', Type.Array(Type.Object(metaRow)));
export const v5MetaAnswer = named(
  'CampaignMetaListV5',
  v5Answer({
    campaigns: Type.Array(Type.Object({ ...metaRow, version_number: Type.Optional(Type.Integer()) })),
  }),
);
