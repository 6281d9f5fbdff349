import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  ExecutionsAnswer,
  CampaignRecord,
  SearchSettings,
  CampaignMeta,
} from '../../app/campaigns/search-campaigns.ts';
import type { ServiceError } from '../../domain/errors.ts';
import { bodyErrors, declareErrors, routeErrors, setErrorHeaders, statusConstant } from '../route/dialect-errors.ts';
import { isGatewayError, presentGatewayError } from '../route/gateway-errors.ts';
import { makeRequestId } from '../route/route.ts';
import {
  presentCampaign,
  presentExecution,
  presentV5Schedule,
  spacedTime,
  presentStatus,
  presentV1Schedule,
} from './record.ts';

/** The codes that are not the reason phrase of their status. */
const codes: Partial<Record<number, string>> = { 409: 'BAD_REQUEST', 429: 'RATE_LIMITED' };

/** Statuses and codes of V5 (fact 4.5); the message is the registry's text. */
export const campaignV5Errors = declareErrors<{ code: string }>(
  {
    CAMPAIGN_REQUEST_INVALID: { code: 'VALIDATION_FAILED' },
    CAMPAIGN_CREDENTIALS_MISSING: {},
    CAMPAIGN_CREDENTIALS_INVALID: {},
    CAMPAIGN_WORKSPACE_MISMATCH: {},
    CAMPAIGN_KEY_NOT_ALLOWED: {},
    CAMPAIGN_NOT_FOUND: {},
    CAMPAIGN_WITHOUT_EXECUTIONS: {},
    CAMPAIGN_NOT_DRAFT: {},
    CAMPAIGN_ACTION_INVALID: { status: 422 },
    CAMPAIGN_RATE_LIMITED: {},
    CAMPAIGN_CREATION_LIMITED: {},
    IDEMPOTENCY_KEY_INVALID: {},
    IDEMPOTENCY_CONFLICT: {},
    EVENT_STREAM_NOT_FOUND: {},
    EVENT_STREAM_LIMITED: {},
    JOURNEY_NOT_FOUND: {},
    JOURNEY_USER_NOT_FOUND: {},
    JOURNEY_NAME_TAKEN: {},
    JOURNEY_LIMITED: {},
    JOURNEY_ACTION_INVALID: {},
    JOURNEY_USERS_AT_STEP: {},
    BUSINESS_EVENT_NOT_FOUND: {},
    BUSINESS_EVENT_WITHOUT_CAMPAIGNS: {},
    BUSINESS_EVENT_ATTRIBUTE_WRONG: { code: 'VALIDATION_FAILED' },
  },
  {
    shared: [...bodyErrors, 'MEDIA_TYPE_MISSING', ...routeErrors],
    wireOf: (status) => ({ code: codes[status] ?? statusConstant(status) }),
  },
);

/** Sends `{"response_id", "error": {"code", "message", "target"?, "details", "request_id"?}}`. */
export function presentV5Error(
  error: ServiceError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = campaignV5Errors[error.code];
  const status = wire?.status ?? 500;
  setErrorHeaders(error, { reply, status });
  const { faults = [], field } = error.context;
  const target = faults[0]?.field ?? field;
  const sentId = (request.body as { request_id?: unknown } | null | undefined)?.request_id;
  return reply.code(status).send({
    response_id: makeRequestId(),
    error: {
      code: wire?.code ?? 'INTERNAL_ERROR',
      message: wire ? error.message : 'Internal server error.',
      ...(target === undefined ? {} : { target }),
      details: faults.map((fault) => ({
        target: fault.field,
        message: `${fault.field} ${fault.reason === 'missing' ? 'is required' : fault.reason}.`,
      })),
      ...(typeof sentId === 'string' ? { request_id: sentId.slice(0, 256) } : {}),
    },
  });
}

/** Wraps data in the documented envelope (fact 4.3). */
export function presentV5<Data>(data: Data) {
  return { response_id: makeRequestId(), type: 'campaign' as const, data };
}

/** Presents the document's own id and the canonical one, and the version if the workspace has versioning (interface 2.12). */
export function presentV5Campaign(campaign: CampaignRecord, versioning: SearchSettings['versioning']) {
  const { id, campaignId, versionNumber } = campaign;
  return {
    id,
    campaign_id: campaignId,
    ...(versioning === 'on' ? { version_number: versionNumber ?? 1 } : {}),
    ...presentCampaign(campaign),
    ...presentV5Schedule(campaign.timing),
  };
}

/** Presents a row of the light list, with the version if the workspace has versioning. */
export function presentV5Meta(listed: ListedCampaign, versioning: SearchSettings['versioning']) {
  const { versionNumber, id } = listed.campaign;
  return versioning === 'on'
    ? { ...presentMeta(listed), campaign_id: id, version_number: versionNumber ?? 1 }
    : presentMeta(listed);
}

/** Decision D43. */
export function presentV5Executions({ executions, totalInstances }: ExecutionsAnswer) {
  return presentV5({
    executions: executions.map((execution) => ({
      id: execution.id,
      campaign_id: execution.campaignId,
      ...presentExecution(execution),
    })),
    total_instances: totalInstances,
  });
}

type ListedCampaign = { campaign: CampaignRecord; meta: CampaignMeta | undefined };

/** Presents a row of the light list (fact 4.7). There is only one team, the default one. */
export function presentMeta({ campaign, meta }: ListedCampaign) {
  const { campaignId, kind, id } = campaign;
  const isChild = kind === 'EXECUTION';
  const start = (presentV1Schedule(campaign.timing).scheduling_details as { start_time?: string } | undefined)
    ?.start_time;
  return {
    campaign_id: isChild ? id : campaignId,
    channel: campaign.channel,
    platform: campaign.platforms,
    created_by: campaign.createdBy,
    campaign_delivery_type: campaign.deliveryType,
    campaign_name: campaign.name,
    campaign_team: 'Default Team',
    campaign_tags: campaign.tags,
    campaign_status: presentStatus(campaign.status),
    // An immediate campaign starts when it is created.
    campaign_start_time:
      start ??
      spacedTime(campaign.sentAt ?? campaign.createdAt)
        .replace(' ', 'T')
        .slice(0, 19),
    ...(isChild ? { parent_campaign_id: campaignId } : {}),
    total_child_campaigns: isChild || campaign.deliveryType === 'ONE_TIME' ? 0 : (meta?.children ?? 0),
    ...(meta?.countedAt
      ? { reachability_details: { count: meta.reachableDevices, last_updated_time: spacedTime(meta.countedAt) } }
      : {}),
  };
}
