import { spawnSync } from 'node:child_process';
import { createECDH, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { makeClock } from '../../../server/src/clock.ts';
import type { WebPushCredential } from '../../../server/src/domain/providers/webpush.ts';
import { makeLog } from '../../../server/src/log.ts';
import { makeWebPushEncryption } from '../../../server/src/providers/webpush/encryption-pool.ts';
import { makeVapidAuthorizations } from '../../../server/src/providers/webpush/vapid.ts';
import { inTurn, median } from '../kit/bench.ts';
import type { Case } from '../kit/bench.ts';
import { requirePeer } from '../kit/peers.ts';

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

/** By processor time, which does not change when others use the machine too. */
export const webPushCase: Case<'web-push', Record<string, Maker>> = {
  async prepare(bench) {
    const threads = availableParallelism();
    const makers = {
      'carillon, one thread': ours(0),
      [`carillon, ${threads} threads`]: ours(threads - 1),
      'web-push': peer(),
    };
    for (const maker of Object.values(makers)) {
      bench.defer(() => maker.close());
      await maker.make(atATime);
    }
    return makers;
  },

  async run(bench, makers) {
    const { messages, rounds } = bench.options;
    bench.say(`${messages} messages of 400 bytes; each in turn, medians of ${rounds} rounds\n`);
    const contenders = Object.entries(makers).map(([name, maker]) => [name, () => measure(maker, messages)] as const);
    const all: Record<string, Measured[]> = await inTurn(rounds, Object.fromEntries(contenders));
    const row = (first: string, ...cells: string[]): void =>
      bench.say(`${first.padEnd(24)}${cells.map((cell) => cell.padStart(22)).join('')}`);
    row('', 'messages/s', 'µs of CPU a message', 'of that, this thread');
    const of = (name: string, key: keyof Measured): number => median(all[name]!.map((each) => each[key]));
    for (const name of Object.keys(all)) {
      const here = of(name, 'hereMicroseconds').toFixed(0);
      row(name, String(Math.round(of(name, 'rate'))), of(name, 'cpuMicroseconds').toFixed(0), here);
    }
    const printed = String(spawnSync('openssl', ['speed', '-seconds', '1', 'ecdhp256']).stdout);
    const agreements = /ecdh \(nistp256\)\s+\S+\s+([\d.]+)/.exec(printed);
    if (agreements) row('OpenSSL, agreements', '', (1e6 / Number(agreements[1])).toFixed(0));
    const [cpu, peerCpu] = [of('carillon, one thread', 'cpuMicroseconds'), of('web-push', 'cpuMicroseconds')];
    bench.compare({
      ...{ work: 'making a Web Push request of 400 bytes, by processor time', goal: `≥ ${goal} ×` },
      ...{ ours: `${cpu.toFixed(0)} µs`, peer: `web-push ${peerCpu.toFixed(0)} µs` },
      ...{ ratio: peerCpu / cpu, isMet: peerCpu / cpu >= goal },
    });
  },
};

async function measure(maker: Maker, messages: number): Promise<Measured> {
  const [startedAt, usage, here] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()];
  await maker.make(messages);
  const used = process.cpuUsage(usage);
  const usedHere = process.threadCpuUsage(here);
  return {
    rate: messages / ((performance.now() - startedAt) / 1000),
    cpuMicroseconds: (used.user + used.system) / messages,
    hereMicroseconds: (usedHere.user + usedHere.system) / messages,
  };
}

function ours(threads: number): Maker {
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
function peer(): Maker {
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
