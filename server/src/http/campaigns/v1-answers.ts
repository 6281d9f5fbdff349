import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionsAnswer, CampaignRecord } from '../../app/campaigns/search-campaigns.ts';
import type { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { bodyErrors, declareErrors, routeErrors, setErrorHeaders, statusPhrases } from '../route/dialect-errors.ts';
import { isGatewayError, presentGatewayError } from '../route/gateway-errors.ts';
import { presentCampaign, presentExecution, presentV1Schedule } from './record.ts';

type Detail = { code?: string; target: string; message: string };
type Wire = { code: string; message?: string; target?: string; details?: Detail[] };

const invalidKey = {
  code: 'InvalidValue',
  target: 'APP_SECRET_KEY',
  message: 'Invalid APP_SECRET_KEY is provided.',
};

/** The statuses whose code is not their reason phrase. */
const wires: Partial<Record<number, Wire>> = {
  401: { code: '401 Authentication error', message: 'Authentication required' },
  429: {
    code: '429 conflict',
    message: 'rate_limit',
    details: [{ target: 'rate_limit', message: 'Rate limiting breached' }],
  },
};

/** Statuses, codes and texts of V1 (fact 4.5); an entry without a message uses the registry's text. */
export const campaignV1Errors = declareErrors<Wire>(
  {
    CAMPAIGN_REQUEST_INVALID: {},
    CAMPAIGN_CREDENTIALS_MISSING: {
      details: [
        {
          code: 'MissingValue',
          target: 'APP_SECRET_KEY',
          message: 'APP_ID and APP_SECRET_KEY is missing in Authorization Header.',
        },
      ],
    },
    CAMPAIGN_CREDENTIALS_INVALID: { details: [invalidKey] },
    // V1 documents no 403: a key that does not cover the call counts as invalid (fact 0.1).
    CAMPAIGN_KEY_NOT_ALLOWED: { status: 401, details: [invalidKey] },
    CAMPAIGN_WORKSPACE_MISMATCH: {
      details: [{ code: 'InvalidValue', target: 'APP_ID', message: 'Invalid APP_ID is provided.' }],
    },
    CAMPAIGN_NOT_FOUND: {},
    CAMPAIGN_WITHOUT_EXECUTIONS: { target: 'parent_id' },
    CAMPAIGN_REQUEST_REPEATED: { target: 'request_id' },
    CAMPAIGN_ACTION_INVALID: { status: 422, target: 'action' },
    CAMPAIGN_NOT_EDITABLE: { target: 'campaign_id' },
    CAMPAIGN_CREATION_LIMITED: {},
    IDEMPOTENCY_KEY_INVALID: { target: 'Idempotency-Key' },
    IDEMPOTENCY_CONFLICT: { target: 'Idempotency-Key' },
    CAMPAIGN_RATE_LIMITED: {},
    BUSINESS_EVENT_NOT_FOUND: { status: 400, target: 'event_name' },
    BUSINESS_EVENT_NAME_TAKEN: { target: 'event_name' },
    BUSINESS_EVENT_LIMITED: { target: 'event_name' },
    BUSINESS_EVENT_WITHOUT_CAMPAIGNS: { status: 400, target: 'event_name' },
    BUSINESS_EVENT_ATTRIBUTE_WRONG: { target: 'event_attributes' },
    BUSINESS_EVENT_RATE_LIMITED: {},
  },
  {
    shared: [...bodyErrors, 'MEDIA_TYPE_MISSING', ...routeErrors],
    wireOf: (status) => wires[status] ?? { code: `${status} ${statusPhrases[status]}` },
  },
);

/** Sends `{"error": {"code", "message", "target", "details", "request_id"}}`; every member is always present. */
export function presentV1Error(
  error: ServiceError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = campaignV1Errors[error.code];
  setErrorHeaders(error, { reply, status: wire?.status ?? 500 });
  const faults = (error.context.faults ?? []).map(presentFault);
  const details = wire?.details ?? faults;
  const sentId = (request.body as { request_id?: unknown } | null | undefined)?.request_id;
  return reply.code(wire?.status ?? 500).send({
    error: {
      code: wire?.code ?? '500 Internal Server Error',
      message: wire
        ? (wire.message ?? faults[0]?.message ?? error.message)
        : 'Something went wrong. Please contact Carillon team',
      target: wire?.target ?? details[0]?.target ?? (error.code === 'CAMPAIGN_NOT_FOUND' ? namedBy(request) : ''),
      details,
      request_id: typeof sentId === 'string' ? sentId.slice(0, 256) : '',
    },
  });
}

/** Returns the member of the request that named the campaign. */
function namedBy({ params }: FastifyRequest): string {
  return Object.keys(params as object)[0] ?? 'campaign_ids';
}

function presentFault({ field, reason }: RequestFault): Detail {
  return { target: field, message: reason === 'missing' ? `${field} key is mandatory field` : `${field} ${reason}` };
}

/** V1 has no versions: the id is the campaign's own; a child has the id of the run. */
export function presentV1Campaign(campaign: CampaignRecord) {
  return {
    campaign_id: campaign.kind === 'EXECUTION' ? campaign.id : campaign.campaignId,
    ...presentCampaign(campaign),
    ...presentV1Schedule(campaign.timing),
  };
}

export function presentV1Executions({ executions, totalInstances }: ExecutionsAnswer) {
  return {
    executions: executions.map((execution) => ({ campaign_id: execution.id, ...presentExecution(execution) })),
    total_instances: totalInstances,
  };
}
