import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCalls } from '../../app/api-log.ts';
import { madeKinds } from '../../domain/access/api-log.ts';
import { instantPattern } from '../../domain/timing/iso-time.ts';
import { consoleApi as api } from './access.ts';
import { Id, id, keyOf, Workspace, workspaceId } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const LoggedCall = described(
  Type.Object({
    id: Type.String(),
    receivedAt: Type.String(),
    method: Type.String(),
    path: Type.String(),
    route: Type.String(),
    status: Type.Number(),
    durationMilliseconds: Type.Number(),
    keyId: orNull(Type.String()),
    keyName: orNull(Type.String()),
    errorName: described(orNull(Type.String()), 'Null if the call succeeded.'),
    errorText: described(orNull(Type.String()), 'The public text of the error, which the caller received.'),
    advice: described(orNull(Type.String()), 'What to do about it.'),
    errorDetail: described(orNull(Type.String()), 'The private detail of the error, which the caller did not receive.'),
    warnings: Type.Array(Type.String()),
  }),
  'A call of the API. The first 4,096 characters of a body are stored; bodies with credentials are not.',
);

const Headers = described(
  orNull(Type.Record(Type.String(), Type.String())),
  'Headers from a fixed list; credentials are redacted. Null if none were stored.',
);

export const MadeObject = Type.Object({ kind: oneOf(madeKinds), id: Type.String() });

export const CallDetail = Type.Object({
  ...LoggedCall.properties,
  requestHeaders: Headers,
  requestBody: orNull(Type.String()),
  responseHeaders: Headers,
  responseBody: described(
    orNull(Type.String()),
    'Null if there was no body, or it was a file or contained a credential.',
  ),
  made: described(Type.Array(MadeObject), 'The objects that the call created or changed and that its response names.'),
});

export const CallPage = Type.Object({
  calls: Type.Array(LoggedCall),
  next: orNull(Type.String()),
  searchedUntil: described(
    orNull(Type.String()),
    'A search examines 20,000 calls for each page. Calls older than this have not been examined.',
  ),
});

const SearchQuery = Type.Object({
  workspaceId,
  of: Type.Optional(Type.Literal('nobody')),
  only: Type.Optional(Type.Literal('refused')),
  key: Type.Optional(id),
  status: Type.Optional(Type.String({ pattern: '^[1-5]xx$' })),
  path: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  from: Type.Optional(Type.String({ pattern: `^${instantPattern}$` })),
  before: Type.Optional(Type.String({ pattern: `^${instantPattern}$` })),
  after: Type.Optional(Type.String({ pattern: `^${instantPattern}~[0-9a-f]{24}$` })),
});

type Search = Static<typeof SearchQuery>;

/** Routes for the API log on the console. */
export function consoleCallRoutes(server: FastifyInstance, { calls }: { calls: ConsoleCalls }): void {
  const config = { permission: 'log.read' as const };
  server.get(
    `${api}/calls`,
    { schema: { hide: true, querystring: SearchQuery, response: { 200: CallPage } }, config },
    async (request) => {
      const { workspaceId, of, only, key, status, path, text, from, before, after } = request.query as Search;
      const page = await calls.list({
        reader: request.signedIn,
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
      call: await calls.read({ ...keyOf(request), reader: request.signedIn }),
    }),
  );
}

/** The schema has already validated the format. */
function parseCursor(text: string): { receivedAt: Date; id: string } {
  const [receivedAt, of] = text.split('~') as [string, string];
  return { receivedAt: new Date(receivedAt), id: of };
}
