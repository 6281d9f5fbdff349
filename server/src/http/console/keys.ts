import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ApiKey } from '../../app/keys/authenticate-key.ts';
import type { ConsoleKeys } from '../../app/keys/keys.ts';
import type { readConsoleInbox } from '../../app/system/overview.ts';
import { keyKinds } from '../../domain/access/keys.ts';
import { maxOverlapHours } from '../../domain/limits/access.ts';
import { consoleApi as api, serviceOrigin } from './access.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const KeyKind = oneOf(keyKinds);

export const ConsoleKey = Type.Object({
  id: Type.String(),
  kind: KeyKind,
  name: Type.String(),
  hint: Type.String({ description: 'First and last characters of the secret.' }),
  createdAt: Type.String(),
  lastUsedAt: described(orNull(Type.String()), 'To the minute.'),
  accessTokenMinutes: Type.Number(),
  archivedAt: orNull(Type.String()),
  endsAt: described(orNull(Type.String()), 'It was rotated and ends then.'),
});

export const CreatedKey = described(
  Type.Object({ key: ConsoleKey, secret: Type.String(), curl: Type.String() }),
  'The secret is answered here alone.',
);

export const RotatedKey = Type.Object({
  ...CreatedKey.properties,
  endsAt: Type.String({ description: 'When the old key stops working.' }),
});

const closed = { additionalProperties: false };
const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const Id = Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{24}$' }) });
const NewKey = Type.Object(
  {
    kind: Type.Union(keyKinds.map((kind) => Type.Literal(kind))),
    name: Type.String({ maxLength: 1000 }),
    accessTokenMinutes: Type.Optional(Type.Integer()),
  },
  closed,
);
const Rotation = Type.Object({ overlapHours: Type.Integer({ minimum: 0, maximum: maxOverlapHours }) }, closed);

/** Routes for API keys on the console. A secret is returned once, when its key is created. */
export function consoleKeyRoutes(
  server: FastifyInstance,
  { keys, publicUrl }: { keys: ConsoleKeys; publicUrl: string | undefined },
): void {
  const callOf = (request: FastifyRequest) => ({
    by: request.signedIn,
    workspaceId: workspaceOf(request),
    url: serviceOrigin(request, publicUrl),
  });
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'keys.write' as const };

  const listing = {
    schema: { ...schema, response: { 200: Type.Object({ keys: Type.Array(ConsoleKey) }) } },
    config: { permission: 'keys.read' as const },
  };
  server.get(`${api}/keys`, listing, async (request) => ({
    keys: (await keys.list(workspaceOf(request))).map(presentKey),
  }));
  server.post(
    `${api}/keys`,
    { schema: { ...schema, body: NewKey, response: { 201: CreatedKey } }, config },
    async (request, reply) => {
      const made = await keys.create({ ...(request.body as Static<typeof NewKey>), ...callOf(request) });
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...made, key: presentKey(made.key) });
    },
  );
  server.post(
    `${api}/keys/:id/rotate`,
    { schema: { ...schema, params: Id, body: Rotation, response: { 201: RotatedKey } }, config },
    async (request, reply) => {
      const { overlapHours } = request.body as Static<typeof Rotation>;
      const made = await keys.rotate({ ...callOf(request), id: idOf(request), overlapHours });
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...made, key: presentKey(made.key) });
    },
  );
  server.post(`${api}/keys/:id/revoke`, { schema: { ...schema, params: Id }, config }, async (request, reply) => {
    await keys.revoke({ by: request.signedIn, workspaceId: workspaceOf(request), id: idOf(request) });
    return reply.code(204).send();
  });
}

function workspaceOf(request: FastifyRequest): string {
  return (request.query as Static<typeof Workspace>).workspaceId;
}

function idOf(request: FastifyRequest): string {
  return (request.params as Static<typeof Id>).id;
}

type Message = Awaited<ReturnType<typeof readConsoleInbox>>[number];

/** Presents a key without its secret or hash. */
function presentKey(key: ApiKey) {
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    hint: key.secretHint,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    accessTokenMinutes: key.accessTokenMinutes,
    archivedAt: key.archivedAt?.toISOString() ?? null,
    endsAt: key.endsAt?.toISOString() ?? null,
  };
}

export function presentInboxMessage(message: Message) {
  return { ...message, receivedAt: message.receivedAt.toISOString() };
}
