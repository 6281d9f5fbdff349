import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';

const tags = [
  { name: 'Tokens', description: 'OAuth 2.0 access tokens: issue, refresh, revoke' },
  { name: 'Push', description: 'Create and send push campaigns, v2 and v2.1' },
  { name: 'Segments', description: 'Sets of users, from files, filters or partners' },
  { name: 'Campaigns', description: 'Search campaigns and their executions, V1 (deprecated) and V5' },
  { name: 'Data', description: 'Users and devices in' },
  { name: 'Interactions', description: 'What devices report: shown, clicked, closed' },
  { name: 'Sandbox', description: 'Inbox, clock and faults of the stand-in; not in production' },
  { name: 'Health', description: 'Liveness and readiness' },
];

/** Serves OpenAPI 3.1 at /openapi.json, made from the routes' own schemas, and the reference page at /docs. */
export async function describeRoutes(server: FastifyInstance): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Carillon',
        version: '0.1.0',
        description: 'Open, self-hosted push messaging: access tokens, segments, push campaigns, campaign search.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Access token of POST /v1/oauth/token' },
          campaignsKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : campaigns key' },
          dataKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : Data key' },
        },
      },
    },
  });
  await server.register(swaggerUi, {
    routePrefix: '/docs',
    // As the library has it, less what upgrades requests to https: on plain http, from another machine, the page would
    // load none of its own files. Nor does it ask anybody else for a picture or a style.
    staticCSP:
      "default-src 'self'; base-uri 'self'; font-src 'self' data:; frame-ancestors 'self'; img-src 'self' data:; object-src 'none'; script-src 'self'; script-src-attr 'none'; style-src 'self'",
    uiConfig: { docExpansion: 'list', deepLinking: true },
  });
  server.get('/openapi.json', { schema: { hide: true } }, async () => server.swagger());
}
