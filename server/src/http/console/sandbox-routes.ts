import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleSandbox } from '../../app/console/console-sandbox.ts';
import { consoleApi as api } from './console-access.ts';

const closed = { additionalProperties: false };
const ClockMove = Type.Union([
  Type.Object({ advanceSeconds: Type.Number({ minimum: 0, maximum: 400_000_000 }) }, closed),
  Type.Object({ reset: Type.Literal(true) }, closed),
]);
// What a fault may hold is checked where it strikes.
const Faults = Type.Object({
  fcm: Type.Optional(Type.Object({})),
  apns: Type.Optional(Type.Object({})),
  webpush: Type.Optional(Type.Object({})),
});

/** The sandbox on the console: clock, faults, counters. Production has none of these routes. */
export function consoleSandboxRoutes(server: FastifyInstance, sandbox: ConsoleSandbox): void {
  const config = { permission: 'sandbox.use' as const };
  const schema = { hide: true };
  server.get(`${api}/sandbox`, { schema, config }, () => sandbox.read());
  server.post(`${api}/sandbox/clock`, { schema: { ...schema, body: ClockMove }, config }, (request) =>
    sandbox.moveClock({ by: request.signedIn, move: request.body as Static<typeof ClockMove> }),
  );
  server.put(`${api}/sandbox/faults`, { schema: { ...schema, body: Faults }, config }, (request) =>
    sandbox.setFaults({ by: request.signedIn, faults: request.body as Static<typeof Faults> }),
  );
  server.post(`${api}/sandbox/reset`, { schema, config }, (request) => sandbox.reset({ by: request.signedIn }));
  server.post(`${api}/sandbox/empty`, { schema, config }, (request) => sandbox.empty({ by: request.signedIn }));
}
