import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import type { SegmentUpload } from '../../../console/src/api/segments.ts';
import { describeAttributes, estimateUsers, roundToTwoDigits } from '../../src/domain/segments/preview.ts';
import { readUpload } from '../../src/http/console/segment-uploads.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { openSignedInClient } from './signed-in-client.ts';

/** One node for all sections, because a start takes a second of processor time. */
let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

describe('console segments', () => {
  let cookie: string;
  let client: ConsoleClient;
  let workspaceId: string;
  let otherWorkspaceId: string;
  let receiver: Server;
  let receiverUrl: string;
  const received: { headers: IncomingMessage['headers']; body: string }[] = [];
  let receiverStatus = 200;
  /** The file of one segment, sent in parts. */
  let slowAnswer: ServerResponse | undefined;

  beforeAll(async () => {
    ({ workspaceId } = bundle);
    ({ client, cookie } = await openSignedInClient(bundle));
    otherWorkspaceId = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
    receiver = createServer(async (request, response) => {
      if (request.url === '/slow.csv') {
        slowAnswer = response.writeHead(200, { 'content-type': 'text/csv' });
        response.write('ada@example.com\n' + 'nobody@example.com\n'.repeat(10_000));
        return;
      }
      let body = '';
      for await (const piece of request) body += piece;
      received.push({ headers: request.headers, body });
      response.writeHead(receiverStatus).end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  const upload = (more: Partial<SegmentUpload> & { content?: string } = {}) => {
    const { content = 'ada@example.com\n', ...rest } = more;
    return client.segments.uploadFile({
      workspaceId,
      kind: 'create',
      name: 'Uploaded',
      attributeName: 'u_em',
      attributeType: 'string',
      ...((more.kind ?? 'create') === 'create' ? { expiryDays: 30 } : {}),
      file: new Blob([content]),
      ...rest,
    });
  };

  const get = (path: string, headers: Record<string, string> = { cookie }) =>
    bundle.call('GET', `/console/api/${path}`, { headers });

  const waitForEnd = (id: string, operations = 1) =>
    until(async () => {
      const segment = await client.segments.read({ workspaceId, id });
      return segment.operations.filter(({ endedAt }) => endedAt !== null).length === operations && segment;
    });

  const query = (more: Record<string, string> = {}) =>
    new URLSearchParams({
      workspaceId,
      kind: 'create',
      name: 'Refused',
      attributeName: 'u_em',
      attributeType: 'string',
      expiryDays: '30',
      ...more,
    });

  const postRaw = (
    search: URLSearchParams,
    { headers = {}, body = 'a' }: { headers?: object; body?: string | null } = {},
  ) =>
    fetch(`${bundle.url}/console/api/segments/upload?${search}`, {
      method: 'POST',
      headers: { cookie, ...(body === null ? {} : { 'content-type': 'text/csv' }), ...headers },
      body,
    });

  describe('a file uploaded in the console', () => {
    test('fills a segment, shown in the list and on its page; a second file changes it', async () => {
      const { segmentId, segmentName } = await upload({
        content: 'ada@example.com\nnobody@example.com\n\ntim@example.com',
      });
      expect(segmentName).toBe('Uploaded');
      const filled = await waitForEnd(segmentId);
      expect(filled).toMatchObject({
        name: 'Uploaded',
        kind: 'FILE',
        state: 'READY',
        stateReason: null,
        source: 'CONSOLE',
        userCount: 2,
        expiryDays: 30,
        progress: null,
        operations: [
          {
            kind: 'CREATE',
            state: 'SUCCEEDED',
            fileUrl: null,
            valuesFound: 4,
            valuesProcessed: 3,
            userCount: 2,
            status: 201,
          },
        ],
      });
      expect(Date.parse(filled.expiresAt!) - Date.parse(filled.createdAt)).toBe(30 * 86_400_000);

      await upload({ kind: 'remove', content: 'ada@example.com' });
      expect((await waitForEnd(segmentId, 2)).userCount).toBe(1);
      const { segments, active, maxActive } = await client.segments.list(workspaceId);
      expect(segments).toMatchObject([{ id: segmentId, name: 'Uploaded', state: 'READY', userCount: 1 }]);
      expect([active, maxActive]).toEqual([1, 1_000]);
    });

    test('waits for the previous one, while the list shows the progress of that', async () => {
      const answer = await bundle.call('POST', '/v2/custom-segments/file-segment', {
        headers: { ...bundle.basic(), 'svc-dbname': bundle.block.dbName! },
        body: {
          name: 'Slow',
          attribute_name: 'u_em',
          attribute_type: 'string',
          file_url: `${receiverUrl}/slow.csv`,
          expiry_time: 3,
        },
      });
      expect(answer.status).toBe(202);
      await upload({ kind: 'add', name: 'Slow', content: 'tim@example.com' });
      const slow = await until(async () => {
        const { segments } = await client.segments.list(workspaceId);
        return segments.find(({ name, progress }) => name === 'Slow' && progress !== null && progress.valuesFound > 0);
      });
      expect(slow).toMatchObject({
        state: 'FILLING',
        progress: { kind: 'CREATE', state: 'FILLING', waiting: 1 },
      });
      expect(slow.progress!.bytesRead).toBeGreaterThan(0);
      slowAnswer!.end('grace@example.com\n');
      expect(await waitForEnd(slow.id, 2)).toMatchObject({ state: 'READY', userCount: 3, progress: null });
    });

    test('is rejected with the reason', async () => {
      const refused: [URLSearchParams, number, object][] = [
        [query({ name: 'Uploaded' }), 409, { code: 'SEGMENT_NAME_TAKEN', title: 'Name already exists : Uploaded' }],
        [query({ kind: 'add', name: 'Nobody' }), 404, { code: 'SEGMENT_NOT_FOUND' }],
        [query({ attributeType: 'date' }), 400, { code: 'SEGMENT_FIELD_INVALID', field: 'attribute_type' }],
        [query({ name: '  ' }), 400, { code: 'SEGMENT_FIELD_INVALID', field: 'name' }],
        [query({ attributeName: '' }), 400, { code: 'SEGMENT_FIELD_MISSING', field: 'attribute_name' }],
        [query({ expiryDays: '4000' }), 400, { code: 'SEGMENT_FIELD_INVALID', field: 'expiry_time' }],
        [query({ kind: 'merge' }), 400, { code: 'PARAMETER_INVALID', field: 'kind' }],
      ];
      for (const [search, status, body] of refused) {
        const answer = await postRaw(search);
        expect([answer.status, await answer.json()]).toEqual([status, expect.objectContaining(body)]);
        expect(answer.headers.get('content-type')).toContain('application/problem+json');
      }
      const otherType = await postRaw(query(), { headers: { 'content-type': 'application/json' }, body: '{}' });
      expect(otherType.status).toBe(415);
      expect((await postRaw(query(), { body: null })).status).toBe(400);
    });

    test('is answered with 429 beyond the operations of an hour', async () => {
      const statuses: number[] = [];
      while (!statuses.includes(429) && statuses.length <= 10)
        statuses.push((await postRaw(query({ name: `Many ${statuses.length}` }))).status);
      expect(statuses.at(-1)).toBe(429);
      await bundle.database`delete from limit_windows`;
    });

    test('is rejected before it is sent if its announced size is over 150 MB', async () => {
      const request = httpRequest(`${bundle.url}/console/api/segments/upload?${query()}`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'text/csv', 'content-length': 150 * 1024 * 1024 + 1 },
      });
      request.flushHeaders();
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      const body = JSON.parse((await answer.toArray()).join(''));
      expect([answer.statusCode, body]).toEqual([
        400,
        expect.objectContaining({
          code: 'SEGMENT_FIELD_INVALID',
          field: 'file',
          detail: expect.stringContaining('150MB'),
        }),
      ]);
      request.destroy();
    });

    test('is rejected during the upload if it turns out to be over 150 MB, and leaves nothing', async () => {
      const block = Buffer.alloc(1024 * 1024, 'a@example.com\n');
      let blocks = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if ((blocks += 1) > 152) controller.close();
          else controller.enqueue(block);
        },
      });
      const answer = await fetch(`${bundle.url}/console/api/segments/upload?${query({ name: 'Endless' })}`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/octet-stream' },
        body,
        duplex: 'half',
      } as RequestInit);
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ code: 'SEGMENT_FIELD_INVALID', field: 'file' }),
      ]);
      const [left] = await bundle.database`select count(*) as segments from segments where name = 'Endless'`;
      expect(left!.segments).toBe(0);
    });

    test('gets a response even if it is rejected unread', async () => {
      const answer = await postRaw(query({ name: 'Uploaded' }), { body: 'a@example.com\n'.repeat(2_000_000) });
      expect(answer.status).toBe(409);
    });

    test('leaves nothing if it breaks off', async () => {
      const isComing = async () => {
        const [row] = await bundle.database`
          select count(*) as uploads from pg_class where relname = 'posted_file_pieces'`;
        return row!.uploads === 1;
      };
      const countOperations = async () =>
        (await bundle.database`select count(*) as operations from segment_operations`)[0]!.operations as number;
      const before = await countOperations();
      const request = httpRequest(`${bundle.url}/console/api/segments/upload?${query({ name: 'Broken' })}`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'text/csv', 'content-length': 50 * 1024 * 1024 },
      });
      request.on('error', () => {});
      request.write(Buffer.alloc(4 * 1024 * 1024, 'a\n'));
      await until(isComing);
      request.destroy();
      await until(async () => !(await isComing()));
      const [left] = await bundle.database`select count(*) as segments from segments where name = 'Broken'`;
      expect([left!.segments, await countOperations()]).toEqual([0, before]);
    });

    test('is given up after 30 s of silence', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const body = new PassThrough();
        const bytes = readUpload(body);
        body.write('a');
        await bytes.next();
        vi.advanceTimersByTime(29_000);
        body.write('b');
        expect(String((await bytes.next()).value)).toBe('b');
        const next = bytes.next();
        vi.advanceTimersByTime(30_000);
        await expect(next).rejects.toMatchObject({ code: 'BODY_MALFORMED' });
      } finally {
        vi.useRealTimers();
      }
    });
  });

  describe('rejects.csv', () => {
    const csvOf = async (operation: { segmentId: string; operationId: string }) => {
      const answer = await fetch(`${bundle.url}${client.segments.rejectsUrl({ workspaceId, ...operation })}`, {
        headers: { cookie },
      });
      return { answer, text: await answer.text() };
    };

    test('downloads the skipped lines with their reasons', async () => {
      const accepted = await upload({ name: 'With rejects', content: 'ada@example.com\n\na,b\nada@example.com\n' });
      await waitForEnd(accepted.segmentId);
      const { answer, text } = await csvOf(accepted);
      expect(text.split('\r\n')).toEqual([
        'line,reason',
        '2,the line is empty',
        '3,the value contains a comma',
        '4,the value repeats an earlier line',
        '',
      ]);
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(answer.headers.get('content-disposition')).toBe(
        `attachment; filename="rejects-${accepted.operationId}.csv"`,
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    });

    test('contains no cell that a spreadsheet would compute', async () => {
      const accepted = await upload({ name: 'Formulas' });
      await waitForEnd(accepted.segmentId);
      const reasons = ['=HYPERLINK("http://evil.example")', '+1', '-1', '@SUM(A1)', '\t=1', 'plain, "quoted"'];
      await bundle.database`
        insert into segment_rejects (operation_id, line, reason)
        select ${accepted.operationId}, number, reason
        from unnest(${reasons}::text[]) with ordinality as reject (reason, number)`;
      expect((await csvOf(accepted)).text.split('\r\n').slice(1, -1)).toEqual([
        `1,"'=HYPERLINK(""http://evil.example"")"`,
        `2,"'+1"`,
        `3,"'-1"`,
        `4,"'@SUM(A1)"`,
        `5,"'\t=1"`,
        '6,"plain, ""quoted"""',
      ]);
    });
  });

  describe('callbacks and emails', () => {
    test('are listed with every attempt; a finished callback is sent again, signed with the shown secret', async () => {
      receiverStatus = 200;
      const before = received.length;
      const answer = await bundle.call('POST', '/v2/custom-segments/file-segment', {
        headers: { ...bundle.basic(), 'svc-dbname': bundle.block.dbName! },
        body: {
          name: 'Told',
          attribute_name: 'u_em',
          attribute_type: 'string',
          file_url: `${receiverUrl}/no.csv`,
          expiry_time: 3,
          callback_url: `${receiverUrl}/callback`,
          emails: ['ops@example.com'],
        },
      });
      expect(answer.status).toBe(202);
      const delivered = await until(async () =>
        (await client.messages.listCallbacks({ workspaceId })).callbacks.find(({ state }) => state === 'DELIVERED'),
      );
      expect(delivered).toMatchObject({ url: `${receiverUrl}/callback`, resends: 0, attempts: 1, nextAt: null });
      expect(JSON.parse(delivered.body)).toMatchObject({ segment_name: 'Told' });

      const resent = await client.messages.resendCallback({ workspaceId, id: delivered.id });
      expect(resent).toMatchObject({ state: 'PENDING', resends: 1 });
      const again = await until(async () => {
        const callback = await client.messages.readCallback({ workspaceId, id: delivered.id });
        return callback.state === 'DELIVERED' && callback;
      });
      expect(again.tries).toMatchObject([
        { resend: 0, attempt: 1, status: 200, error: null },
        { resend: 1, attempt: 1, status: 200, error: null },
      ]);
      const posts = received.slice(before).filter(({ headers }) => headers['webhook-id'] === delivered.id);
      expect(posts).toHaveLength(2);
      const secret = await client.keys.readWebhookSecret(workspaceId);
      expect(secret).toMatch(/^whsec_/);
      for (const { headers, body } of posts) new Webhook(secret).verify(body, headers as Record<string, string>);

      const [email] = (await client.messages.listEmails({ workspaceId })).emails;
      expect(email).toMatchObject({
        recipients: ['ops@example.com'],
        state: 'KEPT',
        operationId: delivered.operationId,
      });
      expect([email!.subject, email!.body].join('\n')).toContain('Told');
    });

    test('are not sent again while they are still being delivered', async () => {
      receiverStatus = 500;
      const [latest] = (await client.messages.listCallbacks({ workspaceId })).callbacks;
      await client.messages.resendCallback({ workspaceId, id: latest!.id });
      await until(async () => (await client.messages.readCallback({ workspaceId, id: latest!.id })).tries.length === 3);
      const path = `/console/api/callbacks/${latest!.id}/resend?workspaceId=${workspaceId}`;
      const answer = await bundle.call('POST', path, { headers: { cookie } });
      expect([answer.status, answer.json()]).toEqual([
        400,
        expect.objectContaining({
          code: 'PARAMETER_INVALID',
          detail: expect.stringContaining('still being delivered'),
        }),
      ]);
    });

    test('use a secret that is created at the first request and kept, one per workspace', async () => {
      const first = await client.keys.readWebhookSecret(otherWorkspaceId);
      expect(await client.keys.readWebhookSecret(otherWorkspaceId)).toBe(first);
      expect(first).not.toBe(await client.keys.readWebhookSecret(workspaceId));
      expect((await get(`webhook-secret?workspaceId=${workspaceId}`)).headers.get('cache-control')).toBe('no-store');
    });
  });

  describe('access to segments and messages', () => {
    const someId = 'a'.repeat(24);
    const readings = [
      `segments?`,
      `segments/${someId}?`,
      `segments/${someId}/operations/${someId}/rejects.csv?`,
      'callbacks?',
      `callbacks/${someId}?`,
      'mails?',
      'webhook-secret?',
    ];
    const changes = [`segments/upload?${query()}&`, `callbacks/${someId}/resend?`];

    test('is denied without a session', async () => {
      const strangers: Record<string, string>[] = [{}, { cookie: `carillon_session=${'A'.repeat(43)}` }];
      for (const headers of strangers) {
        for (const path of readings)
          expect([path, (await get(`${path}workspaceId=${workspaceId}`, headers)).status]).toEqual([path, 401]);
        for (const path of changes) {
          const answer = await bundle.call('POST', `/console/api/${path}workspaceId=${workspaceId}`, { headers });
          expect([path, answer.status]).toEqual([path, 401]);
        }
      }
    });

    test('is denied to another site, whatever its cookies', async () => {
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
        for (const path of changes) {
          const answer = await bundle.call('POST', `/console/api/${path}`, { headers: { cookie, ...headers } });
          expect([path, answer.status]).toEqual([path, 403]);
        }
        const secret = await get(`webhook-secret?workspaceId=${workspaceId}`, { cookie, ...headers });
        expect(secret.status).toBe(403);
      }
    });

    test('is denied for ids of another workspace', async () => {
      const { segments } = await client.segments.list(workspaceId);
      const { id, operations } = await client.segments.read({ workspaceId, id: segments[0]!.id });
      const [callback] = (await client.messages.listCallbacks({ workspaceId })).callbacks;
      const other = `workspaceId=${otherWorkspaceId}`;
      for (const path of [
        `segments/${id}?${other}`,
        `segments/${id}/operations/${operations[0]!.id}/rejects.csv?${other}`,
        `segments/${someId}/operations/${operations[0]!.id}/rejects.csv?workspaceId=${workspaceId}`,
        `callbacks/${callback!.id}?${other}`,
        'segments?workspaceId=NOWHERE',
        'callbacks?workspaceId=NOWHERE',
        'mails?workspaceId=NOWHERE',
        'webhook-secret?workspaceId=NOWHERE',
      ])
        expect([path, (await get(path)).status]).toEqual([path, 404]);
      const resend = `/console/api/callbacks/${callback!.id}/resend?${other}`;
      expect((await bundle.call('POST', resend, { headers: { cookie } })).status).toBe(404);
      const name = segments[0]!.name;
      expect((await postRaw(query({ kind: 'add', name, workspaceId: otherWorkspaceId }))).status).toBe(404);
      expect((await postRaw(query({ workspaceId: 'NOWHERE' }))).status).toBe(404);
      expect(await client.segments.list(otherWorkspaceId)).toMatchObject({ segments: [], active: 0 });
      expect((await client.messages.listCallbacks({ workspaceId: otherWorkspaceId })).callbacks).toEqual([]);
      expect((await client.messages.listEmails({ workspaceId: otherWorkspaceId })).emails).toEqual([]);
    });
  });
});

