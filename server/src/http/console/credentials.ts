import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import {
  checkCredential,
  connectCredential,
  listCredentials,
  removeCredential,
  useSimulatedCredential,
} from '../../app/credentials.ts';
import type { CredentialDependencies } from '../../app/credentials.ts';
import { providerNames, providers } from '../../domain/delivery/providers.ts';
import type { GivenKey, ProviderName } from '../../domain/delivery/providers.ts';
import type { KeyField } from '../../domain/providers/key-fields.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { consoleApi as api } from './access.ts';
import { CredentialCheck, ProviderName as ProviderNameShape } from './overview.ts';
import { changeOf, closed, Workspace, workspaceId, workspaceOf } from './requests.ts';
import { Platform, described, orNull } from './shape-parts.ts';

export const ConnectedCredential = described(
  Type.Object({
    isSimulated: Type.Boolean(),
    summary: described(
      Type.Record(Type.String(), Type.String()),
      'Values that identify the credential: the project, ids, or the public VAPID key.',
    ),
    updatedAt: Type.String(),
    check: orNull(Type.Object({ ...CredentialCheck.properties, advice: Type.String() })),
  }),
  'Everything of a credential but its secret.',
);

export const ProviderCredentialState = Type.Object({
  platform: Platform,
  provider: ProviderNameShape,
  name: Type.String(),
  connected: orNull(ConnectedCredential),
  ofOtherApps: described(
    Type.Array(Type.Object({ appId: Type.String(), connected: ConnectedCredential })),
    'Credentials of apps other than the default one (docs/apps.md).',
  ),
  hits: described(
    Type.Object({ devices: Type.Number(), runs: Type.Number() }),
    'What depends on the credential: devices that accept pushes, and sends in progress.',
  ),
});

const text = Type.String({ minLength: 1, maxLength: 1000 });
// The key parser rejects longer files with an explanation.
const keyFile = Type.String({ minLength: 1, maxLength: 100_000 });
const unasked = Type.Optional(Type.Union([Type.Literal('store'), Type.Literal('refuse')]));
const provider = Type.Union(providerNames.map((name) => Type.Literal(name)));
const Provider = Type.Object({ provider });
const Removal = Type.Object({
  workspaceId,
  whileSending: Type.Optional(Type.Literal('pause')),
});
const Given = Type.Union(providerNames.map(shapeOfKey));

type GivenBody = GivenKey & { unasked?: 'store' | 'refuse'; inPlaceOf?: string };

/** Returns the shape of a key, from the provider's fields. */
function shapeOfKey(name: ProviderName): TSchema {
  const { fields, subscribedWith } = providers[name].key;
  const given = Object.entries(fields).map(([field, declared]) => [field, shapeOfField(declared)]);
  return Type.Object(
    {
      provider: Type.Literal(name),
      ...(Object.fromEntries(given) as Record<string, TSchema>),
      ...(subscribedWith ? { inPlaceOf: Type.Optional(text) } : {}),
      unasked,
    },
    closed,
  );
}

function shapeOfField(field: KeyField): TSchema {
  switch (field.kind) {
    case 'text':
    case 'secret':
      return field.isOptional ? Type.Optional(text) : text;
    case 'file':
      return field.isOptional ? Type.Optional(keyFile) : keyFile;
    case 'choice':
      return Type.Union(Object.keys(field.choices).map((choice) => Type.Literal(choice)));
    case 'pair': {
      const inner = Object.entries(field.fields).map(([name, declared]) => [name, shapeOfField(declared)]);
      return Type.Optional(Type.Object(Object.fromEntries(inner) as Record<string, TSchema>, closed));
    }
    default:
      return unknownCase(field);
  }
}

/** Routes for a workspace's provider credentials. Keys are accepted and never returned. */
export function consoleCredentialRoutes(
  server: FastifyInstance,
  { credentials }: { credentials: CredentialDependencies },
): void {
  const config = { permission: 'settings.write' as const };
  const querystring = Workspace;
  const response = { 200: Type.Object({ connected: ConnectedCredential }) };
  const listing = {
    schema: {
      hide: true,
      querystring,
      response: { 200: Type.Object({ credentials: Type.Array(ProviderCredentialState) }) },
    },
    config,
  };
  server.get(`${api}/credentials`, listing, async (request) => ({
    credentials: await listCredentials(credentials, workspaceOf(request)),
  }));
  server.post(
    `${api}/credentials`,
    { schema: { hide: true, querystring, body: Given, response }, config },
    async (request) => {
      const { unasked: rule = 'refuse', inPlaceOf, ...given } = request.body as GivenBody;
      const connection = { given, unasked: rule, inPlaceOf };
      return { connected: await connectCredential(credentials, { ...changeOf(request), ...connection }) };
    },
  );
  server.post(
    `${api}/credentials/:provider/check`,
    { schema: { hide: true, querystring, params: Provider, response }, config },
    async (request) => ({
      connected: await checkCredential(credentials, {
        ...changeOf(request),
        ...(request.params as Static<typeof Provider>),
      }),
    }),
  );
  server.post(
    `${api}/credentials/:provider/simulator`,
    { schema: { hide: true, querystring, params: Provider, response }, config },
    async (request) => ({
      connected: await useSimulatedCredential(credentials, {
        ...changeOf(request),
        ...(request.params as Static<typeof Provider>),
      }),
    }),
  );
  server.delete(
    `${api}/credentials/:provider`,
    { schema: { hide: true, querystring: Removal, params: Provider }, config },
    async (request, reply) => {
      const { whileSending = 'refuse' } = request.query as Static<typeof Removal>;
      await removeCredential(credentials, {
        ...changeOf(request),
        whileSending,
        ...(request.params as Static<typeof Provider>),
      });
      return reply.code(204).send();
    },
  );
}
