import { partNames } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import { statusActions } from '../../domain/campaigns/allowed-actions.ts';
import type { StatusAction } from '../../domain/campaigns/allowed-actions.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import { makeCampaignReader } from './campaign-reader.ts';
import type { Body, CampaignReader } from './campaign-reader.ts';

const ownParts = ['channel', 'campaign_delivery_type', 'connector', 'sender_name', ...partNames];

/** The members of a body that are parts of a campaign; the reading of them is the domain's. */
export function takeParts(body: Body): CampaignParts {
  return Object.fromEntries(ownParts.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
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

export type CreateAsked = { parts: CampaignParts; createdBy: string; requestId: string | undefined };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseCreate(body: Body, asked: { version: SearchVersion; requestIdHeader?: string | undefined }) {
  const reader = makeCampaignReader();
  for (const field of required[asked.version]) if (isAbsent(body[field])) reader.missing(field);
  const requestId = readRequestId(reader, body, asked.requestIdHeader);
  const createdBy = isAbsent(body.created_by) ? undefined : reader.text(body.created_by, 'created_by');
  reader.throwFaults();
  return { parts: takeParts(body), createdBy: createdBy!, requestId };
}

export type ChangeAsked = { change: CampaignParts; updatedBy: string | undefined; requestId: string | undefined };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseChange(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): ChangeAsked {
  const reader = makeCampaignReader();
  if (version === 'V1')
    for (const field of ['request_id', 'updated_by']) if (isAbsent(body[field])) reader.missing(field);
  const requestId = readRequestId(reader, body, requestIdHeader);
  const updatedBy = isAbsent(body.updated_by) ? undefined : reader.text(body.updated_by, 'updated_by');
  reader.throwFaults();
  return { change: takeParts(body), updatedBy, requestId };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseV5Status(body: Body, requestIdHeader: string | undefined): StatusAction {
  const reader = makeCampaignReader();
  readRequestId(reader, body, requestIdHeader);
  const action = readAction(reader, body, 'V5');
  reader.throwFaults();
  return action!;
}

const maxIds = 10;

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseV1Status(body: Body): { action: Exclude<StatusAction, 'PUBLISH'>; ids: string[] } {
  const reader = makeCampaignReader();
  if (isAbsent(body.request_id)) reader.missing('request_id');
  readRequestId(reader, body, undefined);
  const action = readAction(reader, body, 'V1');
  if (isAbsent(body.campaign_ids)) reader.missing('campaign_ids');
  const ids = reader.texts(body.campaign_ids, 'campaign_ids');
  if (ids && ids.length > maxIds) reader.invalid('campaign_ids', `must be a list of 1 to ${maxIds} texts`);
  reader.throwFaults();
  return { action: action as Exclude<StatusAction, 'PUBLISH'>, ids: ids! };
}

function readAction(reader: CampaignReader, body: Body, version: SearchVersion): StatusAction | undefined {
  if (isAbsent(body.action)) {
    reader.missing('action');
    return undefined;
  }
  return reader.choices([body.action], 'action', statusActions[version])?.[0];
}

/** V5 takes the id of the request from a header, too; both must agree (fact 4.1). */
export function readRequestId(
  reader: CampaignReader,
  body: Body,
  requestIdHeader: string | undefined,
): string | undefined {
  const sent = isAbsent(body.request_id) ? undefined : reader.text(body.request_id, 'request_id');
  if (sent !== undefined && requestIdHeader !== undefined && sent !== requestIdHeader)
    reader.invalid('request_id', 'must be the same in header and body');
  return sent ?? requestIdHeader;
}

/** An empty text is a missing field, as in the other families. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
