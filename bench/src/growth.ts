/**
 * Measures growth (budget P9): whether a device and a line of a file cost the same among ten thousand as among millions. Runs
 * the fan-out as in `fanout`, with a store of each size, and file segments as in `segment`, with a file of each size. If a
 * store has more devices than a sample, the run is stopped after that many devices: the cost of a device is clear by then.
 *
 * Usage: npm run bench -- growth [--devices 10000,100000,1000000] [--lines 10000,100000,1000000,10000000] [--sample 1000000]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import type { TortureBundle } from '../../server/test/rig/installation.ts';
import { readPeakMegabytes, readProcessSeconds, readServerSeconds } from '../../server/test/rig/processor-time.ts';
import { tellComparison } from './comparison.ts';
import { insertDevices } from './insert-devices.ts';
import { median } from './median.ts';
import { watchProcessor } from './processor-shares.ts';
import type { ProcessorPart } from './processor-shares.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'growth'),
  options: {
    devices: { type: 'string', default: '10000,100000,1000000' },
    lines: { type: 'string', default: '10000,100000,1000000,10000000' },
    sample: { type: 'string', default: '1000000' },
  },
});
const sizesOf = (text: string): number[] => (text === '' ? [] : text.split(',').map(Number));
const sample = Number(values.sample);
const goals = { apart: 0.25, megabytes: 300 };
/** Each size is measured over at least this many devices, with as many campaigns as needed. */
const measuredDevices = 200_000;

type Grown = { size: number; microseconds: number };

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const ofDevices: (Grown & { megabytes: number })[] = [];
for (const size of sizesOf(values.devices)) ofDevices.push(await sendAmong(size));
if (ofDevices.length > 0) {
  tellGrowth('a device of a campaign: worker and database', ofDevices);
  const megabytes = Math.max(...ofDevices.map((one) => one.megabytes));
  tellComparison({
    ...{ budget: 'P9', work: `memory of the worker among ${nameSize(ofDevices.at(-1)!.size)} devices`, peer: '–' },
    ...{ ours: `${megabytes} MB at most`, ratio: null, goal: `< ${goals.megabytes} MB` },
    isMet: megabytes < goals.megabytes,
  });
}
const ofLines: Grown[] = [];
for (const size of sizesOf(values.lines)) ofLines.push(await fillWith(size));
if (ofLines.length > 0) tellGrowth('a line of a file segment', ofLines);

/** Measures the processor time of worker and database per device, and the worker's memory. */
async function sendAmong(size: number): Promise<Grown & { megabytes: number }> {
  const bundle = await makeTortureBundle({ seed: 1, devices: size, rounds: 0, windowDevices: 500, parallelChunks: 8 });
  try {
    await insertDevices(bundle, { devices: size, platforms: ['IOS'], users: 'without' });
    const worker = await bundle.startWorker();
    const pid = worker.process.pid!;
    const watched = Math.min(size, sample);
    // The first campaigns warm up the runtime: code is loaded, run slowly, and compiled.
    for (let sent = 0; size < measuredDevices && sent < measuredDevices; sent += size)
      await sendTo(bundle, `Warm ${sent}`);
    const parts = [
      { name: 'worker', readSeconds: () => readProcessSeconds(pid) },
      { name: 'database', readSeconds: () => readServerSeconds(bundle.database) },
    ];
    const { sent, seconds, microseconds } =
      watched < size ? await sendSample(bundle, { watched, parts }) : await sendWhole(bundle, parts);
    const megabytes = await readPeakMegabytes(pid);
    process.stdout.write(
      `${nameSize(size)} devices, ${nameSize(sent)} watched: ${Math.round(sent / seconds)}/s, worker ` +
        `${microseconds.worker!.toFixed(1)} and database ${microseconds.database!.toFixed(1)} µs of CPU a device, ${megabytes} MB\n`,
    );
    return { size, microseconds: microseconds.worker! + microseconds.database!, megabytes };
  } finally {
    await bundle.stop();
  }
}

type Sent = { sent: number; seconds: number; microseconds: Record<string, number> };

