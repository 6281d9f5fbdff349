import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeInstallationBundle, secretOf } from '../installations/installation-bundle.ts';
import type { InstallationBundle, Phone } from '../installations/installation-bundle.ts';

let bundle: InstallationBundle;
let origin: string;
const ends: (() => Promise<unknown> | void)[] = [];
const [phone, tablet, other]: [Phone, Phone, Phone] = [
  { id: 'phone-of-the-stream-test', secret: secretOf('a') },
  { id: 'tablet-of-the-stream-test', secret: secretOf('b') },
  { id: 'other-of-the-stream-test', secret: secretOf('c') },
];

beforeAll(async () => {
  bundle = await makeInstallationBundle();
  for (const one of [phone, tablet, other]) await bundle.register(one);
  for (const one of [phone, tablet]) await bundle.signIn(one, 'ada');
  await bundle.signIn(other, 'eve');
  const wakes = { 'fan-out': () => {}, 'named-runs': () => {}, segments: () => {}, journeys: () => {} };
  const answering = await bundle.doorbell.answer({ url: bundle.url, log: bundle.log, wakes });
  ends.push(() => answering.stop());
  await bundle.installationServer.listen({ port: 0, host: '127.0.0.1' });
  origin = `http://127.0.0.1:${(bundle.installationServer.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const end of ends) await end();
  await bundle?.stop();
});
beforeEach(() => bundle.database`delete from inbox_messages`);
const opened: { close(): void }[] = [];
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.close();
  await isOver();
});

type Event = {
  id: string;
  data: { unread_count: number; complete: boolean; messages: { id: string; title: string; read_at: string | null }[] };
};

/** Opens a stream, as an app does. */
async function open(one: Phone, more: Record<string, string> = {}) {
  const ended = new AbortController();
  opened.push({ close: () => ended.abort() });
  const response = await fetch(`${origin}/v1/app/installations/${one.id}/inbox/events`, {
    headers: { authorization: `Bearer ${bundle.appKey}`, 'carillon-installation-secret': one.secret, ...more },
    signal: ended.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    close: () => ended.abort(),
    /** The next event; undefined once the stream has ended. */
    async next(): Promise<Event | undefined> {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          if (!lines[0]!.startsWith('event: ')) continue;
          return { id: lines[1]!.slice(4), data: JSON.parse(lines[2]!.slice(6)) as Event['data'] };
        }
        const { done, value } = await reader.read();
        if (done) return undefined;
        text += value;
      }
    },
    /** Resolves with the next comment. */
    async comment(): Promise<string> {
      while (!text.includes(': still here\n\n')) text += (await reader.read()).value ?? '';
      text = '';
      return 'still here';
    },
  };
}

let names = 0;
const send = async (title: string) => {
  await bundle.live({
    basic_details: { name: `Campaign ${++names}`, platforms: ['ANDROID'] },
    advanced: { inbox: { send_to: 'INBOX' } },
    campaign_content: {
      content: {
        push: {
          android: {
            template_type: 'BASIC',
            basic_details: { title, message: 'Text', notification_channel: 'news' },
          },
        },
      },
    },
  });
  await bundle.deliver();
};
const mark = (one: Phone, body: object) =>
  bundle.app('PATCH', `/v1/app/installations/${one.id}/inbox`, { secret: one.secret, body });
const isOver = () => expect.poll(() => bundle.streams.count(), { timeout: 10_000 }).toBe(0);

describe('the stream of an inbox', () => {
  test('begins with the number of unread messages, and shows a campaign once its window is stored', async () => {
    const stream = await open(phone);
    expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await stream.next())!.data).toEqual({ unread_count: 0, messages: [], complete: true });
    await send('Hello');
    const { data } = (await stream.next())!;
    expect(data).toMatchObject({ unread_count: 1, messages: [{ title: 'Hello', read_at: null }] });
  });

  test('shows on one device what another one has read', async () => {
    await send('Hello');
    const [one, two] = [await open(phone), await open(tablet)];
    for (const stream of [one, two]) expect((await stream.next())!.data.unread_count).toBe(1);
    await mark(phone, { all: true, read: true });
    for (const stream of [one, two]) {
      const { data } = (await stream.next())!;
      expect(data.unread_count).toBe(0);
      expect(data.messages[0]!.read_at).not.toBeNull();
    }
  });

  test('continues after the last event that the app received', async () => {
    const first = await open(phone);
    await first.next();
    await send('Before');
    const seen = (await first.next())!;
    first.close();
    await isOver();
    bundle.clock.advance(60_000);
    await send('While it was away');
    bundle.clock.advance(60_000);
    const again = await open(phone, { 'last-event-id': seen.id });
    const titles = (await again.next())!.data.messages.map(({ title }) => title);
    expect(titles).toContain('While it was away');
    again.close();
    const fresh = await open(phone);
    expect((await fresh.next())!.data).toMatchObject({ unread_count: 2, messages: [] });
  });

  test('ends when its user is signed out, before anything more is sent', async () => {
    const stream = await open(phone);
    await stream.next();
    await bundle.signOut(phone);
    expect(await stream.next()).toBeUndefined();
    expect((await open(phone)).status).toBe(409);
    await bundle.signIn(phone, 'ada');
  });

  test('sends a comment while nothing happens, and does not open for another secret', async () => {
    bundle.streaming.heartbeatMilliseconds = 20;
    const stream = await open(other);
    bundle.streaming.heartbeatMilliseconds = 600_000;
    expect(await stream.comment()).toBe('still here');
    expect((await open({ ...other, secret: phone.secret })).status).toBe(401);
  });

  test('is limited for each installation and for the node', async () => {
    const streams = [await open(phone), await open(phone)];
    for (const stream of streams) await stream.next();
    expect((await open(phone)).status).toBe(429);
    const third = await open(tablet);
    await third.next();
    expect((await open(other)).status).toBe(503);
    for (const stream of [...streams, third]) stream.close();
    await isOver();
    const again = await open(other);
    expect(again.status).toBe(200);
  });
});
