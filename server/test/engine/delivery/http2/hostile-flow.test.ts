import { describe, expect, test } from 'vitest';
import { makeLog } from '../../../../src/log.ts';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { http2Clients } from '../delivery-bundle.ts';
import {
  codes,
  flags,
  frame,
  settings,
  startHostileServer,
  types,
  uint32,
  windowUpdate,
} from './hostile-http2-server.ts';
import type { Peer } from './hostile-http2-server.ts';
import { sendByLane } from './send-by-lane.ts';
import { settleRequests, ways } from './settle-requests.ts';
import type { Settled } from './settle-requests.ts';

const answered = { kind: 'answer', status: 200 };
const short = { requestMilliseconds: 150, connectMilliseconds: 150 };

const well = (peer: Peer): void => {
  peer.onRequest = (stream) => peer.answer(stream);
  peer.write(settings());
};

describe('windows', () => {
  test('delay bodies while they are 0, until the stream gets an update', async () => {
    const opened = new Set<number>();
    let tooEarly = 0;
    const settled = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.answer(stream);
        peer.write(settings({ initialWindowSize: 0 }));
        // Acknowledged in the order of arrival (§6.7), so that a body sent without a window comes before the PING.
        peer.onHeaders = (stream) =>
          peer.write(frame(types.ping, { payload: Buffer.concat([uint32(0), uint32(stream)]) }));
        peer.onFrame = ({ type, flags: given, stream, payload }) => {
          if (type === types.data && payload.length > 0 && !opened.has(stream)) tooEarly += 1;
          if (type !== types.ping || !(given & flags.ack)) return;
          opened.add(payload.readUInt32BE(4));
          peer.write(windowUpdate(payload.readUInt32BE(4), 1_000));
        };
      },
      requests: 5,
      sessionsPerTarget: 1,
    });
    expect(tooEarly).toBe(0);
    expectAllAnswered(settled);
  });

  test('delay bodies while they are 0, until SETTINGS raise them for every stream', async () => {
    let tooEarly = 0;
    const settled = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.answer(stream);
        peer.write(settings({ initialWindowSize: 0 }));
        let headers = 0;
        peer.onHeaders = () => {
          headers += 1;
          if (headers < 5) return;
          tooEarly = peer.frames.filter(({ type }) => type === types.data).length;
          peer.write(settings({ initialWindowSize: 65_535 }));
        };
      },
      requests: 5,
    });
    expect(tooEarly).toBe(0);
    expectAllAnswered(settled);
  });

  test('let through one byte at a time if they are one byte', async () => {
    let longest = 0;
    const settled = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.answer(stream);
        peer.write(settings({ initialWindowSize: 1 }));
        peer.onFrame = ({ type, flags: given, stream, payload }) => {
          if (type !== types.data) return;
          longest = Math.max(longest, payload.length);
          if (!(given & flags.endStream)) peer.write(windowUpdate(stream, 1));
        };
      },
      bodyBytes: 40,
    });
    expect(longest).toBe(1);
    expectAllAnswered(settled);
  });

  test('are first restored from below zero after SETTINGS lowered them (§6.9.2)', async () => {
    const sent = new Map<number, number>();
    let isLowered = false;
    const settled = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.answer(stream);
        // 300 bytes may go; when all have come the window is 10, so 290 are owed, and 690 more let 400 through.
        peer.write(settings({ initialWindowSize: 300 }));
        let acknowledged = 0;
        peer.onFrame = ({ type, flags: given, stream, payload }) => {
          if (type === types.settings && given & flags.ack) {
            acknowledged += 1;
            if (acknowledged < 2) return;
            isLowered = true;
            peer.write(windowUpdate(1, 690));
          }
          if (type !== types.data) return;
          sent.set(stream, (sent.get(stream) ?? 0) + payload.length);
          if (sent.get(stream) === 300 && !isLowered) peer.write(settings({ initialWindowSize: 10 }));
          if (sent.get(stream) === 700) peer.write(windowUpdate(stream, 300));
        };
      },
      requests: 1,
      bodyBytes: 1_000,
    });
    expect(sent.get(1)).toBe(1_000);
    expectAllAnswered(settled);
  });

  test('limit all streams together through the window of the connection', async () => {
    let received = 0;
    let given = 65_535;
    let overrun = 0;
    const settled = await settleRequests({
      behave(peer) {
        peer.isPolite = false;
        peer.onRequest = (stream) => peer.answer(stream);
        peer.write(settings({ initialWindowSize: 1_000_000 }), frame(types.settings, { flags: flags.ack }));
        peer.onFrame = ({ type, payload }) => {
          if (type !== types.data) return;
          received += payload.length;
          overrun = Math.max(overrun, received - given);
          if (received < given) return;
          given += 50_000;
          peer.write(windowUpdate(0, 50_000));
        };
      },
      requests: 4,
      bodyBytes: 60_000,
    });
    expect({ received, overrun }).toEqual({ received: 240_000, overrun: 0 });
    expectAllAnswered(settled);
  });

  test('are used by frames that never exceed the maximum of the server', async () => {
    let longest = 0;
    const settled = await settleRequests({
      behave(peer) {
        well(peer);
        peer.onFrame = ({ payload }) => (longest = Math.max(longest, payload.length));
      },
      bodyBytes: 60_000,
      requests: 1,
    });
    expect(longest).toBeLessThanOrEqual(16_384);
    expectAllAnswered(settled);
  });
});

