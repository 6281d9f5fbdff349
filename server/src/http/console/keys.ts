import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ApiKey } from '../../app/keys/authenticate-key.ts';
import { makeKeyCurl } from '../../app/keys/key-curl.ts';
import { archiveKey, issueKey, listKeys, rotateKey } from '../../app/keys/keys.ts';
import type { KeyDependencies, MadeKey } from '../../app/keys/keys.ts';
import { keyKinds } from '../../domain/access/keys.ts';
import { maxOverlapHours } from '../../domain/limits/access.ts';
import { consoleApi as api, serviceOrigin } from './access.ts';
import { changeOf, closed, Id, idOf, Workspace, workspaceOf } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const KeyKind = oneOf(keyKinds);

export const ConsoleKey = Type.Object({
  id: Type.String(),
  kind: KeyKind,
  name: Type.String(),
  hint: Type.String({ description: 'The first and last characters of the secret.' }),
  createdAt: Type.String(),
  lastUsedAt: described(orNull(Type.String()), 'The time of the last use, exact to the minute.'),
  accessTokenMinutes: Type.Number(),
  archivedAt: orNull(Type.String()),
  endsAt: described(orNull(Type.String()), 'The time at which the key ends, if it was rotated.'),
});

export const CreatedKey = described(
  Type.Object({ key: ConsoleKey, secret: Type.String(), curl: Type.String() }),
  'The only response that contains the secret.',
);

export const RotatedKey = Type.Object({
  ...CreatedKey.properties,
  endsAt: Type.String({ description: 'When the old key stops working.' }),
});

const NewKey = Type.Object(
  {
    kind: Type.Union(keyKinds.map((kind) => Type.Literal(kind))),
    name: Type.String({ maxLength: 1000 }),
    accessTokenMinutes: Type.Optional(Type.Integer()),
  },
  closed,
);
const Rotation = Type.Object({ overlapHours: Type.Integer({ minimum: 0, maximum: maxOverlapHours }) }, closed);

export type KeyRouteDependencies = {
  /** `headerPrefix`: the abbreviation in header names. */
  keys: KeyDependencies & { headerPrefix: string };
  publicUrl: string | undefined;
};

/** Routes for API keys on the console. A secret is returned once, when its key is created. */
export function consoleKeyRoutes(server: FastifyInstance, { keys, publicUrl }: KeyRouteDependencies): void {
  const present = ({ dbName, ...made }: MadeKey, request: FastifyRequest) => {
    const url = serviceOrigin(request, publicUrl);
    const { secret, key } = made;
    const call = { kind: key.kind, workspaceId: key.workspaceId, dbName, url, secret };
    return { ...made, key: presentKey(key), curl: makeKeyCurl({ ...call, headerPrefix: keys.headerPrefix }) };
  };
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'keys.write' as const };

  const listing = {
    schema: { ...schema, response: { 200: Type.Object({ keys: Type.Array(ConsoleKey) }) } },
    config: { permission: 'keys.read' as const },
  };
  server.get(`${api}/keys`, listing, async (request) => ({
    keys: (await listKeys(keys, workspaceOf(request))).map(presentKey),
  }));
  const creating = { schema: { ...schema, body: NewKey, response: { 201: CreatedKey } }, config };
  server.post(`${api}/keys`, creating, async (request, reply) => {
    const made = await issueKey(keys, { ...(request.body as Static<typeof NewKey>), ...changeOf(request) });
    return reply.code(201).header('cache-control', 'no-store').send(present(made, request));
  });
  const rotating = { schema: { ...schema, params: Id, body: Rotation, response: { 201: RotatedKey } }, config };
  server.post(`${api}/keys/:id/rotate`, rotating, async (request, reply) => {
    const { overlapHours } = request.body as Static<typeof Rotation>;
    const made = await rotateKey(keys, { ...changeOf(request), keyId: idOf(request), overlapHours });
    return reply.code(201).header('cache-control', 'no-store').send(present(made, request));
  });
  server.post(`${api}/keys/:id/revoke`, { schema: { ...schema, params: Id }, config }, async (request, reply) => {
    await archiveKey(keys, { ...changeOf(request), keyId: idOf(request) });
    return reply.code(204).send();
  });
}

/** Presents a key without its secret. What is not named here is not sent: the shapes only describe. */
function presentKey({
  id,
  kind,
  name,
  secretHint: hint,
  createdAt,
  lastUsedAt,
  accessTokenMinutes,
  archivedAt,
  endsAt,
}: ApiKey) {
  return { id, kind, name, hint, createdAt, lastUsedAt, accessTokenMinutes, archivedAt, endsAt };
}
