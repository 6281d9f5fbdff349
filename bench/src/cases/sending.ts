import { createServer } from 'node:http2';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Platform } from '../../../server/src/domain/content/content.ts';
import { parseFrequencyCaps } from '../../../server/src/domain/workspace-controls.ts';
import { readPeakMegabytes, readProcessSeconds } from '../../../server/test/rig/processor-time.ts';
import { inTurn, median, quantile } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { insertDevices, partsOf, profilingEnvironment, pushedUsers, startInstallation } from '../kit/installation.ts';
import type { Installation } from '../kit/installation.ts';
import { startNghttpd } from '../kit/nghttpd.ts';
import type { Listener } from '../kit/nghttpd.ts';
import { runScript, processPath } from '../kit/peers.ts';
import { presentShares, watchProcessor } from '../kit/processor-shares.ts';

const goals = { times: 3, cpuMicroseconds: 25, megabytes: 300, idleMedian: 15, idleP99: 60, busyP99: 250 };

type Sent = { rate: number; cpuMicroseconds: number };
type EndToEnd = { installation: Installation; listener: Listener; certificate: string };

/** One worker sends to nghttpd over TLS; node-apn sends as many messages to the same server. */
export const endToEndCase: Case<'end-to-end', EndToEnd> = {
  async prepare(bench) {
    const { devices, window: windowDevices, chunks: parallelChunks, profile } = bench.options;
    const server = await startNghttpd(bench);
    const listener = await server.listen('secure');
    const certificate = join(server.folder, 'cert.pem');
    const installation = await startInstallation(bench, { devices, windowDevices, parallelChunks });
    await insertDevices(installation, { devices, platforms: ['IOS'], users: 'without' });
    await serveAddresses(installation, join(server.folder, 'files', '3', 'device'));
    const endpoints = { ...installation.collector.endpoints, apns: listener.origin };
    await installation.startWorker(endpoints, { NODE_EXTRA_CA_CERTS: certificate, ...profilingEnvironment(profile) });
    return { installation, listener, certificate };
  },

  async run(bench, { installation, listener, certificate }) {
    const { devices, rounds, profile } = bench.options;
    const worker = installation.workers[0]!;
    const pid = worker.process.pid!;
    const parts = [
      ...partsOf(installation, { worker: () => pid }),
      { name: 'nghttpd', readSeconds: () => listener.readSeconds() },
    ];
    const send = async (round: number): Promise<Sent> => {
      const [begun, endWatch] = [performance.now(), await watchProcessor(parts)];
      await sendToAll(installation, `Bench end to end ${round}`);
      const rate = devices / ((performance.now() - begun) / 1000);
      const shares = await endWatch(devices);
      bench.say(`round ${round}: ${Math.round(rate)}/s, ${presentShares(shares)}`);
      return { rate, cpuMicroseconds: shares.microseconds.worker! };
    };
    // Warms up.
    await send(0);
    const { ours, theirs } = await inTurn(rounds, {
      ours: send,
      theirs: async () => {
        const words = [processPath('transport-client.ts'), 'node-apn', listener.origin, String(devices)];
        const peer = (await runScript(words, { NODE_EXTRA_CA_CERTS: certificate })) as Sent;
        bench.say(`node-apn ${Math.round(peer.rate)}/s, ${peer.cpuMicroseconds.toFixed(1)} µs`);
        return peer;
      },
    });
    const [rate, peerRate] = [ours, theirs].map((all) => median(all.map((one) => one.rate))) as [number, number];
    const microseconds = median(ours.map(({ cpuMicroseconds }) => cpuMicroseconds));
    const megabytes = await readPeakMegabytes(pid);
    // The profile is written when the process exits normally.
    if (profile !== undefined) await installation.endWorker(worker, 'SIGTERM');
    const work = `${devices} devices end to end, IOS, TLS to nghttpd, ledger durable`;
    bench.compare({
      ...{ work, ours: `${Math.round(rate)}/s`, peer: `node-apn with no ledger ${Math.round(peerRate)}/s` },
      ...{ ratio: rate / peerRate, goal: `≥ ${goals.times} ×`, isMet: rate / peerRate >= goals.times },
    });
    bench.compare({
      ...{ work: `${work}: processor time of the worker`, ours: `${microseconds.toFixed(1)} µs a device` },
      ...{ goal: `≤ ${goals.cpuMicroseconds} µs`, isMet: microseconds <= goals.cpuMicroseconds },
    });
    bench.compare({
      ...{ work: `${work}: memory of the worker`, ours: `${megabytes} MB at most` },
      ...{ goal: `< ${goals.megabytes} MB`, isMet: megabytes < goals.megabytes },
    });
  },
};

