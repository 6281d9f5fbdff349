import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCampaigns } from '../../app/campaigns/manage-campaigns.ts';
import { viewedScreens } from '../../domain/access/accounts.ts';
import { consoleApi as api } from './access.ts';
import { described, oneOf } from './shape-parts.ts';

export const SavedView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  search: described(Type.String(), 'What stands behind the question mark of the screen.'),
});

export const ViewList = Type.Object({ views: Type.Array(SavedView) });

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const Screen = Type.Object({ screen: oneOf(viewedScreens) });
const Id = Type.Object({ screen: oneOf(viewedScreens), id: Type.String({ pattern: '^[0-9a-f]{24}$' }) });
const NewView = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }), search: Type.String({ maxLength: 4000 }) },
  { additionalProperties: false },
);

/** Routes for the list searches that a user has saved under a name. */
export function viewRoutes(server: FastifyInstance, { campaigns }: { campaigns: ConsoleCampaigns }): void {
  const schema = { hide: true, querystring: Workspace, params: Screen };
  // Saving a view needs no permission for its data; running its search is checked separately.
  const config = { permission: 'session.own' as const };
  server.get(
    `${api}/views/:screen`,
    { schema: { ...schema, response: { 200: ViewList } }, config },
    async (request) => ({ views: await campaigns.views.list(ownerOf(request)) }),
  );
  const saving = { schema: { ...schema, body: NewView, response: { 201: SavedView } }, config };
  server.post(`${api}/views/:screen`, saving, async (request, reply) => {
    const view = request.body as Static<typeof NewView>;
    return reply.code(201).send(await campaigns.views.save({ ...ownerOf(request), ...view }));
  });
  server.delete(`${api}/views/:screen/:id`, { schema: { ...schema, params: Id }, config }, async (request, reply) => {
    await campaigns.views.remove({ ...ownerOf(request), id: (request.params as Static<typeof Id>).id });
    return reply.code(204).send();
  });
}

function ownerOf(request: FastifyRequest) {
  const { workspaceId } = request.query as Static<typeof Workspace>;
  return { by: request.signedIn, workspaceId, screen: (request.params as Static<typeof Screen>).screen };
}
