import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { listViews, removeView, storeView } from '../../app/accounts/saved-views.ts';
import type { ViewDependencies } from '../../app/accounts/saved-views.ts';
import { viewedScreens } from '../../domain/access/accounts.ts';
import { consoleApi as api } from './access.ts';
import { changeOf, closed, Id, idOf, Workspace } from './requests.ts';
import { described, oneOf } from './shape-parts.ts';

export const SavedView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  search: described(Type.String(), 'The query string of the screen.'),
});

export const ViewList = Type.Object({ views: Type.Array(SavedView) });

const Screen = Type.Object({ screen: oneOf(viewedScreens) });
const ViewOf = Type.Object({ ...Screen.properties, ...Id.properties });
const NewView = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }), search: Type.String({ maxLength: 4000 }) },
  closed,
);

/** Routes for the list searches that a user has saved under a name. */
export function viewRoutes(server: FastifyInstance, views: ViewDependencies): void {
  const schema = { hide: true, querystring: Workspace, params: Screen };
  // Saving a view needs no permission for its data; running its search is checked separately.
  const config = { permission: 'session.own' as const };
  server.get(
    `${api}/views/:screen`,
    { schema: { ...schema, response: { 200: ViewList } }, config },
    async (request) => ({ views: await listViews(views, ownerOf(request)) }),
  );
  const saving = { schema: { ...schema, body: NewView, response: { 201: SavedView } }, config };
  server.post(`${api}/views/:screen`, saving, async (request, reply) => {
    const view = request.body as Static<typeof NewView>;
    return reply.code(201).send(await storeView(views, { ...ownerOf(request), ...view }));
  });
  server.delete(
    `${api}/views/:screen/:id`,
    { schema: { ...schema, params: ViewOf }, config },
    async (request, reply) => {
      await removeView(views, { ...ownerOf(request), id: idOf(request) });
      return reply.code(204).send();
    },
  );
}

function ownerOf(request: FastifyRequest) {
  return { ...changeOf(request), screen: (request.params as Static<typeof Screen>).screen };
}
