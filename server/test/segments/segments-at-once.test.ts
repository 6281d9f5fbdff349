import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/storage/database.ts';
import type { Transaction } from '../../src/storage/database.ts';
import { archiveSegment, lockSegmentsOfWorkspace, unarchiveSegment } from '../../src/storage/segments/segments.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { makeSegmentBundle, start } from './segment-bundle.ts';
import type { SegmentBundle } from './segment-bundle.ts';

type Call = Parameters<SegmentBundle['call']>;

describe('concurrent segment changes', () => {
  // Another request is halfway: it holds the segments of the workspace and has changed some. Ours begins before it ends.
  let bundle: SegmentBundle;
  let limited: SegmentBundle;
  beforeAll(async () => {
    bundle = await makeSegmentBundle();
    limited = await makeSegmentBundle({ limits: { activeSegments: 1 } });
  });
  afterAll(async () => {
    await bundle?.end();
    await limited?.end();
  });

  const headers = () => ({ 'svc-appkey': bundle.workspaceId, 'svc-dbname': undefined });
  const patch = (id: string, body: object): Call => [
    'PATCH',
    `/v3/custom-segments/${id}`,
    { headers: headers(), body },
  ];
  let ages = 0;
  const olderThan = (value: number) => ({
    filter_operator: 'and',
    filters: [{ filter_type: 'user_attributes', name: 'age', data_type: 'double', operator: 'greaterThan', value }],
  });

  test('report a name as in use if another change takes it first', async () => {
    const [first, second] = [await create('First'), await create('Second')];
    const answer = await callWhile(bundle, {
      change: (tx) => tx`update segments set name = 'Both' where id = ${first}`,
      asked: patch(second, { name: 'Both' }),
    });
    expect([answer.statusCode, answer.json().error.code]).toEqual([409, 'Resource not created']);
    expect((await bundle.segment('Second')).id).toBe(second);
  });

  test('report filters as in use, with the name of the segment that has them first', async () => {
    const filters = olderThan(50);
    const [shelved, changed] = [await create('Shelved', filters), await create('Changed')];
    await inTransaction(bundle.database, (tx) => archiveSegment(tx, { id: shelved, at: start }));
    const answer = await callWhile(bundle, {
      change: (tx) => unarchiveSegment(tx, { id: shelved, at: start }),
      asked: patch(changed, { included_filters: filters }),
    });
    expect([answer.statusCode, answer.json().error.existing_cs_name]).toEqual([409, 'Shelved']);
  });

  test('cannot create a cycle: the later of two is rejected', async () => {
    const [one, other] = [await create('One of a circle'), await create('Other of a circle')];
    const refer = (id: string) => ({
      filter_operator: 'or',
      filters: [{ filter_type: 'custom_segments', id, name: 'label' }],
    });
    const answer = await callWhile(bundle, {
      change: (tx) => tx`
        update segments set included_filters = ${tx.json(refer(other))}, uses_segments = ${[other]} where id = ${one}`,
      asked: patch(other, { included_filters: refer(one) }),
    });
    expect([answer.statusCode, answer.json().error.code]).toEqual([412, 'Cyclic Entity']);
  });

  test.each([
    ['is unarchived', archiveSegment, ['PATCH', '/v2/custom-segments/unarchive', { body: { name: 'Active' } }]],
    [
      'is filled again after a failure',
      (tx: Transaction, { id }: { id: string }) =>
        tx`update segments set state = 'FAILED', state_reason = 'none' where id = ${id}`,
      ['PUT', '/v2/custom-segments/file-segment/add-users'],
    ],
  ] as [string, (tx: Transaction, segment: { id: string; at: Date }) => Promise<unknown>, Call][])(
    'count a segment that %s against the limit if it was active when the request arrived (interface 8)',
    async (_what, change, [method, path, sent]) => {
      const { database, create: createFile, segment } = limited;
      await database`delete from segment_operations`;
      await database`delete from segments`;
      await createFile({ name: 'Waiting' });
      const waiting = (await segment('Waiting')).id as string;
      await inTransaction(database, (tx) => archiveSegment(tx, { id: waiting, at: start }));
      await createFile({ name: 'Active' });
      const active = (await segment('Active')).id as string;
      const { expiry_time: _expiry, ...body } = limited.body({ name: 'Active' });
      const answer = await callWhile(limited, {
        change: async (tx) => {
          await change(tx, { id: active, at: start });
          await unarchiveSegment(tx, { id: waiting, at: start });
        },
        asked: [method, path, sent ?? { body }],
      });
      expect([answer.statusCode, answer.json().title]).toEqual([429, 'Too Many Requests']);
      const [counted] = await database`select count(*) as active from segments where state in ('FILLING', 'READY')`;
      expect(Number(counted!.active)).toBe(1);
    },
  );

  async function create(name: string, filters: object = olderThan((ages += 1))): Promise<string> {
    const body = { name, included_filters: filters };
    return (await bundle.call('POST', '/v3/custom-segments', { headers: headers(), body })).json().data.id as string;
  }
});

