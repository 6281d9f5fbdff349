import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { campaignDocument, partNames } from '../../domain/campaign-document/campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import {
  campaignChannels,
  campaignDeliveryTypes,
  otherDeliveryTypes,
  statusActions,
} from '../../domain/campaigns/campaign.ts';
import type { StatusAction, SearchVersion } from '../../domain/campaigns/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxActedCampaigns } from '../../domain/limits/campaigns.ts';
import { required, text, texts, unlessEmpty, word } from '../../fields/combinators.ts';
import { reading, schemaOf, schemaRequiring } from '../../fields/field.ts';
import { isObject } from '../../fields/request-reader.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { findUnstorable, unstorable } from '../../domain/storable-text.ts';
import { codeShape, named, text as textShape } from '../openapi/shapes.ts';
import { makeCampaignReader, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';

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

/** Who made or changed the campaign: a name that the caller chooses. */
const author = unlessEmpty(text());
const requestId = unlessEmpty(text());

const createMembers = { request_id: requestId, ...campaignDocument, created_by: author };
const changeMembers = { request_id: requestId, ...campaignDocument, updated_by: author };

/** Required of every campaign that is created. V1 requires parts even where they are empty. */
const requiredToCreate: Record<SearchVersion, readonly (keyof typeof createMembers)[]> = {
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

export const v1CreateBody = schemaRequiring(createMembers, { title: 'CampaignRequestV1', names: requiredToCreate.V1 });
export const v5CreateBody = schemaRequiring(createMembers, {
  title: 'CampaignDraftRequest',
  names: requiredToCreate.V5,
});

const requiredToChange: Record<SearchVersion, readonly (keyof typeof changeMembers)[]> = {
  V1: ['request_id', 'updated_by'],
  V5: [],
};

export const v1ChangeBody = schemaRequiring(changeMembers, { title: 'CampaignChangeV1', names: requiredToChange.V1 });
export const v5ChangeBody = schemaRequiring(changeMembers, {
  title: 'CampaignDraftChange',
  names: requiredToChange.V5,
});

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseCreate(body: Body, asked: { version: SearchVersion; requestIdHeader?: string | undefined }) {
  const reader = makeCampaignReader(body);
  for (const name of requiredToCreate[asked.version]) reader.requires(name);
  const id = readRequestId(reader, asked.requestIdHeader);
  const createdBy = author.read(reader, 'created_by');
  refuseFaults(reader);
  return { parts: takeParts(body), createdBy: createdBy!, requestId: id };
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
  for (const name of requiredToChange[version]) reader.requires(name);
  const id = readRequestId(reader, requestIdHeader);
  const updatedBy = author.read(reader, 'updated_by');
  refuseFaults(reader);
  return { change: takeParts(body), updatedBy, requestId: id };
}

const v1StatusMembers = {
  request_id: required(requestId),
  action: required(unlessEmpty(word(statusActions.V1, 'STOP, PAUSE or RESUME'))),
  campaign_ids: required(texts({ description: '1 to 10' })),
};
const v5StatusMembers = {
  request_id: requestId,
  action: required(unlessEmpty(word(statusActions.V5, 'STOP, PAUSE, RESUME, or PUBLISH for a draft'))),
};

export const v1StatusBody = schemaOf(v1StatusMembers, { title: 'CampaignStatusRequestV1' });
export const v5StatusBody = schemaOf(v5StatusMembers, { title: 'CampaignStatusRequestV5' });

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseV5Status(body: Body, requestIdHeader: string | undefined): StatusAction {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  const action = v5StatusMembers.action.read(reader, 'action');
  refuseFaults(reader);
  return action!;
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseV1Status(body: Body): { action: Exclude<StatusAction, 'PUBLISH'>; ids: string[] } {
  const reader = makeCampaignReader(body);
  const read = reading(reader, v1StatusMembers);
  read('request_id');
  const action = read('action');
  const ids = read('campaign_ids');
  if (ids && ids.length > maxActedCampaigns)
    reader.invalid('campaign_ids', `must be a list of 1 to ${maxActedCampaigns} texts`);
  refuseFaults(reader);
  return { action: action!, ids: ids! };
}

/** V5 also accepts the id of the request in a header; both must agree (fact 4.1). */
export function readRequestId(reader: RequestReader, requestIdHeader: string | undefined): string | undefined {
  const sent = requestId.read(reader, 'request_id');
  if (sent !== undefined && requestIdHeader !== undefined && sent !== requestIdHeader)
    reader.invalid('request_id', 'must be the same in header and body');
  return sent ?? requestIdHeader;
}

/* Responses of campaign authoring (fact 6). */

export const v5Answer = (data: TProperties) =>
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
export const v5StatusAnswer = named('CampaignStatusAnswer', v5Answer({ id: Type.String(), action: Type.String() }));

export const v1CreateAnswer = named('CampaignCreatedV1', Type.Object({ campaign_id: Type.String() }));

export const v1StatusAnswer = named('CampaignsChangedV1', Type.Object({}));

const metaRow = {
  campaign_id: Type.String(),
  channel: codeShape(campaignChannels, 'The channel of the campaign'),
  platform: Type.Array(Type.String()),
  created_by: Type.String(),
  campaign_delivery_type: codeShape([...campaignDeliveryTypes, ...otherDeliveryTypes], 'How the campaign is started'),
  campaign_name: Type.String(),
  campaign_team: Type.String(),
  campaign_tags: Type.Array(Type.String()),
  campaign_status: Type.String(),
  campaign_start_time: Type.String(),
  parent_campaign_id: textShape(),
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
