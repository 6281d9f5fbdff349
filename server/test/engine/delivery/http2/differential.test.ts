import fc from 'fast-check';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2Client } from '../../../../src/providers/http2/transport.ts';
import type { Http2Request } from '../../../../src/providers/http2/requests.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { makeLog } from '../../../../src/log.ts';
import { propertyRuns } from '../../../property-runs.ts';
import { http2Clients } from '../delivery-bundle.ts';
import { sendByLane } from './send-by-lane.ts';
import { findFreePort } from '../../../find-free-port.ts';

const ways = ['promises', 'lane of all', 'lane of failures'] as const;
type Way = (typeof ways)[number];

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
async function expectAgreement(origin: string, { requests, seen }: { requests: Http2Request[]; seen: () => unknown }) {
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

describe('against the HTTP/2 server of Node', () => {
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

  test('both clients get the same answers and send the same requests, whatever it responds (property)', async () => {
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

const program = '/usr/sbin/nghttpd';
const hasProgram = existsSync(program);

describe.skipIf(!hasProgram)(`against nghttpd${hasProgram ? '' : ` (skipped: no ${program})`}`, () => {
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
    '%s: every body comes back as it was sent',
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
