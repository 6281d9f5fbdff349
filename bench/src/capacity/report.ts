import { judgeConnectionBudget } from '../../../server/src/domain/operations/connection-budget.ts';
import type { ConnectionBudget } from '../../../server/src/domain/operations/connection-budget.ts';
import { countConnections } from '../../../server/src/start/node/engine.ts';
import type { Scenario } from './demands.ts';
import { planCampaign } from './law.ts';
import type { Bottleneck, Plan, Use } from './law.ts';
import type { ClusterValues, RecordedRun, RunFigures } from './values.ts';

const bars = 40;

/** Returns the report of one plan. */
export function presentReport(plan: Plan): string {
  const { scenario, seconds, tail } = plan;
  const connections = clusterConnections(scenario);
  const lines = [
    `${grouped(scenario.devices)} devices end after ${duration(seconds)}: ${grouped(scenario.devices / seconds)}/s`,
    `bottleneck: ${presentBottleneck(plan.bottleneck)}`,
    '',
    'used while all slots work:',
    ...plan.uses.map(presentUse),
    '',
    `a window takes ${Math.round(plan.windowMilliseconds)} ms without a quota, ${Math.round(plan.responseMilliseconds)} of them until its slowest response`,
    `tried again: ${grouped(plan.retriedDevices)} devices, those included that wait for a quota`,
    '',
    'database, on average:',
    ...plan.servers.map(
      ({ name, walBytes, cpuSeconds }) =>
        `  ${name.padEnd(22)} ${(walBytes / 1e6 / seconds).toFixed(1).padStart(6)} MB/s of WAL  ` +
        `${(cpuSeconds / seconds).toFixed(2).padStart(6)} cores busy`,
    ),
    `  ${grouped(plan.statements / seconds)} statements/s, ${presentBytes(walOf(plan))} of WAL in all`,
    `  connections that may be opened: ${connections.mayOpen}, of ${connections.available} that there are`,
    ...(connections.finding ? [`  ${connections.finding.what} ${connections.finding.todo}`] : []),
    '',
    `before the end: no chunk is left to claim for ${duration(tail.lastClaimSeconds)}, and only retries for ${duration(tail.lastChunkSeconds)}`,
  ];
  return `${lines.join('\n')}\n`;
}

const columns: Record<string, (plan: Plan) => string> = {
  Devices: ({ scenario }) => grouped(scenario.devices),
  Workers: ({ scenario }) => grouped(scenario.nodes),
  'Ends after': ({ seconds }) => duration(seconds),
  'Devices/s': ({ scenario, seconds }) => grouped(scenario.devices / seconds),
  Bottleneck: ({ bottleneck }) => presentBottleneck(bottleneck),
  'Statements/s': ({ statements, seconds }) => grouped(statements / seconds),
  'WAL MB/s': (plan) => (walOf(plan) / 1e6 / plan.seconds).toFixed(1),
  'Coordinator or database, cores': ({ servers, seconds }) => (servers[0]!.cpuSeconds / seconds).toFixed(2),
  'Each database worker, cores': ({ servers, seconds }) =>
    servers[1] ? (servers[1].cpuSeconds / seconds).toFixed(2) : '–',
  'No chunk to claim at the end': ({ tail }) => duration(tail.lastClaimSeconds),
  'Only retries at the end': ({ tail }) => duration(tail.lastChunkSeconds),
};

/** Returns a Markdown table with one row per plan. */
export function presentTable(plans: readonly Plan[]): string {
  const rows = plans.map((plan) => Object.values(columns).map((present) => present(plan)));
  const head = Object.keys(columns);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}

/** A table of docs/capacity.md is between two marks; the first contains the words of its command. */
const marked = /<!-- planned: ([^\n]+) -->\n[^]*?<!-- planned end -->/g;

/** Returns the page with its tables generated again. Pure. */
export function documentTables(page: string, present: (words: string[]) => string): string {
  return page.replace(marked, (_table, command: string) => {
    const table = present(command.split(' ')).trimEnd();
    const shown = ['```sh', `npm run capacity -- ${command}`, '```', '', table].join('\n');
    return `<!-- planned: ${command} -->\n\n${shown}\n\n<!-- planned end -->`;
  });
}

