import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsolePeople } from '../../app/console/console-people.ts';
import { consoleApi as api } from './console-access.ts';
import { presentErasure, presentFoundPerson, presentPerson } from './present-people.ts';

const workspaceId = Type.String({ maxLength: 64 });
const Workspace = Type.Object({ workspaceId });
// As long as a browser's subscription may be.
const Search = Type.Object({ workspaceId, q: Type.String({ minLength: 1, maxLength: 4096 }) });
const Id = Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{24}$' }) });

/** People on the console: found by one word, shown whole, erased. */
export function consolePeopleRoutes(server: FastifyInstance, { people }: { people: ConsolePeople }): void {
  const config = { permission: 'people.read' as const };
  const one = { hide: true, querystring: Workspace, params: Id };

  server.get(`${api}/people`, { schema: { hide: true, querystring: Search }, config }, async (request) => {
    const { q, ...query } = request.query as Static<typeof Search>;
    const word = q.trim();
    return { people: word === '' ? [] : (await people.search({ ...query, word })).map(presentFoundPerson) };
  });
  server.get(`${api}/people/:id`, { schema: one, config }, async (request) =>
    presentPerson(
      await people.read({ ...(request.query as Static<typeof Workspace>), ...(request.params as Static<typeof Id>) }),
    ),
  );
  server.post(
    `${api}/people/:id/erase`,
    { schema: one, config: { permission: 'people.write' } },
    async (request, reply) => {
      const { id } = request.params as Static<typeof Id>;
      const query = request.query as Static<typeof Workspace>;
      const erasure = await people.erase({ by: request.signedIn, ...query, id });
      return reply.code(202).send({ erasure: presentErasure(erasure) });
    },
  );
}
