/**
 * Applies the seeded defects of `defects.ts` one by one to a copy of the product, plays their seeds, and lets the checker judge the
 * histories. Prints a line for each, and ends with 1 if the checker missed one.
 *
 * Usage: npm run check:defects -- --only "limit"
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defects } from './defects.ts';
import type { Defect } from './defects.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const root = join(import.meta.dirname, '..', '..', '..');
const copied = ['server', 'client', 'checker', 'scripts', 'package.json'];

const copy = mkdtempSync(join(tmpdir(), 'carillon-defects-'));
const maxAttempts = 3;
let missed = 0;
try {
  for (const name of copied)
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: (path) => !path.endsWith('node_modules') });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const defect of defects.filter(({ name }) => name.includes(values.only))) play(defect);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(`${missed} defects were missed\n`);
process.exitCode = missed > 0 ? 1 : 0;

function play(defect: Defect): void {
  const file = join(copy, 'server', 'src', defect.file);
  const sound = readFileSync(file, 'utf8');
  const parts = sound.split(defect.find);
  if (parts.length !== 2)
    throw new Error(`${defect.name}: its text occurs ${parts.length - 1} times in ${defect.file}`);
  writeFileSync(file, parts.join(defect.replace));
  const startedAt = performance.now();
  const seed = defect.seeds.find((one) => isFound(defect, one));
  writeFileSync(file, sound);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  if (seed === undefined) missed += 1;
  const result = seed === undefined ? 'MISSED' : `found as ${defect.rule} by --world ${defect.world} --seed ${seed}`;
  process.stdout.write(`${defect.name}: ${result} (${seconds} s)\n`);
}

/** Plays a seed. A run that leaves no history, because its database did not start, is played again. */
function isFound({ world, rule, said = `ANOMALY ${rule}:` }: Defect, seed: number): boolean {
  const run = join(copy, 'server', 'test', 'simulation', 'run.ts');
  const words = [...process.execArgv, run, '--world', world, '--seed', String(seed)];
  for (let attempt = 1; ; attempt += 1) {
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: copy, encoding: 'utf8' });
    if (stdout.includes('checker: 1 histories')) return stdout.includes(said);
    if (attempt === maxAttempts) throw new Error(`seed ${seed} left no history: ${stderr || stdout}`);
  }
}
