import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionsAnswer, CampaignRecord } from '../../app/campaigns/search-campaigns.ts';
import type { ErrorName, RequestFault, ServiceError } from '../../domain/errors.ts';
import { isGatewayError, presentGatewayError } from '../route/gateway-errors.ts';
import { presentCampaign, presentExecution, presentV1Schedule } from './record.ts';

type Detail = { code?: string; target: string; message: string };
type Wire = { status: number; code: string; message?: string; target?: string; details?: Detail[] };

const unauthorized = { status: 401, code: '401 Authentication error', message: 'Authentication required' };
const invalidKey = {
  code: 'InvalidValue',
  target: 'APP_SECRET_KEY',
  message: 'Invalid APP_SECRET_KEY is provided.',
};

const rateLimited = {
  status: 429,
  code: '429 conflict',
  message: 'rate_limit',
  details: [{ target: 'rate_limit', message: 'Rate limiting breached' }],
};

/** Statuses, codes and texts of V1 (fact 4.5); an entry without a message uses the registry's text. */
export const campaignV1Errors: Partial<Record<ErrorName, Wire>> = {
  CAMPAIGN_REQUEST_INVALID: { status: 400, code: '400 Bad Request' },
  CAMPAIGN_CREDENTIALS_MISSING: {
    ...unauthorized,
    details: [
      {
        code: 'MissingValue',
        target: 'APP_SECRET_KEY',
        message: 'APP_ID and APP_SECRET_KEY is missing in Authorization Header.',
      },
    ],
  },
  CAMPAIGN_CREDENTIALS_INVALID: { ...unauthorized, details: [invalidKey] },
  // V1 documents no 403: a key that does not cover the call counts as invalid (fact 0.1).
  CAMPAIGN_KEY_NOT_ALLOWED: { ...unauthorized, details: [invalidKey] },
  CAMPAIGN_WORKSPACE_MISMATCH: {
    ...unauthorized,
    details: [{ code: 'InvalidValue', target: 'APP_ID', message: 'Invalid APP_ID is provided.' }],
  },
  CAMPAIGN_NOT_FOUND: { status: 404, code: '404 Not Found' },
  CAMPAIGN_WITHOUT_EXECUTIONS: { status: 422, code: '422 Unprocessable Entity', target: 'parent_id' },
  CAMPAIGN_REQUEST_REPEATED: { status: 409, code: '409 Conflict', target: 'request_id' },
  CAMPAIGN_ACTION_INVALID: { status: 422, code: '422 Unprocessable Entity', target: 'action' },
  CAMPAIGN_NOT_EDITABLE: { status: 409, code: '409 Conflict', target: 'campaign_id' },
  CAMPAIGN_CREATION_LIMITED: rateLimited,
  IDEMPOTENCY_KEY_INVALID: { status: 400, code: '400 Bad Request', target: 'Idempotency-Key' },
  IDEMPOTENCY_CONFLICT: { status: 409, code: '409 Conflict', target: 'Idempotency-Key' },
  CAMPAIGN_RATE_LIMITED: rateLimited,
  BUSINESS_EVENT_NOT_FOUND: { status: 400, code: '400 Bad Request', target: 'event_name' },
  BUSINESS_EVENT_NAME_TAKEN: { status: 400, code: '400 Bad Request', target: 'event_name' },
  BUSINESS_EVENT_LIMITED: { status: 400, code: '400 Bad Request', target: 'event_name' },
  BUSINESS_EVENT_WITHOUT_CAMPAIGNS: { status: 400, code: '400 Bad Request', target: 'event_name' },
  BUSINESS_EVENT_ATTRIBUTE_WRONG: { status: 400, code: '400 Bad Request', target: 'event_attributes' },
  BUSINESS_EVENT_RATE_LIMITED: rateLimited,
  BODY_MALFORMED: { status: 400, code: '400 Bad Request' },
  BODY_EMPTY: { status: 400, code: '400 Bad Request' },
  BODY_TOO_LARGE: { status: 413, code: '413 Payload Too Large' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, code: '415 Unsupported Media Type' },
  MEDIA_TYPE_MISSING: { status: 415, code: '415 Unsupported Media Type' },
  REQUEST_MALFORMED: { status: 400, code: '400 Bad Request' },
  HOST_NOT_SERVED: { status: 421, code: '421 Misdirected Request' },
  METHOD_NOT_ALLOWED: { status: 405, code: '405 Method Not Allowed' },
  OVERLOADED: { status: 503, code: '503 Service Unavailable' },
  STORAGE_UNAVAILABLE: { status: 503, code: '503 Service Unavailable' },
  STORAGE_REFUSES_WRITES: { status: 503, code: '503 Service Unavailable' },
};

/** Sends `{"error": {"code", "message", "target", "details", "request_id"}}`; every member is always present. */
export function presentV1Error(
  error: ServiceError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = campaignV1Errors[error.code];
  setRefusalHeaders(error, { reply, status: wire?.status ?? 500 });
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

/** Sets the headers that the status of an error requires. */
export function setRefusalHeaders(
  error: ServiceError,
  { reply, status }: { reply: FastifyReply; status: number },
): void {
  const { retryAfterSeconds, members } = error.context;
  if (status === 401) reply.header('www-authenticate', 'Basic realm="carillon", charset="UTF-8"');
  if (status === 405) reply.header('allow', String(members?.allow ?? ''));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
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