describe('a push to a segment', () => {
  let bundle: CarillonBundle;
  const files = new Map<string, { content: string; ready: Promise<void>; status?: number }>();
  const received: { path: string; body: any }[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let body = '';
      for await (const piece of request) body += piece;
      received.push({ path: request.url!, body: JSON.parse(body) });
      response.writeHead(200).end();
      return;
    }
    const file = files.get(request.url!);
    await file?.ready;
    response.writeHead(file?.status ?? (file ? 200 : 404), { 'content-type': 'text/csv' }).end(file?.content ?? '');
  });
  let origin: string;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    bundle = await startCarillonBundle();
  });
  afterAll(async () => {
    await bundle.stop();
    server.closeAllConnections();
    server.close();
  });

  const headers = () => ({ ...bundle.basic(), 'svc-dbname': bundle.block.dbName! });
  const createSegment = (name: string, path: string) =>
    bundle.call('POST', '/v2/custom-segments/file-segment', {
      headers: headers(),
      body: {
        name,
        attribute_name: 'u_em',
        attribute_type: 'string',
        file_url: origin + path,
        callback_url: `${origin}/callback`,
        expiry_time: 5,
      },
    });
  let names = 0;
  const pushTo = (customSegmentName: string) =>
    bundle.push({
      campaignName: `To a segment ${(names += 1)}`,
      targetPlatform: ['ANDROID', 'IOS'],
      targetAudience: 'Custom Segment',
      customSegmentName,
      payload: { ANDROID: { title: 'T', message: 'M' }, IOS: { title: 'T', message: 'M' } },
      campaignDelivery: { type: 'soon' },
    });
  const ended = (cid: string) =>
    until(async () => {
      const [campaign] = await bundle.database<{ status: string; reason: string | null; runs: string[] }[]>`
        select status, status_reason as reason, array(select id from runs where campaign_id = campaigns.id) as runs
        from campaigns where id = ${cid} and status <> 'SENDING'`;
      if (!campaign) return undefined;
      const { runs, ...ending } = campaign;
      const [sent] = await bundle.database<{ devices: number }[]>`
        select count(*) as devices from readable_deliveries as deliveries where run_id = any(${runs})`;
      return { ...ending, devices: sent!.devices };
    });

  test('waits while the segment fills, then reaches exactly its members after the callback (decision D26, D27)', async () => {
    const barrier = Promise.withResolvers<void>();
    files.set('/waits.csv', { content: 'ada@example.com\nnobody@example.com\n', ready: barrier.promise });
    expect((await createSegment('Filling', '/waits.csv')).status).toBe(202);
    const { cid, status } = (await pushTo('Filling')).json();
    expect(status).toBe('Success');
    const [run] = await bundle.database`select status from runs where campaign_id = ${cid}`;
    expect(run!.status).toBe('QUEUED');
    barrier.resolve();
    expect(await ended(cid)).toEqual({ status: 'SENT', reason: null, devices: 1 });
    const callback = await until(async () => received.find(({ body }) => body.segment_name === 'Filling'));
    expect(callback.body).toMatchObject({ status: 201, values_found: 2, values_processed: 2, user_count: 1 });
  });

  test('reaches no device if the fill fails, and says why', async () => {
    const barrier = Promise.withResolvers<void>();
    files.set('/fails.csv', { content: '<html></html>', ready: barrier.promise });
    await createSegment('Failing', '/fails.csv');
    const { cid } = (await pushTo('Failing')).json();
    barrier.resolve();
    expect(await ended(cid)).toEqual({
      status: 'FAILED',
      reason: expect.stringContaining('it is an HTML page'),
      devices: 0,
    });
    const refused = await pushTo('Failing');
    expect(refused.json().Error_Message).toContain('customSegmentName: the segment could not be filled');
  });

  test('reaches the users that a filter matches when the run begins', async () => {
    const created = await bundle.call('POST', '/v3/custom-segments', {
      headers: { ...bundle.basic(), 'svc-appkey': bundle.workspaceId },
      body: {
        name: 'First names with a',
        included_filters: {
          filter_operator: 'and',
          filters: [
            {
              filter_type: 'user_attributes',
              name: 'u_fn',
              data_type: 'string',
              operator: 'contains',
              value: 'a',
            },
          ],
        },
      },
    });
    expect(created.status).toBe(201);
    const { cid } = (await pushTo('First names with a')).json();
    // Ada (Android) and Grace (iOS); Tim has none.
    expect(await ended(cid)).toEqual({ status: 'SENT', reason: null, devices: 2 });
  });

  test('is rejected by name if the segment is archived or unknown', async () => {
    await bundle.call('PATCH', '/v2/custom-segments/archive', { headers: headers(), body: { name: 'Filling' } });
    expect((await pushTo('Filling')).json()).toMatchObject({
      status: 'Fail',
      Error_Message: 'Error parsing parameters: customSegmentName: the segment is archived',
    });
    expect((await pushTo('Never made')).json().Error_Message).toBe(
      'Error parsing parameters: customSegmentName: not found',
    );
  });
});

async function callWhile(
  { database, workspaceId, call }: SegmentBundle,
  { change, asked }: { change: (tx: Transaction) => Promise<unknown>; asked: Call },
) {
  const settle = await inTransaction(database, async (tx) => {
    await lockSegmentsOfWorkspace(tx, workspaceId);
    await change(tx);
    const answer = call(...asked);
    await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
    return () => answer;
  });
  return settle();
}
