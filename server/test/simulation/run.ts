/**
 * Seeded simulations. The world `faults` is the life of campaigns on a simulated clock while workers and providers fail; the world
 * `calls` has callers of the API in two workspaces. Each seed leaves a history, and the checker, in a separate process, judges
 * all histories in the end. Prints the seeds that broke a promise, the trace of the first, and ends with 1.
 *
 * Usage: npm run test:simulation -- --seeds 1000 --seed 1 --world calls --history FOLDER
 *
 * Without `--history`, the histories are deleted unless the checker found an anomaly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../src/storage/database.ts';
import { startTestServer, templateName } from '../global-setup.ts';
import { checkHistories, writeHistory } from '../rig/history.ts';
import { readNumbers, refuse } from '../rig/report.ts';
import { simulateCalls } from './calls/simulate-calls.ts';
import { simulate } from './simulate.ts';
import type { Simulated } from './simulate.ts';
import { compareStates, watchStates } from './simulated-store.ts';

const command = 'test:simulation';
const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    world: { type: 'string' },
    history: { type: 'string' },
  },
});
const { seed: firstSeed, seeds } = readNumbers(
  // One seed alone is a replay.
  { seed: values.seed ?? '1', seeds: values.seeds ?? (values.seed === undefined ? '1000' : '1') },
  { command },
);
const worlds = ['faults', 'calls'].filter((world) => values.world === undefined || values.world === world);
if (worlds.length === 0) refuse(command, '--world takes faults or calls');

// While one waits for its database, another one works.
const lanes = Math.min(seeds, availableParallelism() + 1);
const server = await startTestServer();
const folder = values.history ?? mkdtempSync(join(tmpdir(), 'carillon-histories-'));
const broken: Simulated[] = [];
/** The steps of a seed that is replayed alone. */
let replayed: string[] = [];
const thrown: string[] = [];
const totals: Record<string, number> = {};
const unknownChanges = new Set<string>();
let next = firstSeed;
try {
  await Promise.all(Array.from({ length: lanes }, (_, lane) => work(`simulation_${process.pid}_${lane}`)));
} finally {
  await server.stop();
}
report();

async function work(name: string): Promise<void> {
  const faults = await openClone(name);
  await watchStates(faults);
  try {
    while (next < firstSeed + seeds) {
      const seed = next;
      next += 1;
      if (worlds.includes('faults')) await playFaults(faults, seed);
      if (worlds.includes('calls')) await playCalls(`${name}_calls`, seed);
    }
    for (const change of (await compareStates(faults)).unknown) unknownChanges.add(change);
  } finally {
    await faults.end();
    await onServer(`drop database ${name} with (force)`);
  }
}

async function playFaults(database: Awaited<ReturnType<typeof openClone>>, seed: number): Promise<void> {
  const simulated = await simulate(database, seed);
  add(simulated.numbers);
  writeHistory(simulated.history, { folder, name: `faults-${seed}` });
  if (simulated.broken.length > 0) broken.push(simulated);
  if (seeds === 1) replayed = simulated.trace;
}

async function playCalls(name: string, seed: number): Promise<void> {
  const url = await makeClone(name);
  try {
    const simulated = await simulateCalls(url, seed);
    add(simulated.numbers);
    writeHistory(simulated.history, { folder, name: `calls-${seed}` });
  } catch (error) {
    thrown.push(`calls ${seed} threw ${(error as Error).stack} (npm run ${command} -- --world calls --seed ${seed})`);
  } finally {
    await onServer(`drop database ${name} with (force)`);
  }
}

function add(numbers: Record<string, number>): void {
  for (const [label, number] of Object.entries(numbers)) totals[label] = (totals[label] ?? 0) + number;
}

async function makeClone(name: string): Promise<string> {
  await onServer(`create database ${name} template ${templateName} strategy file_copy`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function openClone(name: string) {
  return openDatabase({ url: await makeClone(name), connections: 1, name });
}

async function onServer(statement: string): Promise<void> {
  const database = openDatabase({ url: server.url, connections: 1, name: 'simulation' });
  await database.unsafe('select pg_advisory_lock(7312846)').then(() => database.unsafe(statement));
  await database.end();
}

function runChecker(): boolean {
  const isClean = checkHistories(folder);
  if (isClean && values.history === undefined) rmSync(folder, { recursive: true });
  else process.stdout.write(`histories: ${folder}\n`);
  return isClean;
}

function report(): void {
  const numbers = Object.entries(totals).map(([label, number]) => `${number} ${label}`);
  process.stdout.write(`seeds ${firstSeed} to ${firstSeed + seeds - 1}: ${numbers.join(', ')}\n`);
  const [first] = broken.sort((one, other) => one.seed - other.seed);
  const trace = first?.trace ?? replayed;
  if (trace.length > 0) process.stdout.write(`${trace.join('\n')}\n`);
  for (const { seed, broken: rules } of broken)
    for (const rule of rules)
      process.stdout.write(`BROKEN: ${rule} (npm run ${command} -- --world faults --seed ${seed})\n`);
  for (const fault of thrown) process.stdout.write(`BROKEN: ${fault}\n`);
  for (const change of unknownChanges) process.stdout.write(`BROKEN: ${change} is not in docs/states.md\n`);
  const isClean = runChecker();
  if (first || thrown.length > 0 || unknownChanges.size > 0 || !isClean) process.exitCode = 1;
}
