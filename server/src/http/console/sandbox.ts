import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { deviceBehaviours } from '../../app/sandbox/sandbox-devices.ts';
import type { VirtualDevices } from '../../app/sandbox/sandbox-devices.ts';
import { forAllCounters, forAllProviders } from '../../domain/delivery/providers.ts';
import { clearInbox, moveClock, readSandbox, resetSandbox, setFaults } from '../../app/sandbox/sandbox.ts';
import type { ConsoleSandbox } from '../../app/sandbox/sandbox.ts';
import { platforms } from '../../domain/content/content.ts';
import { interactionKinds } from '../../domain/events/interactions.ts';
import { requireCustomerId } from '../data/parse-data.ts';
import { consoleApi as api } from './access.ts';
import { ProviderName } from './overview.ts';
import { changeOf, closed, Id, id, idOf, Workspace, workspaceOf } from './requests.ts';
import { Platform, described, oneOf, orNull } from './shape-parts.ts';

export const SandboxFault = described(
  Type.Object(
    {
      status: Type.Optional(Type.Number()),
      answer: Type.Optional(Type.String()),
      delayMilliseconds: Type.Optional(Type.Number()),
      reset: Type.Optional(Type.Boolean()),
      count: Type.Optional(Type.Number({ description: 'The number of times that are left; absent: always.' })),
      device: Type.Optional(Type.String()),
      route: Type.Optional(Type.String()),
    },
    { additionalProperties: Type.Unknown() },
  ),
  'A fault switch of `POST /sandbox/faults`.',
);

export const SandboxState = Type.Object({
  clock: Type.Object({
    now: Type.String(),
    offsetSeconds: Type.Number(),
    isFrozen: Type.Boolean(),
    advancing: described(
      Type.Union([Type.Object({ stops: Type.Number(), remainingSeconds: Type.Number() }), Type.Null()]),
      'The progress of an advance; null while the clock is not being moved.',
    ),
  }),
  counters: described(
    Type.Object(
      forAllCounters(
        Type.Optional(Type.Object({ received: Type.Number(), accepted: Type.Number(), refused: Type.Number() })),
      ),
    ),
    'What the simulated providers counted.',
  ),
  faults: described(
    Type.Object({ ...forAllProviders(Type.Array(SandboxFault)), api: Type.Array(SandboxFault) }),
    'The faults that may still apply.',
  ),
});

export const DeviceBehaviour = described(
  oneOf(deviceBehaviours),
  '`works`, or how the provider responds for the address of the device.',
);

export const VirtualDevice = described(
  Type.Object({
    id: Type.String(),
    userId: Type.String(),
    customerId: Type.String(),
    deviceId: Type.String(),
    platform: Platform,
    provider: described(orNull(ProviderName), 'Null for the default provider of the platform.'),
    state: Type.String(),
    token: Type.String({ description: 'The token by which messages in the inbox identify the device.' }),
    messages: described(
      Type.Array(
        Type.Object({
          id: Type.String(),
          deviceToken: Type.String(),
          title: Type.String(),
          body: Type.String(),
          receivedAt: Type.String(),
        }),
      ),
      'The newest three.',
    ),
    behaviour: DeviceBehaviour,
  }),
  'A device of a person who is marked for tests.',
);

const ClockMove = Type.Union([
  Type.Object({ advanceSeconds: Type.Number({ minimum: 0, maximum: 400_000_000 }) }, closed),
  Type.Object({ freeze: Type.Literal(true) }, closed),
  Type.Object({ resume: Type.Literal(true) }, closed),
  Type.Object({ reset: Type.Literal(true) }, closed),
]);
// The values of a fault are validated when it is applied.
const someFaults = Type.Optional(Type.Union([Type.Object({}), Type.Array(Type.Object({}))]));
const Faults = Type.Object({ ...forAllProviders(someFaults), api: someFaults });

const Report = Type.Object({
  id,
  kind: Type.Union(interactionKinds.map((kind) => Type.Literal(kind))),
});
const behaviour = Type.Union(deviceBehaviours.map((name) => Type.Literal(name)));
const NewDevice = Type.Object(
  {
    customerId: Type.Unknown(),
    platform: Type.Union(platforms.map((platform) => Type.Literal(platform))),
    behaviour,
  },
  closed,
);
const Change = Type.Object({ behaviour }, closed);

/** Routes for the sandbox on the console: clock, faults, counters. Production has none of them. */
export function consoleSandboxRoutes(server: FastifyInstance, sandbox: ConsoleSandbox): void {
  const config = { permission: 'sandbox.use' as const };
  const schema = { hide: true, response: { 200: SandboxState } };
  addDevices(server, sandbox.devices);
  server.get(`${api}/sandbox`, { schema, config }, () => readSandbox(sandbox));
  server.post(`${api}/sandbox/clock`, { schema: { ...schema, body: ClockMove }, config }, async (request) => {
    await moveClock(sandbox, { actor: request.signedIn, move: request.body as Static<typeof ClockMove> });
    return readSandbox(sandbox);
  });
  server.put(`${api}/sandbox/faults`, { schema: { ...schema, body: Faults }, config }, async (request) => {
    await setFaults(sandbox, { actor: request.signedIn, faults: request.body as Static<typeof Faults> });
    return readSandbox(sandbox);
  });
  server.post(`${api}/sandbox/reset`, { schema, config }, async (request) => {
    await resetSandbox(sandbox, { actor: request.signedIn });
    return readSandbox(sandbox);
  });
  server.post(`${api}/sandbox/empty`, { schema, config }, async (request) => {
    await clearInbox(sandbox, { actor: request.signedIn });
    return readSandbox(sandbox);
  });
}

/** Adds routes for virtual devices and for what they report about their messages. */
function addDevices(server: FastifyInstance, devices: VirtualDevices): void {
  const config = { permission: 'sandbox.use' as const };
  const schema = { hide: true, querystring: Workspace };
  const Devices = Type.Object({ devices: Type.Array(VirtualDevice) });
  server.get(
    `${api}/sandbox/devices`,
    { schema: { ...schema, response: { 200: Devices } }, config },
    async (request) => ({ devices: await devices.list(workspaceOf(request)) }),
  );
  server.post(
    `${api}/sandbox/devices`,
    { schema: { ...schema, body: NewDevice, response: { 201: Devices } }, config },
    async (request, reply) => {
      const { customerId: sent, ...device } = request.body as Static<typeof NewDevice>;
      const customerId = requireCustomerId({ customer_id: sent });
      await devices.add({ ...device, ...changeOf(request), customerId });
      return reply.code(201).send({ devices: await devices.list(workspaceOf(request)) });
    },
  );
  server.put(
    `${api}/sandbox/devices/:id`,
    { schema: { ...schema, params: Id, body: Change, response: { 200: Devices } }, config },
    async (request) => {
      const change = request.body as Static<typeof Change>;
      await devices.change({ ...change, ...changeOf(request), id: idOf(request) });
      return { devices: await devices.list(workspaceOf(request)) };
    },
  );
  server.post(
    `${api}/sandbox/messages/:id/:kind`,
    { schema: { ...schema, params: Report }, config },
    async (request, reply) => {
      await devices.report({ workspaceId: workspaceOf(request), ...(request.params as Static<typeof Report>) });
      return reply.code(204).send();
    },
  );
}
