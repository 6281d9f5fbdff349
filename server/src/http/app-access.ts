import { Type } from 'typebox';
import { addIdentityKey, putAppAccess, readAppAccess, removeIdentityKey } from '../app/installations/app-access.ts';
import type { AppAccessDependencies } from '../app/installations/app-access.ts';
import { identityAlgorithms } from '../domain/access/identity-tokens.ts';
import { maxAppAttributes, maxWebOrigins } from '../domain/limits/installations.ts';
import { enumeration, required, text, texts } from '../fields/combinators.ts';
import { reading, schemaOf } from '../fields/field.ts';
import { named } from './openapi/shapes.ts';
import { makeOwnDialect, makeOwnReader, refuseOwnFaults } from './route/own-dialect.ts';
import type { OwnDependencies } from './route/own-dialect.ts';
import { addRoutes, route } from './route/route.ts';
import type { RouteFamily } from './server/build-server.ts';

const accessMembers = {
  web_origins: texts({
    maxItems: maxWebOrigins,
    description: 'Origins of sites that may use the app key, such as https://shop.example. Absent: none',
  }),
  attributes: texts({
    maxItems: maxAppAttributes,
    description: 'Attributes that apps may write; stored with the prefix app:. Absent: none',
  }),
};
const accessBody = schemaOf(accessMembers, { title: 'AppAccessRequest' });

const keyMembers = {
  algorithm: required(enumeration(identityAlgorithms, 'Of every token under the key')),
  public_key: text({ max: 1_024, description: 'ES256 only: a P-256 public key in PEM' }),
};
const keyBody = schemaOf(keyMembers, { title: 'IdentityKeyRequest' });

const keyShape = {
  kid: Type.String({ description: 'The kid in the header of tokens' }),
  algorithm: keyMembers.algorithm.schema,
  created_at: Type.String({ format: 'date-time' }),
};

const accessAnswer = named(
  'AppAccess',
  Type.Object({
    web_origins: Type.Array(Type.String(), { description: 'Origins of sites that may use the app key' }),
    attributes: Type.Array(Type.String(), { description: 'Attributes that apps may write, without the prefix app:' }),
    identity_keys: Type.Array(Type.Object(keyShape), { description: 'At most two, both valid' }),
  }),
);

const keyAnswer = named(
  'IdentityKey',
  Type.Object({
    ...keyShape,
    secret: Type.Optional(
      Type.String({ description: 'HS256 only: the secret that signs tokens, for your server. It is shown only now' }),
    ),
  }),
);

const keyParameters = Type.Object({ kid: Type.String({ description: 'The kid of the key' }) });

export type AppAccessRouteDependencies = AppAccessDependencies & OwnDependencies;

/** Routes for what the apps of a workspace may do, for servers and operators. They require the data key. */
export function appAccessRoutes(deps: AppAccessRouteDependencies): RouteFamily {
  const url = '/v1/app-access';
  const dialect = makeOwnDialect(deps, {
    tag: 'Apps',
    credentials: ['dataKey', 'bearer'],
    scope: 'data',
    errors: ['NOT_FOUND', 'SCOPE_MISSING'],
  });
  const { prefixes } = deps.vendorHeaders;
  return async (server) =>
    addRoutes(server, [
      route(dialect, {
        method: 'GET',
        url,
        operationId: 'readAppAccess',
        summary: 'Read what apps may do with the app key',
        answers: { 200: accessAnswer },
        handle: async ({ workspaceId }) => presentAccess(await readAppAccess(deps, workspaceId)),
      }),
      route(dialect, {
        method: 'PUT',
        url,
        operationId: 'putAppAccess',
        summary: 'Set the sites that may use the app key, and the attributes that apps may write',
        body: accessBody,
        answers: { 200: accessAnswer },
        read({ body }) {
          const reader = makeOwnReader(body);
          const read = reading(reader, accessMembers);
          const access = { webOrigins: read('web_origins') ?? [], attributes: read('attributes') ?? [] };
          refuseOwnFaults(reader);
          return access;
        },
        async handle({ input, workspaceId, actor }) {
          await putAppAccess(deps, { ...input, workspaceId, actor, prefixes });
          return presentAccess(await readAppAccess(deps, workspaceId));
        },
      }),
      route(dialect, {
        method: 'POST',
        url: `${url}/identity-keys`,
        operationId: 'addIdentityKey',
        summary: 'Add a key that verifies identity tokens',
        description: 'Two keys are valid at a time: add the new one, sign with it, and remove the old one a day later.',
        body: keyBody,
        config: { isAnswerSecret: true },
        answers: { 201: keyAnswer },
        read({ body }) {
          const reader = makeOwnReader(body);
          const read = reading(reader, keyMembers);
          const key = { algorithm: read('algorithm'), publicKey: read('public_key') };
          refuseOwnFaults(reader);
          return { ...key, algorithm: key.algorithm! };
        },
        async handle({ input, workspaceId, actor }) {
          const { secret, ...key } = await addIdentityKey(deps, { ...input, workspaceId, actor });
          return { ...presentKey(key), ...(secret === undefined ? {} : { secret }) };
        },
      }),
      route(dialect, {
        method: 'DELETE',
        url: `${url}/identity-keys/:kid`,
        operationId: 'removeIdentityKey',
        summary: 'Remove a key; tokens under it are no longer valid',
        params: keyParameters,
        answers: { 204: Type.Null() },
        refuses: [404, 413, 415],
        handle: ({ params, workspaceId, actor }) => removeIdentityKey(deps, { workspaceId, actor, id: params.kid }),
      }),
    ]);
}

type Access = Awaited<ReturnType<typeof readAppAccess>>;

function presentAccess({ webOrigins, attributes, identityKeys }: Access) {
  return { web_origins: webOrigins, attributes, identity_keys: identityKeys.map(presentKey) };
}

function presentKey({ id, algorithm, createdAt }: Access['identityKeys'][number]) {
  return { kid: id, algorithm, created_at: createdAt.toISOString() };
}
