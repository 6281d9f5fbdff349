import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { decryptWebPush } from '../../../src/providers/webpush/simulated-browser.ts';
import { maxPlainBytes } from '../../../src/providers/webpush/encrypt.ts';
import { makeWebPushEncryption } from '../../../src/providers/webpush/encryption-pool.ts';
import type { WebPushEncryptionOptions } from '../../../src/providers/webpush/encryption-pool.ts';
import { makeLog } from '../../../src/log.ts';

const log = makeLog({ level: 'silent', pretty: false });
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** With the threads that it starts. */
function startEncryption(options: Omit<WebPushEncryptionOptions, 'log'>) {
  const threads: Worker[] = [];
  const note = (worker: Worker): void => void threads.push(worker);
  process.on('worker', note);
  const encryption = makeWebPushEncryption({ log, ...options });
  ends.push(async () => {
    process.off('worker', note);
    await encryption.close();
  });
  return { encryption, threads };
}

const makeBrowser = () => {
  const ecdh = createECDH('prime256v1');
  const p256dh = ecdh.generateKeys();
  const auth = randomBytes(16);
  return { ecdh, auth, keys: { p256dh, auth } };
};
const browsers = Array.from({ length: 10 }, makeBrowser);
const messages = Array.from({ length: 120 }, (_, number) => ({
  browser: browsers[number % browsers.length]!,
  plain: Buffer.from(`message ${number};`.padEnd(number % 30 === 0 ? maxPlainBytes : number, '.')),
}));

/** Each message is encrypted for its own browser, which reads it. */
async function expectAllRead({ encryption }: Pick<ReturnType<typeof startEncryption>, 'encryption'>): Promise<void> {
  const encrypted = await Promise.all(
    messages.map(({ plain, browser }) => encryption.encrypt({ plain, keys: browser.keys })),
  );
  for (const [number, { plain, browser }] of messages.entries())
    expect(decryptWebPush(encrypted[number]!, browser).equals(plain), `message ${number}`).toBe(true);
  const salts = new Set(encrypted.map((bytes) => bytes.toString('hex', 0, 16)));
  const senders = new Set(encrypted.map((bytes) => bytes.toString('hex', 21, 86)));
  expect([salts.size, senders.size]).toEqual([messages.length, messages.length]);
}

test.each([0, 1, 2])(
  'every browser reads its own messages, with %d threads, each under a key of its own',
  async (count) => {
    const started = startEncryption({ threads: count });
    await expectAllRead(started);
    expect(started.threads).toHaveLength(count);
  },
);

test('a lone message starts no thread', async () => {
  const { encryption, threads } = startEncryption({ threads: 2 });
  const { keys } = browsers[0]!;
  expect(decryptWebPush(await encryption.encrypt({ plain: Buffer.from('x'), keys }), browsers[0]!).toString()).toBe(
    'x',
  );
  expect(threads).toEqual([]);
});

test('a key that is no point of the curve is refused alone, and ends no thread', async () => {
  const { encryption, threads } = startEncryption({ threads: 1 });
  const bad = { p256dh: Buffer.alloc(65, 4), auth: Buffer.alloc(16) };
  const settled = await Promise.allSettled(
    messages.map(({ plain, browser }, number) =>
      encryption.encrypt({ plain, keys: number % 40 === 7 ? bad : browser.keys }),
    ),
  );
  const refused = settled.flatMap(({ status }, number) => (status === 'rejected' ? [number] : []));
  expect(refused).toEqual(messages.flatMap((_, number) => (number % 40 === 7 ? [number] : [])));
  expect(threads.map(({ threadId }) => threadId > 0)).toEqual([true]);
});

test.each([
  ['throws', 'throw new Error("broken")'],
  ['ends', 'process.exit(1)'],
  ['throws at its first batch', 'require("worker_threads").parentPort.on("message", () => { throw new Error("no") })'],
])('a thread that %s costs no message, and no other is started at once', async (_what, code) => {
  const started = startEncryption({ threads: 2, script: new URL(`data:text/javascript,${encodeURIComponent(code)}`) });
  await expectAllRead(started);
  const count = started.threads.length;
  await expectAllRead(started);
  expect(started.threads).toHaveLength(count);
});

test('closing ends the threads under their work, which is done all the same', async () => {
  const started = startEncryption({ threads: 2 });
  const read = expectAllRead(started);
  // The threads start at the end of this turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(started.threads).toHaveLength(2);
  await started.encryption.close();
  expect(started.threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  await read;
  await expectAllRead(started);
  expect(started.threads).toHaveLength(2);
});

test('a thread that does nothing is ended, and its messages are encrypted here', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const started = startEncryption({ threads: 1, script: new URL('data:text/javascript,setInterval(() => {}, 1e6)') });
    const read = expectAllRead(started);
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(60_000);
    await read;
    expect(started.threads.map(({ threadId }) => threadId)).toEqual([-1]);
  } finally {
    vi.useRealTimers();
  }
});

test('threads without work are ended, and started again when there is some', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const started = startEncryption({ threads: 1 });
    await expectAllRead(started);
    const ended = once(started.threads[0]!, 'exit');
    vi.advanceTimersByTime(120_000);
    await ended;
    await expectAllRead(started);
    expect(started.threads).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
