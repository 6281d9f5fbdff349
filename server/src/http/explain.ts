import { Type } from 'typebox';
import { explainDelivery } from '../app/explain.ts';
import type { ExplainDependencies, Explanation } from '../app/explain.ts';
import { ServiceError } from '../domain/errors.ts';
import type { RequestFault } from '../fields/reading-rules.ts';
import { dropReasons, triggerStates, describeTrigger } from '../domain/events/triggers.ts';
import type { ToldTrigger } from '../domain/events/triggers.ts';
import { steps, unknownCustomerId, describeNoRun, describeDelivery, describeRun } from '../domain/explain.ts';
import type { DeviceExplanation } from '../domain/explain.ts';
import { isStorableText } from '../domain/storable-text.ts';
import { makeV5Dialect, v5Base } from './campaigns/dialects.ts';
import type { CampaignAccessDependencies } from './campaigns/dialects.ts';
import { presentV5 } from './campaigns/v5-answers.ts';
import { codeShape, named } from './openapi/shapes.ts';
import { addRoutes, route } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

const explainQuery = Type.Object({
  customer_id: Type.String({ maxLength: 512, description: 'The customer id of the user' }),
  run_id: Type.Optional(Type.String({ description: 'One run; default: the newest 20' })),
});

const nullable = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const step = named('ExplanationStep', codeShape(steps, 'The reason for the decision'));

const device = Type.Object({
  device_id: nullable("The app's name for the device; null if the device no longer exists"),
  platform: Type.String(),
  step,
  explanation: Type.String(),
  code: nullable("The provider's reason, or why it was held"),
  attempts: Type.Integer(),
  at: nullable('When the outcome was stored, ISO 8601'),
  until: nullable('ISO 8601; the message waits until then'),
  variation: nullable('variation_1, variation_2 …; null if the campaign has only one'),
  locale: nullable('`default` or a language tag; null if the campaign has only one, or no message was sent'),
});

const run = Type.Object({
  id: Type.String(),
  status: Type.String(),
  created_at: Type.String(),
  step,
  explanation: Type.String(),
  devices: Type.Array(device),
  inbox: Type.Union(
    [
      Type.Object({
        kept_at: Type.String({ description: 'When the message was put into the inbox, ISO 8601' }),
        expires_at: Type.String({ description: 'Until when it can be read, ISO 8601' }),
        read_at: nullable('When the user read it, ISO 8601; null if it is unread'),
        archived_at: nullable('When the user archived it, ISO 8601; null if it is not archived'),
      }),
      Type.Null(),
    ],
    { description: 'The message in the inbox of the user; null if the run kept none' },
  ),
});

const trigger = Type.Object({
  event_name: Type.String(),
  occurred_at: Type.String(),
  due_at: nullable('ISO 8601; null if the event has no time'),
  state: codeShape(triggerStates, 'The outcome'),
  reason: Type.Union([codeShape(dropReasons, 'Why it was DROPPED'), Type.Null()]),
  run_id: nullable('The run it is in'),
  explanation: Type.String(),
});

const explainAnswer = named(
  'DeliveryExplanation',
  Type.Object({
    response_id: Type.String(),
    type: Type.Literal('campaign'),
    data: Type.Object({
      campaign_id: Type.String(),
      campaign_name: Type.String(),
      campaign_status: Type.String(),
      next_send: nullable('ISO 8601'),
      customer_id: Type.String(),
      step: Type.String({ description: 'From the newest run; NO_RUN or UNKNOWN_PERSON if there is none' }),
      explanation: Type.String(),
      runs: Type.Array(run),
      triggers: Type.Optional(
        Type.Array(trigger, {
          description: "For an EVENT_TRIGGERED campaign: the messages that the user's events started, newest first",
        }),
      ),
    }),
  }),
);

export type ExplainRouteDependencies = ExplainDependencies & CampaignAccessDependencies;