/** Sends as many campaigns as the measurement needs. */
async function sendWhole(bundle: TortureBundle, parts: ProcessorPart[]): Promise<Sent> {
  const endWatch = await watchProcessor(parts);
  const begun = performance.now();
  let sent = 0;
  for (; sent < measuredDevices; sent += bundle.devices) await sendTo(bundle, `Growth ${sent}`);
  const seconds = (performance.now() - begun) / 1000;
  return { sent, seconds, microseconds: (await endWatch(sent)).microseconds };
}

/**
 * Sends the beginning of one campaign. Work before its first message, such as counting its audience, is done once for all of
 * its devices, so each watched device gets its share of it.
 */
async function sendSample(
  bundle: TortureBundle,
  { watched, parts }: { watched: number; parts: ProcessorPart[] },
): Promise<Sent> {
  const reachedBefore = bundle.collector.reached();
  const endStart = await watchProcessor(parts);
  await bundle.pushToAll('Growth of a sample');
  await bundle.waitForReached(reachedBefore + 1);
  const start = await endStart(bundle.devices);
  const endRest = await watchProcessor(parts);
  const begun = performance.now();
  await bundle.waitForReached(reachedBefore + watched);
  const seconds = (performance.now() - begun) / 1000;
  const rest = await endRest(watched);
  const names = parts.map(({ name }) => name);
  process.stdout.write(
    `before the first of ${nameSize(bundle.devices)} is reached: ${names.map((name) => `${name} ${start.microseconds[name]!.toFixed(1)}`).join(', ')} µs of CPU a device\n`,
  );
  const sums = names.map((name) => [name, start.microseconds[name]! + rest.microseconds[name]!] as const);
  return { sent: watched, seconds, microseconds: Object.fromEntries(sums) };
}

async function sendTo(bundle: TortureBundle, name: string): Promise<void> {
  const campaignId = await bundle.pushToAll(name);
  const run = await bundle.waitForRunEnd(campaignId);
  await bundle.collector.settle();
  const reached = bundle.collector.of(campaignId).size;
  if (run.status !== 'SENT' || reached !== bundle.devices)
    throw new Error(`${run.status}: ${reached} of ${bundle.devices} devices reached`);
  bundle.collector.forget();
}

/**
 * Measures the time per line of a file. Users are a third of its size and two fifteenths match, like the full size of
 * `segment`. The process has handled small files before, so that lines are compared, not the start of the runtime.
 */
async function fillWith(size: number): Promise<Grown> {
  const words = ['--users', String(Math.round(size / 3)), '--lines', String(size)];
  const more = ['--matching', String(Math.round((size * 2) / 15)), '--rounds', '3', '--warm', '3'];
  const child = spawn(process.execPath, [join(import.meta.dirname, 'segment.ts'), 'segment', ...words, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Its comparison belongs to P6.
    env: { ...process.env, BENCH_COMPARISONS: undefined },
  });
  let printed = '';
  child.stdout.on('data', (piece) => (printed += piece));
  const [code] = (await once(child, 'close')) as [number];
  const seconds = [...printed.matchAll(/carillon ([\d.]+) s/g)].map(([, text]) => Number(text));
  if (code !== 0 || seconds.length === 0) throw new Error(`segment ended with ${code}: ${printed}`);
  const microseconds = (median(seconds) / size) * 1e6;
  process.stdout.write(
    `${nameSize(size)} lines: ${median(seconds).toFixed(2)} s, ${microseconds.toFixed(2)} µs a line\n`,
  );
  return { size, microseconds };
}

/** Compares the most expensive size with the cheapest. The smallest has fixed costs, so it is shown but not compared. */
function tellGrowth(work: string, grown: readonly Grown[]): void {
  const compared = grown.length > 1 ? grown.slice(1) : grown;
  const all = compared.map(({ microseconds }) => microseconds);
  const apart = Math.max(...all) / Math.min(...all) - 1;
  const cells = grown.map(({ size, microseconds }) => `${nameSize(size)}: ${microseconds.toFixed(2)}`);
  tellComparison({
    ...{ budget: 'P9', work, ours: `µs, ${cells.join(', ')}`, peer: '–', ratio: null },
    goal: `from ${nameSize(compared[0]!.size)} on within ${goals.apart * 100} %`,
    isMet: apart <= goals.apart,
  });
}

function nameSize(size: number): string {
  return size.toLocaleString('en');
}
