import { describe, expect, test } from 'vitest';
import { flags, frame, settings, types, uint32, windowUpdate } from './hostile-http2-server.ts';
import { dataFrame, goawayOf, openConnection, statusFrame } from './open-connection.ts';
import type { SentFrame } from './open-connection.ts';

const unsent = (detail: string) => ({ kind: 'failure', certainty: 'unsent', reason: 'refused', detail });
const lost = (detail: string) => ({ kind: 'failure', certainty: 'unknown', reason: 'reset', detail });
const ok = { kind: 'answer', status: 200, headers: {}, body: '' };

/** The DATA frames: stream, bytes, and whether it is the last. */
const bodiesOf = (frames: SentFrame[]): [number, number, boolean][] =>
  frames
    .filter(({ type }) => type === types.data)
    .map(({ stream, payload, flags: given }) => [stream, payload.length, given === flags.endStream]);
const updatesOf = (frames: SentFrame[]): [number, number][] =>
  frames.filter(({ type }) => type === types.window).map(({ stream, payload }) => [stream, payload.readUInt32BE(0)]);

describe('a body', () => {
  test('is sent in frames that the peer takes: 16,384 bytes, or as many as its SETTINGS say (RFC 9113 §4.2)', async () => {
    const opened = openConnection();
    opened.request({ bodyBytes: 16_384 });
    opened.request({ bodyBytes: 16_385 });
    opened.receive(settings({ maxFrameSize: 20_000 }));
    opened.request({ bodyBytes: 20_000 });
    expect(bodiesOf(await opened.sent())).toEqual([
      [1, 16_384, true],
      [3, 16_384, false],
      [3, 1, true],
      [5, 20_000, true],
    ]);
  });

  test('waits for the window of its stream (RFC 9113 §6.9)', async () => {
    const opened = openConnection({ greeting: settings({ initialWindowSize: 10 }) });
    opened.request({ bodyBytes: 25 });
    opened.request({ bodyBytes: 10 });
    expect(bodiesOf(await opened.sent())).toEqual([
      [1, 10, false],
      [3, 10, true],
    ]);
    opened.receive(windowUpdate(1, 10));
    expect(bodiesOf(await opened.sent())).toEqual([[1, 10, false]]);
    opened.receive(windowUpdate(0, 1_000));
    expect(bodiesOf(await opened.sent())).toEqual([]);
    opened.receive(windowUpdate(1, 10));
    expect(bodiesOf(await opened.sent())).toEqual([[1, 5, true]]);
    expect(opened.connection.sendWindowBytes()).toBe(65_535 + 1_000 - 35);
  });

  test('of no bytes needs no window', async () => {
    const opened = openConnection({ greeting: settings({ initialWindowSize: 0 }) });
    opened.request({ bodyBytes: 0 });
    opened.request({ bodyBytes: 1 });
    expect(bodiesOf(await opened.sent())).toEqual([[1, 0, true]]);
  });

  test('waits for the window of the connection, those that wait in their order', async () => {
    const opened = openConnection({ greeting: settings({ initialWindowSize: 1_000_000 }) });
    opened.request({ bodyBytes: 65_000 });
    for (const _ of [1, 2]) opened.request({ bodyBytes: 1_000 });
    const first = bodiesOf(await opened.sent());
    expect(first.at(-1)).toEqual([3, 535, false]);
    expect(opened.connection.sendWindowBytes()).toBe(0);
    opened.receive(windowUpdate(0, 400));
    expect(bodiesOf(await opened.sent())).toEqual([[3, 400, false]]);
    opened.receive(windowUpdate(3, 400));
    expect(bodiesOf(await opened.sent())).toEqual([]);
    opened.receive(windowUpdate(0, 5_000));
    expect(bodiesOf(await opened.sent())).toEqual([
      [3, 65, true],
      [5, 1_000, true],
    ]);
    expect(opened.connection.sendWindowBytes()).toBe(3_935);
  });

  test('follows what SETTINGS make of the windows of open streams, below zero too (RFC 9113 §6.9.2)', async () => {
    const opened = openConnection({ greeting: settings({ initialWindowSize: 100 }) });
    for (const _ of [1, 2]) opened.request({ bodyBytes: 150 });
    expect(bodiesOf(await opened.sent())).toEqual([
      [1, 100, false],
      [3, 100, false],
    ]);
    opened.receive(settings({ initialWindowSize: 40 }));
    opened.receive(windowUpdate(1, 60));
    expect(bodiesOf(await opened.sent())).toEqual([]);
    opened.receive(windowUpdate(1, 10));
    expect(bodiesOf(await opened.sent())).toEqual([[1, 10, false]]);
    opened.receive(settings({ initialWindowSize: 120 }));
    expect(bodiesOf(await opened.sent())).toEqual([
      [1, 40, true],
      [3, 20, false],
    ]);
  });

  test('of a stream that ended meanwhile is not sent', async () => {
    const opened = openConnection({ greeting: settings({ initialWindowSize: 0 }) });
    for (const _ of [1, 2]) opened.request();
    opened.receive(statusFrame(1, 413, flags.endStream));
    await opened.sent();
    opened.receive(settings({ initialWindowSize: 100 }));
    expect(bodiesOf(await opened.sent())).toEqual([[3, 2, true]]);
    expect(opened.told).toEqual([[1, { kind: 'answer', status: 413, headers: {}, body: '' }]]);
  });
});

