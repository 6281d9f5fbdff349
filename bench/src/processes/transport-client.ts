/**
 * One client of the transport measurement: sends this many requests of 400 bytes, 1,000 at a time, over one connection, and
 * prints the 200 responses per second and the CPU time per request. Arguments: client, origin, requests.
 */
import apn from '@parse/node-apn';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { makeHttp2Transport } from '../../../server/src/providers/http2/transport.ts';
import type { Http2Transport } from '../../../server/src/providers/http2/transport.ts';
import { RequestHead } from '../../../server/src/providers/http2/requests.ts';
import { makeLog } from '../../../server/src/log.ts';

const [, , name, origin, count] = process.argv as unknown as [string, string, string, string, string];
const requests = Number(count);
const atATime = 1_000;
const device = 'ab'.repeat(32);
const path = `/3/device/${device}`;
const body = Buffer.alloc(400, 'x');
const target = { key: 'bench', origin, isGuarded: false };

/** `sendAll` resolves after this many 200 responses, and rejects on any other response. */
type Client = { sendAll(all: number): Promise<unknown>; close(): void | Promise<void> };
const clients: Record<string, () => Client> = { lane, promises, 'node-http2': nodeHttp2, 'node-apn': nodeApn };

const client = clients[name]!();
// Warms up: opens the connection and compiles the code.
await client.sendAll(Math.min(requests, atATime * 20));
const [startedAt, usage] = [performance.now(), process.cpuUsage()];
await client.sendAll(requests);
const { user, system } = process.cpuUsage(usage);
const rate = requests / ((performance.now() - startedAt) / 1000);
process.stdout.write(JSON.stringify({ rate, cpuMicroseconds: (user + system) / requests }));
await client.close();
process.exit(0);

/** For clients that accept one request at a time. */
function sendEach(send: () => Promise<unknown>): Client['sendAll'] {
  return async (all) => {
    let left = all;
    const sender = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const status = await send();
        if (status !== 200) throw new Error(`answered ${JSON.stringify(status)}`);
      }
    };
    await Promise.all(Array.from({ length: atATime }, sender));
  };
}

function makeTransport(): Http2Transport {
  const log = makeLog({ level: 'error', pretty: false });
  return makeHttp2Transport({ log, allowedNetworks: [], sessionsPerTarget: 1 });
}

/** Sends like callers of many requests: through a lane. */
function lane(): Client {
  const transport = makeTransport();
  let [left, open] = [0, 0];
  let end: { resolve: (value?: unknown) => void; reject: (error: Error) => void };
  const owner = {
    reads: 'failures' as const,
    onAccepted(_ticket: number, status: number) {
      if (status !== 200) end.reject(new Error(`answered ${status}`));
      open -= 1;
      if (left === 0 && open === 0) end.resolve();
    },
    onAnswer: (_ticket: number, answer: object) => end.reject(new Error(`answered ${JSON.stringify(answer)}`)),
    onSpace: sendMore,
    onUnreachable: (failure: object) => end.reject(new Error(JSON.stringify(failure))),
  };
  const head = new RequestHead([['apns-push-type', 'alert']]);
  const outgoing = { head, path, values: [], body, ticket: 0, listener: owner };
  const requestLane = transport.openLane(target, owner);
  function sendMore(): void {
    for (; left > 0; left -= 1) {
      outgoing.ticket = left;
      if (!requestLane.send(outgoing)) return;
      open += 1;
    }
  }
  return {
    sendAll: (all) =>
      new Promise((resolve, reject) => {
        left = all;
        end = { resolve, reject };
        sendMore();
      }),
    close: () => transport.close(),
  };
}

/** Sends like callers that wait for each response. */
function promises(): Client {
  const transport = makeTransport();
  return {
    sendAll: sendEach(async () => {
      const answer = await transport.request(target, { path, headers: { 'apns-push-type': 'alert' }, body });
      return answer.kind === 'answer' ? answer.status : answer;
    }),
    close: () => transport.close(),
  };
}

function nodeHttp2(): Client {
  const session = connect(origin);
  return {
    sendAll: sendEach(
      () =>
        new Promise((resolve, reject) => {
          const stream = session.request({ ':method': 'POST', ':path': path, 'apns-push-type': 'alert' });
          let status: unknown;
          stream.on('response', (headers) => (status = headers[':status']));
          stream.on('error', reject);
          stream.on('end', () => resolve(status));
          stream.resume();
          stream.end(body);
        }),
    ),
    close: () => session.close(),
  };
}

function nodeApn(): Client {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const provider = new apn.Provider({
    token: { key, keyId: 'ABCDEFGHIJ', teamId: 'ABCDEFGHIJ' },
    address: new URL(origin).hostname,
    port: Number(new URL(origin).port),
    ca: [readFileSync(process.env.NODE_EXTRA_CA_CERTS!, 'utf8')],
  });
  const notification = new apn.Notification();
  notification.topic = 'com.example.app';
  notification.pushType = 'alert';
  notification.alert = 'x'.repeat(350);
  return {
    sendAll: sendEach(async () => {
      const { sent, failed } = await provider.send(notification, device);
      return sent.length === 1 ? 200 : failed;
    }),
    close: () => void provider.shutdown(),
  };
}
