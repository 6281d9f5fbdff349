/**
 * Measures starting (budget P8): from `npm start` until the first response, with a warm install, on a new folder and on an
 * existing one. Medians of the rounds.
 *
 * Usage: npm run bench -- start [--rounds 5]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { tellComparison } from './comparison.ts';
import { median } from './median.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'start'),
  options: { rounds: { type: 'string', default: '5' } },
});
const goals = { first: 3, later: 1.5 };
const root = join(import.meta.dirname, '..', '..');

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const [first, later]: [number[], number[]] = [[], []];
// The first round fills the cache of compiled sources, as any earlier start does.
for (let round = 0; round <= Number(values.rounds); round += 1) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-start-'));
  try {
    const [onNew, onFull] = [await startOnce(join(folder, 'data')), await startOnce(join(folder, 'data'))];
    if (round === 0) continue;
    first.push(onNew);
    later.push(onFull);
    process.stdout.write(`round ${round}: ${onNew.toFixed(2)} s, then ${onFull.toFixed(2)} s\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
for (const [work, seconds, goal] of [
  ['npm start on a new folder to the first answer', median(first), goals.first],
  ['npm start on its folder to the first answer', median(later), goals.later],
] as const)
  tellComparison({
    ...{ budget: 'P8', work, ours: `${seconds.toFixed(2)} s`, peer: '–', ratio: null },
    ...{ goal: `< ${goal} s`, isMet: seconds < goal },
  });

/** @returns seconds from the command to the response to its first request */
async function startOnce(folder: string): Promise<number> {
  const begun = performance.now();
  const child = spawn('npm', ['start', '--silent', '--', '--port', '0', '--json'], {
    cwd: root,
    env: { ...process.env, CARILLON_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(child, 'close');
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>,
    ended.then(([code]) => Promise.reject(new Error(`npm start ended with ${code}`))),
  ]);
  const answer = await fetch(`${(JSON.parse(line) as { url: string }).url}/readyz`);
  const seconds = (performance.now() - begun) / 1000;
  if (answer.status !== 200) throw new Error(`/readyz was answered ${answer.status}`);
  // Ends npm and the processes that it started.
  process.kill(-child.pid!, 'SIGTERM');
  await ended;
  return seconds;
}