describe('the windows of the peer', () => {
  test('of a stream is given back once over 64 KiB of it are used, padding counted', async () => {
    const opened = openConnection();
    opened.request();
    await opened.sent();
    opened.receive(statusFrame(1, 200));
    for (let piece = 0; piece < 4; piece += 1) opened.receive(dataFrame(1, Buffer.alloc(16_384)));
    expect(updatesOf(await opened.sent())).toEqual([]);
    opened.receive(dataFrame(1, ''), dataFrame(1, '\0', flags.padded));
    expect(updatesOf(await opened.sent())).toEqual([[1, 65_537]]);
    opened.receive(dataFrame(1, '12'));
    expect(updatesOf(await opened.sent())).toEqual([]);
  });

  test('of the connection once over 2 MiB of it are used, by streams that are closed too', async () => {
    const opened = openConnection();
    opened.request({ reads: 'failures' });
    opened.receive(statusFrame(1, 200, flags.endStream));
    await opened.sent();
    for (let piece = 0; piece < 128; piece += 1) opened.receive(dataFrame(1, Buffer.alloc(16_384)));
    expect(updatesOf(await opened.sent())).toEqual([]);
    opened.receive(dataFrame(1, 'x'));
    expect(updatesOf(await opened.sent())).toEqual([[0, 2 * 1024 * 1024 + 1]]);
    opened.receive(dataFrame(1, 'x'));
    expect(updatesOf(await opened.sent())).toEqual([]);
  });
});

describe('PING', () => {
  test('of the peer is given back as it came (RFC 9113 §6.7)', async () => {
    const opened = openConnection();
    await opened.sent();
    const payload = Buffer.from('12345678');
    opened.receive(frame(types.ping, { payload }));
    expect(await opened.sent()).toEqual([{ type: types.ping, flags: flags.ack, stream: 0, payload }]);
  });

  test('of its own leaves it in doubt until the answer', async () => {
    const opened = openConnection();
    await opened.sent();
    expect(opened.connection.isSilent()).toBe(false);
    opened.connection.ping();
    expect(await opened.sent()).toEqual([{ type: types.ping, flags: 0, stream: 0, payload: Buffer.alloc(8) }]);
    opened.receive(frame(types.ping, { payload: Buffer.alloc(8) }));
    expect(opened.connection.isSilent()).toBe(true);
    await opened.sent();
    opened.receive(frame(types.ping, { flags: flags.ack, payload: Buffer.alloc(8) }));
    expect(opened.connection.isSilent()).toBe(false);
    expect(await opened.sent()).toEqual([]);
  });
});

