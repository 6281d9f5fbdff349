import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  clearInbox,
  moveClock,
  readCounters,
  readInbox,
  readSandboxClock,
  resetSandbox,
  setFaults,
} from '../../app/sandbox/control-sandbox.ts';
import type { SandboxClock, SandboxDependencies } from '../../app/sandbox/control-sandbox.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RouteFamily } from '../build-server.ts';
import { problem } from '../interactions/shapes.ts';
import { guardSandbox } from './guard-sandbox.ts';
import type { SandboxGuard } from './guard-sandbox.ts';

const InboxQuery = Type.Object({
  workspaceId: Type.Optional(Type.String({ maxLength: 64 })),
  after: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$', description: 'Only messages newer than this id' })),
  limit: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}$', description: '1 to 1000, default 100' })),
  wait: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,5}(\\.[0-9]{1,6})?$',
      description: 'Milliseconds to wait for a first message, up to 30000',
    }),
  ),
});

const ClockMove = Type.Union([
  Type.Object({ advanceSeconds: Type.Number({ minimum: 0, maximum: 400_000_000 }) }, { additionalProperties: false }),
  Type.Object({ reset: Type.Literal(true) }, { additionalProperties: false }),
]);

const tags = ['Sandbox'];
const refusals = { 400: problem, 403: problem, 413: problem, 415: problem, 421: problem };
const answers = { 200: Type.Unknown(), ...refusals };
const noContent = { 204: Type.Null(), ...refusals };

/**
 * The stand-in's own routes: the phones' inbox, the clock, fault switches. They exist in sandbox mode only and need no
 * credentials: nothing real is behind them. Pages of other sites are kept out.
 */
export function sandboxRoutes(deps: SandboxDependencies & SandboxGuard): RouteFamily {
  return async (server) => {
    guardSandbox(server, deps);
    server.get(
      '/sandbox/inbox',
      {
        schema: {
          tags,
          summary: 'Messages the simulated devices received, newest first',
          querystring: InboxQuery,
          response: answers,
        },
      },
      (request) => answerInbox(deps, request),
    );
    server.delete(
      '/sandbox/inbox',
      { schema: { tags, summary: 'Empty the inbox, the counters and the fault switches', response: noContent } },
      async (_request, reply) => {
        await clearInbox(deps);
        return reply.code(204).send();
      },
    );
    server.post(
      '/sandbox/reset',
      {
        schema: {
          tags,
          summary: 'Make the demo workspace, the counters and the faults what the first start made them',
          response: answers,
        },
      },
      () => resetSandbox(deps),
    );
    server.get(
      '/sandbox/counters',
      { schema: { tags, summary: 'What the simulators counted, per platform', response: answers } },
      () => readCounters(deps),
    );
    server.get(
      '/sandbox/clock',
      { schema: { tags, summary: 'The time of this installation', response: answers } },
      async () => presentClock(readSandboxClock(deps)),
    );
    server.post(
      '/sandbox/clock',
      {
        schema: {
          tags,
          summary: 'Move the clock forward, stopping where something is due, or back to real time',
          body: ClockMove,
          response: { ...answers, 409: problem },
        },
      },
      async (request) => presentClock(await moveClock(deps, { move: request.body as Static<typeof ClockMove> })),
    );
    server.post(
      '/sandbox/faults',
      { schema: { tags, summary: 'Make the simulated providers fail; {} ends all faults', response: noContent } },
      (request, reply) => switchFaults(deps, request, reply),
    );
  };
}

async function answerInbox(deps: SandboxDependencies, request: FastifyRequest): Promise<{ messages: unknown[] }> {
  const query = request.query as Static<typeof InboxQuery>;
  const limit = Number(query.limit ?? '100');
  if (limit < 1 || limit > 1000)
    throw new ServiceError('PARAMETER_INVALID', { field: 'limit', reason: 'must be 1 to 1000' });
  const messages = await readInbox(deps, {
    ...(query.workspaceId === undefined ? {} : { workspaceId: query.workspaceId }),
    after: query.after ?? '',
    limit,
    waitMilliseconds: Math.min(Number(query.wait ?? '0'), 30_000),
  });
  return { messages: messages.map((message) => ({ ...message, receivedAt: message.receivedAt.toISOString() })) };
}

async function switchFaults(
  deps: SandboxDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (request.body === null || typeof request.body !== 'object' || Array.isArray(request.body)) {
    throw new ServiceError('PARAMETER_INVALID', { field: 'body', reason: 'must be an object' });
  }
  await setFaults(deps, { faults: request.body });
  return reply.code(204).send();
}

function presentClock({ now, offsetMilliseconds, advancing }: SandboxClock) {
  return { now: now.toISOString(), offsetSeconds: offsetMilliseconds / 1000, advancing };
}