describe('concurrent streams', () => {
  test('are limited to one on each connection', async () => {
    const settled = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.answer(stream);
        peer.write(settings({ maxConcurrentStreams: 1 }));
      },
      requests: 30,
    });
    expect(settled.server.peers.map(({ maxOpen }) => maxOpen).every((most) => most <= 1)).toBe(true);
    expectAllAnswered(settled);
  });

  test('are limited to one in flight from the acknowledgement of a lower limit', async () => {
    const settled = await settleRequests({
      behave(peer) {
        const held: number[] = [];
        let opened = 0;
        let isLimited = false;
        const release = (): void => {
          // Whole requests only: one whose body is still on its way stays open.
          for (const stream of held.splice(0)) {
            peer.answer(stream);
            opened -= 1;
          }
          if (isLimited && opened === 0) peer.maxOpen = 0;
        };
        onAcknowledged(peer, (count) => {
          if (count < 2) return;
          isLimited = true;
          release();
        });
        peer.onHeaders = () => (opened += 1);
        peer.onRequest = (stream) => {
          held.push(stream);
          if (peer.receipts.length === 3) peer.write(settings({ maxConcurrentStreams: 1 }));
          if (isLimited) release();
        };
        peer.write(settings({ maxConcurrentStreams: 10 }));
      },
      requests: 40,
    });
    const limited = settled.server.peers.filter(({ receipts }) => receipts.length >= 3);
    expect(limited.length).toBeGreaterThan(0);
    for (const { maxOpen } of limited) expect(maxOpen).toBeLessThanOrEqual(1);
    expectAllAnswered(settled);
  });

  test('wait until SETTINGS allow some, if none is allowed at first', async () => {
    const settled = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.answer(stream);
        peer.write(settings({ maxConcurrentStreams: 0 }));
        onAcknowledged(peer, (count) => {
          if (count === 1) peer.write(settings({ maxConcurrentStreams: 3 }));
        });
      },
      requests: 10,
    });
    for (const { maxOpen } of settled.server.peers) expect(maxOpen).toBeLessThanOrEqual(3);
    expectAllAnswered(settled);
  });
});

describe('rejected streams', () => {
  test('are sent again once, with the same request', async () => {
    const seen = new Set<string>();
    const settled = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => {
          const { body } = peer.receipts.at(-1)!;
          if (seen.has(body)) peer.answer(stream);
          else peer.reset(stream, codes.refused);
          seen.add(body);
        };
        peer.write(settings());
      },
      requests: 10,
    });
    expectAllAnswered(settled);
    expect(settled.server.receipts()).toHaveLength(20);
  });

  test('are tried three times and reported as unsent if they are refused every time', async () => {
    const { answers, server } = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.reset(stream, codes.refused);
        peer.write(settings());
      },
    });
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent' });
    expect(server.receipts()).toHaveLength(9);
  });

  test('are not sent again after a reset for another reason, because the request may have been processed', async () => {
    const { answers, server } = await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => peer.reset(stream, codes.internal);
        peer.write(settings());
      },
    });
    for (const answer of answers)
      expect(answer).toMatchObject({ kind: 'failure', certainty: 'unknown', reason: 'reset' });
    expect(server.receipts()).toHaveLength(3);
  });
});

