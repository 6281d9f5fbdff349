import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { findPlaces } from '../../app/console/find-places.ts';
import type { FindPlacesDependencies } from '../../app/console/find-places.ts';
import { consoleApi as api } from './console-access.ts';
import { Place } from './place-shapes.ts';

// Longer than any id, and than the token that a message carries to its device.
const Query = Type.Object({ workspaceId: Type.String({ maxLength: 64 }), q: Type.String({ maxLength: 512 }) });

/** What the console's palette finds besides its screens. */
export function consolePlaceRoutes(server: FastifyInstance, deps: { places: FindPlacesDependencies }): void {
  const schema = {
    hide: true,
    querystring: Query,
    response: { 200: Type.Object({ places: Type.Array(Place) }) },
  };
  server.get(`${api}/places`, { schema, config: { permission: 'overview.read' } }, async (request) => {
    const { workspaceId, q } = request.query as Static<typeof Query>;
    const word = q.trim();
    const places = word === '' ? [] : await findPlaces(deps.places, { workspaceId, word, by: request.signedIn });
    return { places };
  });
}
