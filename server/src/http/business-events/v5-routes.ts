import type { FastifyInstance } from 'fastify';
import { listEvents } from '../../app/business-events/list-business-events.ts';
import { triggerBusinessEvent } from '../../app/business-events/trigger-business-event.ts';
import { readBody } from '../campaigns/parse-search.ts';
import { requestIdHeader, v5Dialect } from '../campaigns/v5-call.ts';
import { callerOf } from '../campaigns/warn-of-parts.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { BusinessEventRouteDependencies } from './business-event-route-dependencies.ts';
import { parseEventPage, parseEventSearch, parseTrigger } from './parse-business-event.ts';
import { presentV5Events, presentV5Trigger } from './present.ts';
import { v5EventQuery, v5EventSearchBody, v5EventsAnswer, v5TriggerAnswer, v5TriggerBody } from './shapes.ts';

const base = '/v5/business-events';
const dialect = { ...v5Dialect, tag: 'Business events' };

export function addV5BusinessEvents(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  addTrigger(server, deps);
  addList(server, deps);
  addSearch(server, deps);
}

function addTrigger(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const url = `${base}/triggers`;
  const schema = describeOperation(dialect, {
    operationId: 'triggerBusinessEvent',
    summary: 'Trigger a business event, V5',
    body: v5TriggerBody,
    isRepeatable: true,
    answers: { 200: v5TriggerAnswer },
    refuses: [404, 422],
  });
  server.post(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const dialect = { version: 'V5', requestIdHeader: requestIdHeader(deps, request) } as const;
    const { triggeredBy, ...asked } = parseTrigger(body, dialect);
    const command = { ...callerOf(request), ...asked, version: 'V5', triggeredBy: triggeredBy! } as const;
    const answer = await triggerBusinessEvent(deps, command);
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: v5TriggerBody });
    return presentV5Trigger(answer);
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addList(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const schema = describeOperation(dialect, {
    operationId: 'listBusinessEvents',
    summary: 'List business events, V5',
    querystring: v5EventQuery,
    answers: { 200: v5EventsAnswer },
  });
  server.get(base, { schema }, async (request) => {
    const asked = parseEventPage(request.query as Record<string, unknown>);
    const workspaceId = request.facts.workspaceId!;
    return presentV5Events(await listEvents(deps, { ...asked, workspaceId }), asked.limit);
  });
  refuseOtherMethods(server, base, ['GET']);
}

function addSearch(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const url = `${base}/search`;
  const schema = describeOperation(dialect, {
    operationId: 'searchBusinessEvents',
    summary: 'Find business events, V5',
    body: v5EventSearchBody,
    answers: { 200: v5EventsAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const dialect = { version: 'V5', requestIdHeader: requestIdHeader(deps, request) } as const;
    const asked = parseEventSearch(body, dialect);
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: v5EventSearchBody });
    const workspaceId = request.facts.workspaceId!;
    return presentV5Events(await listEvents(deps, { ...asked, workspaceId }), asked.limit);
  });
  refuseOtherMethods(server, url, ['POST']);
}
