/**
 * Measures making Web Push requests (budget P2): the message encrypted for each browser (RFC 8291) and the VAPID header,
 * without sending; by one thread of ours, by ours with helper threads, and by the package `web-push`. OpenSSL's own rate of key
 * agreements is the limit. Goal: ≥ 6 × web-push on one core, and all cores used. All run in turn; results are medians of the
 * rounds, by CPU time, which does not change when others use the machine too.
 *
 * Usage: npm run bench -- web-push [--messages 5000] [--rounds 5]
 */
import { spawnSync } from 'node:child_process';
import { createECDH, randomBytes } from 'node:crypto';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { makeVapidAuthorizations } from '../../server/src/providers/webpush/vapid.ts';
import { makeWebPushEncryption } from '../../server/src/providers/webpush/encryption-pool.ts';
import { makeClock } from '../../server/src/clock.ts';
import type { WebPushCredential } from '../../server/src/domain/providers/webpush.ts';
import { makeLog } from '../../server/src/log.ts';
import { tellComparison } from './comparison.ts';
import { requirePeer } from './install-peers.ts';
import { median } from './median.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'web-push'),
  options: {
    messages: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '5' },
  },
});
const count = Number(values.messages);
const rounds = Number(values.rounds);
const goal = 6;
/** The number that a worker has open for one chunk. */
const atATime = 500;

const makeKeys = (): { p256dh: Buffer; auth: Buffer } => {
  const browser = createECDH('prime256v1');
  return { p256dh: browser.generateKeys(), auth: randomBytes(16) };
};
const browsers = Array.from({ length: 1_000 }, makeKeys);
const endpoint = 'https://push.example/send/0123456789abcdef';
const plain = Buffer.alloc(400, 'x');
const signer = createECDH('prime256v1');
const credential: WebPushCredential = {
  provider: 'webpush',
  simulated: false,
  publicKey: signer.generateKeys().toString('base64url'),
  privateKey: signer.getPrivateKey().toString('base64url').padStart(43, 'A'),
  subject: 'mailto:push@shop.example',
};

type Maker = { make(all: number): Promise<void>; close(): Promise<void> };
type Measured = { rate: number; cpuMicroseconds: number; hereMicroseconds: number };

const makers: Record<string, Maker> = {
  'carillon, one thread': carillon(0),
  [`carillon, ${availableParallelism()} threads`]: carillon(availableParallelism() - 1),
};
makers['web-push'] = webPush();

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
process.stdout.write(`${count} messages of 400 bytes; each in turn, medians of ${rounds} rounds\n\n`);
const all: Record<string, Measured[]> = {};
for (const [name, maker] of Object.entries(makers)) {
  await maker.make(atATime);
  all[name] = [];
}
for (let round = 0; round < rounds; round += 1)
  for (const [name, maker] of Object.entries(makers)) all[name]!.push(await measure(maker));
const write = (...cells: string[]): boolean =>
  process.stdout.write(
    `${cells.map((cell, number) => (number === 0 ? cell.padEnd(24) : cell.padStart(22))).join('')}\n`,
  );
write('', 'messages/s', 'µs of CPU a message', 'of that, this thread');
for (const [name, measured] of Object.entries(all)) {
  const of = (key: keyof Measured): number => median(measured.map((each) => each[key]));
  write(name, String(Math.round(of('rate'))), of('cpuMicroseconds').toFixed(0), of('hereMicroseconds').toFixed(0));
}
const agreements = /ecdh \(nistp256\)\s+\S+\s+([\d.]+)/.exec(
  String(spawnSync('openssl', ['speed', '-seconds', '1', 'ecdhp256']).stdout),
);
if (agreements) write('OpenSSL, agreements', '', (1e6 / Number(agreements[1])).toFixed(0));
const cpuOf = (name: string): number => median(all[name]!.map(({ cpuMicroseconds }) => cpuMicroseconds));
const [cpu, peerCpu] = [cpuOf('carillon, one thread'), cpuOf('web-push')];
tellComparison({
  ...{ budget: 'P2', work: 'making a Web Push request of 400 bytes, by processor time', goal: `≥ ${goal} ×` },
  ...{ ours: `${cpu.toFixed(0)} µs`, peer: `web-push ${peerCpu.toFixed(0)} µs` },
  ...{ ratio: peerCpu / cpu, isMet: peerCpu / cpu >= goal },
});
for (const maker of Object.values(makers)) await maker.close();

async function measure(maker: Maker): Promise<Measured> {
  const [startedAt, usage, here] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()];
  await maker.make(count);
  const used = process.cpuUsage(usage);
  const usedHere = process.threadCpuUsage(here);
  return {
    rate: count / ((performance.now() - startedAt) / 1000),
    cpuMicroseconds: (used.user + used.system) / count,
    hereMicroseconds: (usedHere.user + usedHere.system) / count,
  };
}

function carillon(threads: number): Maker {
  const encryption = makeWebPushEncryption({ log: makeLog({ level: 'error', pretty: false }), threads });
  const authorizations = makeVapidAuthorizations({ clock: makeClock() });
  return {
    async make(messages) {
      let left = messages;
      const sender = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const keys = browsers[left % browsers.length]!;
          await encryption.encrypt({ plain, keys });
          authorizations.get(credential, new URL(endpoint).origin);
        }
      };
      await Promise.all(Array.from({ length: atATime }, sender));
    },
    close: () => encryption.close(),
  };
}

/** Makes a request with `web-push`: the same two steps. */
function webPush(): Maker {
  const { generateRequestDetails } = requirePeer('web-push') as {
    generateRequestDetails(subscription: object, payload: Buffer, options: object): object;
  };
  const options = { vapidDetails: credential, TTL: 60, contentEncoding: 'aes128gcm' };
  const subscriptions = browsers.map(({ p256dh, auth }) => ({
    endpoint,
    keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') },
  }));
  return {
    async make(messages) {
      for (let number = 0; number < messages; number += 1)
        generateRequestDetails(subscriptions[number % subscriptions.length]!, plain, options);
    },
    close: async () => {},
  };
}
