import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  clearInbox,
  listRefusals,
  moveClock,
  readCounters,
  readInbox,
  readSandboxClock,
  resetSandbox,
  setFaults,
} from '../../app/sandbox/control-sandbox.ts';
import { presentMessage } from './present-message.ts';
import type { SandboxClock, SandboxDependencies } from '../../app/sandbox/control-sandbox.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeSandbox } from './describe-sandbox.ts';
import { guardSandbox } from './guard-sandbox.ts';
import type { SandboxGuard } from './guard-sandbox.ts';
import { addInboxEvents } from './inbox-events.ts';
import { clock, clockMove, counters, demo, faults, inbox, inboxQuery, refusals, refusalsQuery } from './shapes.ts';

const noContent = { 204: Type.Null() };
/** They take no body, and refuse one that is too large or of a type that nobody reads. */
const bodyAnyway = [413, 415];

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
        schema: describeSandbox({
          operationId: 'readInbox',
          summary: 'Messages the simulated devices received, newest first',
          querystring: inboxQuery,
          answers: { 200: inbox },
        }),
      },
      (request) => answerInbox(deps, request),
    );
    addInboxEvents(server, deps);
    server.delete(
      '/sandbox/inbox',
      {
        schema: describeSandbox({
          operationId: 'clearInbox',
          summary: 'Empty the inbox, the counters and the fault switches',
          answers: noContent,
          refuses: bodyAnyway,
        }),
      },
      async (_request, reply) => {
        await clearInbox(deps);
        return reply.code(204).send();
      },
    );
    server.post(
      '/sandbox/reset',
      {
        schema: describeSandbox({
          operationId: 'resetSandbox',
          summary: 'Make the demo workspace, the counters and the faults what the first start made them',
          answers: { 200: demo },
          refuses: bodyAnyway,
        }),
      },
      () => resetSandbox(deps),
    );
    server.get(
      '/sandbox/counters',
      {
        schema: describeSandbox({
          operationId: 'readCounters',
          summary: 'What the simulators counted, per platform',
          answers: { 200: counters },
        }),
      },
      () => readCounters(deps),
    );
    addRefusals(server, deps);
    server.get(
      '/sandbox/clock',
      {
        schema: describeSandbox({
          operationId: 'readClock',
          summary: 'The time of this installation',
          answers: { 200: clock },
        }),
      },
      async () => presentClock(readSandboxClock(deps)),
    );
    server.post(
      '/sandbox/clock',
      {
        schema: describeSandbox({
          operationId: 'moveClock',
          summary:
            'Move the clock forward, stopping where something is due, or until nothing is; let it stand, or run; or back to real time',
          body: clockMove,
          answers: { 200: clock },
          refuses: [409],
        }),
      },
      async (request) => presentClock(await moveClock(deps, { move: request.body as Static<typeof clockMove> })),
    );
    server.post(
      '/sandbox/faults',
      {
        schema: describeSandbox({
          operationId: 'setFaults',
          summary: 'Make the simulated providers fail; {} ends all faults',
          body: faults,
          answers: noContent,
        }),
        // The simulators name a wrong switch; a body of another kind is refused below.
        validatorCompiler: () => () => true,
      },
      (request, reply) => switchFaults(deps, request, reply),
    );
  };
}

function addRefusals(server: FastifyInstance, deps: SandboxDependencies): void {
  server.get(
    '/sandbox/refusals',
    {
      schema: describeSandbox({
        operationId: 'listRefusals',
        summary: 'What the simulated providers refused, and why, newest first',
        querystring: refusalsQuery,
        answers: { 200: refusals },
      }),
    },
    async (request) => {
      const { limit } = request.query as Static<typeof refusalsQuery>;
      return { refusals: await listRefusals(deps, { limit: Number(limit ?? '100') }) };
    },
  );
}

async function answerInbox(deps: SandboxDependencies, request: FastifyRequest): Promise<{ messages: unknown[] }> {
  const query = request.query as Static<typeof inboxQuery>;
  const limit = Number(query.limit ?? '100');
  if (limit < 1 || limit > 1000)
    throw new ServiceError('PARAMETER_INVALID', { field: 'limit', reason: 'must be 1 to 1000' });
  const messages = await readInbox(deps, {
    ...(query.workspaceId === undefined ? {} : { workspaceId: query.workspaceId }),
    after: query.after ?? '',
    limit,
    waitMilliseconds: Math.min(Number(query.wait ?? '0'), 30_000),
  });
  return { messages: messages.map(presentMessage) };
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

function presentClock({ now, offsetMilliseconds, isFrozen, advancing }: SandboxClock) {
  return { now: now.toISOString(), offsetSeconds: offsetMilliseconds / 1000, frozen: isFrozen, advancing };
}
