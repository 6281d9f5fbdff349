import type { FastifyInstance } from 'fastify';
import { listEvents } from '../../app/business-events/list-business-events.ts';
import { triggerBusinessEvent } from '../../app/business-events/trigger-business-event.ts';
import { readBody } from '../campaigns/parse-search.ts';
import { v5CampaignError } from '../campaigns/shapes.ts';
import { requestIdHeader, v5Refusals, v5Security } from '../campaigns/v5-call.ts';
import { callerOf } from '../campaigns/warn-of-parts.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { BusinessEventRouteDependencies } from './business-event-route-dependencies.ts';
import { parseEventPage, parseEventSearch, parseTrigger } from './parse-business-event.ts';
import { presentV5Events, presentV5Trigger } from './present.ts';
import { v5EventQuery, v5EventSearchBody, v5EventsAnswer, v5TriggerAnswer, v5TriggerBody } from './shapes.ts';

const base = '/v5/business-events';
const documented = { tags: ['Business events'], security: v5Security };

export function addV5BusinessEvents(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  addTrigger(server, deps);
  addList(server, deps);
  addSearch(server, deps);
}

function addTrigger(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const url = `${base}/triggers`;
  const problems = { 404: v5CampaignError, 409: v5CampaignError, 422: v5CampaignError };
  const response = { 200: v5TriggerAnswer, ...v5Refusals, ...problems };
  const schema = { ...documented, summary: 'Trigger a business event, V5', body: v5TriggerBody, response };
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
  const response = { 200: v5EventsAnswer, ...v5Refusals };
  const schema = { ...documented, summary: 'List business events, V5', querystring: v5EventQuery, response };
  server.get(base, { schema }, async (request) => {
    const asked = parseEventPage(request.query as Record<string, unknown>);
    const workspaceId = request.facts.workspaceId!;
    return presentV5Events(await listEvents(deps, { ...asked, workspaceId }), asked.limit);
  });
  refuseOtherMethods(server, base, ['GET']);
}

function addSearch(server: FastifyInstance, deps: BusinessEventRouteDependencies): void {
  const url = `${base}/search`;
  const response = { 200: v5EventsAnswer, ...v5Refusals };
  const schema = { ...documented, summary: 'Find business events, V5', body: v5EventSearchBody, response };
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
