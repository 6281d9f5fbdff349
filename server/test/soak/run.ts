/**
 * A soak: mixed load on one node for some minutes, at a rate that two cores bear with ease. Memory, file descriptors and
 * connections are flat, no answer is a 5xx, and what was accepted is sent at the end. Prints the numbers as a page, and ends
 * with 1 when a promise was broken. Linux only.
 *
 * Usage: npm run test:soak -- --minutes 15 --seed 1
 */
import { parseArgs } from 'node:util';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '15' }, seed: { type: 'string', default: '1' } },
});
const [minutes, seed] = [values.minutes, values.seed].map(Number) as [number, number];
if (![minutes, seed].every((number) => Number.isSafeInteger(number) && number >= 1)) {
  process.stderr.write('test:soak: --minutes and --seed take whole numbers from 1\n');
  process.exit(2);
}
if (process.platform !== 'linux') {
  process.stderr.write('test:soak: reads /proc, which only Linux has\n');
  process.exit(2);
}

const { text, broken } = await soak({ minutes, seed }, (line) => process.stderr.write(`${line}\n`));
process.stdout.write(text);
for (const promise of broken) process.stdout.write(`BROKEN: ${promise} (--seed ${seed})\n`);
if (broken.length > 0) process.exitCode = 1;