describe('GOAWAY', () => {
  test('of the peer: what is above its number was not done, what is below goes on (RFC 9113 §6.8)', () => {
    const opened = openConnection();
    for (const _ of [1, 2, 3]) opened.request();
    const { space } = opened.events;
    // The first bit is reserved.
    opened.receive(
      frame(types.goaway, { payload: Buffer.concat([uint32(2 ** 31 + 3), uint32(0), Buffer.from('bye')]) }),
    );
    expect(opened.told).toEqual([[3, unsent('the peer goes away')]]);
    expect([opened.connection.isLeaving(), opened.connection.openStreams(), opened.events.space]).toEqual([
      true,
      2,
      space + 1,
    ]);
    opened.receive(statusFrame(1, 200, flags.endStream), statusFrame(3, 200, flags.endStream));
    expect(opened.told.slice(1)).toEqual([
      [1, ok],
      [2, ok],
    ]);
  });

  test('of its own is sent at once', async () => {
    const opened = openConnection();
    await opened.sent();
    opened.connection.leave();
    expect(goawayOf(await opened.sent())).toBe(0);
    expect(opened.events.broken).toEqual([]);
  });
});

describe('a request that takes too long', () => {
  test('is cancelled when its deadline has come, the oldest first, and others are not', async () => {
    const opened = openConnection();
    for (const deadline of [10, 20, 30]) opened.request({ deadline });
    await opened.sent();
    const { space } = opened.events;
    opened.connection.expire(9);
    expect([opened.told, opened.events.space]).toEqual([[], space]);
    opened.connection.expire(20);
    const timeout = { kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: 'no answer in time' };
    expect(opened.told).toEqual([
      [1, timeout],
      [2, timeout],
    ]);
    expect(opened.events).toMatchObject({ timedOut: 2, space: space + 1 });
    expect(await opened.sent()).toEqual(
      [1, 3].map((stream) => ({ type: types.reset, flags: 0, stream, payload: uint32(8) })),
    );
    opened.receive(statusFrame(5, 200, flags.endStream));
    opened.connection.expire(1_000);
    expect(opened.events.timedOut).toBe(2);
    opened.request({ deadline: 40 });
    opened.connection.expire(40);
    expect(opened.told.at(-1)).toEqual([4, timeout]);
  });
});

describe('the end of the socket', () => {
  test('what left may have been done, what did not leave was not, and a status that decides stands', async () => {
    const opened = openConnection();
    opened.request();
    opened.request();
    await opened.sent();
    opened.receive(statusFrame(3, 200));
    opened.request();
    const { space } = opened.events;
    opened.connection.end('it broke');
    expect(opened.told).toEqual([
      [1, lost('it broke')],
      [2, ok],
      [3, unsent('it broke')],
    ]);
    expect([opened.connection.openStreams(), opened.connection.isLeaving()]).toEqual([0, true]);
    expect(opened.events.space).toBe(space + 1);
  });
});

test('what came together is told of once', () => {
  const opened = openConnection();
  for (const _ of [1, 2, 3]) opened.request();
  const { space } = opened.events;
  opened.receive(...[1, 3, 5].map((stream) => statusFrame(stream, 200, flags.endStream)));
  expect(opened.events.space).toBe(space + 1);
  opened.receive(frame(types.ping, { payload: Buffer.alloc(8) }));
  expect(opened.events.space).toBe(space + 1);
  opened.receive(windowUpdate(0, 1));
  expect(opened.events.space).toBe(space + 2);
});

test('frames are understood wherever the pieces that arrive end', () => {
  const bytes = Buffer.concat([
    settings({ maxConcurrentStreams: 7 }),
    frame(types.ping, { payload: Buffer.alloc(8) }),
    statusFrame(1, 404),
    dataFrame(1, 'x'.repeat(300)),
    dataFrame(1, 'y', flags.endStream),
  ]);
  for (let size = 1; size < bytes.length; size += 1) {
    const opened = openConnection();
    opened.request();
    for (let place = 0; place < bytes.length; place += size) opened.receive(bytes.subarray(place, place + size));
    expect(opened.told).toEqual([[1, { kind: 'answer', status: 404, headers: {}, body: `${'x'.repeat(300)}y` }]]);
    expect(opened.connection.streamLimit()).toBe(7);
  }
});
