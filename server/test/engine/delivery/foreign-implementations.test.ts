import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createServer as createTlsServer } from 'node:tls';
import apn from '@parse/node-apn';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeSimulatedCredentials } from '../../../src/app/sandbox/simulated-credentials.ts';
import { makeManualClock } from '../../../src/clock.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { forAllProviders } from '../../../src/domain/delivery/providers.ts';
import { makeLog } from '../../../src/log.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import type { Http2Request } from '../../../src/providers/http2/requests.ts';
import { makeHttp2Transport } from '../../../src/providers/http2/transport.ts';
import type { Http2Client } from '../../../src/providers/http2/transport.ts';
import type { Answer } from '../../../src/providers/provider.ts';
import { realProviderEndpoints, simulatorEndpointsAt } from '../../../src/providers/registry.ts';
import { findFreePort } from '../../find-free-port.ts';
import { isFull } from '../../full-test.ts';
import { propertyRuns } from '../../property-runs.ts';
import { http2Clients, startDeliveryBundle } from './delivery-bundle.ts';
import { sendByLane } from './http2/send-by-lane.ts';
import { makeCertificate } from './make-certificate.ts';
import { makeMessage } from './make-message.ts';

const program = '/usr/sbin/nghttpd';

describe('differential tests', () => {
  const ways = ['promises', 'lane of all', 'lane of failures'] as const;
  type Way = (typeof ways)[number];

  describe('the HTTP/2 server of Node', () => {
    type Reaction =
      | { kind: 'respond'; status: number; headers: Record<string, string>; bodyBytes: number; pieces: number }
      | { kind: 'reset'; code: number; isAfterHeaders: boolean };
    const text = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_/ é'), maxLength: 40 }).map((value) => value.trim());
    const respond: fc.Arbitrary<Reaction> = fc.record({
      kind: fc.constant('respond' as const),
      status: fc.constantFrom(200, 200, 200, 201, 204, 206, 299, 300, 400, 404, 410, 429, 500, 503),
      headers: fc.dictionary(fc.constantFrom('apns-id', 'retry-after', 'location', 'x-a', 'x-b'), text, { maxKeys: 4 }),
      bodyBytes: fc.constantFrom(0, 0, 1, 90, 2_000, 70_000),
      pieces: fc.integer({ min: 1, max: 3 }),
    });
    const reset: fc.Arbitrary<Reaction> = fc.record({
      kind: fc.constant('reset' as const),
      // Refused, cancelled, and an internal error.
      code: fc.constantFrom(7, 8, 2),
      isAfterHeaders: fc.constant(false),
    });
    const conversation = fc.record({
      reactions: fc.array(
        fc.record({
          reaction: fc.oneof({ weight: 6, arbitrary: respond }, { weight: 1, arbitrary: reset }),
          path: fc.webPath({ size: 'small' }).map((path) => `/p${path}`),
          authorization: fc.constantFrom('bearer a', 'bearer b', `bearer ${'c'.repeat(600)}`),
          topic: fc.constantFrom('com.shop', 'com.shop.other'),
          bodyBytes: fc.constantFrom(0, 1, 400, 400, 400, 5_000, 70_000),
        }),
        { minLength: 1, maxLength: 60 },
      ),
      settings: fc.record(
        {
          maxConcurrentStreams: fc.constantFrom(1, 3, 100),
          initialWindowSize: fc.constantFrom(100, 1_000, 65_535, 1_000_000),
          headerTableSize: fc.constantFrom(0, 100, 4_096),
          maxFrameSize: fc.constantFrom(16_384, 50_000),
        },
        { requiredKeys: [] },
      ),
    });

    test('gets the same requests from both clients, which get the same answers, whatever it responds (property)', async () => {
      await fc.assert(
        fc.asyncProperty(conversation, async ({ reactions, settings }) => {
          let arrived: { number: number; headers: IncomingHttpHeaders; bodyBytes: number; isWhole: boolean }[] = [];
          const sessions = new Set<ServerHttp2Session>();
          const server = createServer({ settings });
          server.on('session', (session) => sessions.add(session));
          server.on('sessionError', () => {});
          server.on('stream', (stream: ServerHttp2Stream, headers) => {
            stream.on('error', () => {});
            const number = Number(headers['x-number']);
            let bodyBytes = 0;
            let isWhole = true;
            stream.on('data', (piece: Buffer) => {
              bodyBytes += piece.length;
              isWhole &&= piece.every((byte) => byte === 0x61 + (number % 26));
            });
            stream.on('end', () => {
              // Without what Node notes about them: its client forbids every table for `authorization`.
              arrived.push({ number, headers: Object.fromEntries(Object.entries(headers)), bodyBytes, isWhole });
              react(stream, reactions[number]!.reaction);
            });
          });
          await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
          try {
            const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
            const requests = reactions.map(({ path, authorization, topic, bodyBytes }, number) => ({
              path,
              headers: { authorization, 'apns-topic': topic, 'x-number': String(number) },
              body: Buffer.alloc(bodyBytes, 0x61 + (number % 26)),
            }));
            const seen = (): unknown => {
              const all = arrived;
              arrived = [];
              // A refused request comes again by some ways and not by others: each counts once.
              return [...new Map(all.map((one) => [one.number, one])).values()].sort((a, b) => a.number - b.number);
            };
            const answers = await expectAgreement(origin, { requests, seen });
            // By what was asked for, not only by each other.
            for (const [number, answer] of answers.promises!.entries()) {
              const { reaction } = reactions[number]!;
              if (reaction.kind === 'respond') expect(answer).toMatchObject({ status: reaction.status });
              else expect(answer).toMatchObject({ certainty: reaction.code === 7 ? 'unsent' : 'unknown' });
            }
          } finally {
            for (const session of sessions) session.destroy();
            await new Promise((resolve) => server.close(resolve));
          }
        }),
        { numRuns: propertyRuns(200, 8) },
      );
    }, 600_000);

    function react(stream: ServerHttp2Stream, reaction: Reaction): void {
      if (stream.destroyed) return;
      if (reaction.kind === 'reset') return stream.close(reaction.code);
      const { status, headers, bodyBytes, pieces } = reaction;
      const hasBody = bodyBytes > 0 && status !== 204;
      stream.respond({ ':status': status, ...headers }, { endStream: !hasBody });
      if (!hasBody) return;
      const piece = Buffer.alloc(Math.ceil(bodyBytes / pieces), 'z');
      for (let left = pieces; left > 1; left -= 1) stream.write(piece);
      stream.end(piece);
    }
  });

  const hasProgram = existsSync(program);

  describe.skipIf(!hasProgram)(`nghttpd as an echo server${hasProgram ? '' : ` (skipped: no ${program})`}`, () => {
    const undo: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const step of undo.splice(0)) await step();
    });

    /** It sends back what was uploaded. */
    async function startNghttpd(options: string[]): Promise<string> {
      const port = await findFreePort();
      const words = ['--no-tls', '-v', '--echo-upload', '-a', '127.0.0.1', ...options, String(port)];
      const server = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'] });
      const lines = createInterface({ input: server.stdout });
      undo.push(async () => {
        const isEnded = new Promise((resolve) => lines.once('close', resolve));
        server.kill();
        await isEnded;
      });
      await new Promise<void>((resolve) => lines.on('line', (line) => /listen/.test(line) && resolve()));
      return `http://127.0.0.1:${port}`;
    }

    test.each<[what: string, options: string[]]>([
      ['as it is', []],
      ['padded frames and a trailer', ['--padding=200', '--trailer', 'x-trailer: yes']],
      ['no table for headers, and few streams', ['--header-table-size=0', '-m', '7']],
      ['the smallest windows, of one byte', ['-w', '1', '-W', '16', '-m', '20']],
      ['large windows and a thousand streams', ['-w', '30', '-W', '30', '-m', '1000', '--header-table-size=65536']],
    ])(
      '%s: returns every body as it was sent',
      async (_what, options) => {
        const origin = await startNghttpd(options);
        const isSlow = options.includes('1');
        const requests = Array.from({ length: isSlow ? 20 : 300 }, (_, number) => ({
          path: `/echo/${number}`,
          headers: { authorization: `bearer ${number % 3}`, 'apns-topic': 'com.shop', 'x-number': String(number) },
          body: Buffer.from(`${number} `.repeat(number % 5 === 0 && !isSlow ? 4_000 : 30)),
        }));
        const answers = await expectAgreement(origin, { requests, seen: () => undefined });
        for (const [number, answer] of answers.promises!.entries())
          expect(answer).toMatchObject({ status: 200, body: requests[number]!.body.toString() });
        expect(answers['lane of failures']).toEqual(requests.map(() => ({ status: 200 })));
      },
      60_000,
    );
  });

  async function sendAll(
    origin: string,
    { client, way, requests }: { client: Http2Client; way: Way; requests: Http2Request[] },
  ): Promise<Answer[]> {
    const transport = makeHttp2Transport({
      log: makeLog({ level: 'silent', pretty: false }),
      allowedNetworks: [],
      client,
      requestMilliseconds: 60_000,
    });
    const target = { key: 'one', origin, isGuarded: false };
    try {
      if (way === 'promises') return await Promise.all(requests.map((request) => transport.request(target, request)));
      return await sendByLane(transport, { target, requests, reads: way === 'lane of all' ? 'all' : 'failures' });
    } finally {
      await transport.close();
    }
  }

  /** What two clients must agree on: of a failure not the words, of a response not when it was made. */
  function comparable(answer: Answer, way: Way): object {
    if (answer.kind === 'failure') return { certainty: answer.certainty, reason: answer.reason };
    if (way === 'lane of failures' && answer.status >= 200 && answer.status < 300) return { status: answer.status };
    const { date: _date, ...headers } = answer.headers;
    return { status: answer.status, headers, body: answer.body };
  }

  /** By both clients in all ways. Those of one way agree; `seen` is called after each. */
  async function expectAgreement(
    origin: string,
    { requests, seen }: { requests: Http2Request[]; seen: () => unknown },
  ) {
    const answers: Partial<Record<Way, object[]>> = {};
    let received: unknown;
    for (const way of ways) {
      for (const client of http2Clients) {
        const found = (await sendAll(origin, { client, way, requests })).map((answer) => comparable(answer, way));
        answers[way] ??= found;
        expect(found, `${client}, ${way}`).toEqual(answers[way]);
        const arrived = seen();
        received ??= arrived;
        expect(arrived, `${client}, ${way}`).toEqual(received);
      }
    }
    // What is read of an answer changes nothing else of it.
    expect(answers['lane of failures']).toEqual(
      answers['lane of all']!.map((answer) =>
        'status' in answer && Number(answer.status) >= 200 && Number(answer.status) < 300
          ? { status: answer.status }
          : answer,
      ),
    );
    return answers;
  }
});

