import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { createBusinessEvent, listEventsWithDbName, triggerBusinessEvent, listEvents } from '../app/business-events.ts';
import type { BusinessEventDependencies, BusinessEvent, TriggerAnswer } from '../app/business-events.ts';
import type { SearchVersion } from '../domain/campaigns/campaign.ts';
import { ServiceError } from '../domain/errors.ts';
import { businessAttribute, businessAttributes } from '../domain/events/events.ts';
import type { BusinessAttribute } from '../domain/events/events.ts';
import { maxBusinessEventsPerPage, maxBusinessNameCharacters } from '../domain/limits/campaigns.ts';
import {
  required,
  requiredText,
  sentObject,
  text,
  texts,
  unlessEmpty,
  whole,
  withDescription,
} from '../fields/combinators.ts';
import { readMembers, reading, schemaOf } from '../fields/field.ts';
import type { Infer } from '../fields/field.ts';
import type { RequestReader } from '../fields/request-reader.ts';
import { readRequestId } from './campaigns/authoring.ts';
import { makeCampaignQueryReader, makeCampaignReader, refuseFaults } from './campaigns/campaign-reader.ts';
import type { Body } from './campaigns/campaign-reader.ts';
import { callerOf, makeV1EventDialect, makeV5Dialect } from './campaigns/dialects.ts';
import type { CampaignAccessDependencies } from './campaigns/dialects.ts';
import { joinedTime } from './campaigns/record.ts';
import { codeShape, named, text as textShape } from './openapi/shapes.ts';
import { addRoutes, makeRequestId, route } from './route/route.ts';
import type { Route } from './route/route.ts';
import { addWarnings } from './route/warnings.ts';
import type { RouteFamily } from './server/build-server.ts';

/** Routes for business events, V1 and V5 (fact 6.3). Keys, limits and errors are those of campaigns. */
export function businessEventRoutes(deps: BusinessEventRouteDependencies): RouteFamily {
  return async (server) => addRoutes(server, [...v1Routes(deps), ...v5Routes(deps)]);
}

type BusinessEventRouteDependencies = BusinessEventDependencies & CampaignAccessDependencies;

const name = requiredText({ max: maxBusinessNameCharacters });
const eventMembers = { event_name: name, event_attributes: businessAttributes, created_by: name };

const values = sentObject(
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Values of the event’s attributes' }),
);
const triggeredBy = unlessEmpty(text());
const triggerMembers = {
  V1: { event_name: name, event_attributes: values, triggered_by: triggeredBy },
  V5: {
    request_id: text(),
    event_name: withDescription(name, 'Name or id'),
    event_attributes: values,
    triggered_by: required(triggeredBy),
  },
};

const idsAndNames = { event_ids: texts(), event_names: texts() };
const page = {
  limit: whole(1, maxBusinessEventsPerPage),
  cursor: unlessEmpty(text({ description: 'next_cursor of the previous page' })),
};

const eventBody = schemaOf(eventMembers, { title: 'BusinessEventRequest' });
const v1TriggerBody = schemaOf(triggerMembers.V1, { title: 'BusinessEventTriggerV1' });
const v5TriggerBody = schemaOf(triggerMembers.V5, { title: 'BusinessEventTriggerV5' });
const v1EventSearchBody = schemaOf(idsAndNames, {
  title: 'BusinessEventSearchV1',
  description: 'At least one of the two',
});
const v5EventSearchBody = schemaOf({ request_id: text(), ...idsAndNames, ...page }, { title: 'BusinessEventSearchV5' });
const v5EventQuery = schemaOf(page);

/* Responses (fact 6.3). */
const event = {
  event_id: Type.String(),
  event_name: Type.String(),
  event_attributes: Type.Array(businessAttribute.schema),
  created_by: Type.String(),
  created_at: Type.String(),
  total_trigger: Type.Integer(),
  usage_count: Type.Integer({ description: 'Number of campaigns published with it' }),
  last_received_time: textShape(),
};
export const v1EventAnswer = named(
  'BusinessEventCreated',
  Type.Object({ message: Type.String(), event_id: Type.String() }),
);
export const v1TriggerAnswer = named('BusinessEventTriggeredV1', Type.Object({ message: Type.String() }));
export const v1EventsAnswer = named(
  'BusinessEventsV1',
  Type.Object({ data: Type.Array(Type.Object({ db_name: Type.String(), ...event })) }),
);

const v5Answer = (data: TProperties) =>
  Type.Object({ response_id: Type.String(), type: Type.Literal('business_event'), data: Type.Object(data) });
