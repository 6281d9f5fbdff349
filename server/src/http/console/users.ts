import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { deviceActions } from '../../app/users/manage-users.ts';
import type { ConsoleUsers, UserHit } from '../../app/users/manage-users.ts';
import { instantPattern, microsecondPattern } from '../../domain/timing/iso-time.ts';
import { suspicionHours, suspicionSends } from '../../domain/users/devices.ts';
import type { ReportedSuspicion } from '../../domain/users/devices.ts';
import { checkAttributes, parseDeviceRecord, requireCustomerId, requireText } from '../data/parse-data.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import { consoleApi as api } from './access.ts';
import { Installation, presentInstallation } from './app-access.ts';
import { ProviderName } from './overview.ts';
import { changeOf, closed, Id, id, idOf, keyOf, Workspace, workspaceId, workspaceOf } from './requests.ts';
import { Platform, described, oneOf, orNull } from './shape-parts.ts';

export const FoundUser = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  updatedAt: Type.String(),
  devices: Type.Number(),
  foundBy: described(
    oneOf(['USER_ID', 'CARILLON_ID', 'DEVICE_TOKEN', 'ATTRIBUTE']),
    'The kind of identifier that the search text matched.',
  ),
  attribute: described(orNull(Type.String()), 'The name of the attribute that has the value.'),
});

export const ListedUser = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  name: orNull(Type.String()),
  email: orNull(Type.String()),
  createdAt: Type.String(),
  devices: Type.Number({ description: 'Devices that messages can be sent to.' }),
  platforms: described(Type.Array(Platform), 'Platforms of the devices, whatever their state.'),
  lastSeenAt: described(
    orNull(Type.String()),
    'The newest registration of a device or an app, or event of the last 30 days.',
  ),
});

export const UserPage = Type.Object({
  users: described(Type.Array(ListedUser), 'Newest first, at most 50.'),
  next: described(orNull(Type.String()), 'The value of `after` for the next page.'),
  tooSlowAfterSeconds: described(orNull(Type.Number()), 'The search was ended after this time; null: it was not.'),
});

export const DeviceSuspicion = described(
  Type.Object({
    code: Type.String({ description: "The provider's code in the last send." }),
    sends: Type.Number({ description: 'The number of sends with such a response.' }),
    leavesAfterSends: Type.Number(),
    leavesAfterHours: Type.Number({ description: 'The minimum hours between the first and the last of these sends.' }),
    since: Type.String(),
    lastAt: Type.String(),
    hasLeft: Type.Boolean({ description: 'True if the device has left the audience because of these sends.' }),
  }),
  'Responses that usually mean a dead address.',
);

const DeviceState = oneOf(['ACTIVE', 'OPTED_OUT', 'BLOCKED', 'GONE']);

export const SuspectedDevice = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  customerId: Type.String(),
  deviceId: Type.String({ description: "The app's name for the device." }),
  platform: Platform,
  provider: described(orNull(ProviderName), 'Null for the default provider of the platform.'),
  state: DeviceState,
  suspicion: DeviceSuspicion,
});

export const SuspectedDevicePage = Type.Object({
  devices: described(Type.Array(SuspectedDevice), 'The latest strike first, at most 50.'),
  next: described(orNull(Type.String()), 'The value of `after` for the next page.'),
});

export const UserDevice = Type.Object({
  id: Type.String(),
  deviceId: Type.String({ description: "The app's name for the device." }),
  platform: Platform,
  provider: described(orNull(ProviderName), 'Null for the default provider of the platform.'),
  pushId: Type.String(),
  pushIdType: described(
    orNull(Type.Literal('fid')),
    "`fid` for the id of a Firebase installation; null for the provider's own token.",
  ),
  state: DeviceState,
  isProvisional: Type.Boolean(),
  model: orNull(Type.String()),
  appVersion: orNull(Type.String()),
  osVersion: orNull(Type.String()),
  registeredAt: Type.String(),
  goneAt: orNull(Type.String()),
  goneReason: described(orNull(Type.String()), "The provider's code."),
  blockedAt: orNull(Type.String()),
  blockReason: orNull(Type.String()),
  suspicion: orNull(DeviceSuspicion),
});

export const UserMessage = Type.Object({
  runId: Type.String(),
  campaignId: Type.String(),
  campaignName: Type.String(),
  deviceId: described(orNull(Type.String()), 'Null if the device was removed.'),
  platform: Platform,
  outcome: Type.String(),
  code: orNull(Type.String()),
  attempts: Type.Number(),
  at: Type.String(),
});

export const Erasure = Type.Object({ id: Type.String(), requestedAt: Type.String(), dueAt: Type.String() });

export const User = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  mergedCustomerIds: described(Type.Array(Type.String()), 'Customer ids that were merged into this user.'),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  isTest: Type.Boolean({ description: 'True if the user is marked for tests of campaigns.' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  devices: Type.Array(UserDevice),
  installations: described(Type.Array(Installation), 'Apps and sites that registered themselves, newest first.'),
  segments: described(
    Type.Array(Type.Object({ id: Type.String(), name: Type.String(), kind: oneOf(['FILE', 'COHORT']) })),
    'Segments from files and partners. Members of filter segments are determined when a campaign starts.',
  ),
  messages: described(Type.Array(UserMessage), 'Newest first, at most 50.'),
  erasure: described(orNull(Erasure), 'The pending erasure of the user, if any.'),
});

