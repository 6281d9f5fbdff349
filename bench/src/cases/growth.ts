import { readPeakMegabytes } from '../../../server/test/rig/processor-time.ts';
import { median } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { insertDevices, partsOf, startInstallation } from '../kit/installation.ts';
import type { Installation } from '../kit/installation.ts';
import { watchProcessor } from '../kit/processor-shares.ts';
import type { ProcessorPart } from '../kit/processor-shares.ts';
import { fillRepeatedly, prepareFile } from './segment.ts';

const goals = { apart: 0.25, megabytes: 300 };
/** Each size is measured over at least this many devices, with as many campaigns as needed. */
const measuredDevices = 200_000;
const fillRounds = 3;
const warmingFiles = 3;

type Grown = { size: number; microseconds: number };

/** Runs fan-out with a store of each size, and file segments with a file of each size. */
export const growthCase: Case<'growth', undefined> = {
  prepare: () => undefined,

  async run(bench) {
    const sizesOf = (text: string): number[] => (text === '' ? [] : text.split(',').map(Number));
    const ofDevices: (Grown & { megabytes: number })[] = [];
    for (const size of sizesOf(bench.options.devices))
      ofDevices.push(await bench.inPart((part) => sendAmong(part, size)));
    if (ofDevices.length > 0) {
      tellGrowth(bench, { work: 'a device of a campaign: worker and database', grown: ofDevices });
      const megabytes = Math.max(...ofDevices.map((one) => one.megabytes));
      bench.compare({
        work: `memory of the worker among ${nameSize(ofDevices.at(-1)!.size)} devices`,
        ...{ ours: `${megabytes} MB at most`, goal: `< ${goals.megabytes} MB`, isMet: megabytes < goals.megabytes },
      });
    }
    const ofLines: Grown[] = [];
    for (const size of sizesOf(bench.options.lines)) ofLines.push(await bench.inPart((part) => fillWith(part, size)));
    if (ofLines.length > 0) tellGrowth(bench, { work: 'a line of a file segment', grown: ofLines });
  },
};

/** Measures the processor time of worker and database per device, and the worker's memory. */
async function sendAmong(bench: Bench<'growth'>, size: number): Promise<Grown & { megabytes: number }> {
  const bundle = await startInstallation(bench, { devices: size, windowDevices: 500, parallelChunks: 8 });
  await insertDevices(bundle, { devices: size, platforms: ['IOS'], users: 'without' });
  const worker = await bundle.startWorker();
  const pid = worker.process.pid!;
  const watched = Math.min(size, bench.options.sample);
  // The first campaigns warm up the runtime: code is loaded, run slowly, and compiled.
  for (let sent = 0; size < measuredDevices && sent < measuredDevices; sent += size)
    await sendTo(bundle, `Warm ${sent}`);
  const parts = partsOf(bundle, { worker: () => pid });
  const { sent, seconds, microseconds } =
    watched < size ? await sendSample(bench, { bundle, watched, parts }) : await sendWhole(bundle, parts);
  const megabytes = await readPeakMegabytes(pid);
  bench.say(
    `${nameSize(size)} devices, ${nameSize(sent)} watched: ${Math.round(sent / seconds)}/s, worker ` +
      `${microseconds.worker!.toFixed(1)} and database ${microseconds.database!.toFixed(1)} µs of CPU a device, ${megabytes} MB`,
  );
  return { size, microseconds: microseconds.worker! + microseconds.database!, megabytes };
}

type Sent = { sent: number; seconds: number; microseconds: Record<string, number> };

/** Sends as many campaigns as the measurement needs. */
async function sendWhole(bundle: Installation, parts: ProcessorPart[]): Promise<Sent> {
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
  bench: Bench<'growth'>,
  { bundle, watched, parts }: { bundle: Installation; watched: number; parts: ProcessorPart[] },
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
  const before = names.map((name) => `${name} ${start.microseconds[name]!.toFixed(1)}`).join(', ');
  bench.say(`before the first of ${nameSize(bundle.devices)} is reached: ${before} µs of CPU a device`);
  const sums = names.map((name) => [name, start.microseconds[name]! + rest.microseconds[name]!] as const);
  return { sent: watched, seconds, microseconds: Object.fromEntries(sums) };
}

async function sendTo(bundle: Installation, name: string): Promise<void> {
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
async function fillWith(bench: Bench<'growth'>, size: number): Promise<Grown> {
  const sizes = { users: Math.round(size / 3), lines: size, matching: Math.round((size * 2) / 15) };
  const filling = await prepareFile(bench, sizes);
  const seconds = median(await fillRepeatedly({ ...filling, warm: warmingFiles }, fillRounds));
  const microseconds = (seconds / size) * 1e6;
  bench.say(`${nameSize(size)} lines: ${seconds.toFixed(2)} s, ${microseconds.toFixed(2)} µs a line`);
  return { size, microseconds };
}

/** Compares the most expensive size with the cheapest. The smallest has fixed costs, so it is shown but not compared. */
function tellGrowth(bench: Bench<'growth'>, { work, grown }: { work: string; grown: readonly Grown[] }): void {
  const compared = grown.length > 1 ? grown.slice(1) : grown;
  const all = compared.map(({ microseconds }) => microseconds);
  const apart = Math.max(...all) / Math.min(...all) - 1;
  const cells = grown.map(({ size, microseconds }) => `${nameSize(size)}: ${microseconds.toFixed(2)}`);
  const goal = `from ${nameSize(compared[0]!.size)} on within ${goals.apart * 100} %`;
  bench.compare({ work, ours: `µs, ${cells.join(', ')}`, goal, isMet: apart <= goals.apart });
}

function nameSize(size: number): string {
  return size.toLocaleString('en');
}