export const v5EventsAnswer = named(
  'BusinessEventsV5',
  v5Answer({
    business_events: Type.Array(Type.Object({ id: Type.String(), ...event })),
    next_cursor: textShape('There may be another page'),
  }),
);
const ids = Type.Array(Type.String());
export const v5TriggerAnswer = named(
  'BusinessEventTriggeredV5',
  v5Answer({
    triggered_status: codeShape(['SUCCESS', 'PARTIAL_SUCCESS', 'FAILURE'], 'True if all campaigns were started'),
    message: Type.String(),
    summary: Type.Object({ total: Type.Integer(), triggered: Type.Integer(), failed: Type.Integer() }),
    triggered_campaign_ids: ids,
    failed_campaign_ids: ids,
    triggered_flow_ids: ids,
    failed_flow_ids: ids,
  }),
);

const v1Url = '/v1.0/business_event';

function v1Routes(deps: BusinessEventRouteDependencies): Route[] {
  const v1 = makeV1EventDialect(deps);
  return [
    route(v1, {
      method: 'POST',
      url: v1Url,
      operationId: 'createBusinessEvent',
      summary: 'Create a business event, V1',
      body: eventBody,
      isRepeatable: true,
      answers: { 200: v1EventAnswer },
      read: ({ body }) => parseEvent(body),
      async handle(call) {
        const { id } = await createBusinessEvent(deps, { ...callerOf(call), ...call.input });
        return { message: 'The business event has been created', event_id: id };
      },
    }),
    route(v1, {
      method: 'POST',
      url: `${v1Url}/trigger`,
      operationId: 'triggerBusinessEventV1',
      summary: 'Trigger a business event, V1',
      body: v1TriggerBody,
      isRepeatable: true,
      answers: { 200: v1TriggerAnswer },
      read: ({ body }) => parseTrigger(body, { version: 'V1' }),
      async handle(call) {
        const caller = callerOf(call);
        const { triggeredBy = caller.actor.name, ...asked } = call.input;
        const answer = await triggerBusinessEvent(deps, { ...caller, ...asked, version: 'V1', triggeredBy });
        call.warn();
        // V1 has no response for a partial success.
        if (answer.triggered.length === 0)
          throw new ServiceError('BUSINESS_EVENT_RATE_LIMITED', { retryAfterSeconds: answer.retryAfterSeconds ?? 1 });
        if (answer.failed.length > 0)
          addWarnings(deps.vendorHeaders, call, [
            `${answer.failed.length} campaigns beyond the limit were not started`,
          ]);
        return { message: 'The business event has been triggered' };
      },
    }),
    route(v1, {
      method: 'POST',
      url: `${v1Url}/search`,
      operationId: 'searchBusinessEventsV1',
      summary: 'Find business events, V1',
      body: v1EventSearchBody,
      answers: { 200: v1EventsAnswer },
      read: ({ body }) => parseEventSearch(body, { version: 'V1' }),
      async handle({ input, workspaceId, warn }) {
        warn();
        const { events, dbName } = await listEventsWithDbName(deps, { ...input, workspaceId });
        return presentV1Events(events, dbName);
      },
    }),
  ];
}

const v5Url = '/v5/business-events';

function v5Routes(deps: BusinessEventRouteDependencies): Route[] {
  const v5 = makeV5Dialect(deps, { tag: 'Business events' });
  return [
    route(v5, {
      method: 'POST',
      url: `${v5Url}/triggers`,
      operationId: 'triggerBusinessEvent',
      summary: 'Trigger a business event, V5',
      body: v5TriggerBody,
      isRepeatable: true,
      answers: { 200: v5TriggerAnswer },
      refuses: [404, 422],
      read: ({ body, form }) => parseTrigger(body, form),
      async handle(call) {
        const { triggeredBy, ...asked } = call.input;
        const command = { ...callerOf(call), ...asked, version: 'V5', triggeredBy: triggeredBy! } as const;
        return presentV5Trigger(await triggerBusinessEvent(deps, command));
      },
    }),
    route(v5, {
      method: 'GET',
      url: v5Url,
      operationId: 'listBusinessEvents',
      summary: 'List business events, V5',
      querystring: v5EventQuery,
      answers: { 200: v5EventsAnswer },
      read: ({ query }) => parseEventPage(query),
      async handle({ input, workspaceId }) {
        return presentV5Events(await listEvents(deps, { ...input, workspaceId }), input.limit);
      },
    }),
    route(v5, {
      method: 'POST',
      url: `${v5Url}/search`,
      operationId: 'searchBusinessEvents',
      summary: 'Find business events, V5',
      body: v5EventSearchBody,
      answers: { 200: v5EventsAnswer },
      read: ({ body, form }) => parseEventSearch(body, form),
      async handle({ input, workspaceId, warn }) {
        warn();
        return presentV5Events(await listEvents(deps, { ...input, workspaceId }), input.limit);
      },
    }),
  ];
}

