import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { createBusinessEvent } from '../../app/business-events/create-business-event.ts';
import { listEventsWithDbName } from '../../app/business-events/list-business-events.ts';
import { triggerBusinessEvent } from '../../app/business-events/trigger-business-event.ts';
import { ServiceError } from '../../domain/errors.ts';
import { v1Dialect } from '../campaigns/v1-call.ts';
import { readBody } from '../campaigns/parse-search.ts';
import { callerOf } from '../campaigns/warn-of-parts.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { requestHeaders } from '../openapi/document-headers.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { BusinessEventRouteDependencies } from './business-event-route-dependencies.ts';
import { parseEvent, parseEventSearch, parseTrigger } from './parse-business-event.ts';
import { presentV1Events } from './present.ts';
import {
  eventBody,
  v1EventAnswer,
  v1EventSearchBody,
  v1EventsAnswer,
  v1TriggerAnswer,
  v1TriggerBody,
} from './shapes.ts';
import { addWarnings } from '../add-warnings.ts';

const base = '/v1.0/business_event';
const { isDeprecated: _deprecated, answerHeaders: _headers, ...ofCampaigns } = v1Dialect;
const dialect: Dialect = {
  ...ofCampaigns,
  tag: 'Business events',
  headers: { '*-APPKEY': Type.Optional(requestHeaders.appKey) },
};

export function addV1BusinessEvents(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  addCreate(server, deps);
  addTrigger(server, deps);
  addSearch(server, deps);
}

function addCreate(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const { vendorHeaders } = deps;
  const schema = describeOperation(dialect, {
    operationId: 'createBusinessEvent',
    summary: 'Create a business event, V1',
    body: eventBody,
    isRepeatable: true,
    answers: { 200: v1EventAnswer },
  });
  server.post(base, { schema }, async (request, reply) => {
    const body = readBody(request);
    const { id } = await createBusinessEvent(deps, { ...callerOf(request), ...parseEvent(body) });
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: eventBody });
    return { message: 'The business event has been created', event_id: id };
  });
  refuseOtherMethods(server, base, ['POST']);
}

function addTrigger(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const { vendorHeaders } = deps;
  const url = `${base}/trigger`;
  const schema = describeOperation(dialect, {
    operationId: 'triggerBusinessEventV1',
    summary: 'Trigger a business event, V1',
    body: v1TriggerBody,
    isRepeatable: true,
    answers: { 200: v1TriggerAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const caller = callerOf(request);
    const { triggeredBy, ...asked } = parseTrigger(body, { version: 'V1' });
    const by = triggeredBy ?? caller.requestedBy;
    const answer = await triggerBusinessEvent(deps, { ...caller, ...asked, version: 'V1', triggeredBy: by });
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: v1TriggerBody });
    // V1 has no word for a part of them.
    if (answer.triggered.length === 0)
      throw new ServiceError('BUSINESS_EVENT_RATE_LIMITED', { retryAfterSeconds: answer.retryAfterSeconds ?? 1 });
    if (answer.failed.length > 0)
      addWarnings(vendorHeaders, { request, reply }, [
        `${answer.failed.length} campaigns beyond the limit were not started`,
      ]);
    return { message: 'The business event has been triggered' };
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addSearch(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const { vendorHeaders } = deps;
  const url = `${base}/search`;
  const schema = describeOperation(dialect, {
    operationId: 'searchBusinessEventsV1',
    summary: 'Find business events, V1',
    body: v1EventSearchBody,
    answers: { 200: v1EventsAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const workspaceId = request.facts.workspaceId!;
    const asked = parseEventSearch(body, { version: 'V1' });
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: v1EventSearchBody });
    const { events, dbName } = await listEventsWithDbName(deps, { ...asked, workspaceId });
    return presentV1Events(events, dbName);
  });
  refuseOtherMethods(server, url, ['POST']);
}
