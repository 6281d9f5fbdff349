import type { FastifyInstance, RouteOptions } from 'fastify';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { makeManualClock } from '../server/src/clock.ts';
import { buildServer } from '../server/src/http/server/build-server.ts';
import { consoleApi } from '../server/src/http/console/access.ts';
import { consoleRoutes } from '../server/src/http/console/routes.ts';
import { makeVendorHeaders } from '../server/src/http/route/vendor-headers.ts';
import { makeLog } from '../server/src/log.ts';

/** A route of the console's API: its path below /console/api, and the shapes of its request and of its JSON response. */
export type ConsoleRoute = {
  method: string;
  path: string;
  /** The shapes of the body, the query and the path. */
  taken: TSchema[];
  answer: { status: number; shape: TSchema } | undefined;
};

/** Returns every route of the console, including those of a sandbox and of company sign-in. Calls no use case. */
export async function listConsoleRoutes(): Promise<ConsoleRoute[]> {
  const clock = makeManualClock(new Date(0));
  const routes: ConsoleRoute[] = [];
  const deps = {
    clock,
    installationSecret: Buffer.alloc(32),
    company: {},
    sandbox: {},
    vendorHeaders: makeVendorHeaders('SVC'),
    staticFolder: join(import.meta.dirname, 'no-such-folder'),
  } as never;
  const collect = ({ method, url, schema }: RouteOptions): void => {
    if (!url.startsWith(`${consoleApi}/`) || method === 'HEAD') return;
    const [answer] = Object.entries((schema?.response ?? {}) as Record<string, TSchema>);
    const { body, querystring, params } = schema ?? {};
    routes.push({
      method: String(method),
      path: url.slice(consoleApi.length + 1),
      taken: [body, querystring, params].filter((shape) => shape !== undefined) as TSchema[],
      answer: answer && { status: Number(answer[0]), shape: answer[1] },
    });
  };
  const server = await buildServer({ log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: false }, [
    async (scope: FastifyInstance) => {
      scope.addHook('onRoute', collect);
      await consoleRoutes(deps)(scope, {});
    },
  ]);
  await server.ready();
  await server.close();
  return routes;
}
