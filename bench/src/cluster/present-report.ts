import { findBottleneck } from './find-bottleneck.ts';
import type { Bottleneck } from './find-bottleneck.ts';
import { clusterConnections } from './cluster-connections.ts';
import type { CampaignResult } from './simulate-campaign.ts';
import type { Use } from './watch-use.ts';

const curvePoints = 20;
const bars = 40;

/** Returns the report of one simulation. */
export function presentReport(result: CampaignResult): string {
  const { scenario, ended, database, tail } = result;
  const connections = clusterConnections(scenario);
  const lines = [
    `${grouped(scenario.devices)} devices end after ${duration(result.seconds)}: ${grouped(scenario.devices / result.seconds)}/s`,
    `accepted ${grouped(ended.accepted)}, gone ${grouped(ended.gone)}, failed ${grouped(ended.failed)}; ` +
      `tried again ${grouped(result.retriedDevices)}; every device ended once`,
    '',
    `bottleneck: ${presentBottleneck(findBottleneck(result.uses))}`,
    '',
    'used between a tenth and nine tenths of the devices:',
    ...presentUses(result.uses),
    '',
    'database, on average:',
    ...database.servers.map(
      ({ name, statements, walBytes, cpuSeconds }) =>
        `  ${name.padEnd(22)} ${grouped(statements / result.seconds).padStart(7)} statements/s  ` +
        `${(walBytes / 1e6 / result.seconds).toFixed(1).padStart(6)} MB/s of WAL  ` +
        `${(cpuSeconds / result.seconds).toFixed(2).padStart(6)} cores busy`,
    ),
    `  in all ${grouped(database.transactions)} transactions, ${presentBytes(walOf(result))} of WAL; ` +
      `at most ${database.maxConnectionsHeld} connections at work`,
    `  connections that may be opened: ${connections.mayOpen}, of ${connections.available} that there are`,
    ...(connections.finding ? [`  ${connections.finding.what} ${connections.finding.todo}`] : []),
    '',
    `before the end: no chunk was left to claim for ${duration(tail.lastClaimSeconds)}, and to work for ` +
      `${duration(tail.lastChunkSeconds)}; chunks took ${duration(tail.medianChunkSeconds)} (median) to ${duration(tail.maxChunkSeconds)}`,
    `crashes: ${scenario.crashes}; chunks taken over ${result.takenOver}, windows sent again ${result.repeatedWindows}, ` +
      `requests repeated ${grouped(result.repeatedDevices)}`,
    '',
    'devices stored a second, until each was tried once:',
    ...presentCurve(result.storedPerSecond),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns a Markdown table with one row per simulation. */
export function presentTable(results: readonly CampaignResult[]): string {
  const rows = results.map((result) => {
    const { scenario, seconds, database } = result;
    const [coordinator, ...workers] = database.servers;
    const busiest = workers.reduce((most, { cpuSeconds }) => Math.max(most, cpuSeconds), 0);
    return [
      grouped(scenario.devices),
      duration(seconds),
      grouped(scenario.devices / seconds),
      presentBottleneck(findBottleneck(result.uses)),
      grouped(database.statements / seconds),
      (walOf(result) / 1e6 / seconds).toFixed(1),
      (coordinator!.cpuSeconds / seconds).toFixed(2),
      workers.length === 0 ? '–' : (busiest / seconds).toFixed(2),
      duration(result.tail.lastClaimSeconds),
      duration(result.tail.lastChunkSeconds),
      grouped(result.repeatedDevices),
    ];
  });
  const head = [
    'Devices',
    'Ends after',
    'Devices/s',
    'Bottleneck',
    'Statements/s',
    'WAL MB/s',
    workersOf(results) ? 'Coordinator, cores' : 'Database, cores',
    'Busiest worker, cores',
    'No chunk to claim at the end',
    'Only retries at the end',
    'Repeated',
  ];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}

function workersOf([first]: readonly CampaignResult[]): boolean {
  return first?.scenario.database.kind === 'citus';
}

function presentBottleneck({ name, share, cause }: Bottleneck): string {
  switch (cause) {
    case 'saturated':
      return `${name} (${percent(share)})`;
    case 'waiting':
      return `${name}, all open and waiting for answers (${percent(share)})`;
    case 'nothing':
      return `nothing; most used is ${name} (${percent(share)})`;
    default: {
      const never: never = cause;
      throw new Error(`unknown cause ${String(never)}`);
    }
  }
}

function presentUses(uses: readonly Use[]): string[] {
  return uses.map(({ name, share, remedy }) => {
    const bar = '#'.repeat(Math.min(bars, Math.round(share * bars))).padEnd(bars, '.');
    return `  ${name.padEnd(32)} ${bar} ${percent(share).padStart(6)}${share >= 0.5 ? `  more: ${remedy}` : ''}`;
  });
}

/** Uses the same number of points for any duration, until everything was sent once. */
function presentCurve(stored: readonly number[]): string[] {
  const perSecond = stored.slice(0, stored.findLastIndex((devices) => devices > 0) + 1);
  const width = Math.max(1, Math.ceil(perSecond.length / curvePoints));
  const points = Array.from({ length: Math.ceil(perSecond.length / width) }, (_, index) => {
    const part = perSecond.slice(index * width, (index + 1) * width);
    return part.reduce((sum, devices) => sum + devices, 0) / part.length;
  });
  const greatest = points.reduce((one, other) => Math.max(one, other), 1);
  return points.map((rate, index) => {
    const bar = '#'.repeat(Math.round((rate / greatest) * bars));
    return `  ${duration(index * width).padStart(9)}  ${grouped(rate).padStart(9)}  ${bar}`;
  });
}

function walOf({ database }: CampaignResult): number {
  return database.servers.reduce((sum, { walBytes }) => sum + walBytes, 0);
}

function presentBytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

/** Formats a whole number with commas. */
function grouped(number: number): string {
  return Math.round(number)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(0)} s`;
  if (seconds < 7_200) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}
