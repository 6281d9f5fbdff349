/**
 * Measures the time from the response of `sendpush` to the request at the provider (budget P10): pushes to one user each, one
 * after the other on an idle node, and during a campaign to all users. One node of role `api`, one worker, the ledger durable.
 * The provider is a plain HTTP/2 server in this process, which records when a request arrived.
 *
 * Usage: npm run bench -- latency [--pushes 500] [--devices 100000] [--pause 20], the last in milliseconds.
 */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import { tellComparison } from './comparison.ts';
import { insertDevices } from './insert-devices.ts';
import { quantile } from './median.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'latency'),
  options: {
    pushes: { type: 'string', default: '500' },
    devices: { type: 'string', default: '100000' },
    pause: { type: 'string', default: '20' },
  },
});
const [pushes, devices, pauseMilliseconds] = [values.pushes, values.devices, values.pause].map(Number) as [
  number,
  number,
  number,
];
const goals = { idleMedian: 15, idleP99: 60, busyP99: 250 };
const users = 1_000;

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
/** The arrival of each message, by the number at the end of its text. */
const arrivals = new Map<string, number>();
const provider = createServer({ settings: { maxConcurrentStreams: 1_000 } }).on('stream', (stream) => {
  const at = performance.now();
  let text = '';
  stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  stream.on('end', () => {
    const [, push] = /Push (\w+ \d+)\./.exec(text) ?? [];
    if (push !== undefined) arrivals.set(push, at);
    stream.respond({ ':status': 200 }, { endStream: true });
  });
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
const bundle = await makeTortureBundle({ seed: 1, devices: users, rounds: 0, windowDevices: 500, parallelChunks: 8 });
try {
  await bundle.importDevices();
  await insertDevices(bundle, { devices, platforms: ['IOS'], users: 'without', beside: 'those that are there' });
  const apns = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  await bundle.startWorker({ ...bundle.collector.endpoints, apns });
  await pushEach('warm', 100);
  const idle = await pushEach('idle', pushes);
  tell('idle', idle, [goals.idleMedian, goals.idleP99]);
  const campaignId = await bundle.pushToAll('Bench: everybody at the same time');
  const isSending = async (): Promise<boolean> => {
    const [run] = await bundle.database`
      select 1 from runs where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING')`;
    return run !== undefined;
  };
  const busy: number[] = [];
  for (let round = 0; await isSending(); round += 1) busy.push(...(await pushEach(`busy${round}`, 20)));
  tell(`under a campaign to ${devices}`, busy, [undefined, goals.busyP99]);
} finally {
  await bundle.stop();
  provider.close();
}

/**
 * @returns for each push the milliseconds from its response to its request; negative if the request arrived before the response
 */
async function pushEach(name: string, count: number): Promise<number[]> {
  const answeredAt = new Map<string, number>();
  for (let number = 0; number < count; number += 1) {
    const push = `${name} ${number}`;
    const text = { title: 'Hello', message: `Push ${push}.` };
    // Every third user has an iPhone.
    const attributeValue = `demo-user-${(number % Math.floor(users / 3)) * 3 + 1}`;
    const answer = await bundle.push({
      campaignName: `Bench: ${push}`,
      targetAudience: 'User',
      targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
      targetPlatform: ['IOS'],
      payload: { IOS: text },
    });
    if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
    answeredAt.set(push, performance.now());
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
  await bundle.waitFor(`the messages of ${name}`, () =>
    [...answeredAt.keys()].every((push) => arrivals.has(push)) ? true : undefined,
  );
  return [...answeredAt].map(([push, at]) => arrivals.get(push)! - at);
}

function tell(when: string, waits: readonly number[], [goalMedian, goalP99]: [number | undefined, number]): void {
  const [p50, p99] = [quantile(waits, 0.5), quantile(waits, 0.99)];
  tellComparison({
    ...{ budget: 'P10', work: `accepted to the provider, ${when} (${waits.length} pushes)` },
    ...{ ours: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`, peer: '–', ratio: null },
    goal: `${goalMedian === undefined ? '' : `p50 < ${goalMedian} ms, `}p99 < ${goalP99} ms`,
    isMet: p99 < goalP99 && (goalMedian === undefined || p50 < goalMedian),
  });
}
