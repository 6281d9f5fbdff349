import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import { forAllCounters } from '../../../../src/domain/delivery/providers.ts';
import { startSimulators } from '../../../../src/providers/simulator/start-simulators.ts';
import type { DeliveredMessage, Simulators } from '../../../../src/providers/simulator/start-simulators.ts';
import { makeLog } from '../../../../src/log.ts';

const secretDigest = createHash('sha256').update('secret').digest('hex');
const account = { workspaceId: 'w1', hms: { clientId: '1', secretDigest, owner: { kind: 'app' as const, id: 'a' } } };
const start = new Date('2026-11-21T12:00:00Z');

let simulators: Simulators;
let clock: ReturnType<typeof makeManualClock>;
let delivered: DeliveredMessage[];
/** What storing a batch waits for. */
let storing: Promise<void>;
const sessions: ClientHttp2Session[] = [];

beforeEach(async () => {
  clock = makeManualClock(start);
  delivered = [];
  storing = Promise.resolve();
  const starting = startSimulators({
    ...{ clock, log: makeLog({ level: 'silent', pretty: false }), accounts: [account], secret: Buffer.alloc(32, 1) },
    async onDelivered(messages) {
      await storing;
      delivered.push(...messages);
    },
    runIn: 'this thread',
  });
  simulators = await inTime(starting);
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await inTime(simulators.stop());
});

