import type { Platform } from '../../../server/src/domain/content/content.ts';
import type { MeasuredRound, Usage } from './small-runs.ts';

/** A campaign to devices of one platform, by one worker. */
export type CalibrationRun = { platform: Platform; devices: number; rounds: MeasuredRound[] };

/** Usage over this many seconds without a worker, and with one that had nothing to send. */
export type Rest = { nobody: Usage; one: Usage; seconds: number };

/**
 * Returns the costs of a window and of a device: two unknowns from two runs, one with large windows and one with small ones,
 * after subtracting the machine's idle usage. Pure.
 */
export function fitCosts({
  large,
  small,
  rest,
}: {
  large: readonly CalibrationRun[];
  small: CalibrationRun;
  rest: Rest;
}): Record<string, number> {
  const busy = (run: CalibrationRun): Used => usedBy(run, rest);
  const ofPlatform = large.find(({ platform }) => platform === small.platform)!;
  const own = busy(ofPlatform);
  const other = busy(small);
  const perWindow = (figure: keyof Usage): number =>
    Math.max(0, (other[figure] - own[figure]) / (other.windows - own.windows));
  const perDevice = (figure: keyof Usage): number =>
    Math.max(0, (own[figure] - perWindow(figure) * own.windows) / own.devices);
  const workerWindow = perWindow('workerThreadSeconds');
  const databaseWindow = perWindow('databaseSeconds');
  const idle = (figure: keyof Usage): number => (rest.one[figure] - rest.nobody[figure]) / rest.seconds;
  // Nothing is subtracted for an idle worker: its jobs poll less often while windows are sent.
  const statements = (meanOf(small, 'statements') - meanOf(ofPlatform, 'statements')) / (other.windows - own.windows);
  const databaseDevice = perDevice('databaseSeconds');
  return {
    workerMicrosecondsPerWindow: workerWindow * 1e6,
    ...Object.fromEntries(
      large.flatMap((run) => {
        const used = busy(run);
        const ofDevice = (name: string, seconds: number): [string, number] => [
          `${name}MicrosecondsPerDevice.${run.platform}`,
          (Math.max(0, seconds) / used.devices) * 1e6,
        ];
        return [
          ofDevice('worker', used.workerThreadSeconds - workerWindow * used.windows),
          ofDevice('helper', used.workerOtherSeconds),
          ofDevice('database', used.databaseSeconds - databaseWindow * used.windows),
          ofDevice('simulator', used.simulatorSeconds),
        ];
      }),
    ),
    workerIdleMillisecondsPerSecond: Math.max(0, idle('workerThreadSeconds')) * 1000,
    databaseMicrosecondsPerWindow: databaseWindow * 1e6,
    pageShare: own.pageMilliseconds / own.statementMilliseconds,
    walBytesPerDevice: perDevice('walBytes'),
    walBytesPerWindow: perWindow('walBytes'),
    statementsPerWindow: statements,
    statementMicroseconds: (databaseWindow / statements) * 1e6,
    walBytesPerStatement: perWindow('walBytes') / 2,
    idleStatementsPerSecond: Math.max(0, idle('statements')),
    idleDatabaseMillisecondsPerSecond: Math.max(0, idle('databaseSeconds')) * 1000,
    // A row is updated twice instead of inserted once.
    retryMicrosecondsPerDevice: databaseDevice * 2e6,
    retryWalBytesPerDevice: perDevice('walBytes') * 2,
  };
}

type Used = Usage & { devices: number };

/** Returns the average of one round, minus the usage of an idle machine in that time. */
function usedBy({ devices, rounds }: CalibrationRun, { one, seconds }: Rest): Used {
  const names = Object.keys(one) as (keyof Usage)[];
  const run = { rounds };
  const perRound = meanOf(run, 'seconds');
  const used = Object.fromEntries(
    names.map((name) => [name, meanOf(run, name) - (one[name] / seconds) * perRound]),
  ) as Usage;
  return { ...used, devices };
}

function meanOf({ rounds }: Pick<CalibrationRun, 'rounds'>, figure: keyof MeasuredRound): number {
  return rounds.reduce((sum, round) => sum + round[figure], 0) / rounds.length;
}
