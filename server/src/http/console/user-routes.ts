import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { deviceActions } from '../../app/console/change-users.ts';
import type { ConsoleUsers } from '../../app/console/console-users.ts';
import { instantPattern, microsecondPattern } from '../../domain/segments/iso-time.ts';
import { checkAttributes, parseDeviceRecord, requireCustomerId, requireText } from '../data/parse-data.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { consoleApi as api } from './console-access.ts';
import {
  presentErasure,
  presentSuspectedDevices,
  presentFoundUser,
  presentTimelineEntry,
  presentUser,
  presentPlace,
  presentTestUser,
} from './present-users.ts';
import { AddedUser, Erasure, FoundUser, SuspectedDevicePage, TestUser, TimelinePage, User } from './user-shapes.ts';

const workspaceId = Type.String({ maxLength: 64 });
const Workspace = Type.Object({ workspaceId });
// As long as a browser's subscription may be.
const Search = Type.Object({ workspaceId, q: Type.String({ minLength: 1, maxLength: 4096 }) });
const rowId = Type.String({ pattern: '^[0-9a-f]{24}$' });
const Id = Type.Object({ id: rowId });
const DeviceId = Type.Object({ id: rowId, deviceRowId: rowId });
const After = Type.Object({
  workspaceId,
  after: Type.Optional(Type.String({ pattern: `^${microsecondPattern}~.{1,600}$` })),
});
const AfterSuspect = Type.Object({
  workspaceId,
  after: Type.Optional(Type.String({ pattern: `^${instantPattern}~[0-9a-f]{24}$` })),
});
const closed = { additionalProperties: false };
const attributes = Type.Record(Type.String(), Type.Unknown());
// What they may hold is checked as by the data API, with its errors.
const NewUser = Type.Object({ customerId: Type.Unknown(), attributes: Type.Optional(attributes) }, closed);
const Attributes = Type.Object({ attributes }, closed);
const Mark = Type.Object({ isTest: Type.Boolean() }, closed);
const NewDevice = Type.Object({ deviceId: Type.Unknown(), attributes }, closed);

export type ConsoleUsersRouteDependencies = { users: ConsoleUsers; vendorHeaders: VendorHeaders };

/** People on the console: found by one word, shown whole, changed, erased, and kept after all. */
export function consoleUsersRoutes(server: FastifyInstance, deps: ConsoleUsersRouteDependencies): void {
  const { users } = deps;
  const config = { permission: 'people.read' as const };
  const one = { hide: true, querystring: Workspace, params: Id };

  const searching = {
    schema: { hide: true, querystring: Search, response: { 200: Type.Object({ users: Type.Array(FoundUser) }) } },
    config,
  };
  server.get(`${api}/people`, searching, async (request) => {
    const { q, ...query } = request.query as Static<typeof Search>;
    const word = q.trim();
    return { users: word === '' ? [] : (await users.search({ ...query, word })).map(presentFoundUser) };
  });
  const showing = { schema: { ...one, response: { 200: Type.Object({ user: User }) } }, config };
  server.get(`${api}/people/:id`, showing, async (request) =>
    presentUser(
      await users.read({ ...(request.query as Static<typeof Workspace>), ...(request.params as Static<typeof Id>) }),
    ),
  );
  server.get(
    `${api}/people/for-tests`,
    {
      schema: { hide: true, querystring: Workspace, response: { 200: Type.Object({ users: Type.Array(TestUser) }) } },
      config,
    },
    async (request) => ({
      users: (await users.listForTests((request.query as Static<typeof Workspace>).workspaceId)).map(presentTestUser),
    }),
  );
  server.get(
    `${api}/people/:id/timeline`,
    { schema: { hide: true, querystring: After, params: Id, response: { 200: TimelinePage } }, config },
    async (request) => {
      const { after, ...query } = request.query as Static<typeof After>;
      const { id } = request.params as Static<typeof Id>;
      const page = await users.listTimeline({
        ...query,
        id,
        after: after === undefined ? undefined : parsePlace(after),
      });
      const last = page.entries.at(-1);
      return {
        entries: page.entries.map(presentTimelineEntry),
        next: page.hasMore && last ? presentPlace(last) : null,
      };
    },
  );
  server.get(
    `${api}/people/suspected-devices`,
    { schema: { hide: true, querystring: AfterSuspect, response: { 200: SuspectedDevicePage } }, config },
    async (request) => {
      const { workspaceId: id, after } = request.query as Static<typeof AfterSuspect>;
      const [lastAt, deviceId] = after?.split('~') ?? [];
      const place = lastAt === undefined ? undefined : { lastAt: new Date(lastAt), id: deviceId! };
      return presentSuspectedDevices(await users.listSuspectedDevices({ workspaceId: id, after: place }));
    },
  );
  addChanges(server, deps);
  server.post(
    `${api}/people/:id/erase`,
    {
      schema: { ...one, response: { 202: Type.Object({ erasure: Erasure }) } },
      config: { permission: 'people.write' },
    },
    async (request, reply) => {
      const { id } = request.params as Static<typeof Id>;
      const query = request.query as Static<typeof Workspace>;
      const erasure = await users.erase({ by: request.signedIn, ...query, id });
      return reply.code(202).send({ erasure: presentErasure(erasure) });
    },
  );
  server.delete(
    `${api}/people/:id/erasure`,
    { schema: one, config: { permission: 'people.write' } },
    async (request, reply) => {
      const { id } = request.params as Static<typeof Id>;
      await users.cancelErasure({ by: request.signedIn, ...(request.query as Static<typeof Workspace>), id });
      return reply.code(204).send();
    },
  );
}

