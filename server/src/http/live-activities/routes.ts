import type { FastifyRequest } from 'fastify';
import { acceptLiveEvent, addTokens, readLiveActivity } from '../../app/live-activities/store-live-activity.ts';
import type { LiveActivityDependencies, LiveActivityName } from '../../app/live-activities/store-live-activity.ts';
import { defaultAppId, isAppId } from '../../domain/apps/app.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { BearerDependencies } from '../auth/bearer.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { problemRefusals } from '../openapi/problem.ts';
import { readOwnBody } from '../own-body.ts';
import { makeRequireOwnKey, presentOwnErrors } from '../own-routes.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { isActivityId, parseLiveEvent, parseLiveTokens } from './parse-live-activity.ts';
import {
  liveActivityAnswer,
  liveEventAnswer,
  liveEventBody,
  liveParameters,
  liveQuery,
  liveTokensAnswer,
  liveTokensBody,
} from './shapes.ts';

export type LiveActivityRouteDependencies = LiveActivityDependencies &
  BearerDependencies & { vendorHeaders: VendorHeaders };

const url = '/v1/live-activities';
const dialect: Dialect = {
  tag: 'Live Activities',
  credentials: ['pushKey', 'bearer'],
  refusals: problemRefusals(['NOT_FOUND', 'SCOPE_MISSING', 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_CONFLICT']),
};

/** Live Activities of iPhones, one by one: they are no part of a campaign. With the key of pushes. */
export function liveActivityRoutes(deps: LiveActivityRouteDependencies): RouteFamily {
  const onRequest = makeRequireOwnKey(deps, 'push');
  return async (server) => {
    presentOwnErrors(server);
    const send = describeOperation(dialect, {
      operationId: 'sendLiveActivityEvent',
      summary: 'Start, update or end a Live Activity',
      description: 'A start goes to the start tokens of the activity, an update and an end to its update tokens.',
      ...{ body: liveEventBody, isRepeatable: true, answers: { 202: liveEventAnswer } },
    });
    server.post(url, { schema: send, onRequest }, async (request, reply) => {
      const { event, ...named } = parseLiveEvent(readOwnBody(request));
      const name = { workspaceId: request.facts.workspaceId!, ...named };
      const key = request.headers['idempotency-key'] as string | undefined;
      const accepted = await acceptLiveEvent(deps, { name, event, once: { key, rawBody: request.rawBody } });
      warnOfUnknownFields(deps.vendorHeaders, request.body, { request, reply, shape: liveEventBody });
      return reply.code(202).send({ ...presentName(name), event: event.kind, ...accepted });
    });
    refuseOtherMethods(server, url, ['POST']);

    const put = describeOperation(dialect, {
      operationId: 'addLiveActivityTokens',
      summary: 'Add tokens to a Live Activity',
      description: 'Tokens that are known stay, so each phone may be told of by itself.',
      ...{ params: liveParameters, body: liveTokensBody, answers: { 200: liveTokensAnswer } },
    });
    server.put(`${url}/:id/tokens`, { schema: put, onRequest }, async (request, reply) => {
      const { appId, ...given } = parseLiveTokens(readOwnBody(request));
      const name = nameIn(request, appId);
      const tokens = await addTokens(deps, { name, ...given });
      warnOfUnknownFields(deps.vendorHeaders, request.body, { request, reply, shape: liveTokensBody });
      return { ...presentName(name), tokens };
    });
    refuseOtherMethods(server, `${url}/:id/tokens`, ['PUT']);

    const read = describeOperation(dialect, {
      operationId: 'readLiveActivity',
      summary: 'Read what became of the events of a Live Activity',
      ...{ params: liveParameters, querystring: liveQuery, answers: { 200: liveActivityAnswer }, refuses: [404] },
    });
    server.get(`${url}/:id`, { schema: read, onRequest }, async (request) => {
      const { app = defaultAppId } = request.query as { app?: unknown };
      if (typeof app !== 'string' || !isAppId(app))
        throw new ServiceError('PARAMETER_INVALID', { field: 'app', reason: 'must be the id of an app' });
      const name = nameIn(request, app);
      const { tokens, events } = await readLiveActivity(deps, name);
      return {
        ...presentName(name),
        tokens,
        events: events.map(({ state: outcome, ...figures }) => ({ ...figures, outcome })),
      };
    });
    refuseOtherMethods(server, `${url}/:id`, ['GET']);
  };
}

function nameIn(request: FastifyRequest, appId: string): LiveActivityName {
  const { id: activityId } = request.params as { id: string };
  if (!isActivityId(activityId))
    throw new ServiceError('PARAMETER_INVALID', {
      field: 'id',
      reason: 'takes 1 to 64 letters, digits, dots, - and _',
    });
  return { workspaceId: request.facts.workspaceId!, appId, activityId };
}

function presentName({ appId, activityId }: LiveActivityName) {
  return { app_id: appId, activityId };
}
