import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleKeys } from '../../app/console/console-keys.ts';
import { maxOverlapHours } from '../../domain/tokens/limits.ts';
import { keyKinds } from '../../domain/tokens/key-kinds.ts';
import { consoleApi as api } from './console-access.ts';
import { presentKey } from './present.ts';
import { serviceOrigin } from './service-addresses.ts';
import { ConsoleKey, CreatedKey, RotatedKey } from './key-shapes.ts';

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

/** API keys on the console. A secret is returned once, when its key is created. */
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
