/**
 * Many nodes on one database: three of role `api`, one, two and four of role `worker`, each a separate process. Prints how
 * fast they send a campaign and what processor time a device takes; then kills and cuts off nodes in the middle of their work
 * and reports what became of it. Ends with 1 when a promise was broken.
 *
 * Usage: npm run test:nodes -- --devices 24000 --record
 *
 * On one PostgreSQL 15 of Debian's, then on a coordinator and two workers (Citus); `--database one` or `cluster` is one of
 * them. `--only throughput`, `faults` or `locks`. `--record` writes what is printed to docs/reports/nodes.txt. Nodes are cut
 * off in network namespaces, which takes root on Linux; elsewhere they are only killed, and it says so.
 * `--only distribution --users 1000000` tells how long a filled database takes to be spread over a cluster.
 */
import { parseArgs } from 'node:util';
import { playFaults, playLocks } from './faults.ts';
import { measureDistribution, measureThroughput } from './measure.ts';
import { findNetworkRefusal, openNetwork } from './network.ts';
import { findDatabaseRefusal, openFleet } from '../rig/fleet.ts';
import type { DatabaseKind, Fleet } from '../rig/fleet.ts';
import { describeReport, readNumbers, refuse as refuseFor, startReport } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'both' },
    devices: { type: 'string', default: '24000' },
    campaigns: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1,2,4' },
    users: { type: 'string', default: '1000000' },
    only: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
const command = 'test:nodes';
const refuse = (sentence: string): never => refuseFor(command, sentence);
const { devices, campaigns, rounds, users } = readNumbers(
  { devices: values.devices, campaigns: values.campaigns, rounds: values.rounds, users: values.users },
  { command },
);
const workerCounts = values.workers.split(',').map((workers) => readNumbers({ workers }, { command }).workers);
// A chunk has at least 1,000 devices, and each of four workers has four in hand.
const minDevices = 16_000;
if (devices < minDevices) refuse(`--devices takes ${minDevices} or more, so that each worker has its part`);
const kinds = ({ one: ['one'], cluster: ['cluster'], both: ['one', 'cluster'] } as Record<string, DatabaseKind[]>)[
  values.database
];
if (kinds === undefined) throw refuse('--database takes one, cluster or both');
if (values.only !== undefined && !['throughput', 'faults', 'locks', 'distribution'].includes(values.only))
  refuse('--only takes throughput, faults, locks or distribution');
if (values.record && values.only !== undefined) refuse('--record is of all parts, without --only');
const isAsked = (part: string): boolean => values.only === undefined || values.only === part;

const report = startReport('test:nodes');
const { say } = report;
let isBroken = false;
const networkRefusal = findNetworkRefusal();
if (values.only === 'distribution') await printDistribution();
else for (const kind of kinds) await playOn(kind);
if (values.record) say(`\nwritten to ${await report.write('nodes.txt')}`);
process.exit(isBroken ? 1 : 0);

async function playOn(kind: DatabaseKind): Promise<void> {
  const refusal = findDatabaseRefusal(kind);
  if (refusal !== undefined) return say(`SKIPPED, database ${kind}: ${refusal}.`);
  say(kind === 'cluster' ? '\nPostgreSQL 15 with Citus: a coordinator, two workers' : "\nDebian's PostgreSQL 15");
  if (networkRefusal !== undefined) say(`SKIPPED: no node is cut off, nodes are only killed: ${networkRefusal}.`);
  const network = networkRefusal === undefined ? await openNetwork() : undefined;
  try {
    const fleet = await openFleet({ database: kind, devices, apis: 3, network });
    try {
      if (isAsked('throughput')) await printThroughput(fleet);
      // Both are half a minute of waiting and more, so that they wait at one time; each has ended before the fleet does.
      const played = await Promise.allSettled([
        isAsked('faults') ? playAllFaults(fleet) : undefined,
        network && isAsked('locks') ? playLocks(fleet, await network.openPlace()) : undefined,
      ]);
      for (const part of played) if (part.status === 'rejected') throw part.reason;
      if (played[1].status === 'fulfilled' && played[1].value)
        print('locks of a node that is cut off', played[1].value);
    } finally {
      await fleet.close();
    }
  } finally {
    await network?.close();
  }
}

async function playAllFaults(fleet: Fleet): Promise<void> {
  const { network } = fleet;
  const places = network && {
    worker: await network.openPlace(),
    senderWithoutDatabase: await network.openPlace(),
    api: await network.openPlace(),
  };
  for (let round = 1; round <= rounds; round += 1)
    print(`faults, round ${round}`, await playFaults(fleet, { name: `round-${round}`, places }));
}

async function printThroughput(fleet: Fleet): Promise<void> {
  const widths = [9, 9, 11, 13, 9, 13, 14];
  const row = (cells: (string | number)[]): string =>
    cells.map((cell, index) => String(cell).padStart(widths[index]!)).join('');
  say(`\nmean of ${campaigns} campaigns to all users, and processor time a device in ms`);
  say(row(['workers', 'devices', 'devices/s', 'of workers', 'of apis', 'of database', 'of providers']));
  for (const workers of workerCounts) {
    const found = await measureThroughput(fleet, { workers, campaigns });
    const cpu = found.cpuMillisecondsPerDevice;
    const times = [cpu.workers, cpu.apis, cpu.database, cpu.providers].map((milliseconds) => milliseconds.toFixed(3));
    say(row([workers, found.devices, Math.round(found.devicesPerSecond), ...times]));
  }
}

async function printDistribution(): Promise<void> {
  const refusal = findDatabaseRefusal('cluster');
  if (refusal !== undefined) return say(`SKIPPED: ${refusal}.`);
  const widths = [24, 10, 10, 10];
  const row = (cells: string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!))).join('');
  say(row(['table', 'rows', 'MB', 'seconds']));
  const { parts, cpuSeconds } = await measureDistribution({ users });
  for (const { table, rows, megabytes, seconds } of parts)
    say(row([table, String(rows), megabytes.toFixed(1), seconds.toFixed(1)]));
  const sum = (of: 'rows' | 'megabytes' | 'seconds'): number => parts.reduce((all, part) => all + part[of], 0);
  say(row(['all', String(sum('rows')), sum('megabytes').toFixed(1), sum('seconds').toFixed(1)]));
  const { coordinator, workers } = cpuSeconds;
  say(`processor time: ${coordinator.toFixed(0)} s of the coordinator, ${workers.toFixed(0)} s of both workers`);
}

function print(title: string, played: Report): void {
  for (const line of describeReport(title, played)) say(line);
  if (played.broken.length > 0) isBroken = true;
}