/** Frames and stream ends of one connection, as nghttpd's log tells them. */
type Connection = { open: Set<string>; maxOpen: number; requests: number };

type Run = [Http2Client, Exclude<Platform, 'WEB'>, number];

describe('nghttpd', () => {
  const hasProgram = existsSync(program);

  const pushIds = { ANDROID: `token-${'a'.repeat(140)}`, IOS: 'ab'.repeat(32) };
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  const files = {
    token: JSON.stringify({ access_token: 'token-of-nghttpd', expires_in: 3600, token_type: 'Bearer' }),
    [`3/device/${pushIds.IOS}`]: '',
    'v1/projects/carillon-abcdef123456/messages:send': JSON.stringify({ name: 'projects/p/messages/1' }),
  };
  const runs: Run[] = [
    ['carillon', 'ANDROID', 100],
    ['carillon', 'IOS', 1],
    ['node', 'IOS', 8],
  ];
  const fullRuns: Run[] = [
    ...runs,
    ['carillon', 'ANDROID', 1],
    ['carillon', 'ANDROID', 8],
    ['carillon', 'IOS', 8],
    ['carillon', 'IOS', 100],
    ['node', 'ANDROID', 100],
  ];

  describe.skipIf(!hasProgram)(`our senders against nghttpd${hasProgram ? '' : ` (skipped: no ${program})`}`, () => {
    test.each(isFull ? fullRuns : runs)(
      '%s, %s: receives responses to 2,000 concurrent requests, with at most %d open streams',
      async (client, platform, streams) => {
        const server = await startNghttpd(files, streams);
        const send = await makeSender(server.origin, client);
        const outcomes = await Promise.all(Array.from({ length: 2_000 }, (_, number) => send(platform, number)));
        expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
        // Only when the server has ended is its log complete.
        for (const step of undo.splice(0).reverse()) await step();
        const connections = [...server.connections.values()];
        // One more for FCM's access token.
        const requests = connections.reduce((sum, connection) => sum + connection.requests, 0);
        expect(requests).toBe(platform === 'ANDROID' ? 2_001 : 2_000);
        expect(Math.max(...connections.map(({ maxOpen }) => maxOpen))).toBeLessThanOrEqual(streams);
        expect(server.faults).toEqual([]);
        // With room for many the room is used.
        if (streams > 1) expect(Math.max(...connections.map(({ maxOpen }) => maxOpen))).toBeGreaterThan(1);
      },
    );
  });

  /** The server of nghttp2 over files, with its log read as it comes. */
  async function startNghttpd(files: Record<string, string>, streams: number) {
    const root = await mkdtemp(join(tmpdir(), 'carillon-nghttpd-'));
    undo.push(() => rm(root, { recursive: true, force: true }));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
    const port = await findFreePort();
    const words = ['--no-tls', '-v', `--htdocs=${root}`, '-a', '127.0.0.1', '-m', String(streams), String(port)];
    const server = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'] });
    const connections = new Map<string, Connection>();
    const faults: string[] = [];
    const lines = createInterface({ input: server.stdout });
    const isListening = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        if (/listen/.test(line)) resolve();
        readLine(line, { connections, faults });
      });
    });
    const isEnded = new Promise<void>((resolve) => lines.on('close', () => resolve()));
    undo.push(() => {
      server.kill();
      return isEnded;
    });
    await isListening;
    return { origin: `http://127.0.0.1:${port}`, faults, connections };
  }

  async function makeSender(origin: string, http2Client: Http2Client) {
    const { fcm, apns } = await makeSimulatedCredentials('abcdef123456');
    const delivery = makeDelivery({
      clock: makeManualClock(new Date('2026-11-21T12:00:00Z')),
      log: makeLog({ level: 'silent', pretty: false }),
      allowedNetworks: [],
      http2Client,
      endpoints: {
        ...realProviderEndpoints,
        simulators: simulatorEndpointsAt(forAllProviders(origin)),
      },
    });
    undo.push(() => delivery.close());
    return (platform: Exclude<Platform, 'WEB'>, number: number) =>
      delivery.deliver({
        message: makeMessage(platform, String(number)),
        device: { deviceId: String(number), platform, pushId: pushIds[platform] },
        credentials: { fcm, apns },
      });
  }
});