/** Creates a file per address, because nghttpd responds with 200 only to paths with a file. */
async function serveAddresses({ database }: Installation, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const addresses = await database<{ pushId: string }[]>`select push_id as "pushId" from devices`;
  for (let from = 0; from < addresses.length; from += 1_000)
    await Promise.all(addresses.slice(from, from + 1_000).map(({ pushId }) => writeFile(join(folder, pushId), '')));
}

/** Sends a campaign to everybody, or one whose messages have their users' names. @returns its id and accepted devices */
async function sendToAll(
  installation: Installation,
  campaignName: string,
  payload?: object,
): Promise<{ campaignId: string; accepted: number }> {
  const campaignId = await (payload === undefined
    ? installation.pushToAll(campaignName)
    : pushPayload(installation, { campaignName, payload }));
  const run = await installation.waitForRunEnd(campaignId);
  const [ledger] = await installation.database<{ rows: number }[]>`
    select count(*) as rows from readable_deliveries where campaign_id = ${campaignId} and outcome = 'ACCEPTED'`;
  if (run.status !== 'SENT' || ledger!.rows !== installation.devices)
    throw new Error(`${run.status}: ${ledger!.rows} of ${installation.devices} accepted in the ledger`);
  return { campaignId, accepted: ledger!.rows };
}

async function pushPayload(
  installation: Installation,
  { campaignName, payload }: { campaignName: string; payload: object },
): Promise<string> {
  const answer = await installation.push({ campaignName, targetAudience: 'All Users', payload });
  if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
  return answer.cid;
}

const personalText = {
  title: "Hello {{ UserAttribute['First Name'] }}",
  message: '{{ UserAttribute.points }} points for you',
};
const personalPayload = {
  ANDROID: personalText,
  IOS: personalText,
  WEB: { ...personalText, redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' },
};

/** One worker sends to the simulated providers of another process, mix by mix. */
export const fanoutCase: Case<'fanout', undefined> = {
  prepare: () => undefined,
  async run(bench) {
    for (const mix of bench.options.mixes.split(',')) await bench.inPart((part) => sendMix(part, mix));
  },
};

async function sendMix(bench: Bench<'fanout'>, mix: string): Promise<void> {
  const { devices, rounds, window: windowDevices, chunks: parallelChunks, personal, caps, profile } = bench.options;
  const platforms: Platform[] = mix === 'ALL' ? ['ANDROID', 'IOS', 'WEB'] : [mix as Platform];
  const say = (text: string): void => bench.say(`${mix.padEnd(8)} ${text}`);
  const installation = await startInstallation(bench, { devices, windowDevices, parallelChunks });
  await insertDevices(installation, { devices, platforms, users: personal ? 'with' : 'without' });
  if (caps !== undefined) await setCaps(installation, caps);
  const worker = await installation.startWorker(undefined, profilingEnvironment(profile));
  const readCpu = (): Promise<number> => readProcessSeconds(worker.process.pid!);
  const rates: number[] = [];
  const [cpuBefore, logBefore] = [await readCpu(), await logPosition(installation)];
  for (let round = 1; round <= rounds; round += 1) {
    const [begun, cpu] = [performance.now(), await readCpu()];
    const name = `Bench ${mix} ${round}`;
    const { campaignId, accepted } = await sendToAll(installation, name, personal ? personalPayload : undefined);
    const seconds = (performance.now() - begun) / 1000;
    await installation.collector.settle();
    const received = installation.collector.of(campaignId).size;
    if (received !== accepted) throw new Error(`${received} devices reached, ${accepted} accepted in the ledger`);
    rates.push(received / seconds);
    const microseconds = (((await readCpu()) - cpu) / received) * 1e6;
    say(
      `round ${round}: ${received} devices in ${seconds.toFixed(2)} s, ${Math.round(received / seconds)}/s, ${microseconds.toFixed(1)} µs of CPU a device`,
    );
  }
  const ofDevice = (all: number): number => all / (devices * rounds);
  const microseconds = Math.round(ofDevice((await readCpu()) - cpuBefore) * 1e6);
  const megabytes = await readPeakMegabytes(worker.process.pid!);
  say(`median ${Math.round(median(rates))}/s, worker ${microseconds} µs of CPU a device and at most ${megabytes} MB`);
  const logged = Math.round(ofDevice((await logPosition(installation)) - logBefore));
  say(`a row of the ledger: ${await rowBytes(installation)} bytes on disk, ${logged} of log`);
  // Written when the process exits normally.
  if (profile !== undefined) await installation.endWorker(worker, 'SIGTERM');
}

/** Sets quiet hours that end long before a run could reach them, in each user's time zone. */
async function setCaps({ database }: Installation, text: string): Promise<void> {
  const caps = parseFrequencyCaps(text);
  if (!caps) throw new Error(`no frequency caps: ${text}`);
  const minute = new Date((await database`select clock_timestamp() - interval '2 hours' as at`)[0]!.at as Date);
  const [from, to] = [minute, new Date(minute.getTime() + 60_000)].map((at) => at.toISOString().slice(11, 16));
  await database`
    update workspaces set cap_messages = ${caps.map(({ messages }) => messages)},
      cap_hours = ${caps.map(({ hours }) => hours)}, quiet_from = ${from!}, quiet_to = ${to!}`;
}

/** Returns the bytes that the database has written to its log so far. */
async function logPosition({ database }: Installation): Promise<number> {
  const [row] = await database<{ bytes: string }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`;
  return Number(row!.bytes);
}

/** Returns the bytes per row over all days, for table and indexes. */
async function rowBytes({ database }: Installation): Promise<number> {
  const [row] = await database<{ bytes: string; rows: number }[]>`
    select sum(pg_relation_size(part) + pg_indexes_size(part)) as bytes, (select count(*) from deliveries) as rows
    from pg_inherits, lateral (select inhrelid::regclass as part) as partition
    where inhparent = 'deliveries'::regclass`;
  return Math.round(Number(row!.bytes) / row!.rows);
}

/** The arrival of each message at the provider, by the number at the end of its text. */
type Latency = { installation: Installation; arrivals: ReadonlyMap<string, number> };

/** Pushes to one user each, one after the other. The provider is a plain HTTP/2 server in this process. */
export const latencyCase: Case<'latency', Latency> = {
  async prepare(bench) {
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
    bench.defer(() => provider.close());
    const bundle = { devices: pushedUsers, windowDevices: 500, parallelChunks: 8 };
    const installation = await startInstallation(bench, bundle);
    await installation.importDevices();
    const { devices } = bench.options;
    await insertDevices(installation, {
      devices,
      platforms: ['IOS'],
      users: 'without',
      beside: 'those that are there',
    });
    const apns = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    await installation.startWorker({ ...installation.collector.endpoints, apns });
    return { installation, arrivals };
  },

  async run(bench, subject) {
    const { pushes, devices, pause } = bench.options;
    await pushEach(subject, { name: 'warm', count: 100, pause });
    const idle = await pushEach(subject, { name: 'idle', count: pushes, pause });
    tellWaits(bench, { when: 'idle', waits: idle, goalMedian: goals.idleMedian, goalP99: goals.idleP99 });
    const campaignId = await subject.installation.pushToAll('Bench: everybody at the same time');
    const isSending = async (): Promise<boolean> => {
      const [run] = await subject.installation.database`
        select 1 from runs where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING')`;
      return run !== undefined;
    };
    const busy: number[] = [];
    for (let round = 0; await isSending(); round += 1)
      busy.push(...(await pushEach(subject, { name: `busy${round}`, count: 20, pause })));
    tellWaits(bench, { when: `under a campaign to ${devices}`, waits: busy, goalP99: goals.busyP99 });
  },
};

