import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleOverview } from '../../app/console/console-overview.ts';
import { readConsoleInbox } from '../../app/console/read-installation.ts';
import type { InstallationDependencies } from '../../app/console/read-installation.ts';
import { consoleApi as api } from './console-access.ts';
import { presentInboxMessage } from './present.ts';
import { serviceOrigin } from './service-addresses.ts';
import { FirstSteps, InboxMessage, Overview, UserCounts } from './overview-shapes.ts';

const OverviewQuery = Type.Object({ workspaceId: Type.Optional(Type.String({ maxLength: 64 })) });
const UsersQuery = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const InboxQuery = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  after: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
});

const config = { permission: 'overview.read' as const };

export type OverviewRouteDependencies = InstallationDependencies & {
  overview: ConsoleOverview;
  publicUrl: string | undefined;
};

export function overviewRoutes(server: FastifyInstance, deps: OverviewRouteDependencies): void {
  const { overview } = deps;
  const schema = { hide: true, querystring: OverviewQuery, response: { 200: Overview } };
  server.get(`${api}/overview`, { schema, config }, (request) => {
    const { workspaceId } = request.query as Static<typeof OverviewQuery>;
    const url = serviceOrigin(request, deps.publicUrl);
    return overview.read({ workspaceId, url, by: request.signedIn });
  });
  const counting = { schema: { hide: true, querystring: UsersQuery, response: { 200: UserCounts } }, config };
  server.get(`${api}/overview/people`, counting, (request) =>
    overview.countUsers((request.query as Static<typeof UsersQuery>).workspaceId),
  );
  const stepping = { schema: { hide: true, querystring: UsersQuery, response: { 200: FirstSteps } }, config };
  server.get(`${api}/overview/first-steps`, stepping, (request) =>
    overview.readFirstSteps((request.query as Static<typeof UsersQuery>).workspaceId),
  );
  const reading = {
    schema: {
      hide: true,
      querystring: InboxQuery,
      response: { 200: Type.Object({ messages: Type.Array(InboxMessage) }) },
    },
    config,
  };
  server.get(`${api}/inbox`, reading, async (request) => {
    const { workspaceId, after } = request.query as Static<typeof InboxQuery>;
    const messages = await readConsoleInbox(deps, { workspaceId, after: after ?? '' });
    return { messages: messages.map(presentInboxMessage) };
  });
}
