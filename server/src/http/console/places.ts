import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { placeKinds, findPlaces } from '../../app/places.ts';
import type { FindPlacesDependencies } from '../../app/places.ts';
import { consoleApi as api } from './access.ts';
import { workspaceId } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const PlaceKind = oneOf(placeKinds);

export const Place = described(
  Type.Object({
    kind: PlaceKind,
    id: described(
      Type.String(),
      'The id in the address of the screen: for a run the id of its campaign, for a device the id of its user.',
    ),
    name: Type.String(),
    detail: orNull(Type.String()),
  }),
  'A screen that a word leads to.',
);

// Longer than any id, and longer than the token that a message carries to its device.
const Query = Type.Object({ workspaceId, q: Type.String({ maxLength: 512 }) });

/** Routes for the search results that the console's palette shows in addition to its screens. */
export function consolePlaceRoutes(server: FastifyInstance, deps: { places: FindPlacesDependencies }): void {
  const schema = {
    hide: true,
    querystring: Query,
    response: { 200: Type.Object({ places: Type.Array(Place) }) },
  };
  server.get(`${api}/places`, { schema, config: { permission: 'overview.read' } }, async (request) => {
    const { workspaceId, q } = request.query as Static<typeof Query>;
    const word = q.trim();
    const places = word === '' ? [] : await findPlaces(deps.places, { workspaceId, word, actor: request.signedIn });
    return { places };
  });
}
