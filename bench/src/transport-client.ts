/**
 * One client of the transport measurement: sends so many requests of 400 bytes, 1,000 at a time, over one connection, and
 * prints how many a second were answered 200. Arguments: client, origin, requests.
 */
import apn from '@parse/node-apn';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { makeHttp2Transport } from '../../server/src/engine/delivery/http2/http2-transport.ts';
import { makeLog } from '../../server/src/log.ts';

const [, , name, origin, count] = process.argv as unknown as [string, string, string, string, string];
const requests = Number(count);
const atATime = 1_000;
const device = 'ab'.repeat(32);
const path = `/3/device/${device}`;
const body = Buffer.alloc(400, 'x');

type Client = { send(): Promise<unknown>; close(): void | Promise<void> };
const clients: Record<string, () => Client> = { carillon, 'node-http2': nodeHttp2, 'node-apn': nodeApn };

const client = clients[name]!();
// The connection is there, and what is compiled is compiled.
await sendAll(atATime * 5);
const startedAt = performance.now();
await sendAll(requests);
process.stdout.write(String(requests / ((performance.now() - startedAt) / 1000)));
await client.close();
process.exit(0);

async function sendAll(all: number): Promise<void> {
  let left = all;
  const sender = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const status = await client.send();
      if (status !== 200) throw new Error(`answered ${JSON.stringify(status)}`);
    }
  };
  await Promise.all(Array.from({ length: atATime }, sender));
}

function carillon(): Client {
  const log = makeLog({ level: 'error', pretty: false });
  const transport = makeHttp2Transport({ log, allowedNetworks: [], sessionsPerTarget: 1 });
  const target = { key: 'bench', origin, isGuarded: false };
  return {
    async send() {
      const answer = await transport.request(target, { path, headers: { 'apns-push-type': 'alert' }, body });
      return answer.kind === 'answer' ? answer.status : answer;
    },
    close: () => transport.close(),
  };
}

function nodeHttp2(): Client {
  const session = connect(origin);
  return {
    send: () =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':method': 'POST', ':path': path, 'apns-push-type': 'alert' });
        let status: unknown;
        stream.on('response', (headers) => (status = headers[':status']));
        stream.on('error', reject);
        stream.on('end', () => resolve(status));
        stream.resume();
        stream.end(body);
      }),
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
    async send() {
      const { sent, failed } = await provider.send(notification, device);
      return sent.length === 1 ? 200 : failed;
    },
    close: () => void provider.shutdown(),
  };
}
