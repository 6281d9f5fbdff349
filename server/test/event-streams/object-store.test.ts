import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  changeEventStream,
  createEventStream,
  findStream,
  listDeadBatches,
  readEventStreamSecret,
  resendDeadBatches,
} from '../../src/app/event-streams.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { objectNameOf, streamedKinds } from '../../src/domain/events/event-streams.ts';
import { makeOutgoingClient, postOnce } from '../../src/outgoing/client.ts';
import { eventStreamRoutes } from '../../src/http/event-streams.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import type { CompletedCall } from '../../src/http/server/build-server.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeLog } from '../../src/log.ts';
import { startSimulatedS3 } from '../pictures/simulated-s3.ts';
import type { SimulatedS3 } from '../pictures/simulated-s3.ts';
import { makeEventStreamBundle } from './event-stream-bundle.ts';
import type { EventStreamBundle } from './event-stream-bundle.ts';

const actor = { kind: 'program', name: 'a test' } as const;
const devices = 1_250;

describe('an event stream to an object store', () => {
  let bundle: EventStreamBundle;
  let store: SimulatedS3;
  let sent: string[];
  const streams: string[] = [];
  beforeAll(async () => {
    bundle = await makeEventStreamBundle();
    store = await startSimulatedS3();
    store.state.clock = () => bundle.clock.realNow();
    await bundle.addDevices(devices);
    await bundle.database`update devices set platform = 'ANDROID'`;
  }, 60_000);
  afterEach(async () => {
    await bundle.database`delete from event_streams`;
    store.objects.clear();
    store.state.status = undefined;
  });
  afterAll(async () => {
    await store.stop();
    await bundle.end();
  });

  async function addStream(more: { url?: string; secret?: string } = {}): Promise<string> {
    const { keyId, region, secret } = { ...store.key, ...more };
    const { stream } = await createEventStream(bundle.deps, {
      ...{ url: more.url ?? `${store.bucketUrl}/events/`, events: [...streamedKinds], userAttributes: ['city'] },
      ...{ deviceAttributes: ['platform'], objectStore: { keyId, region, secret } },
      ...{ workspaceId: bundle.workspaceId, actor },
    });
    streams.push(stream.id);
    return stream.id;
  }

  const stored = () =>
    [...store.objects.values()].flatMap(({ bytes }) => {
      const text = gunzipSync(bytes).toString('utf8');
      expect(text.endsWith('\n')).toBe(true);
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { event_uuid: string; uid: string });
    });
  const uuids = () => stored().map(({ event_uuid: uuid }) => uuid);

  async function sendCampaign(): Promise<void> {
    await bundle.live();
    sent = await bundle.deliver();
    expect(sent.length).toBe(devices);
  }

  test('stores each event once, as lines in compressed objects named by workspace, day and batch', async () => {
    const id = await addStream();
    await sendCampaign();
    await bundle.postAll();
    expect(store.faults).toEqual([]);
    const name = new RegExp(`^/bucket/events/${bundle.workspaceId}/\\d{4}-\\d\\d-\\d\\d/[0-9a-f]+\\.ndjson\\.gz$`);
    for (const [path, { type }] of store.objects)
      expect([path, type]).toEqual([expect.stringMatching(name), 'application/gzip']);
    expect(uuids().length).toBe(sent.length);
    expect(new Set(uuids()).size).toBe(sent.length);
    expect(
      stored()
        .map(({ uid }) => uid)
        .sort(),
    ).toEqual([...sent].sort());
    expect(stored()[0]).toMatchObject({ event_type: 'CAMPAIGN_EVENT', device_attributes: { platform: 'ANDROID' } });
    // Marks of at most 5,000 events are taken at once, and an object has up to 1,000.
    expect(store.objects.size).toBeLessThan(sent.length / 100);
    const stream = await findStream(bundle.deps, { workspaceId: bundle.workspaceId, id });
    expect(stream).toMatchObject({ deliveredEvents: sent.length, pendingBatches: 0, deadBatches: 0 });
  });

  test('replaces the object when another worker repeats a batch of a worker that died after storing it', async () => {
    await addStream();
    await sendCampaign();
    await bundle.note();
    const client = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
    const arrived = Promise.withResolvers<void>();
    const never = new Promise<never>(() => undefined);
    const dying = bundle.makePoster(async (request) => {
      await postOnce(client, request);
      arrived.resolve();
      return never;
    });
    void dying.runOnce(bundle.clock.now());
    await arrived.promise;
    const first = [...store.objects.keys()];
    bundle.clock.advance(61_000);
    await bundle.postAll();
    await client.close();
    expect([...store.objects.keys()]).toEqual(expect.arrayContaining(first));
    expect(new Set(uuids()).size).toBe(sent.length);
    expect(uuids().length).toBe(sent.length);
  });

  test('shows what the store refused like a receiver, and stores it when it is sent again with the right key', async () => {
    const id = await addStream({ secret: 'wrong' });
    await sendCampaign();
    for (const seconds of [0, 30, 60, 120]) {
      bundle.clock.advance(seconds * 1_000);
      await bundle.postAll();
    }
    const of = { workspaceId: bundle.workspaceId, id };
    const dead = await listDeadBatches(bundle.deps, { ...of, limit: 100 });
    expect(dead.length).toBeGreaterThan(0);
    expect(dead[0]).toMatchObject({ lastStatus: 403, lastError: null });
    expect(store.objects.size).toBe(0);
    const { keyId, region, secret } = store.key;
    await changeEventStream(bundle.deps, { ...of, actor, objectStore: { keyId, region, secret } });
    await resendDeadBatches(bundle.deps, { ...of, actor });
    await bundle.postAll();
    expect(uuids().length).toBe(sent.length);
  });

  test('stores nothing below an address with a broken escape, and shows the answer', async () => {
    const id = await addStream({ url: `${store.bucketUrl}/%zz` });
    await sendCampaign();
    await bundle.postAll();
    const batches = await bundle.database`
      select attempts, last_status as status from event_stream_batches where stream_id = ${id}`;
    expect(batches.map(({ attempts, status }) => [attempts > 0, status !== null])).toEqual(
      batches.map(() => [true, true]),
    );
    expect(batches.length).toBeGreaterThan(0);
  });

  test('is not called in a private network', async () => {
    const id = await addStream({ url: 'http://10.0.0.1/bucket' });
    await sendCampaign();
    await bundle.postAll();
    const [batch] = await bundle.database`select last_error as error from event_stream_batches where stream_id = ${id}`;
    expect(batch!.error).toBe('refused');
  });

  test('never shows the secret of its access key, and an HTTP stream does not become one', async () => {
    const id = await addStream();
    const of = { workspaceId: bundle.workspaceId, id };
    await expect(readEventStreamSecret(bundle.deps, { ...of, actor })).rejects.toMatchObject({
      code: 'CAMPAIGN_REQUEST_INVALID',
    });
    const posted = await bundle.addStream();
    const objectStore = { region: 'eu-central-1', keyId: 'AKIA', secret: 'x' };
    const change = { workspaceId: bundle.workspaceId, id: posted, actor, objectStore };
    await expect(changeEventStream(bundle.deps, change)).rejects.toMatchObject({ code: 'CAMPAIGN_REQUEST_INVALID' });
  });

  test('is made and changed by the API, whose log and answers have no secret', async () => {
    const { database, clock, encryption } = { ...bundle.deps, encryption: bundle.deps.encryption };
    const deps = { database, clock, encryption, tokens: makeTokenAuthority({ database, clock, encryption }) };
    const calls: CompletedCall[] = [];
    const log = makeLog({ level: 'silent', pretty: false });
    const server = await buildServer({ log, clock, trustProxy: false, onCall: (call) => void calls.push(call) }, [
      eventStreamRoutes({ ...deps, vendorHeaders: makeVendorHeaders('SVC') }),
    ]);
    const { workspaceId } = bundle;
    const { secret: key } = await createKey({ encryption }, database, {
      workspaceId,
      kind: 'data',
      name: 'd',
      at: clock.now(),
    });
    const call = async (method: 'POST' | 'PATCH' | 'GET', path: string, body?: object) => {
      const authorization = `Basic ${Buffer.from(`${workspaceId}:${key}`).toString('base64')}`;
      const url = `/v1/event-streams${path}`;
      const headers = { authorization, ...(body && { 'content-type': 'application/json' }) };
      return server.inject({ method, url, headers, ...(body && { payload: JSON.stringify(body) }) });
    };
    const url = 'https://bucket.s3.example/raw';
    const object_store = { region: 'eu-central-1', access_key_id: 'AKIA1', secret_access_key: 'very+hidden/1' };
    const made = await call('POST', '', { url, object_store });
    expect(made.statusCode).toBe(201);
    const shown = { region: 'eu-central-1', access_key_id: 'AKIA1' };
    expect(made.json().data).toMatchObject({ event_stream: { url, object_store: shown } });
    expect(made.json().data).not.toHaveProperty('secret');
    const { id } = made.json().data.event_stream;
    const changed = await call('PATCH', `/${id}`, {
      object_store: { ...object_store, secret_access_key: 'very+hidden/2' },
    });
    expect(changed.json().data.event_stream.object_store).toEqual(shown);
    for (const body of [
      { url, object_store: {} },
      { url, object_store: { ...object_store, region: 'Frankfurt!' } },
      { url, object_store: { ...object_store, access_key_id: 'a/b' } },
      { url, object_store: { ...object_store, secret_access_key: '' } },
      { url: `${url}?list-type=2`, object_store },
    ])
      expect((await call('POST', '', body)).statusCode).toBe(400);
    expect((await call('PATCH', `/${id}`, { url: `${url}?list-type=2` })).statusCode).toBe(400);
    expect((await call('PATCH', `/${id}`, { url: `${url}/2` })).statusCode).toBe(200);
    expect(JSON.stringify(calls)).not.toContain('very+hidden');
    expect((await call('GET', `/${id}`)).body).not.toContain('hidden');
    await server.close();
  });
});

test('the name of an object is the same in every attempt, and never the same for two batches', () => {
  const events = [{ at: '2026-03-01T23:59:59.999Z' }, { at: '2026-03-02T00:00:00.000Z' }];
  const batch = { id: 'b1', workspaceId: 'w1', events };
  expect(objectNameOf(batch)).toBe('w1/2026-03-01/b1.ndjson.gz');
  expect(objectNameOf({ ...batch, id: 'b2' })).toBe('w1/2026-03-01/b2.ndjson.gz');
});
