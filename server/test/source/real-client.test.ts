import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';
import { makeDataBundle } from '../data/data-bundle.ts';
import type { DataBundle } from '../data/data-bundle.ts';
import { fullTest, isFull } from '../full-test.ts';

type Settings = { writeKey: string; host: string; path: string } & Record<string, unknown>;
type Analytics = Record<'identify' | 'track' | 'page' | 'group' | 'alias', (message: object) => void> & {
  on(event: 'error', listener: (error: unknown) => void): void;
  closeAndFlush(): Promise<void>;
};

/** What a proxy in front of the node does to its first requests, in order: the rest is passed on. */
type Fault = 'cut after the answer' | 'cut before the request' | { status: number; headers: Record<string, string> };

let bundle: DataBundle;
let Client: new (settings: Settings) => Analytics;
let faults: Fault[] = [];
let seen: { status: number; bytes: number; retry: string | undefined }[] = [];
let host: string;

const proxy = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  const fault = faults.shift();
  if (fault === 'cut before the request') return void request.socket.destroy();
  const refused = typeof fault === 'object' ? fault : undefined;
  const answer = refused
    ? { statusCode: refused.status, headers: refused.headers, payload: '{}' }
    : await bundle.server.inject({ method: 'POST', url: request.url!, headers: request.headers, payload: body });
  seen.push({ status: answer.statusCode, bytes: body.length, retry: request.headers['x-retry-count'] as string });
  // The node has committed, and the client does not learn it.
  if (fault === 'cut after the answer') return void request.socket.destroy();
  response.writeHead(answer.statusCode, { ...(answer.headers as Record<string, string>) }).end(answer.payload);
});

beforeAll(async () => {
  if (!isFull) return;
  const packages = await installTools(join(import.meta.dirname, 'tools'));
  ({ Analytics: Client } = createRequire(join(packages, 'of-tools'))('@segment/analytics-node') as {
    Analytics: typeof Client;
  });
  bundle = await makeDataBundle();
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  host = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}, 120_000);
afterAll(async () => {
  proxy.close();
  await bundle?.end();
});

async function sendWith(given: Fault[], say: (analytics: Analytics) => void, settings: object = {}): Promise<string[]> {
  [faults, seen] = [given, []];
  const errors: string[] = [];
  const analytics = new Client({ writeKey: bundle.key, host, path: '/segment/v1/batch', ...settings });
  analytics.on('error', (error) => errors.push(String((error as { reason?: unknown }).reason)));
  say(analytics);
  await analytics.closeAndFlush();
  return errors;
}

const countEvents = async (customerId: string) => {
  const rows = await bundle.database`
    select events.name from events join users on users.bucket = events.bucket and users.id = events.user_id
    where users.customer_id = ${customerId} order by events.name`;
  return rows.map(({ name }) => name as string);
};

const sayEverything = (userId: string) => (analytics: Analytics) => {
  analytics.track({ anonymousId: `visit-${userId}`, event: 'Looked' });
  analytics.identify({
    userId,
    anonymousId: `visit-${userId}`,
    traits: { email: `${userId}@example.com`, firstName: 'Ada' },
  });
  analytics.track({ userId, event: 'Ordered', properties: { price: 3 } });
  analytics.page({ userId, name: 'Home' });
  analytics.group({ userId, groupId: 'acme', traits: { name: 'Acme' } });
  analytics.alias({ userId, previousId: `old-${userId}` });
};
const attributesOf = (userId: string) => ({
  ...{ u_em: `${userId}@example.com`, u_fn: 'Ada', group_id: 'acme', group_name: 'Acme' },
});

describe('an unmodified @segment/analytics-node', () => {
  fullTest('sends each kind of message, and each arrives once', async () => {
    await bundle.addUser('old-all', { plan: 'pro' });
    expect(await sendWith([], sayEverything('all'))).toEqual([]);
    expect(await bundle.attributes('all')).toEqual({ plan: 'pro', ...attributesOf('all') });
    expect(await countEvents('all')).toEqual(['Looked', 'Ordered', 'Page Viewed']);
    expect(seen.map(({ status }) => status)).toEqual([200]);
    expect(bundle.calls.at(-1)!.facts.errorDetail).toBeUndefined();
  });

  fullTest('repeats a batch whose answer was lost, or that never arrived, and each message counts once', async () => {
    const given: Fault[] = ['cut before the request', 'cut after the answer', 'cut after the answer'];
    expect(await sendWith(given, sayEverything('cut'))).toEqual([]);
    expect(seen).toMatchObject([{ retry: '1' }, { retry: '2' }, { status: 200, retry: '3' }]);
    expect(await bundle.attributes('cut')).toEqual(attributesOf('cut'));
    expect(await countEvents('cut')).toEqual(['Looked', 'Ordered', 'Page Viewed']);
  });

  fullTest('waits as long as a refusal says, and then sends the batch', async () => {
    const busy = { status: 429, headers: { 'retry-after': '1' } };
    const begun = performance.now();
    expect(await sendWith([busy, { status: 503, headers: {} }], sayEverything('busy'))).toEqual([]);
    expect(performance.now() - begun).toBeGreaterThan(1_000);
    expect(seen.map(({ status }) => status)).toEqual([429, 503, 200]);
    expect(await countEvents('busy')).toEqual(['Looked', 'Ordered', 'Page Viewed']);
  });

  fullTest('sends batches of the largest size', async () => {
    const messages = 90;
    const properties = { text: 'x'.repeat(10_500) };
    const say = (analytics: Analytics) => {
      for (let index = 0; index < messages; index += 1) analytics.track({ userId: 'large', event: 'Seen', properties });
    };
    // Version 3.1.0 counts only escaped characters as bytes, so the number of messages limits a batch.
    expect(await sendWith([], say, { flushAt: messages / 2 })).toEqual([]);
    expect(Math.max(...seen.map(({ bytes }) => bytes))).toBeGreaterThan(450 * 1024);
    expect((await countEvents('large')).length).toBe(messages);
  });

  fullTest('reports a wrong key, which the node refuses', async () => {
    const errors = await sendWith([], (analytics) => analytics.track({ userId: 'u', event: 'x' }), {
      writeKey: 'wrong',
    });
    expect(errors).toEqual([expect.stringContaining('401')]);
    expect(seen.map(({ status }) => status)).toEqual([401]);
  });
});
