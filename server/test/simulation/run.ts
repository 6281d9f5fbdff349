/**
 * Seeded simulations: whole lives of campaigns on a clock of their own, with faults. Prints the seeds that broke a
 * promise, the trace of the first, and ends with 1.
 *
 * Usage: npm run test:simulation -- --seeds 1000 --seed 1
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../src/storage/database.ts';
import { startTestServer, templateName } from '../global-setup.ts';
import { readNumbers } from '../rig/report.ts';
import { simulate } from './simulate.ts';
import type { Simulated } from './simulate.ts';
import { compareStates, watchStates } from './simulated-store.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string' }, seed: { type: 'string' } },
});
const { seed: firstSeed, seeds } = readNumbers(
  // One seed alone is a replay.
  { seed: values.seed ?? '1', seeds: values.seeds ?? (values.seed === undefined ? '1000' : '1') },
  { command: 'test:simulation' },
);

// While one waits for its database, another one works.
const lanes = availableParallelism() + 1;
const server = await startTestServer();
const broken: Simulated[] = [];
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
  const database = await openClone(name);
  await watchStates(database);
  try {
    while (next < firstSeed + seeds) {
      const seed = next;
      next += 1;
      const simulated = await simulate(database, seed);
      for (const [label, number] of Object.entries(simulated.numbers)) totals[label] = (totals[label] ?? 0) + number;
      if (simulated.broken.length > 0) broken.push(simulated);
    }
    for (const change of (await compareStates(database)).unknown) unknownChanges.add(change);
  } finally {
    await database.end();
    await onServer(`drop database ${name} with (force)`);
  }
}

async function openClone(name: string) {
  await onServer(`create database ${name} template ${templateName}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return openDatabase({ url: url.href, connections: 1, name });
}

async function onServer(statement: string): Promise<void> {
  const database = openDatabase({ url: server.url, connections: 1, name: 'simulation' });
  await database.unsafe('select pg_advisory_lock(7312846)').then(() => database.unsafe(statement));
  await database.end();
}

function report(): void {
  const numbers = Object.entries(totals).map(([label, number]) => `${number} ${label}`);
  process.stdout.write(`seeds ${firstSeed} to ${firstSeed + seeds - 1}: ${numbers.join(', ')}\n`);
  const [first] = broken.sort((one, other) => one.seed - other.seed);
  if (seeds === 1 || first) process.stdout.write(`${(first ?? { trace: [] as string[] }).trace.join('\n')}\n`);
  for (const { seed, broken: rules } of broken)
    for (const rule of rules) process.stdout.write(`BROKEN: ${rule} (npm run test:simulation -- --seed ${seed})\n`);
  for (const change of unknownChanges) process.stdout.write(`BROKEN: ${change} is not in docs/states.md\n`);
  if (first || unknownChanges.size > 0) process.exitCode = 1;
}
