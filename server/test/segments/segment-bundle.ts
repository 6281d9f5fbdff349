import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LightMyRequestResponse } from 'fastify';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { documentedSegmentLimits } from '../../src/app/segments/segment-limits.ts';
import type { SegmentLimits } from '../../src/app/segments/segment-limits.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeManualClock } from '../../src/clock.ts';
import { bucketOf, toIdentifierValue } from '../../src/domain/users/users.ts';
import { makeId } from '../../src/domain/ids.ts';
import type { FillResult } from '../../src/domain/operations/metrics.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeDeliverCallbacks } from '../../src/engine/outbox/callbacks.ts';
import { makeExpireSegments, makeDropSegmentLeftovers } from '../../src/engine/housekeeping/expiry.ts';
import { makeOutgoingClient, postOnce } from '../../src/outgoing/client.ts';
import { makeFillSegments } from '../../src/engine/segment-fill/fill-segments.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { segmentRoutes } from '../../src/http/segments/routes.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

export const start = new Date('2026-03-01T12:00:00Z');
export type SegmentBundle = Awaited<ReturnType<typeof makeSegmentBundle>>;
export type FileAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** The segment routes and the engine behind them, a server of files and callbacks on loopback, a clock that stands. */
export async function makeSegmentBundle(options: { limits?: Partial<SegmentLimits>; usersPerDay?: number } = {}) {
  const test = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const tokens = makeTokenAuthority({ database, clock, encryption });
  const log = makeLog({ level: 'silent', pretty: false });
  const limits = { ...documentedSegmentLimits, operationsPerHour: 1_000, operationsPerDay: 10_000, ...options.limits };
  const server = await buildServer({ log, clock, trustProxy: false }, [
    segmentRoutes({ database, clock, encryption, tokens, limits, vendorHeaders: makeVendorHeaders('SVC') }),
  ]);
  const workspaceId = await insertTestWorkspace(database, start);
  const dbName = `db_${workspaceId.toLowerCase()}`;
  const makeKey = async (kind: 'data' | 'push', of = workspaceId) =>
    (await createKey({ encryption }, database, { workspaceId: of, kind, name: `Key ${kind}`, at: start })).secret;
  const key = await makeKey('data');

  const files = new Map<string, FileAnswer>();
  const asked: string[] = [];
  const fileServer = createServer((request, response) => {
    asked.push(request.url!);
    const answer = files.get(request.url!);
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  });
  fileServer.listen(0, '127.0.0.1');
  await once(fileServer, 'listening');
  const origin = `http://127.0.0.1:${(fileServer.address() as AddressInfo).port}`;

  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const outcomes = makeOutcomeBuffer({ log, pause: async () => {} });
  const ended: FillResult[] = [];
  const makeFills = (owner: string) =>
    makeFillSegments({
      database,
      clock,
      log,
      outgoing,
      outcomes,
      owner,
      usersPerDay: options.usersPerDay ?? limits.usersPerDay ?? 2_000_000,
      emailState: 'KEPT',
      onEnded: (result) => void ended.push(result),
    });
  const fills = makeFills('filler');
  const callbacks = makeDeliverCallbacks({
    database,
    clock,
    encryption,
    log,
    post: (request) => postOnce(outgoing, request),
    outcomes,
  });
  let fileNumber = 0;

  type Sending = { headers?: Record<string, string | undefined> };
  async function call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    { headers = {}, body }: Sending & { body?: unknown } = {},
  ): Promise<LightMyRequestResponse> {
    const all: Record<string, string | undefined> = {
      authorization: `Basic ${Buffer.from(`${workspaceId}:${key}`).toString('base64')}`,
      'svc-dbname': dbName,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    return server.inject({
      method,
      url,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never,
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  const bundle = {
    ...test,
    clock,
    encryption,
    server,
    workspaceId,
    dbName,
    key,
    makeKey,
    origin,
    files,
    asked,
    /** What the metrics are told of operations, in their order. */
    ended,
    makeFills,
    call,
    basic: (secret: string, of = workspaceId) => `Basic ${Buffer.from(`${of}:${secret}`).toString('base64')}`,

    /** Serves a file under an address of its own. */
    serve(content: string | Buffer, headers: Record<string, string> = { 'content-type': 'text/csv' }): string {
      const path = `/file-${(fileNumber += 1)}.csv`;
      files.set(path, (_request, response) => response.writeHead(200, headers).end(content));
      return origin + path;
    },
    body: (more: Record<string, unknown> = {}) => ({
      name: 'Buyers',
      attribute_name: 'u_em',
      attribute_type: 'string',
      file_url: `${origin}/nowhere.csv`,
      expiry_time: 30,
      ...more,
    }),
    create: (more: Record<string, unknown> = {}, sending: Sending = {}) =>
      call('POST', '/v2/custom-segments/file-segment', { ...sending, body: bundle.body(more) }),
    change(operation: 'add-users' | 'remove-users' | 'replace', more: Record<string, unknown> = {}) {
      const { expiry_time: _expiry, ...body } = bundle.body(more) as Record<string, unknown>;
      return call('PUT', `/v2/custom-segments/file-segment/${operation}`, { body });
    },

    /** Users with one attribute each. */
    async addUsers(values: readonly (string | number)[], attribute = 'u_em'): Promise<void> {
      const rows = values.map((value, index) => {
        const customerId = `user-${attribute}-${index}-${String(value)}`;
        return {
          customerId,
          bucket: bucketOf(customerId),
          id: makeId(start),
          ...toIdentifierValue(value)!,
          raw: value,
        };
      });
      await database`
        insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
        select ${workspaceId}, row.bucket, row.id, row.customer_id, row.attributes::jsonb, ${start}, ${start}
        from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => row.customerId)}::text[],
          ${rows.map((row) => JSON.stringify({ [attribute]: row.raw }))}::text[]) as row (bucket, id, customer_id, attributes)`;
      await database`
        insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
        select ${workspaceId}, row.bucket, row.id, ${attribute}, row.type, row.value
        from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => row.type)}::text[], ${rows.map((row) => row.value)}::text[]) as row (bucket, id, type, value)`;
    },

    /** Works operations until none is due. @returns how many */
    async fill(job = fills): Promise<number> {
      let worked = 0;
      for (let started = await job.runOnce(clock.now()); started > 0; started = await job.runOnce(clock.now())) {
        await job.settled();
        worked += started;
      }
      return worked;
    },
    callbacks: async () => {
      const sent = await callbacks.runOnce(clock.now());
      await callbacks.settled();
      return sent;
    },
    expire: () => makeExpireSegments({ database }).runOnce(clock.now()),
    tidy: () => makeDropSegmentLeftovers({ database }).runOnce(clock.now()),

    async segment(name = 'Buyers') {
      const [row] = await database`select * from segments where workspace_id = ${workspaceId} and name = ${name}`;
      return row as any;
    },
    async operation(number = 1, name = 'Buyers') {
      const [row] = await database`
        select segment_operations.* from segment_operations join segments on segments.id = segment_operations.segment_id
        where segments.name = ${name} and segment_operations.number = ${number}`;
      return row as any;
    },
    /** Attribute values of the live members. */
    async members(name = 'Buyers'): Promise<string[]> {
      const rows = await database`
        select users.attributes::text as text from segments
        join segment_members as member on member.segment_id = segments.id and member.removed_in is null
        join users on users.workspace_id = member.workspace_id and users.bucket = member.bucket and users.id = member.user_id
        where segments.name = ${name}`;
      return rows.map((row) => String(Object.values(JSON.parse(row.text as string))[0])).sort();
    },
    async rejects(number = 1): Promise<[number, string][]> {
      const rows = await database`
        select segment_rejects.line, segment_rejects.reason from segment_rejects
        join segment_operations on segment_operations.id = segment_rejects.operation_id
        where segment_operations.number = ${number} order by line`;
      return rows.map((row) => [row.line, row.reason]);
    },
    async end() {
      await server.close();
      await outgoing.close();
      fileServer.closeAllConnections();
      fileServer.close();
      await test.drop();
    },
  };
  return bundle;
}
