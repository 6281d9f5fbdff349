import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleUseCases } from '../../app/console/console-use-cases.ts';
import { consoleApi as api } from './console-access.ts';
import { presentCampaign, presentInboxMessage, presentKey } from './present.ts';

const OverviewQuery = Type.Object({ workspaceId: Type.Optional(Type.String({ maxLength: 64 })) });
const InboxQuery = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  after: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
});

const config = { permission: 'overview.read' as const };

export function overviewRoutes(server: FastifyInstance, { console }: { console: ConsoleUseCases }): void {
  server.get(`${api}/overview`, { schema: { hide: true, querystring: OverviewQuery }, config }, async (request) => {
    const { workspaceId } = request.query as Static<typeof OverviewQuery>;
    const url = `${request.protocol}://${request.host}`;
    const shown = await console.readOverview({ workspaceId, url, by: request.signedIn });
    const { campaigns, keys, now, ...overview } = shown;
    return {
      ...overview,
      now: now.toISOString(),
      campaigns: campaigns.map(presentCampaign),
      keys: keys.map(presentKey),
    };
  });
  server.get(`${api}/inbox`, { schema: { hide: true, querystring: InboxQuery }, config }, async (request) => {
    const { workspaceId, after } = request.query as Static<typeof InboxQuery>;
    return { messages: (await console.readInbox({ workspaceId, after: after ?? '' })).map(presentInboxMessage) };
  });
}
