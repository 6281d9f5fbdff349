import { partNames } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import { statusActions } from '../../domain/campaigns/allowed-actions.ts';
import type { StatusAction } from '../../domain/campaigns/allowed-actions.ts';
import { ServiceError } from '../../domain/errors.ts';
import { findUnstorable, unstorable } from '../../domain/storable-text.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { makeCampaignReader, optionalText, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { maxActedCampaigns } from '../../domain/campaigns/limits.ts';

const ownParts = ['channel', 'campaign_delivery_type', 'connector', 'sender_name', ...partNames];

/**
 * The members of a body that are parts of a campaign; the reading of them is the domain's. They are stored as they came,
 * those of a draft whatever they say.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID for what cannot be stored
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

/** V5 takes the id of the request from a header, too; both must agree (fact 4.1). */
export function readRequestId(reader: RequestReader, requestIdHeader: string | undefined): string | undefined {
  const sent = optionalText(reader, 'request_id');
  if (sent !== undefined && requestIdHeader !== undefined && sent !== requestIdHeader)
    reader.invalid('request_id', 'must be the same in header and body');
  return sent ?? requestIdHeader;
}
