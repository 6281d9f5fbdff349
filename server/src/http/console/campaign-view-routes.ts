import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCampaigns } from '../../app/console/console-campaigns.ts';
import { consoleApi as api } from './console-access.ts';
import { SavedView, ViewList } from './view-shapes.ts';

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const Id = Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{24}$' }) });
const NewView = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }), search: Type.String({ maxLength: 4000 }) },
  { additionalProperties: false },
);

/** Searches of the list of campaigns that someone named for themselves. */
export function campaignViewRoutes(server: FastifyInstance, { campaigns }: { campaigns: ConsoleCampaigns }): void {
  const schema = { hide: true, querystring: Workspace };
  // What they keep for themselves; what it finds is another question.
  const config = { permission: 'session.own' as const };
  server.get(
    `${api}/views/campaigns`,
    { schema: { ...schema, response: { 200: ViewList } }, config },
    async (request) => ({
      views: await campaigns.views.list(ownerOf(request)),
    }),
  );
  const saving = { schema: { ...schema, body: NewView, response: { 201: SavedView } }, config };
  server.post(`${api}/views/campaigns`, saving, async (request, reply) => {
    const view = request.body as Static<typeof NewView>;
    return reply.code(201).send(await campaigns.views.save({ ...ownerOf(request), ...view }));
  });
  server.delete(`${api}/views/campaigns/:id`, { schema: { ...schema, params: Id }, config }, async (request, reply) => {
    await campaigns.views.remove({ ...ownerOf(request), id: (request.params as Static<typeof Id>).id });
    return reply.code(204).send();
  });
}

function ownerOf(request: FastifyRequest) {
  const { workspaceId } = request.query as Static<typeof Workspace>;
  return { by: request.signedIn, workspaceId, screen: 'campaigns' as const };
}