function addChanges(server: FastifyInstance, { users, vendorHeaders }: ConsoleUsersRouteDependencies): void {
  const { prefixes } = vendorHeaders;
  const config = { permission: 'people.write' as const };
  const one = { hide: true, querystring: Workspace, params: Id };
  const keyOf = (request: FastifyRequest) => ({
    ...(request.query as Static<typeof Workspace>),
    ...(request.params as Static<typeof Id>),
    by: request.signedIn,
  });
  server.post(
    `${api}/people`,
    { schema: { hide: true, querystring: Workspace, body: NewUser, response: { 201: AddedUser } }, config },
    async (request, reply) => {
      const body = request.body as Static<typeof NewUser>;
      const customerId = requireCustomerId({ customer_id: body.customerId });
      const given = body.attributes ?? {};
      checkAttributes(given, prefixes);
      const query = request.query as Static<typeof Workspace>;
      return reply.code(201).send(await users.add({ ...query, by: request.signedIn, customerId, attributes: given }));
    },
  );
  server.patch(
    `${api}/people/:id/attributes`,
    { schema: { ...one, body: Attributes }, config },
    async (request, reply) => {
      const body = request.body as Static<typeof Attributes>;
      checkAttributes(body.attributes, prefixes);
      await users.changeAttributes({ ...keyOf(request), attributes: body.attributes });
      return reply.code(204).send();
    },
  );
  server.put(`${api}/people/:id/test`, { schema: { ...one, body: Mark }, config }, async (request, reply) => {
    await users.markForTests({ ...keyOf(request), ...(request.body as Static<typeof Mark>) });
    return reply.code(204).send();
  });
  server.post(`${api}/people/:id/devices`, { schema: { ...one, body: NewDevice }, config }, async (request, reply) => {
    const body = request.body as Static<typeof NewDevice>;
    const deviceId = requireText({ device_id: body.deviceId }, 'device_id');
    const device = { deviceId, ...parseDeviceRecord(body.attributes, prefixes) };
    await users.addDevice({ ...keyOf(request), device });
    return reply.code(204).send();
  });
  for (const action of deviceActions)
    server.post(
      `${api}/people/:id/devices/:deviceRowId/${action}`,
      { schema: { ...one, params: DeviceId }, config },
      async (request, reply) => {
        const { deviceRowId } = request.params as Static<typeof DeviceId>;
        await users.changeDevice({ ...keyOf(request), deviceRowId, action });
        return reply.code(204).send();
      },
    );
}

/** The shape is checked before. */
function parsePlace(text: string): { place: string; key: string } {
  const [place, ...key] = text.split('~') as [string, ...string[]];
  return { place, key: key.join('~') };
}
