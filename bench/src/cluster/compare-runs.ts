import type { ClusterValues, RecordedRun, RunFigures } from './cluster-values.ts';
import { weigh } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { simulateCampaign } from './simulate-campaign.ts';

/** One figure of a run, measured and simulated. */
export type Comparison = {
  run: string;
  figure: keyof RunFigures;
  measured: number;
  predicted: number;
  /** 0.1 means that the prediction is a tenth too high. */
  error: number;
  isClose: boolean;
};

/** The maximum error of a prediction. */
export const maxError = 0.2;

/** Returns the predicted figures of a run on one machine, with the simulators of the sandbox. Pure. */
export function predictRun(run: Omit<RecordedRun, 'measured' | 'name'>, values: ClusterValues): RunFigures {
  const result = simulateCampaign(scenarioOf(run), onOneMachine(values));
  const [database] = result.database.servers;
  return {
    seconds: result.seconds,
    workerCpuSeconds:
      result.workerCpuSeconds + (run.devices * weigh(run.shares, values.helperMicrosecondsPerDevice)) / 1e6,
    databaseCpuSeconds: database!.cpuSeconds,
    walBytes: database!.walBytes,
    statements: result.database.statements,
  };
}

/** Pure. */
export function compareRuns(runs: readonly RecordedRun[], values: ClusterValues): Comparison[] {
  return runs.flatMap((run) => {
    const predicted = predictRun(run, values);
    return (Object.keys(run.measured) as (keyof RunFigures)[]).map((figure) => {
      const measured = run.measured[figure]!;
      const error = predicted[figure] / measured - 1;
      const isClose = Math.abs(error) <= maxError;
      return { run: run.name, figure, measured, predicted: predicted[figure], error, isClose };
    });
  });
}

function scenarioOf(run: Omit<RecordedRun, 'measured' | 'name'>): Scenario {
  return {
    devices: run.devices,
    shares: run.shares,
    seed: 1,
    nodes: run.workers,
    nodeCores: run.cores,
    parallelChunks: run.parallelChunks,
    windowDevices: run.windowDevices,
    database: { kind: 'single', cores: run.cores },
    apiNodes: 1,
    connectionsPerNode: 20,
    maxConnections: 100,
    providers: 'simulated',
    sharedHostCores: run.cores,
    crashes: 0,
    restartSeconds: 0,
    goneShare: 0,
    retryShare: 0,
    perMinute: {},
  };
}

/** Reduces the round trip: processes on one machine use a system call and no network. */
export function onOneMachine(values: ClusterValues): ClusterValues {
  return { ...values, roundTripMilliseconds: values.roundTripMilliseconds / 10 };
}