/** Simulators that never answer must not hold up what tries many of them. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), 3_000);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

function openSession(origin = simulators.endpoints.hms.messagesOrigin): ClientHttp2Session {
  const session = connect(origin);
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

type Asked = { path?: string; method?: string; authorization?: string; body?: string; session?: ClientHttp2Session };

async function ask({ path = '/v1/a/messages:send', method = 'POST', authorization = '', body = '', session }: Asked) {
  const stream = (session ?? openSession()).request({ ':path': path, ':method': method, authorization });
  let headers: Record<string, unknown> = {};
  let text = '';
  stream.on('response', (received) => (headers = { ...received }));
  stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  stream.on('error', () => {});
  stream.end(body);
  await inTime(new Promise((resolve) => stream.once('close', resolve)));
  return { status: headers[':status'], headers, text, code: stream.rstCode };
}

const tokenForm = 'grant_type=client_credentials&client_id=1&client_secret=secret';
async function authorize(): Promise<string> {
  const { text } = await ask({ path: '/oauth2/v3/token', body: tokenForm });
  return `Bearer ${(JSON.parse(text) as { access_token: string }).access_token}`;
}
const messageTo = (token: string): string => JSON.stringify({ message: { token: [token], data: '{}' } });
const send = async (token = 't1', more: Asked = {}) =>
  ask({ authorization: await authorize(), body: messageTo(token), ...more });

test('a message is counted, answered, and in the inbox once it is settled; a token is none', async () => {
  const answer = await send();
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
  expect(await simulators.counters()).toEqual({
    ...forAllCounters({ received: 0, accepted: 0, refused: 0 }),
    HMS: { received: 1, accepted: 1, refused: 0 },
  });
  await inTime(simulators.settle());
  expect(delivered).toMatchObject([{ workspaceId: 'w1', deviceToken: 't1' }]);
  expect(await simulators.refusals()).toEqual([]);
});

test('the next batch waits until the one before is stored, and settling for all', async () => {
  const stored = Promise.withResolvers<void>();
  storing = stored.promise;
  await send('t1');
  let isSettled = false;
  const settled = simulators.settle().then(() => (isSettled = true));
  await send('t2');
  expect([isSettled, delivered]).toEqual([false, []]);
  stored.resolve();
  await inTime(settled);
  await inTime(simulators.settle());
  expect(delivered.map(({ deviceToken }) => deviceToken)).toEqual(['t1', 't2']);
});

test('a batch that cannot be stored does not hold up the next', async () => {
  storing = Promise.reject(new Error('away'));
  storing.catch(() => {});
  await send('t1');
  await inTime(simulators.settle());
  storing = Promise.resolve();
  await send('t2');
  await inTime(simulators.settle());
  expect(delivered.map(({ deviceToken }) => deviceToken)).toEqual(['t2']);
});

test('phones show the time of the service, moved and stopped as the sandbox says; a provider goes by real time', async () => {
  const receivedAt = async (): Promise<number> => {
    await send();
    await inTime(simulators.settle());
    return delivered.at(-1)!.receivedAt.getTime() - start.getTime();
  };
  const hour = 3_600_000;
  expect(Math.abs(await receivedAt())).toBeLessThan(10_000);
  clock.setOffset(hour);
  simulators.syncClock();
  expect(Math.abs((await receivedAt()) - hour)).toBeLessThan(10_000);
  clock.standAt(new Date(start.getTime() - hour));
  simulators.syncClock();
  expect(await receivedAt()).toBe(0);
  const authorization = await authorize();
  clock.advance(2 * hour);
  simulators.syncClock();
  expect((await ask({ authorization, body: messageTo('t1') })).text).toContain('80200003');
});

test('what was refused is told, the newest first, until it is reset', async () => {
  await ask({ body: messageTo('t1'), authorization: 'Bearer secret-token' });
  await send('magic-gone');
  const silent = openSession().request({
    ':path': '/v1/a/messages:send',
    ':method': 'POST',
    authorization: await authorize(),
  });
  silent.on('error', () => {});
  silent.end(messageTo('magic-silent'));
  await expect.poll(async () => (await simulators.refusals()).length).toBe(3);
  silent.close();
  const at = expect.stringMatching(/^2026-11-21T12:00:0/) as unknown;
  const shared = { at, provider: 'hms', path: '/v1/a/messages:send' };
  expect(await simulators.refusals()).toMatchObject([
    { ...shared, number: 3, device: 'magic-silent', status: null, reason: 'no answer', rule: 'magic address' },
    {
      ...shared,
      number: 2,
      device: 'magic-gone',
      status: 200,
      reason: '80300007: All tokens are invalid.',
      rule: 'magic address',
    },
    { ...shared, number: 1, device: 't1', status: 401, rule: 'credentials', headers: { authorization: 'Bearer …' } },
  ]);
  expect((await simulators.counters()).HMS).toEqual({ received: 3, accepted: 0, refused: 3 });
  await simulators.reset();
  expect([await simulators.refusals(), (await simulators.counters()).HMS]).toEqual([
    [],
    { received: 0, accepted: 0, refused: 0 },
  ]);
});

test('a request that no rule foresaw is refused, and the next is served', async () => {
  const session = openSession(simulators.endpoints.webpush.connectTo);
  const { setAccounts } = simulators;
  await setAccounts([{ workspaceId: 'w1', webpush: { publicKey: 'x' } }]);
  const answer = await ask({ session, path: '/push/a', authorization: 'vapid t=a.b.c, k=x' });
  expect([answer.status, answer.text]).toEqual([403, 'VAPID is not valid']);
  await setAccounts([null as unknown as typeof account]);
  const fault = await ask({ session, path: '/push/a', authorization: 'vapid t=a.b.c, k=x' });
  expect([fault.status, fault.text]).toEqual([400, expect.stringMatching(/^The request cannot be read: /)]);
  await setAccounts([account]);
  expect((await send()).status).toBe(200);
});

describe('a fault', () => {
  test('of a status comes with its body and headers, as often as it is to, in place of the provider', async () => {
    await simulators.setFaults({ hms: { status: 503, body: 'busy', headers: { 'retry-after': '9' }, count: 1 } });
    const struck = await ask({ body: messageTo('t1') });
    expect([struck.status, struck.text, struck.headers['retry-after']]).toEqual([503, 'busy', '9']);
    expect(await simulators.refusals()).toMatchObject([{ status: 503, reason: 'busy', rule: 'fault', device: 't1' }]);
    expect((await send()).status).toBe(200);
  });

  test('without a body has none, and one of another provider strikes nobody here', async () => {
    await simulators.setFaults({ hms: { status: 500 }, fcm: { status: 501 } });
    const struck = await ask({ body: messageTo('t1') });
    expect([struck.status, struck.text]).toEqual([500, '']);
    await simulators.setFaults({ fcm: { status: 501 } });
    expect((await send()).status).toBe(200);
  });

  test('of one device strikes that one, by the beginning of its address', async () => {
    await simulators.setFaults({ hms: { device: 't2', status: 429 } });
    expect([(await send('t1')).status, (await send('t22')).status]).toEqual([200, 429]);
  });

  test('that cuts the stream answers nothing', async () => {
    const authorization = await authorize();
    await simulators.setFaults({ hms: { reset: true } });
    const cut = await ask({ authorization, body: messageTo('t1') });
    expect([cut.status, cut.code]).toEqual([undefined, 2]);
    expect(await simulators.refusals()).toMatchObject([{ status: null, reason: 'the stream was cut', rule: 'fault' }]);
    expect((await simulators.counters()).HMS).toEqual({ received: 1, accepted: 0, refused: 1 });
  });

  test('that waits answers later', async () => {
    const authorization = await authorize();
    await simulators.setFaults({ hms: { delayMilliseconds: 60 } });
    const askedAt = performance.now();
    expect((await ask({ authorization, body: messageTo('t1') })).status).toBe(200);
    expect(performance.now() - askedAt).toBeGreaterThan(55);
  });

  test('of few streams is in the settings of connections, those that are open too, and ends', async () => {
    const open = openSession();
    await expect.poll(() => open.remoteSettings.maxConcurrentStreams).toBe(1_000);
    await simulators.setFaults({ hms: { maxStreams: 3 } });
    await expect.poll(() => open.remoteSettings.maxConcurrentStreams).toBe(3);
    const later = openSession();
    await expect.poll(() => later.remoteSettings.maxConcurrentStreams).toBe(3);
    await simulators.reset();
    await expect.poll(() => open.remoteSettings.maxConcurrentStreams).toBe(1_000);
  });

  test('of a goodbye after so many streams serves these and refuses what comes behind (RFC 9113 §6.8)', async () => {
    const authorization = await authorize();
    await simulators.setFaults({ hms: { goawayEvery: 2 } });
    const session = openSession();
    const goodbye = once(session, 'goaway');
    const answers = await Promise.all([1, 2].map(async () => ask({ session, authorization, body: messageTo('t1') })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await goodbye).slice(0, 2)).toEqual([0, 3]);
  });
});

test('what is asked of faults that there are not is refused', async () => {
  await expect(simulators.setFaults({ hms: { colour: 'red' } })).rejects.toThrow();
});
