import { Type } from 'typebox';
import { proxyStates } from '../domain/operations/readiness.ts';
import type { ProxyState } from '../domain/operations/readiness.ts';
import { named } from './openapi/shapes.ts';
import { problemRefusals, withoutCredentials } from './route/own-dialect.ts';
import { addRoutes, route } from './route/route.ts';
import type { RouteDialect } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

export type HealthDependencies = {
  /** Returns the conditions that are not met; empty if the node is ready. Has a time limit. */
  findTroubles: () => Promise<string[]>;
  /** Returns the state of the outgoing proxy, if there is one. */
  proxyState?: (() => ProxyState) | undefined;
};

const Answer = named(
  'Health',
  Type.Object({
    status: Type.Union([Type.Literal('ok'), Type.Literal('not ready')]),
    troubles: Type.Optional(
      Type.Array(Type.String(), { description: 'The missing conditions; docs/operations.md lists them' }),
    ),
    proxy: Type.Optional(
      Type.Union(
        proxyStates.map((state) => Type.Literal(state)),
        { description: 'With `verbose`: result of the last call through the outgoing proxy, if there is one' },
      ),
    ),
  }),
);

const dialect: RouteDialect = {
  tag: 'Health',
  ...withoutCredentials,
  refusals: problemRefusals([]),
  areShapesChecked: true,
  otherMethods: 'not found',
};

/**
 * `/livez` responds while the process runs. `/readyz` reports whether the node can do its work, and lists the missing conditions.
 * `?verbose` includes that list even if it is empty, and adds the state of the outgoing proxy. A failing proxy does not make the node
 * unready: the node still accepts requests, and messages wait in the queue.
 */
export function healthRoutes({ findTroubles, proxyState }: HealthDependencies): RouteFamily {
  return async (server) =>
    addRoutes(server, [
      route(dialect, {
        method: 'GET',
        url: '/livez',
        operationId: 'readLiveness',
        summary: 'The process responds',
        answers: { 200: Answer },
        handle: () => ({ status: 'ok' }),
      }),
      route(dialect, {
        method: 'GET',
        url: '/readyz',
        operationId: 'readReadiness',
        summary: 'The service can do its work',
        querystring: Type.Object({
          verbose: Type.Optional(
            Type.Unsafe<unknown>({ description: 'Lists the missing conditions even if there are none' }),
          ),
        }),
        answers: { 200: Answer, 503: Answer },
        async handle({ query, reply }) {
          const troubles = await findTroubles();
          const isVerbose = Object.hasOwn(query, 'verbose');
          reply.code(troubles.length === 0 ? 200 : 503);
          return {
            status: troubles.length === 0 ? 'ok' : 'not ready',
            ...(isVerbose || troubles.length > 0 ? { troubles } : {}),
            ...(isVerbose && proxyState ? { proxy: proxyState() } : {}),
          };
        },
      }),
    ]);
}
