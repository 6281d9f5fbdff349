import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';
import { makeClock } from '../../src/clock.ts';
import { objectNameOf } from '../../src/domain/events/event-streams.ts';
import type { StreamedEvent } from '../../src/domain/events/event-streams.ts';
import { putObjectBatch } from '../../src/engine/outbox/object-batches.ts';
import { makeLog } from '../../src/log.ts';
import { makeOutgoingClient, postOnce } from '../../src/outgoing/client.ts';
import { makeS3Store } from '../../src/outgoing/s3-store.ts';
import { fullTest, isFull } from '../full-test.ts';

type S3rver = { run(): Promise<{ port: number }>; close(): Promise<void> };
type NewS3rver = new (options: object) => S3rver;

const folder = await mkdtemp(join(tmpdir(), 'carillon-s3-'));
const client = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
// The store compares times with the clock of this machine.
const now = () => new Date(Date.now());
const deps = {
  clock: { ...makeClock(), now, realNow: now },
  log: makeLog({ level: 'silent', pretty: false }),
  post: (request: Parameters<Parameters<typeof putObjectBatch>[0]['post']>[0]) => postOnce(client, request),
};

let store: S3rver | undefined;
let url: string;
beforeAll(async () => {
  if (!isFull) return;
  const packages = await installTools(join(import.meta.dirname, 'tools'));
  const Store = createRequire(join(packages, 'of-tools'))('s3rver') as NewS3rver;
  const options = { address: '127.0.0.1', port: 0, silent: true, directory: folder };
  store = new Store({ ...options, configureBuckets: [{ name: 'events', configs: [] }] });
  url = `http://127.0.0.1:${(await store.run()).port}/events/of-carillon`;
}, 120_000);
afterAll(async () => {
  await store?.close();
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

// It checks the form of a signature of version 4, not its value: the simulator of object-store.test.ts does that.
describe('s3rver, a store of another author', () => {
  const events = [{ at: '2026-03-01T12:00:00.000Z' }] as StreamedEvent[];
  const key = { keyId: 'S3RVER', secret: 'S3RVER', region: 'us-east-1' };
  const batch = { id: 'b1', workspaceId: 'W1', events, objectStore: key };
  const put = (lines: string, bucket = url) =>
    putObjectBatch(deps, { ...batch, url: bucket, secret: key.secret, lines });

  fullTest('stores a batch as one object, which a repeat replaces', async () => {
    expect((await put('{"a":1}\n')).answer).toEqual({ kind: 'answered', status: 200 });
    expect((await put('{"a":2}\n{"a":3}\n')).answer).toEqual({ kind: 'answered', status: 200 });
    const read = await makeS3Store({ client, bucketUrl: url, key, now }).get(objectNameOf(batch));
    expect(gunzipSync(read!).toString('utf8')).toBe('{"a":2}\n{"a":3}\n');
  });

  fullTest('refuses a bucket that does not exist', async () => {
    const missing = url.replace('/events/', '/missing/');
    expect((await put('{}\n', missing)).answer).toEqual({ kind: 'answered', status: 404 });
  });
});
