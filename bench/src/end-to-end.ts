/**
 * Measures end to end (budget P3): devices in the store, rendered, sent over TLS to `nghttpd`, each outcome in a durable
 * ledger. The peer is @parse/node-apn, which gets the same addresses, renders nothing and stores nothing. One worker process;
 * the two alternate, and results are medians of the rounds, with processor time per device and memory.
 *
 * Usage: npm run bench -- end-to-end [--devices 60000] [--rounds 5] [--window 500] [--chunks 8]
 *        [--profile FOLDER]: writes a CPU profile of the worker there. Needs nghttpd (Debian: nghttp2).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import { readPeakMegabytes, readProcessSeconds, readServerSeconds } from '../../server/test/rig/processor-time.ts';
import { tellComparison } from './comparison.ts';
import { insertDevices } from './insert-devices.ts';
import { median } from './median.ts';
import { presentShares, watchProcessor } from './processor-shares.ts';
import { profilingEnvironment } from './profiling.ts';
import { startNghttpd } from './start-nghttpd.ts';
import { runTransportClient } from './run-transport-client.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'end-to-end'),
  options: {
    devices: { type: 'string', default: '60000' },
    rounds: { type: 'string', default: '5' },
    window: { type: 'string', default: '500' },
    chunks: { type: 'string', default: '8' },
    profile: { type: 'string' },
  },
});
const [devices, rounds, windowDevices, parallelChunks] = [
  values.devices,
  values.rounds,
  values.window,
  values.chunks,
].map(Number) as [number, number, number, number];
const goals = { times: 3, cpuMicroseconds: 25, megabytes: 300 };

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const server = await startNghttpd();
const certificate = join(server.folder, 'cert.pem');
const listener = await server.listen('secure');
const { origin } = listener;
const bundle = await makeTortureBundle({ seed: 1, devices, rounds: 0, windowDevices, parallelChunks });
try {
  await insertDevices(bundle, { devices, platforms: ['IOS'], users: 'without' });
  await serveAddresses();
  const endpoints = { ...bundle.collector.endpoints, apns: origin };
  const worker = await bundle.startWorker(endpoints, {
    NODE_EXTRA_CA_CERTS: certificate,
    ...profilingEnvironment(values.profile),
  });
  const pid = worker.process.pid!;
  const parts = [
    { name: 'worker', readSeconds: () => readProcessSeconds(pid) },
    { name: 'database', readSeconds: () => readServerSeconds(bundle.database) },
    { name: 'nghttpd', readSeconds: () => listener.readSeconds() },
  ];
  const [ours, theirs, cpu]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= rounds; round += 1) {
    const [begun, endWatch] = [performance.now(), await watchProcessor(parts)];
    await sendToAll(round);
    const seconds = (performance.now() - begun) / 1000;
    const shares = await endWatch(devices);
    // The first round warms up both.
    if (round === 0) continue;
    ours.push(devices / seconds);
    cpu.push(shares.microseconds.worker!);
    const peer = await runTransportClient('node-apn', { origin, certificate, requests: devices });
    theirs.push(peer.rate);
    process.stdout.write(
      `round ${round}: ${Math.round(ours.at(-1)!)}/s, ${presentShares(shares)}\n` +
        `node-apn ${Math.round(peer.rate)}/s, ${peer.cpuMicroseconds.toFixed(1)} µs\n`,
    );
  }
  const [rate, peerRate, microseconds] = [median(ours), median(theirs), median(cpu)];
  const megabytes = await readPeakMegabytes(pid);
  // The profile is written when the process exits normally.
  if (values.profile !== undefined) await bundle.endWorker(worker, 'SIGTERM');
  const work = `${devices} devices end to end, IOS, TLS to nghttpd, ledger durable`;
  tellComparison({
    ...{ budget: 'P3', work, ours: `${Math.round(rate)}/s`, peer: `node-apn with no ledger ${Math.round(peerRate)}/s` },
    ...{ ratio: rate / peerRate, goal: `≥ ${goals.times} ×`, isMet: rate / peerRate >= goals.times },
  });
  tellComparison({
    ...{ budget: 'P3', work: `${work}: processor time of the worker`, ours: `${microseconds.toFixed(1)} µs a device` },
    ...{ peer: '–', ratio: null, goal: `≤ ${goals.cpuMicroseconds} µs`, isMet: microseconds <= goals.cpuMicroseconds },
  });
  tellComparison({
    ...{ budget: 'P3', work: `${work}: memory of the worker`, ours: `${megabytes} MB at most`, peer: '–', ratio: null },
    ...{ goal: `< ${goals.megabytes} MB`, isMet: megabytes < goals.megabytes },
  });
} finally {
  await bundle.stop();
  await server.stop();
}

/** Creates a file per address, because nghttpd responds with 200 only to paths with a file. */
async function serveAddresses(): Promise<void> {
  const folder = join(server.folder, 'files', '3', 'device');
  await mkdir(folder, { recursive: true });
  const addresses = await bundle.database<{ pushId: string }[]>`select push_id as "pushId" from devices`;
  for (let from = 0; from < addresses.length; from += 1_000)
    await Promise.all(addresses.slice(from, from + 1_000).map(({ pushId }) => writeFile(join(folder, pushId), '')));
}

async function sendToAll(round: number): Promise<void> {
  const campaignId = await bundle.pushToAll(`Bench end to end ${round}`);
  const run = await bundle.waitForRunEnd(campaignId);
  const [ledger] = await bundle.database`
    select count(*) as rows from readable_deliveries where campaign_id = ${campaignId} and outcome = 'ACCEPTED'`;
  if (run.status !== 'SENT' || ledger!.rows !== devices)
    throw new Error(`${run.status}: ${ledger!.rows} of ${devices} accepted in the ledger`);
}