/** PostgreSQL's default (superuser_reserved_connections). */
const reserved = 3;

/** Returns the connections that all nodes together may open, calculated as in the overview of a real cluster. Pure. */
export function clusterConnections(scenario: Scenario): ConnectionBudget {
  const { nodes, apiNodes, connectionsPerNode, maxConnections } = scenario;
  const many = (role: 'worker' | 'api', count: number): { connections: number }[] =>
    Array.from({ length: count }, () => ({
      connections: countConnections({ role, databaseConnections: connectionsPerNode, databasePooler: 'none' }),
    }));
  return judgeConnectionBudget({
    nodes: [...many('worker', nodes), ...many('api', apiNodes)],
    limit: { maxConnections, reserved, ofRole: null, ofDatabase: null },
  });
}

function presentBottleneck({ name, share, cause }: Bottleneck): string {
  if (cause === 'saturated') return `${name} (${percent(share)})`;
  if (cause === 'waiting') return `${name}, all open and waiting for responses (${percent(share)})`;
  return `nothing; most used is ${name} (${percent(share)})`;
}

function presentUse({ name, share, remedy }: Use): string {
  const bar = '#'.repeat(Math.min(bars, Math.round(share * bars))).padEnd(bars, '.');
  return `  ${name.padEnd(32)} ${bar} ${percent(share).padStart(6)}${share >= 0.5 ? `  more: ${remedy}` : ''}`;
}

function walOf({ scenario: { database }, servers: [first, each] }: Plan): number {
  return first!.walBytes + (each && database.kind === 'citus' ? each.walBytes * database.workers : 0);
}

function presentBytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

/** Formats a whole number with commas. */
function grouped(number: number): string {
  return Math.round(number).toLocaleString('en');
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(0)} s`;
  if (seconds < 7_200) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

/** One figure of a run, measured and predicted. An `error` of 0.1 means that the prediction is a tenth too high. */
export type FigureComparison = {
  run: string;
  figure: keyof RunFigures;
  measured: number;
  predicted: number;
  error: number;
  isClose: boolean;
};

/** The maximum error of a prediction. */
const maxError = 0.2;

type RunShape = Omit<RecordedRun, 'measured' | 'name'>;

/** Returns the predicted figures of a run on one machine, with the simulators of the sandbox. Pure. */
export function predictRun(run: RunShape, values: ClusterValues): RunFigures {
  const { devices, shares, workers, cores, parallelChunks, windowDevices } = run;
  const plan = planCampaign(
    {
      ...{ devices, shares, parallelChunks, windowDevices, nodes: workers, nodeCores: cores, sharedHostCores: cores },
      ...{ database: { kind: 'single', cores }, apiNodes: 1, connectionsPerNode: 20, maxConnections: 100 },
      ...{ providers: 'simulated', retryShare: 0, perMinute: {} },
    },
    // Processes of one machine use a system call and no network.
    { ...values, roundTripMilliseconds: values.roundTripMilliseconds / 10 },
  );
  const [database] = plan.servers;
  return {
    seconds: plan.seconds,
    workerCpuSeconds: plan.workerCpuSeconds,
    databaseCpuSeconds: database!.cpuSeconds,
    walBytes: database!.walBytes,
    statements: plan.statements,
  };
}

/** Pure. */
export function compareRuns(runs: readonly RecordedRun[], values: ClusterValues): FigureComparison[] {
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

/** Returns a line per figure, and the number of figures that are too far off. */
export function presentComparisons(comparisons: readonly FigureComparison[]): string[] {
  const lines = comparisons.map(({ run, figure, measured, predicted, error, isClose }) => {
    const numbers = [measured, predicted].map((number) => number.toPrecision(4).padStart(10));
    const percent = `${error >= 0 ? '+' : ''}${(error * 100).toFixed(1)} %`;
    return `${run}: ${figure.padEnd(18)} measured ${numbers[0]}  predicted ${numbers[1]}  ${percent.padStart(7)}${isClose ? '' : '  TOO FAR OFF'}`;
  });
  const far = comparisons.filter(({ isClose }) => !isClose).length;
  return [...lines, `${far} of ${comparisons.length} figures are more than ${maxError * 100} % off`];
}