/** @returns for each push the milliseconds from its response to its request; negative if the request arrived first */
async function pushEach(
  { installation, arrivals }: Latency,
  { name, count, pause }: { name: string; count: number; pause: number },
): Promise<number[]> {
  const answeredAt = new Map<string, number>();
  for (let number = 0; number < count; number += 1) {
    const push = `${name} ${number}`;
    // Every third user has an iPhone.
    const attributeValue = `demo-user-${(number % Math.floor(pushedUsers / 3)) * 3 + 1}`;
    const answer = await installation.push({
      ...{ campaignName: `Bench: ${push}`, targetAudience: 'User', targetPlatform: ['IOS'] },
      targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
      payload: { IOS: { title: 'Hello', message: `Push ${push}.` } },
    });
    if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
    answeredAt.set(push, performance.now());
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  const pushes = [...answeredAt.keys()];
  await installation.waitFor(`the messages of ${name}`, () => pushes.every((push) => arrivals.has(push)) || undefined);
  return [...answeredAt].map(([push, at]) => arrivals.get(push)! - at);
}

type Waits = { when: string; waits: readonly number[]; goalMedian?: number; goalP99: number };

function tellWaits(
  bench: Bench<'latency'>,
  { when, waits, goalMedian = Number.POSITIVE_INFINITY, goalP99 }: Waits,
): void {
  const [p50, p99] = [quantile(waits, 0.5), quantile(waits, 0.99)];
  bench.compare({
    work: `accepted to the provider, ${when} (${waits.length} pushes)`,
    ours: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    goal: `${Number.isFinite(goalMedian) ? `p50 < ${goalMedian} ms, ` : ''}p99 < ${goalP99} ms`,
    isMet: p99 < goalP99 && p50 < goalMedian,
  });
}
