import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCalls } from '../../app/console/console-calls.ts';
import { instantPattern } from '../../domain/segments/iso-time.ts';
import { consoleApi as api } from './console-access.ts';
import { CallDetail, CallPage } from './call-shapes.ts';

const id = '[0-9a-f]{24}';
const workspaceId = Type.String({ maxLength: 64 });
const Workspace = Type.Object({ workspaceId });
const Id = Type.Object({ id: Type.String({ pattern: `^${id}$` }) });
const SearchQuery = Type.Object({
  workspaceId,
  of: Type.Optional(Type.Literal('nobody')),
  only: Type.Optional(Type.Literal('refused')),
  key: Type.Optional(Type.String({ pattern: `^${id}$` })),
  status: Type.Optional(Type.String({ pattern: '^[1-5]xx$' })),
  path: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  from: Type.Optional(Type.String({ pattern: `^${instantPattern}$` })),
  before: Type.Optional(Type.String({ pattern: `^${instantPattern}$` })),
  after: Type.Optional(Type.String({ pattern: `^${instantPattern}~${id}$` })),
});

type Search = Static<typeof SearchQuery>;

/** The API log on the console. */
export function consoleCallRoutes(server: FastifyInstance, { calls }: { calls: ConsoleCalls }): void {
  const config = { permission: 'log.read' as const };
  server.get(
    `${api}/calls`,
    { schema: { hide: true, querystring: SearchQuery, response: { 200: CallPage } }, config },
    async (request) => {
      const { workspaceId, of, only, key, status, path, text, from, before, after } = request.query as Search;
      const page = await calls.list({
        workspaceId,
        ofNobody: of === 'nobody',
        isRefused: only === 'refused' || undefined,
        keyId: key,
        statusClass: status === undefined ? undefined : Number(status[0]),
        path,
        text,
        from: from === undefined ? undefined : new Date(from),
        before: before === undefined ? undefined : new Date(before),
        after: after === undefined ? undefined : parseCursor(after),
      });
      return { ...page, next: page.next ? `${page.next.receivedAt.toISOString()}~${page.next.id}` : null };
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
