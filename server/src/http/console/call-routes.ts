import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCalls } from '../../app/console/console-calls.ts';
import { consoleApi as api } from './console-access.ts';
import { CallDetail, CallPage } from './call-shapes.ts';

const id = '[0-9a-f]{24}';
const instant = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z';
const workspaceId = Type.String({ maxLength: 64 });
const Workspace = Type.Object({ workspaceId });
const Id = Type.Object({ id: Type.String({ pattern: `^${id}$` }) });
const Search = Type.Object({
  workspaceId,
  of: Type.Optional(Type.Literal('nobody')),
  only: Type.Optional(Type.Literal('refused')),
  key: Type.Optional(Type.String({ pattern: `^${id}$` })),
  after: Type.Optional(Type.String({ pattern: `^${instant}~${id}$` })),
});

/** The API log on the console. */
export function consoleCallRoutes(server: FastifyInstance, { calls }: { calls: ConsoleCalls }): void {
  const config = { permission: 'log.read' as const };
  server.get(
    `${api}/calls`,
    { schema: { hide: true, querystring: Search, response: { 200: CallPage } }, config },
    async (request) => {
      const { of, only, key, after, ...query } = request.query as Static<typeof Search>;
      const { calls: found, hasMore } = await calls.list({
        ...query,
        ofNobody: of === 'nobody',
        isRefused: only === 'refused' || undefined,
        keyId: key,
        after: after === undefined ? undefined : parseCursor(after),
      });
      const last = found.at(-1);
      return { calls: found, next: hasMore && last ? `${last.receivedAt.toISOString()}~${last.id}` : null };
    },
  );
  server.get(
    `${api}/calls/:id`,
    {
      schema: { hide: true, querystring: Workspace, params: Id, response: { 200: Type.Object({ call: CallDetail }) } },
      config,
    },
    async (request) => ({
      call: await calls.read({
        ...(request.query as Static<typeof Workspace>),
        ...(request.params as Static<typeof Id>),
      }),
    }),
  );
}

/** The shape is checked before. */
function parseCursor(text: string): { receivedAt: Date; id: string } {
  const [receivedAt, of] = text.split('~') as [string, string];
  return { receivedAt: new Date(receivedAt), id: of };
}
