import { countDataCall } from '../../app/data.ts';
import type { DataUse } from '../../app/data.ts';
import { acceptSourceBatch } from '../../app/source.ts';
import { maxSourceBatchBytes, maxSourceMessageBytes, maxSourceMessages } from '../../domain/limits/source.ts';
import { describeFaults } from '../data/incoming.ts';
import { setLimitHeaders } from '../data/call.ts';
import { named } from '../openapi/shapes.ts';
import type { KeyCaller } from '../route/auth.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Body, Call, Route, RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { acceptSourceBodies, makeSourceDialect } from './dialect.ts';
import type { SourceRouteDependencies } from './dialect.ts';
import { acceptedAnswer, batchBody, messageBody, parseBatch, parseMessage, sourceKinds } from './parse-messages.ts';
import type { ParsedBatch, SourceKind } from './parse-messages.ts';

const prefix = '/segment/v1';
const answers = { 200: named('SourceAccepted', acceptedAnswer) };

const summaries: Record<SourceKind, string> = {
  identify: 'Set attributes of a user',
  track: 'Track an event of a user',
  page: 'Track the event Page Viewed',
  screen: 'Track the event Screen Viewed',
  group: 'Set the group of a user',
  alias: 'Give a user another id',
};

/** Routes that Segment's libraries call unmodified, with an address of this node in their settings (decision 0099). */
export function sourceRoutes(deps: SourceRouteDependencies): RouteFamily {
  const dialect = makeSourceDialect(deps);
  return async (server) => {
    acceptSourceBodies(server);
    await addRoutes(server, [
      ...sourceKinds.flatMap((kind) => messageRoutes(deps, { dialect, kind })),
      ...batchRoutes(deps, dialect),
    ]);
  };
}

type Kind = { dialect: RouteDialect<KeyCaller>; kind: SourceKind };

function messageRoutes(deps: SourceRouteDependencies, { dialect, kind }: Kind): Route[] {
  const { prefixes } = deps.vendorHeaders;
  const described = route(dialect, {
    method: 'POST',
    url: `${prefix}/${kind}`,
    operationId: `source${kind[0]!.toUpperCase()}${kind.slice(1)}`,
    summary: summaries[kind],
    body: messageBody(kind),
    maxBodyBytes: maxSourceMessageBytes,
    answers,
    admit: (call) => count(deps, call, countOf([{ ...(call.request.body as Body | null), type: kind }])),
    read: ({ body }) => parseMessage(body, { kind, prefixes }),
    handle: (call) => accept(deps, call),
  });
  // The path that libraries for browsers use.
  return [described, under(described, `${prefix}/${kind[0]!}`)];
}

function batchRoutes(deps: SourceRouteDependencies, dialect: RouteDialect<KeyCaller>): Route[] {
  const { prefixes } = deps.vendorHeaders;
  const described = route(dialect, {
    method: 'POST',
    url: `${prefix}/batch`,
    operationId: 'sourceBatch',
    summary: 'Send up to 2,500 messages',
    description: 'The libraries for servers use only this route.',
    body: batchBody,
    maxBodyBytes: maxSourceBatchBytes,
    answers,
    admit: (call) => count(deps, call, countOf((call.request.body as Body | null)?.batch)),
    read: ({ body }) => parseBatch(body, { prefixes }),
    handle: (call) => accept(deps, call),
  });
  // `import` is the path of the libraries for Ruby and Java.
  return [described, under(described, `${prefix}/b`), under(described, `${prefix}/import`)];
}

/** Returns the same route under another address, which the document leaves out. */
function under({ options, ...declared }: Route, url: string): Route {
  return { ...declared, options: { ...options, url, schema: { hide: true } } };
}

/** Counts before the messages are parsed, so that the limit also covers parsing. @throws ServiceError DATA_RATE_LIMITED */
async function count(
  deps: SourceRouteDependencies,
  { reply, workspaceId }: Pick<Call<KeyCaller>, 'reply' | 'workspaceId'>,
  uses: DataUse[],
): Promise<void> {
  if (uses.length > 0) setLimitHeaders(reply, await countDataCall(deps, { workspaceId, uses }));
}

const eventKinds: readonly unknown[] = ['track', 'page', 'screen'];

/** Messages count as the users and events of a bulk request. Those that are rejected for their number are not counted. */
function countOf(messages: unknown): DataUse[] {
  const given = Array.isArray(messages) ? (messages as (Body | null)[]).slice(0, maxSourceMessages) : [];
  const events = given.filter((message) => eventKinds.includes(message?.type)).length;
  const uses: DataUse[] = [
    { operation: 'data-bulk-users', wanted: given.length - events },
    { operation: 'data-bulk-events', wanted: events },
  ];
  return uses.filter(({ wanted }) => wanted > 0);
}

async function accept(
  deps: SourceRouteDependencies,
  { request, workspaceId, input }: Pick<Call<KeyCaller>, 'request' | 'workspaceId'> & { input: ParsedBatch },
): Promise<{ success: true }> {
  const { faults, ...batch } = input;
  const rejected = await acceptSourceBatch(deps, { ...batch, workspaceId });
  // Segment answers 200 to messages that it drops; a library would repeat the whole batch after any other answer.
  const all = [...faults, ...rejected].sort((a, b) => a.index - b.index);
  if (all.length > 0) request.facts.errorDetail = describeFaults(all, 'batch');
  return { success: true };
}
