import { availableParallelism } from 'node:os';
import type { Platform } from '../../../server/src/domain/content/content.ts';
import { median } from '../median.ts';
import type { RecordedRun, RunFigures } from './cluster-values.ts';
import { byPlatform } from './scenario.ts';
import type { SmallRun, SmallRuns } from './small-runs.ts';

const rounds = 3;
const all: readonly Platform[] = ['ANDROID', 'IOS', 'WEB'];

/** Campaigns that are not used for the values: other numbers of workers, devices and chunks, and mixed platforms. */
export function validationRuns(): SmallRun[] {
  const usual = { parallelChunks: 4, windowDevices: 250 };
  return [
    { workers: 1, devices: 40_000, platforms: ['ANDROID'], ...usual },
    { workers: 2, devices: 40_000, platforms: ['ANDROID'], ...usual },
    { workers: 1, devices: 30_000, platforms: all, ...usual },
    { workers: 2, devices: 30_000, platforms: all, ...usual },
    { workers: 1, devices: 20_000, platforms: ['IOS'], parallelChunks: 2, windowDevices: 100 },
  ];
}

/** Sends each campaign several times, and records the median of each figure. */
export async function recordRuns(runs: SmallRuns, wanted: readonly SmallRun[]): Promise<RecordedRun[]> {
  const recorded: RecordedRun[] = [];
  for (const run of wanted) recorded.push(await recordRun(runs, run));
  return recorded;
}

async function recordRun(runs: SmallRuns, run: SmallRun): Promise<RecordedRun> {
  const measured = (await runs.send(run, rounds)).map((round): RunFigures => ({
    seconds: round.seconds,
    workerCpuSeconds: round.workerThreadSeconds + round.workerOtherSeconds,
    databaseCpuSeconds: round.databaseSeconds,
    walBytes: round.walBytes,
    statements: round.statements,
  }));
  const { workers, devices, platforms, parallelChunks, windowDevices } = run;
  const middle = (figure: keyof RunFigures): number =>
    Number(median(measured.map((round) => round[figure])).toPrecision(4));
  return {
    name: `${workers} ${workers === 1 ? 'worker' : 'workers'}, ${devices} devices (${platforms.join(', ')}), ${parallelChunks} chunks, windows of ${windowDevices}`,
    ...{ workers, devices, parallelChunks, windowDevices },
    shares: byPlatform((platform) => (platforms.includes(platform) ? 1 / platforms.length : 0)),
    cores: availableParallelism(),
    measured: {
      seconds: middle('seconds'),
      workerCpuSeconds: middle('workerCpuSeconds'),
      databaseCpuSeconds: middle('databaseCpuSeconds'),
      walBytes: middle('walBytes'),
      statements: middle('statements'),
    },
  };
}