describe('node-apn', () => {
  // @parse/node-apn as it is published, with token authentication, in place of our sender.
  const certificate = makeCertificate();
  const good = 'ab'.repeat(32);
  const taken = { device: good, 'apns-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) };
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  let front: Awaited<ReturnType<typeof startTlsFront>>;
  let provider: apn.Provider;

  beforeAll(async () => {
    bundle = await startDeliveryBundle();
    // The library signs with the machine's time.
    bundle.clock.advance(Date.now() - bundle.clock.now().getTime());
    bundle.simulators.syncClock();
    front = await startTlsFront(bundle.simulators.endpoints.apns);
    provider = makeProvider();
  });
  afterAll(async () => {
    await provider.shutdown();
    await front.stop();
    await bundle.stop();
  });

  test('sends an alert push that arrives as the device displays it', async () => {
    const { sent, failed } = await provider.send(makeNotification(), good);
    // Apple makes an id for a notification that comes without one, and says it.
    expect({ sent, failed }).toEqual({ sent: [taken], failed: [] });
    await expect.poll(() => bundle.delivered).toHaveLength(1);
    expect(bundle.delivered[0]).toMatchObject({
      platform: 'IOS',
      deviceToken: good,
      title: 'Title',
      body: 'Text',
      collapseId: 'one',
      messageId: (sent[0] as typeof taken)['apns-id'],
    });
  });

  test('gets responses for many devices over its one connection', async () => {
    const devices = Array.from({ length: 500 }, (_, number) => number.toString(16).padStart(64, 'a'));
    const { sent, failed } = await provider.send(makeNotification(), devices);
    expect({ sent: sent.length, failed }).toEqual({ sent: 500, failed: [] });
  });

  // The shapes of the library's own documentation (doc/provider.markdown): device, status, response.reason.
  test.each<[string, { device: string; status: number; response: object }]>([
    [
      'a dead token',
      {
        device: 'dead0410'.padEnd(64, '0'),
        status: 410,
        response: { reason: 'Unregistered', timestamp: expect.any(Number) },
      },
    ],
    ['an invalid token', { device: 'dead0400'.padEnd(64, '0'), status: 400, response: { reason: 'BadDeviceToken' } }],
    ['a token of letters', { device: 'xyz', status: 400, response: { reason: 'BadDeviceToken' } }],
  ])('reports %s with the status and reason that Apple returns', async (_what, refused) => {
    const result = await provider.send(makeNotification(), [good, refused.device]);
    expect(result).toEqual({ sent: [taken], failed: [refused] });
  });

  test('is rejected for another topic', async () => {
    const { failed } = await provider.send(makeNotification('com.example.other'), good);
    expect(failed).toMatchObject([{ status: 400, response: { reason: 'DeviceTokenNotForTopic' } }]);
  });

  test('is rejected for a foreign key', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const foreign = makeProvider({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string });
    const { sent, failed } = await foreign.send(makeNotification(), good);
    expect(sent).toEqual([]);
    expect(failed).toMatchObject([{ status: 403, response: { reason: 'InvalidProviderToken' } }]);
    await foreign.shutdown();
  });

  /** The library speaks TLS only; this ends it and hands the bytes to the simulator. */
  async function startTlsFront(origin: string) {
    const sockets = new Set<Socket>();
    const server = createTlsServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
      const inner = connect(Number(new URL(origin).port), '127.0.0.1');
      for (const end of [socket, inner]) {
        sockets.add(end);
        end.on('error', () => {});
        end.on('close', () => {
          socket.destroy();
          inner.destroy();
        });
      }
      socket.pipe(inner).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      port: (server.address() as AddressInfo).port,
      stop: () =>
        new Promise<void>((resolve) => {
          for (const socket of sockets) socket.destroy();
          server.close(() => resolve());
        }),
    };
  }

  function makeProvider(change: Partial<apn.ProviderToken> = {}): apn.Provider {
    const { privateKey, keyId, teamId } = bundle.credentials.apns;
    return new apn.Provider({
      token: { key: privateKey, keyId, teamId, ...change },
      address: 'localhost',
      port: front.port,
      ca: [certificate.cert],
    });
  }

  function makeNotification(topic = bundle.credentials.apns.topic): apn.Notification {
    const notification = new apn.Notification();
    notification.topic = topic;
    notification.pushType = 'alert';
    notification.alert = { title: 'Title', body: 'Text' };
    notification.expiry = Math.floor(Date.now() / 1000) + 3600;
    notification.collapseId = 'one';
    return notification;
  }
});

function readLine(line: string, found: { connections: Map<string, Connection>; faults: string[] }): void {
  const [, id] = /^\[id=(\d+)\]/.exec(line) ?? [];
  if (id === undefined) return;
  let connection = found.connections.get(id);
  if (!connection) found.connections.set(id, (connection = { open: new Set(), maxOpen: 0, requests: 0 }));
  const [, stream] = /recv HEADERS frame <.*stream_id=(\d+)>/.exec(line) ?? [];
  if (stream !== undefined) {
    connection.open.add(stream);
    connection.requests += 1;
    connection.maxOpen = Math.max(connection.maxOpen, connection.open.size);
  }
  const [, closed] = /stream_id=(\d+) closed/.exec(line) ?? [];
  if (closed !== undefined) connection.open.delete(closed);
  // nghttpd resets what goes beyond its limit, and ends a connection whose frames it cannot read.
  if (/RST_STREAM frame|error_code=(?!NO_ERROR)/.test(line)) found.faults.push(line);
}
