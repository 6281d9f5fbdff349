/**
 * The checker: judges histories of the simulations and of the torture, and ends with 1 if it finds an anomaly. It imports nothing of
 * the product and nothing of the rigs (docs/checker.md).
 *
 * Usage: npm run check:histories -- FOLDER_OR_FILE…
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkHistory } from './check.ts';

const given = process.argv.slice(2);
const listHistories = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name))
    .sort();
const files = given.flatMap((path) => (statSync(path).isDirectory() ? listHistories(path) : [path]));
if (files.length === 0) {
  process.stderr.write('checker: name a history, or a folder that contains one\n');
  process.exit(2);
}
const totals: Record<string, number> = {};
let found = 0;
for (const file of files) {
  const { anomalies, counted, rig, seed } = checkHistory(basename(file), readFileSync(file, 'utf8'));
  for (const [label, number] of Object.entries(counted)) totals[label] = (totals[label] ?? 0) + number;
  found += anomalies.length;
  const replay = rig === 'torture' ? basename(file) : `npm run test:simulation -- --world ${rig} --seed ${seed}`;
  for (const { rule, what } of anomalies) process.stdout.write(`ANOMALY ${rule}: ${what} (${replay})\n`);
}
const numbers = Object.entries(totals).map(([label, number]) => `${number} ${label}`);
process.stdout.write(`checker: ${files.length} histories, ${numbers.join(', ')}: ${found} anomalies\n`);
process.exitCode = found > 0 ? 1 : 0;