describe('GOAWAY', () => {
  /** Holds ten requests of the first connection, then leaves in the middle of them. */
  const leaveInTheMiddle =
    (leave: (peer: Peer, last: number) => void) =>
    (peer: Peer): void => {
      if (peer.number > 1) return well(peer);
      peer.write(settings());
      peer.onRequest = () => {
        if (peer.receipts.length !== 10) return;
        const last = peer.receipts[4]!.stream;
        leave(peer, last);
        for (const { stream } of peer.receipts) if (stream <= last) peer.answer(stream);
      };
    };

  test('is followed by responses for the streams it keeps, and by another connection for those above it', async () => {
    const settled = await settleRequests({
      behave: leaveInTheMiddle((peer, last) => peer.goaway(last)),
      requests: 10,
    });
    expectAllAnswered(settled);
    expect(settled.server.receipts().filter(({ isRefused }) => isRefused)).toHaveLength(5);
    expect(settled.server.peers.length).toBeGreaterThan(1);
  });

  test('may be announced first with the highest number, then with the real one (§6.8)', async () => {
    const settled = await settleRequests({
      behave: leaveInTheMiddle((peer, last) => {
        peer.goaway(2 ** 31 - 1);
        peer.goaway(last);
      }),
      requests: 10,
    });
    expectAllAnswered(settled);
  });

  test('is handled by another connection if it comes before the first request', async () => {
    const settled = await settleRequests({
      behave(peer) {
        well(peer);
        if (peer.number === 1) peer.goaway(0);
      },
    });
    expectAllAnswered(settled);
  });

  test('is survived after every third stream: each request is answered, or unsent after three refusals, and none delivered twice', async () => {
    const { answers, server } = await settleRequests({
      behave(peer) {
        peer.write(settings({ maxConcurrentStreams: 3 }));
        peer.onRequest = (stream) => {
          if (peer.receipts.length === 3) peer.goaway(stream);
          peer.answer(stream);
        };
      },
      requests: 30,
    });
    const unsent = answers.filter((answer) => answer.kind === 'failure' && answer.certainty === 'unsent');
    const kept = server.receipts().filter(({ isRefused }) => !isRefused);
    expect(unsent.length + answers.filter(({ kind }) => kind === 'answer').length).toBe(30);
    expect(new Set(kept.map(({ body }) => body)).size).toBe(30 - unsent.length);
  });

  test('ends as unsent if it comes on every connection, without endless reconnects', async () => {
    const { answers } = await settleRequests({
      behave(peer) {
        peer.write(settings());
        peer.goaway(0);
      },
      ...short,
    });
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent' });
  });

  test.each<[string, (peer: Peer) => void]>([
    ['GOAWAY once SETTINGS are acknowledged', (peer) => peer.goaway(0)],
    ['the end once SETTINGS are acknowledged', (peer) => peer.socket.destroy()],
  ])('ends as unsent, too, for %s on every connection', async (_what, leave) => {
    const { answers } = await settleRequests({
      behave(peer) {
        onAcknowledged(peer, () => leave(peer));
        peer.write(settings({ maxConcurrentStreams: 0 }));
      },
      ...short,
    });
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent' });
  });

  test('reports the kept streams as unknown if it has an error and the connection ends', async () => {
    const { answers } = await settleRequests({
      behave(peer) {
        peer.write(settings());
        peer.onRequest = (stream) => {
          if (peer.receipts.length !== 3) return;
          peer.goaway(stream, codes.calm);
          peer.socket.end();
        };
      },
      sessionsPerTarget: 1,
    });
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'failure', certainty: 'unknown' });
  });

  test('settles every request with a growing number (§6.8), with data and reserved bits', async () => {
    await settleRequests({
      behave(peer) {
        peer.onRequest = (stream) => {
          const payload = Buffer.concat([uint32(0x80000000 | stream), uint32(0xffff), Buffer.from('too_many_pings')]);
          peer.write(frame(types.goaway, { payload }));
          peer.goaway(stream + 2);
          peer.answer(stream);
        };
        peer.write(settings());
      },
      ...short,
    });
  });
});

