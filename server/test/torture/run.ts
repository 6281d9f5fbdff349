/**
 * The promises of reliability under torture: processes killed at random moments, the database killed, providers that
 * fail. Prints each scenario's numbers and ends with 1 when a promise was broken.
 *
 * Usage: npm run test:torture -- --seed 1 --only kill-workers --devices 100000 --rounds 20
 */
import { parseArgs } from 'node:util';
import type { Report } from './scenario.ts';
import { scenarios } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    devices: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '20' },
  },
});
const refuse = (sentence: string): never => {
  process.stderr.write(`test:torture: ${sentence}\n`);
  process.exit(2);
};
const [seed, devices, rounds] = [values.seed, values.devices, values.rounds].map(Number) as [number, number, number];
if (![seed, devices, rounds].every((number) => Number.isSafeInteger(number) && number >= 1))
  refuse('--seed, --devices and --rounds take whole numbers from 1');
if (values.only !== undefined && !(values.only in scenarios))
  refuse(`--only takes one of ${Object.keys(scenarios).join(', ')}`);

process.stdout.write(`seed ${seed}, ${devices} devices, ${rounds} rounds\n`);
for (const [name, { play }] of Object.entries(scenarios)) {
  if (values.only !== undefined && values.only !== name) continue;
  const report = await play({ seed, devices, rounds, windowDevices: 250, parallelChunks: 4 }).catch(
    (error: unknown): Report => ({ numbers: {}, broken: [(error as Error).stack ?? String(error)] }),
  );
  process.stdout.write(`\n${name}\n`);
  for (const [label, number] of Object.entries(report.numbers))
    process.stdout.write(`  ${label.padEnd(28)}${number}\n`);
  for (const promise of report.broken) process.stdout.write(`  BROKEN: ${promise} (--seed ${seed} --only ${name})\n`);
  if (report.broken.length > 0) process.exitCode = 1;
}
