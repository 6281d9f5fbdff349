import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { addIdentityKey, putAppAccess, readAppAccess, removeIdentityKey } from '../../app/installations/app-access.ts';
import type { AppAccessDependencies, ListedIdentityKey } from '../../app/installations/app-access.ts';
import { findWebPushKey } from '../../app/installations/installations.ts';
import { listInstallations } from '../../app/installations/list-installations.ts';
import type { ListedInstallation } from '../../app/installations/list-installations.ts';
import { identityAlgorithms } from '../../domain/access/identity-tokens.ts';
import { maxAppAttributes, maxIdentityKeys, maxWebOrigins } from '../../domain/limits/installations.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import { consoleApi as api } from './access.ts';
import { changeOf, closed, Id, idOf, Workspace, workspaceOf } from './requests.ts';
import { described, oneOf, orNull, Platform } from './shape-parts.ts';

export const IdentityKey = Type.Object({
  id: Type.String({ description: 'The kid in the header of tokens.' }),
  algorithm: oneOf(identityAlgorithms),
  createdAt: Type.String(),
});

export const AppAccess = Type.Object({
  webOrigins: Type.Array(Type.String()),
  attributes: described(Type.Array(Type.String()), 'Attributes that apps may write, without the prefix.'),
  identityKeys: Type.Array(IdentityKey),
  maxIdentityKeys: Type.Number(),
  webPushPublicKey: described(
    orNull(Type.String()),
    'The VAPID key with which a browser subscribes; null without a Web Push credential.',
  ),
});

export const CreatedIdentityKey = Type.Object({
  key: IdentityKey,
  secret: described(orNull(Type.String()), 'HS256 only. The only response that contains it.'),
});

export const Installation = Type.Object({
  id: Type.String(),
  platform: orNull(Platform),
  model: orNull(Type.String()),
  appVersion: orNull(Type.String()),
  osVersion: orNull(Type.String()),
  keyName: described(orNull(Type.String()), 'The name of the app key that it sent last.'),
  userId: described(orNull(Type.String()), 'Null while it has no user.'),
  customerId: orNull(Type.String()),
  isIdentified: Type.Boolean({ description: 'False for an anonymous user.' }),
  canReceive: Type.Boolean(),
  isOptedIn: Type.Boolean(),
  createdAt: Type.String(),
  refreshedAt: described(Type.String(), 'The last registration or change.'),
  signedInAt: orNull(Type.String()),
  signedOutAt: orNull(Type.String()),
});

const AccessChange = Type.Object(
  {
    webOrigins: Type.Array(Type.String({ maxLength: 300 }), { maxItems: maxWebOrigins }),
    attributes: Type.Array(Type.String({ maxLength: 1000 }), { maxItems: maxAppAttributes }),
  },
  closed,
);
const NewIdentityKey = Type.Object(
  { algorithm: oneOf(identityAlgorithms), publicKey: Type.Optional(Type.String({ maxLength: 1024 })) },
  closed,
);

export type ConsoleAppAccessDependencies = { appAccess: AppAccessDependencies; vendorHeaders: VendorHeaders };

/** Routes for what apps may do with their public key, and for the newest installations. */
export function consoleAppAccessRoutes(
  server: FastifyInstance,
  { appAccess, vendorHeaders: { prefixes } }: ConsoleAppAccessDependencies,
): void {
  const schema = { hide: true, querystring: Workspace };
  const reading = { permission: 'keys.read' as const };
  const config = { permission: 'keys.write' as const };
  const read = async (workspaceId: string) => {
    const { identityKeys, ...access } = await readAppAccess(appAccess, workspaceId);
    const webPushPublicKey = (await findWebPushKey(appAccess.database, { workspaceId, appId: null })) ?? null;
    return { ...access, identityKeys: identityKeys.map(presentKey), maxIdentityKeys, webPushPublicKey };
  };

  const shown = { schema: { ...schema, response: { 200: AppAccess } }, config: reading };
  server.get(`${api}/app-access`, shown, (request) => read(workspaceOf(request)));
  const changing = { schema: { ...schema, body: AccessChange, response: { 200: AppAccess } }, config };
  server.put(`${api}/app-access`, changing, async (request) => {
    await putAppAccess(appAccess, {
      ...(request.body as Static<typeof AccessChange>),
      ...changeOf(request),
      prefixes,
    });
    return read(workspaceOf(request));
  });
  const adding = { schema: { ...schema, body: NewIdentityKey, response: { 201: CreatedIdentityKey } }, config };
  server.post(`${api}/app-access/identity-keys`, adding, async (request, reply) => {
    const { algorithm, publicKey } = request.body as Static<typeof NewIdentityKey>;
    const { secret, ...key } = await addIdentityKey(appAccess, { algorithm, publicKey, ...changeOf(request) });
    const made = { key: presentKey(key), secret: secret ?? null };
    return reply.code(201).header('cache-control', 'no-store').send(made);
  });
  server.delete(
    `${api}/app-access/identity-keys/:id`,
    { schema: { ...schema, params: Id }, config },
    async (request, reply) => {
      await removeIdentityKey(appAccess, { ...changeOf(request), id: idOf(request) });
      return reply.code(204).send();
    },
  );
  const listing = {
    schema: { ...schema, response: { 200: Type.Object({ installations: Type.Array(Installation) }) } },
    config: { permission: 'people.read' as const },
  };
  server.get(`${api}/installations`, listing, async (request) => ({
    installations: (await listInstallations(appAccess.database, { workspaceId: workspaceOf(request) })).map(
      presentInstallation,
    ),
  }));
}

/** What is not named here is not sent: the shapes only describe. */
function presentKey({ id, algorithm, createdAt }: ListedIdentityKey) {
  return { id, algorithm, createdAt };
}

export function presentInstallation({ registration, ...installation }: ListedInstallation) {
  const { id, userId, customerId, isIdentified, keyName } = installation;
  const { createdAt, refreshedAt, signedInAt, signedOutAt } = installation;
  return {
    ...{ id, keyName, userId, customerId, isIdentified, createdAt, refreshedAt, signedInAt, signedOutAt },
    platform: registration.platform ?? null,
    model: registration.model ?? null,
    appVersion: registration.appVersion ?? null,
    osVersion: registration.osVersion ?? null,
    canReceive: typeof registration.pushId === 'string',
    isOptedIn: registration.isOptedOut !== true,
  };
}