export const TestUser = Type.Omit(FoundUser, ['foundBy', 'attribute']);

export const TimelineEntry = Type.Object({
  key: Type.String({ description: "Identifies the entry in the user's timeline." }),
  at: Type.String(),
  kind: oneOf([
    'EVENT',
    'MESSAGE',
    'IMPRESSION',
    'CLICK',
    'CLOSE',
    'DEVICE_REGISTERED',
    'DEVICE_BLOCKED',
    'DEVICE_GONE',
    'CHANGED',
    'MERGED',
    'CREATED',
  ]),
  name: described(
    orNull(Type.String()),
    'The name of an event, a campaign or a console action, or the customer id that was merged.',
  ),
  campaignId: orNull(Type.String()),
  deviceId: described(
    orNull(Type.String()),
    "The app's name for the device; null if no device is concerned or it was removed.",
  ),
  platform: orNull(Platform),
  outcome: orNull(Type.String()),
  code: orNull(Type.String()),
  detail: described(
    Type.Record(Type.String(), Type.Unknown()),
    'Attributes of an event, the button of a click, or the subject of a change.',
  ),
});

export const TimelinePage = Type.Object({ entries: Type.Array(TimelineEntry), next: orNull(Type.String()) });

export const AddedUser = Type.Object({ id: Type.String() });

// The maximum length of a browser's subscription.
const word = Type.String({ minLength: 1, maxLength: 4096 });
const Search = Type.Object({ workspaceId, q: word });
const List = Type.Object({
  workspaceId,
  part: Type.Optional(word),
  after: Type.Optional(id),
});
const DeviceId = Type.Object({ id, deviceRowId: id });
const After = Type.Object({
  workspaceId,
  after: Type.Optional(Type.String({ pattern: `^${microsecondPattern}~.{1,600}$` })),
});
const AfterSuspect = Type.Object({
  workspaceId,
  after: Type.Optional(Type.String({ pattern: `^${instantPattern}~[0-9a-f]{24}$` })),
});
const attributes = Type.Record(Type.String(), Type.Unknown());
// The values are validated as in the data API, with its errors.
const NewUser = Type.Object({ customerId: Type.Unknown(), attributes: Type.Optional(attributes) }, closed);
const Attributes = Type.Object({ attributes }, closed);
const Mark = Type.Object({ isTest: Type.Boolean() }, closed);
const NewDevice = Type.Object({ deviceId: Type.Unknown(), attributes }, closed);

export type ConsoleUsersRouteDependencies = { users: ConsoleUsers; vendorHeaders: VendorHeaders };