describe('segment filters', () => {
  let client: ConsoleClient;
  let workspaceId: string;
  beforeAll(async () => {
    ({ workspaceId } = bundle);
    ({ client } = await openSignedInClient(bundle));
    const users = [
      { city: 'Lisbon', orders: 3, vip: true, joined: '2026-03-01', sizes: ['M', 'L'], born: 'May' },
      { city: 'Lisbon', orders: 12, vip: false, joined: '2026-04-01T10:00:00Z' },
      { city: 'Porto', orders: 1 },
    ];
    for (const [number, attributes] of users.entries())
      await bundle.call('POST', `/v1/customer/${workspaceId}`, {
        headers: bundle.basic(),
        body: { type: 'customer', customer_id: `person-${number}`, attributes },
      });
  });

  const condition = (name: string, test: object) => ({
    filter_type: 'user_attributes',
    name,
    data_type: 'string',
    ...test,
  });
  const inCity = (...value: string[]) => condition('city', { operator: 'in', value });
  const all = (...filters: object[]) => ({ filter_operator: 'and', filters });
  const ask = (included: object, excluded?: object) => ({
    workspaceId,
    filters: { included_filters: included, ...(excluded && { excluded_filters: excluded }) },
  });

  describe('filters from the builder', () => {
    test('are described in words, counted, and shown with some of their users', async () => {
      const asked = ask(
        all(inCity('lisbon')),
        all(condition('orders', { data_type: 'double', operator: 'greaterThan', value: 10 })),
      );
      expect(await client.segments.describeFilter(asked)).toEqual({
        state: 'READABLE',
        words: 'Users for whom city is "lisbon", except those for whom orders is greater than 10.',
      });
      const { length: of } = await bundle.database`select 1 from users where workspace_id = ${workspaceId}`;
      expect(await client.segments.countFilter({ ...asked, isExact: false })).toEqual({
        state: 'COUNTED',
        users: 1,
        of,
        isEstimate: false,
      });
      const sample = await client.segments.sampleFilter(asked);
      expect(sample).toMatchObject({ state: 'FOUND', users: [{ customerId: 'person-0' }] });
      const { users } = sample as Extract<typeof sample, { state: 'FOUND' }>;
      expect((await client.users.read({ workspaceId, id: users[0]!.id })).customerId).toBe('person-0');
    });

    test('are answered with the missing part and its place if they are incomplete, without a query', async () => {
      const half = ask(all(inCity('Porto'), condition('orders', { data_type: 'double', operator: 'lessThan' })));
      const fault = { state: 'UNUSABLE', field: 'included_filters', reason: 'filters[1].value is required' };
      expect(await client.segments.describeFilter(half)).toEqual(fault);
      expect(await client.segments.countFilter({ ...half, isExact: true })).toEqual(fault);
      expect(await client.segments.sampleFilter(half)).toEqual(fault);
      const without = ask(all(inCity('Porto')), { filter_operator: 'and', filters: [] });
      expect(await client.segments.countFilter({ ...without, isExact: false })).toMatchObject({
        field: 'excluded_filters',
      });
      const gone = ask(all({ filter_type: 'custom_segments', id: 'e'.repeat(24) }));
      expect(await client.segments.describeFilter(gone)).toMatchObject({ state: 'UNUSABLE', field: null });
    });

    test('become a segment of the console with an audit line, and a change replaces all of them', async () => {
      const { filters } = ask(all(inCity('Porto')));
      const { id } = await client.segments.createFilter({ workspaceId, name: 'In Porto', filters });
      const made = await client.segments.read({ workspaceId, id });
      expect(made).toMatchObject({
        name: 'In Porto',
        kind: 'FILTER',
        source: 'CONSOLE',
        description: 'Users for whom city is "Porto".',
        filters: { included: filters.included_filters, excluded: null },
      });
      // A segment may not refer to itself, and is told so while it is built.
      const circle = ask(all({ filter_type: 'custom_segments', id }));
      expect(await client.segments.countFilter({ ...circle, id, isExact: false })).toMatchObject({ state: 'UNUSABLE' });
      expect(await client.segments.countFilter({ ...circle, isExact: false })).toMatchObject({ users: 1 });

      const next = ask(
        all(inCity('Lisbon')),
        all(condition('vip', { data_type: 'bool', operator: 'is', value: true })),
      );
      await client.segments.changeFilter({ workspaceId, id, name: 'Of Lisbon', filters: next.filters });
      const changed = await client.segments.read({ workspaceId, id });
      expect(changed).toMatchObject({
        name: 'Of Lisbon',
        filters: { included: next.filters.included_filters, excluded: next.filters.excluded_filters },
      });
      await client.segments.changeFilter({ workspaceId, id, name: 'Of Lisbon', filters });
      expect((await client.segments.read({ workspaceId, id })).filters).toEqual({
        included: filters.included_filters,
        excluded: null,
      });
      const lines = await client.accounts.listAudit({ workspaceId });
      expect(
        lines.filter(({ objectId }) => objectId === id).map(({ action, objectName }) => [action, objectName]),
      ).toEqual([
        ['segment.change', 'Of Lisbon'],
        ['segment.change', 'Of Lisbon'],
        ['segment.create', 'In Porto'],
      ]);
    });

    test('are rejected as by the API: a name or filters in use, and another workspace', async () => {
      const { filters } = ask(all(inCity('Faro')));
      await client.segments.createFilter({ workspaceId, name: 'In Faro', filters });
      await expect(client.segments.createFilter({ workspaceId, name: 'Faro again', filters })).rejects.toMatchObject({
        code: 'SEGMENT_FILTERS_TAKEN',
      });
      const other = ask(all(inCity('Braga'))).filters;
      await expect(
        client.segments.createFilter({ workspaceId, name: 'In Faro', filters: other }),
      ).rejects.toMatchObject({
        code: 'SEGMENT_NAME_TAKEN',
      });
      const elsewhere = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
      const { segments } = await client.segments.list(workspaceId);
      const key = { workspaceId: elsewhere, id: segments.find(({ name }) => name === 'In Faro')!.id };
      await expect(client.segments.changeFilter({ ...key, name: 'Mine', filters: other })).rejects.toMatchObject({
        code: 'SEGMENT_ID_NOT_FOUND',
      });
      expect(
        await client.segments.countFilter({ ...ask(all(inCity('Lisbon'))), workspaceId: elsewhere, isExact: true }),
      ).toMatchObject({
        users: 0,
        of: 0,
      });
      expect(await client.segments.listAttributes(elsewhere)).toEqual([]);
      expect(await client.segments.suggestValues({ workspaceId: elsewhere, attribute: 'city', prefix: 'L' })).toEqual(
        [],
      );
    });
  });

  test('lists attributes with name, type and common values, and suggests texts by their beginning', async () => {
    const attributes = await client.segments.listAttributes(workspaceId);
    const of = (name: string) => attributes.find((attribute) => attribute.name === name);
    expect(of('city')).toEqual({ name: 'city', type: 'string', values: ['Lisbon', 'Porto'] });
    expect(of('orders')).toEqual({ name: 'orders', type: 'double', values: ['1', '12', '3'] });
    expect(of('vip')).toEqual({ name: 'vip', type: 'bool', values: ['false', 'true'] });
    expect(of('joined')).toMatchObject({ type: 'datetime' });
    expect(of('sizes')).toEqual({ name: 'sizes', type: 'array_string', values: ['L', 'M'] });
    expect(of('born')).toMatchObject({ type: 'string' });
    const suggest = (prefix: string) => client.segments.suggestValues({ workspaceId, attribute: 'city', prefix });
    expect(await suggest('L')).toEqual(['Lisbon']);
    expect(await suggest('Po')).toEqual(['Porto']);
    expect(await suggest('x')).toEqual([]);
  });

  test('returns the positions of unmatched file values: by id, by text, by number', async () => {
    const ask = (attributeName: string, values: string[], attributeType: 'string' | 'double' = 'string') =>
      client.segments.findUnmatched({ workspaceId, attributeName, attributeType, values });
    expect(await ask('uid', ['person-0', 'nobody', 'person-2', ''])).toEqual([1, 3]);
    // Two people live there: a value that names both names neither.
    expect(await ask('city', ['Porto', 'Lisbon', 'Faro'])).toEqual([1, 2]);
    expect(await ask('orders', ['12.0', '3', '7', 'three'], 'double')).toEqual([2, 3]);
    expect(await ask('orders', ['12'])).toEqual([0]);
    await expect(ask('uid', Array.from({ length: 5_001 }, String))).rejects.toMatchObject({ status: 400 });
  });

  test('rounds an estimate to two digits, and makes none from a small sample', () => {
    expect(estimateUsers(399, { share: 1 / 16 })).toBeUndefined();
    expect(estimateUsers(25_982, { share: 1 / 16 })).toBe(420_000);
    expect([0, 7, 99, 123, 99_900, 1_000_000].map(roundToTwoDigits)).toEqual([0, 7, 99, 120, 100_000, 1_000_000]);
  });

  test('gives an attribute with several types the most common one, and one that no sampled user has the type of any user', () => {
    const seen = [
      { name: 'size', type: 'string', value: 'M', users: 2 },
      { name: 'size', type: 'number', value: '38', users: 5 },
      { name: 'place', type: 'object', value: '{}', users: 9 },
    ];
    expect(
      describeAttributes({ names: ['place', 'rare', 'size'], sampled: seen, indexed: new Map([['rare', 'double']]) }),
    ).toEqual([
      { name: 'place', type: 'string', values: [] },
      { name: 'rare', type: 'double', values: [] },
      { name: 'size', type: 'double', values: ['38'] },
    ]);
  });
});
