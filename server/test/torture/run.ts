/**
 * The promises of reliability under torture: processes killed at random moments, the database killed, providers that
 * fail. Prints each scenario's numbers and ends with 1 when a promise was broken.
 *
 * Usage: npm run test:torture -- --seed 1 --only kill-workers --devices 100000 --rounds 20
 *
 * With `--random-rounds 200` the seed draws that many rounds: scenario, number of devices and moment of each. A round is
 * one kill, stop or cut, and its audit. What has no random moment runs once, as without. `--record` writes what was
 * measured to docs/reports/torture.json, from which `npm run docs:generate` renders a section of docs/reliability.md.
 * `--cluster` puts each installation on a separate cluster, of a coordinator and two workers, where Citus is installed;
 * where a database is killed, it is the coordinator. `--history FOLDER` leaves a history of each round and has the checker judge
 * them; the scenarios of the only node leave none.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findCitus, startKillableCluster } from '../rig/citus-cluster.ts';
import { checkHistories } from '../rig/history.ts';
import { describeReport, readNumbers, refuse as refuseFor, reportFolder } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';
import { commandOf, drawRounds, makeRecord, playOne, playRounds } from './rounds.ts';
import type { PlayedRound } from './rounds.ts';
import { scenarios } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    devices: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '20' },
    'random-rounds': { type: 'string', default: '0' },
    record: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    history: { type: 'string' },
  },
});
const command = 'test:torture';
const refuse = (sentence: string): never => refuseFor(command, sentence);
const { seed, devices, rounds } = readNumbers(
  { seed: values.seed, devices: values.devices, rounds: values.rounds },
  { command },
);
const { 'random-rounds': randomRounds } = readNumbers(
  { 'random-rounds': values['random-rounds'] },
  { command, min: 0 },
);
if (values.only !== undefined && !(values.only in scenarios))
  refuse(`--only takes one of ${Object.keys(scenarios).join(', ')}`);
if (values.record && (randomRounds === 0 || values.only !== undefined))
  refuse('--record wants --random-rounds, and all scenarios');
if (values.record && values.cluster) refuse('--record is of one PostgreSQL, without --cluster');
const citus = values.cluster ? findCitus() : undefined;
if (values.cluster && citus === undefined)
  refuse('--cluster: there is no Citus on this machine; npm run test:citus builds it');

const startDatabase = citus && ((folder: string) => startKillableCluster(citus, { folder }));
const options = { windowDevices: 250, parallelChunks: 4, startDatabase, historyFolder: values.history };
const startedAt = performance.now();
let count = 0;
process.stdout.write(
  `seed ${seed}, ${devices} devices, ${rounds} rounds, ${randomRounds} random rounds${values.cluster ? ', on clusters' : ''}\n`,
);
const chosen = Object.entries(scenarios).filter(([name]) => values.only === undefined || values.only === name);
const drawn = randomRounds === 0 ? [] : draw();
const whole: Record<string, Report> = {};
// Drawn rounds run next to scenarios that wait for leases to end.
const [played] = await Promise.all([playRounds({ drawn, options, onPlayed: printRound }), playWhole()]);
const hasAnomaly = values.history !== undefined && !checkHistories(values.history);
const isBroken = hasAnomaly || [...played, ...Object.values(whole)].some(({ broken }) => broken.length > 0);
const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
if (values.record) {
  const record = makeRecord({ seed, devices, rounds, minutes, played, whole });
  await writeFile(join(reportFolder, 'torture.json'), `${JSON.stringify(record, null, 2)}\n`);
  process.stdout.write('\ndocs/reports/torture.json written; `npm run docs:generate` renders it\n');
}
// Not by an exit code alone: what came to no end would keep the process.
process.exit(isBroken ? 1 : 0);

async function playWhole(): Promise<void> {
  for (const [name, { share }] of chosen) {
    if (randomRounds > 0 && share > 0) continue;
    whole[name] = await playOne(name, { seed, devices, rounds, ...options });
    const lines = describeReport(name, { ...whole[name], command: `--seed ${seed} --only ${name}` });
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}

function draw() {
  const shares = Object.fromEntries(chosen.map(([name, { share }]) => [name, share]));
  if (Object.values(shares).every((share) => share === 0)) refuse('no round is drawn of these scenarios');
  return drawRounds({ seed, rounds: randomRounds, shares });
}

function printRound(round: PlayedRound): void {
  const { scenario, numbers, broken } = round;
  count += 1;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const counted = Object.entries(numbers).map(([label, number]) => `${label} ${number}`);
  process.stdout.write(`${seconds} s, round ${count}: ${scenario}: ${counted.join(', ')}\n`);
  for (const promise of broken) process.stdout.write(`  BROKEN: ${promise} (${commandOf(round)})\n`);
}