describe('the connection after a fault', () => {
  test('is replaced within a few requests if it has fallen silent', async () => {
    const { answers, server } = await settleRequests({
      behave(peer) {
        if (peer.number > 1) return well(peer);
        peer.isPolite = false;
        peer.write(settings(), frame(types.settings, { flags: flags.ack }));
      },
      requests: 8,
      inTurn: true,
      sessionsPerTarget: 1,
      requestMilliseconds: 500,
      connectMilliseconds: 500,
    });
    expect(answers.at(-1)).toMatchObject(answered);
    expect(server.peers.length).toBeGreaterThan(1);
  });

  test('is replaced for the next request if it is broken', async () => {
    const { answers } = await settleRequests({
      behave(peer) {
        if (peer.number > 1) return well(peer);
        peer.write(settings());
        peer.onRequest = () => peer.write(frame(types.data, { payload: Buffer.from('on stream 0') }));
      },
      requests: 2,
      inTurn: true,
    });
    expect(answers).toMatchObject([{ kind: 'failure' }, answered]);
  });
});

describe('a half-closed peer', () => {
  // More than the system holds of one connection, less than what is given up as unread.
  const bodyBytes = 14 * 1024 * 1024;
  const unlimited = 2 ** 31 - 1;

  test('gets no further request after it ended its side and stopped reading; the open one ends, the next uses another connection', async () => {
    const server = await startHostileServer((peer) => {
      peer.onRequest = (stream) => peer.answer(stream);
      peer.write(settings({ initialWindowSize: unlimited }), windowUpdate(0, unlimited - 65_535));
      if (peer.number > 1) return;
      peer.onHeaders = () => {
        peer.socket.pause();
        peer.socket.end();
      };
    });
    const transport = makeHttp2Transport({
      log: makeLog({ level: 'silent', pretty: false }),
      allowedNetworks: [],
      requestMilliseconds: 2_000,
    });
    const target = { key: 'ended', origin: 'https://ended.test', connectTo: server.origin, isGuarded: false };
    const send = (bytes: number) =>
      transport.request(target, {
        path: '/3/device/x',
        headers: { 'content-type': 'text/plain' },
        body: Buffer.alloc(bytes, 'x'),
      });
    try {
      expect(await send(bodyBytes)).toMatchObject({ kind: 'failure', certainty: 'unknown', reason: 'reset' });
      expect(await send(10)).toMatchObject({ kind: 'answer', status: 200 });
      expect(server.peers.map(({ receipts }) => receipts.length)).toEqual([0, 1]);
    } finally {
      await transport.close();
      await server.stop();
    }
  });
});

describe('unsendable requests', () => {
  const count = 3_000;

  test.each(ways.flatMap((way) => http2Clients.map((client) => ({ way, client }))))(
    'are reported as unsent with their cause, even by the thousand ($way, $client)',
    async ({ way, client }) => {
      const server = await startHostileServer((peer) => peer.write(settings()));
      const log = makeLog({ level: 'silent', pretty: false });
      const transport = makeHttp2Transport({ log, allowedNetworks: [], client });
      const target = { key: 'one', origin: server.origin, isGuarded: false };
      const request = { path: '/x', headers: { 'x-number': 'a\nb: c' }, body: Buffer.from('x') };
      const requests = Array.from({ length: count }, () => request);
      try {
        const answers = await (way === 'promises'
          ? Promise.all(requests.map((each) => transport.request(target, each)))
          : sendByLane(transport, { target, reads: 'all', requests }));
        expect(answers).toHaveLength(count);
        for (const answer of answers) {
          expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'refused' });
          if (answer.kind === 'failure') expect(answer.detail).toMatch(/header/i);
        }
        expect(server.receipts()).toEqual([]);
      } finally {
        await transport.close();
        await server.stop();
      }
    },
  );
});

function expectAllAnswered({ answers, server }: Settled): void {
  for (const answer of answers) expect(answer).toMatchObject(answered);
  const kept = server.receipts().filter(({ isRefused }) => !isRefused);
  expect(new Set(kept.map(({ body }) => body)).size).toBe(answers.length);
  expect(kept).toHaveLength(answers.length);
}

/** Calls back when the client acknowledges SETTINGS for the n-th time. */
function onAcknowledged(peer: Peer, each: (count: number) => void): void {
  let count = 0;
  peer.onFrame = ({ type, flags: given }) => {
    if (type === types.settings && given & flags.ack) each((count += 1));
  };
}