type EventAsked = { name: string; attributes: BusinessAttribute[]; createdBy: string };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
function parseEvent(body: Body): EventAsked {
  const reader = makeCampaignReader(body);
  const sent = readMembers(reader, eventMembers, { first: ['event_name', 'created_by'] });
  refuseFaults(reader);
  const { event_name: eventName, event_attributes: attributes = [], created_by: createdBy } = sent as SentEvent;
  return { name: eventName.trim(), attributes, createdBy };
}

type SentEvent = Infer<typeof eventMembers>;

type Asked = { version: SearchVersion; requestIdHeader?: string | undefined };
type TriggerAsked = { event: string; attributes: Record<string, unknown>; triggeredBy: string | undefined };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
function parseTrigger(body: Body, { version, requestIdHeader }: Asked): TriggerAsked {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  const read = reading(reader, triggerMembers[version]);
  const asked = {
    event: read('event_name').trim(),
    attributes: read('event_attributes') ?? {},
    triggeredBy: read('triggered_by'),
  };
  refuseFaults(reader);
  return asked;
}

type EventsAsked = {
  ids: string[] | undefined;
  names: string[] | undefined;
  limit: number;
  after: string | undefined;
};

/**
 * V1 requires at least one event name; in V5 names are optional and the list is paged.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID
 */
function parseEventSearch(body: Body, { version, requestIdHeader }: Asked): EventsAsked {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  const { event_ids: ids, event_names: names } = readMembers(reader, idsAndNames);
  if (version === 'V1' && reader.isAbsent('event_names')) reader.requires('event_ids');
  const asked = version === 'V1' ? { limit: 100, after: undefined } : readPage(reader);
  refuseFaults(reader);
  return { ids, names, ...asked };
}

function parseEventPage(query: Record<string, unknown>): EventsAsked {
  const reader = makeCampaignQueryReader(query);
  const asked = readPage(reader);
  refuseFaults(reader);
  return { ids: undefined, names: undefined, ...asked };
}

function readPage(reader: RequestReader): { limit: number; after: string | undefined } {
  const { limit = maxBusinessEventsPerPage, cursor: after } = readMembers(reader, page);
  return { limit, after };
}

/** Presents an event, the same in both versions. */
function presentEvent(event: BusinessEvent) {
  return {
    event_id: event.id,
    event_name: event.name,
    event_attributes: event.attributes.map(({ name, type }) => ({ attribute_name: name, attribute_data_type: type })),
    created_by: event.createdBy,
    created_at: joinedTime(event.createdAt),
    total_trigger: event.totalTriggers,
    usage_count: event.campaigns,
    ...(event.lastTriggeredAt ? { last_received_time: joinedTime(event.lastTriggeredAt) } : {}),
  };
}

function presentV1Events(events: BusinessEvent[], dbName: string) {
  return { data: events.map((event) => ({ db_name: dbName, ...presentEvent(event) })) };
}

/** A full page gets a cursor, because another page may follow. */
function presentV5Events(events: BusinessEvent[], limit: number) {
  const last = events.length === limit ? events.at(-1) : undefined;
  return presentV5Event({
    business_events: events.map((event) => ({ id: event.id, ...presentEvent(event) })),
    ...(last ? { next_cursor: last.id } : {}),
  });
}

/** Fact 6.3. Flows do not exist, so their lists are empty. */
function presentV5Trigger({ triggered, failed }: TriggerAnswer) {
  const status = failed.length === 0 ? 'SUCCESS' : triggered.length === 0 ? 'FAILURE' : 'PARTIAL_SUCCESS';
  return presentV5Event({
    triggered_status: status,
    message:
      failed.length === 0
        ? 'The business event has been triggered'
        : 'The limit of campaigns that events start was reached',
    summary: { total: triggered.length + failed.length, triggered: triggered.length, failed: failed.length },
    triggered_campaign_ids: triggered,
    failed_campaign_ids: failed,
    triggered_flow_ids: [],
    failed_flow_ids: [],
  });
}

function presentV5Event<Data>(data: Data) {
  return { response_id: makeRequestId(), type: 'business_event' as const, data };
}
