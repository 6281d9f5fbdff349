import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

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

describe('a push to a segment', () => {
  test('that is still filling waits for it, then reaches exactly its members; the callback has come (decision D26, D27)', async () => {
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

  test('whose fill fails reaches nobody and says why', async () => {
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

  test('of a filter reaches whom it holds when the run begins', async () => {
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

  test('that is archived or unknown is refused by name', async () => {
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