/** Routes for users on the console: search, show, change, erase, and cancel an erasure. */
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
  server.get(
    `${api}/people/list`,
    { schema: { hide: true, querystring: List, response: { 200: UserPage } }, config },
    async (request) => {
      const { workspaceId: inWorkspace, part, after } = request.query as Static<typeof List>;
      const page = await users.list({ workspaceId: inWorkspace, word: part?.trim(), after });
      return presentUserPage(page);
    },
  );
  const showing = { schema: { ...one, response: { 200: Type.Object({ user: User }) } }, config };
  server.get(`${api}/people/:id`, showing, async (request) => presentUser(await users.read(keyOf(request))));
  server.get(
    `${api}/people/for-tests`,
    {
      schema: { hide: true, querystring: Workspace, response: { 200: Type.Object({ users: Type.Array(TestUser) }) } },
      config,
    },
    async (request) => ({
      users: (await users.listForTests(workspaceOf(request))).map(presentTestUser),
    }),
  );
  server.get(
    `${api}/people/:id/timeline`,
    { schema: { hide: true, querystring: After, params: Id, response: { 200: TimelinePage } }, config },
    async (request) => {
      const { after, ...query } = request.query as Static<typeof After>;
      const page = await users.listTimeline({
        ...query,
        id: idOf(request),
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
  addErasures(server, deps);
}

function addErasures(server: FastifyInstance, { users }: ConsoleUsersRouteDependencies): void {
  const config = { permission: 'people.write' as const };
  const one = { hide: true, querystring: Workspace, params: Id };
  server.post(
    `${api}/people/:id/erase`,
    { schema: { ...one, response: { 202: Type.Object({ erasure: Erasure }) } }, config },
    async (request, reply) => {
      const erasure = await users.erase({ ...changeOf(request), id: idOf(request) });
      return reply.code(202).send({ erasure: presentErasure(erasure) });
    },
  );
  server.delete(`${api}/people/:id/erasure`, { schema: one, config }, async (request, reply) => {
    await users.cancelErasure({ ...changeOf(request), id: idOf(request) });
    return reply.code(204).send();
  });
}

function addChanges(server: FastifyInstance, { users, vendorHeaders }: ConsoleUsersRouteDependencies): void {
  const { prefixes } = vendorHeaders;
  const config = { permission: 'people.write' as const };
  const one = { hide: true, querystring: Workspace, params: Id };
  const userOf = (request: FastifyRequest) => ({ ...changeOf(request), id: idOf(request) });
  server.post(
    `${api}/people`,
    { schema: { hide: true, querystring: Workspace, body: NewUser, response: { 201: AddedUser } }, config },
    async (request, reply) => {
      const body = request.body as Static<typeof NewUser>;
      const customerId = requireCustomerId({ customer_id: body.customerId });
      const given = body.attributes ?? {};
      checkAttributes(given, prefixes);
      return reply.code(201).send(await users.add({ ...changeOf(request), customerId, attributes: given }));
    },
  );
  server.patch(
    `${api}/people/:id/attributes`,
    { schema: { ...one, body: Attributes }, config },
    async (request, reply) => {
      const body = request.body as Static<typeof Attributes>;
      checkAttributes(body.attributes, prefixes);
      await users.changeAttributes({ ...userOf(request), attributes: body.attributes });
      return reply.code(204).send();
    },
  );
  server.put(`${api}/people/:id/test`, { schema: { ...one, body: Mark }, config }, async (request, reply) => {
    await users.markForTests({ ...userOf(request), ...(request.body as Static<typeof Mark>) });
    return reply.code(204).send();
  });
  server.post(`${api}/people/:id/devices`, { schema: { ...one, body: NewDevice }, config }, async (request, reply) => {
    const body = request.body as Static<typeof NewDevice>;
    const deviceId = requireText({ device_id: body.deviceId }, 'device_id');
    const device = { deviceId, ...parseDeviceRecord(body.attributes, prefixes) };
    await users.addDevice({ ...userOf(request), device });
    return reply.code(204).send();
  });
  for (const action of deviceActions)
    server.post(
      `${api}/people/:id/devices/:deviceRowId/${action}`,
      { schema: { ...one, params: DeviceId }, config },
      async (request, reply) => {
        const { deviceRowId } = request.params as Static<typeof DeviceId>;
        await users.changeDevice({ ...userOf(request), deviceRowId, action });
        return reply.code(204).send();
      },
    );
}

/** The schema has already validated the format. */
function parsePlace(text: string): { place: string; key: string } {
  const [place, ...key] = text.split('~') as [string, ...string[]];
  return { place, key: key.join('~') };
}

type UserOccurrence = Awaited<ReturnType<ConsoleUsers['listTimeline']>>['entries'][number];
type SuspectedDevices = Awaited<ReturnType<ConsoleUsers['listSuspectedDevices']>>;
type TestUserHit = Awaited<ReturnType<ConsoleUsers['listForTests']>>[number];

function presentFoundUser({ userId, bucket: _bucket, ...hit }: UserHit) {
  return { id: userId, ...hit };
}

function presentUserPage(page: Awaited<ReturnType<ConsoleUsers['list']>>) {
  if (page.kind === 'too slow') return { users: [], next: null, tooSlowAfterSeconds: page.afterSeconds };
  const listed = page.users.map(({ userId, bucket: _bucket, ...user }) => ({ id: userId, ...user }));
  return { users: listed, next: page.hasMore ? listed.at(-1)!.id : null, tooSlowAfterSeconds: null };
}

/** Presents a user with everything the screen shows. Dates become ISO text when the response is serialised. */
function presentUser({ user, devices, installations, erasure, ...parts }: Awaited<ReturnType<ConsoleUsers['read']>>) {
  const { bucket: _bucket, userId, ...record } = user;
  return {
    user: {
      id: userId,
      ...record,
      ...parts,
      devices: devices.map(({ suspicion, ...device }) => ({
        ...device,
        suspicion: suspicion && presentSuspicion(suspicion),
      })),
      installations: installations.map(presentInstallation),
      erasure: erasure ? presentErasure(erasure) : null,
    },
  };
}

function presentSuspectedDevices({ devices, next }: SuspectedDevices) {
  return {
    devices: devices.map(({ bucket: _bucket, suspicion, ...device }) => ({
      ...device,
      suspicion: presentSuspicion(suspicion),
    })),
    next: next ? `${next.lastAt.toISOString()}~${next.id}` : null,
  };
}

function presentSuspicion(suspicion: ReportedSuspicion) {
  return { ...suspicion, leavesAfterSends: suspicionSends, leavesAfterHours: suspicionHours };
}

function presentErasure({ id, requestedAt, dueAt }: Awaited<ReturnType<ConsoleUsers['erase']>>) {
  return { id, requestedAt, dueAt };
}

function presentTestUser({ userId, bucket: _bucket, ...user }: TestUserHit) {
  return { id: userId, ...user };
}

function presentTimelineEntry({ place: _place, ...occurrence }: UserOccurrence) {
  return occurrence;
}

/** Returns the cursor as text for the address; parsePlace parses it. */
function presentPlace({ place, key }: UserOccurrence): string {
  return `${place}~${key}`;
}