/** Routes that explain why a user received a campaign or did not: an addition to V5, with its keys, limits and errors. */
export function explainRoutes(deps: ExplainRouteDependencies): RouteFamily {
  return async (server) =>
    addRoutes(server, [
      route(makeV5Dialect(deps), {
        method: 'GET',
        url: `${v5Base}/:id/explain`,
        operationId: 'explainDelivery',
        summary: 'Explain why a user received a campaign or did not',
        params: Type.Object({ id: Type.String({ description: 'The id of the campaign' }) }),
        querystring: explainQuery,
        answers: { 200: explainAnswer },
        refuses: [404],
        config: { isAnswerSecret: true },
        read: ({ query }) => parseQuery(query),
        async handle({ input, workspaceId, params: { id: campaignId } }) {
          return presentV5(presentExplanation(await explainDelivery(deps, { workspaceId, campaignId, ...input })));
        },
      }),
    ]);
}

const maxCustomerId = 512;

function parseQuery(query: Record<string, unknown>): { customerId: string; runId: string | undefined } {
  const faults: RequestFault[] = [];
  const { customer_id: customerId, run_id: runId } = query;
  if (customerId === undefined || customerId === '') faults.push({ field: 'customer_id', reason: 'missing' });
  else if (typeof customerId !== 'string' || Buffer.byteLength(customerId) > maxCustomerId)
    faults.push({ field: 'customer_id', reason: `must be one text of at most ${maxCustomerId} bytes` });
  else if (!isStorableText(customerId))
    faults.push({ field: 'customer_id', reason: 'must be well-formed Unicode without NUL' });
  if (runId !== undefined && (typeof runId !== 'string' || !/^[0-9a-f]{24}$/.test(runId)))
    faults.push({ field: 'run_id', reason: 'must be 24 hexadecimal characters' });
  if (faults.length > 0) throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults });
  return { customerId: customerId as string, runId: runId as string | undefined };
}

/** The step of the newest run is the step of the campaign. */
function presentExplanation({ campaign, customerId, runs, triggers }: Explanation) {
  const [newest] = runs ?? [];
  return {
    campaign_id: campaign.id,
    campaign_name: campaign.name,
    campaign_status: campaign.status,
    next_send: campaign.nextAt?.toISOString() ?? null,
    customer_id: customerId,
    step: newest?.step ?? (runs ? 'NO_RUN' : 'UNKNOWN_PERSON'),
    explanation: newest ? describeRun(newest) : runs ? describeNoRun(triggers) : unknownCustomerId,
    runs: (runs ?? []).map((run) => ({
      id: run.runId,
      status: run.runStatus,
      created_at: run.createdAt.toISOString(),
      step: run.step,
      explanation: describeRun(run),
      devices: run.devices.map(presentDevice),
      inbox: run.inbox && {
        kept_at: run.inbox.keptAt.toISOString(),
        expires_at: run.inbox.expiresAt.toISOString(),
        read_at: run.inbox.readAt?.toISOString() ?? null,
        archived_at: run.inbox.archivedAt?.toISOString() ?? null,
      },
    })),
    ...(triggers && { triggers: triggers.map(presentTrigger) }),
  };
}

function presentTrigger(trigger: ToldTrigger) {
  return {
    event_name: trigger.eventName,
    occurred_at: trigger.occurredAt.toISOString(),
    due_at: trigger.dueAt?.toISOString() ?? null,
    state: trigger.state,
    reason: trigger.reason,
    run_id: trigger.runId,
    explanation: describeTrigger(trigger),
  };
}

function presentDevice(device: DeviceExplanation) {
  return {
    device_id: device.deviceId,
    platform: device.platform,
    step: device.step,
    explanation: describeDelivery(device),
    code: device.code,
    attempts: device.attempts,
    at: device.at?.toISOString() ?? null,
    until: device.until?.toISOString() ?? null,
    variation: device.variation,
    locale: device.locale,
  };
}
