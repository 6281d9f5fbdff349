import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { InteractionReports } from '../app/interactions.ts';
import { ServiceError } from '../domain/errors.ts';
import { interactionKinds } from '../domain/events/interactions.ts';
import type { InteractionKind } from '../domain/events/interactions.ts';
import { maxBadge } from '../domain/limits/push.ts';
import { maxReportBodyBytes } from '../domain/limits/delivery.ts';
import { named } from './openapi/shapes.ts';
import { parseJson } from './route/json-body.ts';
import { problemRefusals, withoutCredentials } from './route/own-dialect.ts';
import { addRoutes, hiddenRoute, route } from './route/route.ts';
import type { RouteDialect } from './route/route.ts';
import type { VendorHeaders } from './route/vendor-headers.ts';
import type { AnsweredCall } from './route/warnings.ts';
import type { RouteFamily } from './server/build-server.ts';
import { callerAddress } from './server/call-origin.ts';

export const interactionBody = named(
  'InteractionReport',
  Type.Object({
    token: Type.String({ minLength: 1, maxLength: 200, description: 'The token that was sent with the message' }),
    kind: Type.Unsafe<InteractionKind | 'badge'>({ type: 'string', enum: [...interactionKinds, 'badge'] }),
    value: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxBadge,
        description: 'For kind badge: the current number on the app icon',
      }),
    ),
    action: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'The button that was clicked' })),
    lowered: Type.Optional(
      Type.Boolean({
        description:
          'For kind impression: true if the message arrived with a lower priority than it was sent with, and therefore late',
      }),
    ),
    id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Your own name for this report; repeats are counted once',
      }),
    ),
  }),
);

const clickParameters = Type.Object({
  token: Type.String({ description: 'The report token, a dot, and the click proof, as received with the message' }),
});

const clickQuery = Type.Object({
  to: Type.String({ maxLength: 4096, description: 'The address of the message, unchanged' }),
});

export type InteractionRouteDependencies = { interactions: InteractionReports; vendorHeaders: VendorHeaders };

/** Routes for reports from devices: without a key, from any page's origin. The token in the message is the credential. */
export function interactionRoutes(deps: InteractionRouteDependencies): RouteFamily {
  const dialect = makeInteractionDialect(deps);
  const reportUrl = '/v1/interactions';
  return async (server) => {
    acceptTextAsJson(server);
    await addRoutes(server, [
      hiddenRoute(dialect, { method: 'OPTIONS', url: reportUrl, handle: ({ reply }) => answerPreflight(reply) }),
      route(dialect, {
        method: 'POST',
        url: reportUrl,
        operationId: 'reportInteraction',
        summary: 'Report that a message was shown, clicked or closed',
        description:
          'The body is JSON, even if it is sent as text/plain, which a page may post without a CORS preflight request.',
        consumes: ['application/json', 'text/plain'],
        body: interactionBody,
        maxBodyBytes: maxReportBodyBytes,
        answers: { 204: Type.Null() },
        refuses: [404, 429],
        async handle({ request, warn }) {
          warn();
          await report(deps, request);
        },
      }),
      route(dialect, {
        method: 'GET',
        // A preview that requests only the head is not a click.
        isHeadRefused: true,
        url: '/v1/click/:token',
        operationId: 'followClick',
        summary: 'Count a click and redirect to the address of the message',
        params: clickParameters,
        querystring: clickQuery,
        answers: { 302: Type.Null() },
        answerHeaders: { Location: Type.String({ description: 'The address of the message' }) },
        refuses: [404, 429],
        handle: ({ request, reply }) => click(deps, { request, reply }),
      }),
    ]);
  };
}

/** Makes the dialect. Pages of every origin can read all responses, including errors; cookies are never sent. */
function makeInteractionDialect({ vendorHeaders }: InteractionRouteDependencies): RouteDialect {
  return {
    tag: 'Interactions',
    // The token in the message is the credential.
    ...withoutCredentials,
    refusals: problemRefusals(['INTERACTION_TOKEN_UNKNOWN', 'INTERACTION_RATE_LIMITED']),
    vendorHeaders,
    areShapesChecked: true,
    // Devices make millions of calls and the API log is for integrators. Device tokens, also in paths, must stay out of it too.
    config: { isUnrecorded: true },
    async onEveryCall(_request, reply) {
      reply.headers({
        'access-control-allow-origin': '*',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
    },
  };
}

function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .headers({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '86400',
    })
    .code(204)
    .send();
}

function acceptTextAsJson(server: Parameters<RouteFamily>[0]): void {
  server.removeContentTypeParser('application/json');
  // navigator.sendBeacon sends text/plain, and a page may post it without a preflight request (Fetch, CORS-safelisted).
  server.addContentTypeParser(['application/json', 'text/plain'], { parseAs: 'string' }, (_request, text, done) => {
    try {
      // The text is not stored because it contains the token.
      done(null, parseJson(text as string));
    } catch (error) {
      done(error as Error);
    }
  });
}

async function report(deps: InteractionRouteDependencies, request: FastifyRequest): Promise<void> {
  const { token, kind, action, id, value, lowered } = request.body as Static<typeof interactionBody>;
  const address = callerAddress(request);
  if (lowered !== undefined && kind !== 'impression')
    throw new ServiceError('PARAMETER_INVALID', { field: 'lowered', reason: 'is of kind impression' });
  if (value !== undefined && kind !== 'badge')
    throw new ServiceError('PARAMETER_INVALID', { field: 'value', reason: 'is of kind badge' });
  if (action !== undefined && kind === 'badge')
    throw new ServiceError('PARAMETER_INVALID', { field: 'action', reason: 'is not of kind badge' });
  if (kind === 'badge') {
    if (value === undefined) throw new ServiceError('PARAMETER_INVALID', { field: 'value', reason: 'is required' });
    const { workspaceId } = await deps.interactions.setBadge({ token, count: value, address });
    request.facts.workspaceId = workspaceId;
    return;
  }
  const { workspaceId } = await deps.interactions.report({
    token,
    kind,
    ...(action === undefined ? {} : { action }),
    ...(lowered === undefined ? {} : { isLowered: lowered }),
    ...(id === undefined ? {} : { reportId: id }),
    address,
  });
  request.facts.workspaceId = workspaceId;
}

async function click(deps: InteractionRouteDependencies, { request, reply }: AnsweredCall): Promise<FastifyReply> {
  const { token } = request.params as Static<typeof clickParameters>;
  const { to } = request.query as Static<typeof clickQuery>;
  const { workspaceId, uncounted } = await deps.interactions.click({
    clickToken: token,
    to,
    address: callerAddress(request),
  });
  request.facts.workspaceId = workspaceId;
  if (uncounted !== undefined) request.facts.errorDetail = `click not counted: ${uncounted}`;
  // A header needs this form: letters beyond ASCII are percent-encoded.
  return reply.redirect(new URL(to).href, 302);
}
