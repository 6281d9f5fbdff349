import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { buildDocument } from './openapi/build-document.ts';
import { describeServers } from './openapi/describe-servers.ts';
import type { Addresses } from './openapi/describe-servers.ts';
import examples from './openapi/examples.json' with { type: 'json' };
import { makeWebhooks } from './openapi/webhooks.ts';

const tags = [
  { name: 'Tokens', description: 'OAuth 2.0 access tokens: issue, refresh, revoke' },
  { name: 'Push', description: 'Create and send push campaigns, v2 and v2.1' },
  { name: 'Segments', description: 'Sets of users, from files, filters or partners' },
  { name: 'Campaigns', description: 'Search campaigns and their executions, V1 (deprecated) and V5' },
  { name: 'Business events', description: 'Events of a business that start campaigns' },
  { name: 'Statistics', description: 'What became of the messages of campaigns' },
  { name: 'Event streams', description: 'What became of messages, posted to addresses of the workspace' },
  { name: 'Data', description: 'Users and devices in' },
  { name: 'Apps', description: 'Packages, bundle ids and sites, and what their messages have' },
  { name: 'Live Activities', description: 'Live Activities of iPhones: started, updated and ended by push' },
  { name: 'Interactions', description: 'What devices report: shown, clicked, closed' },
  { name: 'Callbacks', description: 'What this service posts to addresses that a request named' },
  { name: 'Sandbox', description: 'Inbox, clock and faults of the stand-in; not in production' },
  { name: 'Health', description: 'Liveness and readiness' },
];

const description = `Open, self-hosted push messaging: access tokens, segments, push campaigns, campaign search.

Header names that carry the service's abbreviation are accepted with the neutral \`SVC\` as well. What is refused before
a route is found (bytes that are not HTTP, a head that is too large or too slow) is answered with Problem Details
(RFC 9457). Each refusal names the errors of \`docs/errors.md\` that have its status.`;

export type Description = Addresses & {
  /** The vendor's abbreviation in header names. */
  headerPrefix: string;
  version: string;
};

/** Serves OpenAPI 3.1 at /openapi.json and /openapi.yaml, made from the routes' own schemas. */
export async function describeRoutes(server: FastifyInstance, described: Description): Promise<void> {
  const { servers, serversOf } = describeServers(described);
  // The description is read, not called.
  server.addHook('onRoute', (route) => {
    if (/^\/openapi\./.test(route.url)) route.config = { ...route.config, isUnrecorded: true };
  });
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Carillon',
        version: described.version,
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers,
      tags,
      webhooks: makeWebhooks(described.headerPrefix) as never,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Access token of POST /v1/oauth/token' },
          campaignsKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : campaigns key' },
          pushKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : push key' },
          dataKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : Data key' },
        },
      },
    },
    transform: ({ schema, url }) => {
      const own = serversOf(String(schema?.tags?.[0]));
      return { schema: own ? { ...schema, servers: own } : schema, url };
    },
    transformObject: (made) =>
      buildDocument('openapiObject' in made ? made.openapiObject : {}, { ...described, examples }) as never,
  });
  const hidden = { schema: { hide: true } };
  server.get('/openapi.json', hidden, async () => server.swagger());
  server.get('/openapi.yaml', hidden, (_request, reply) =>
    // RFC 9512.
    reply.type('application/yaml; charset=utf-8').send(server.swagger({ yaml: true })),
  );
}
