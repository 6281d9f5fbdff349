import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inTurn, median } from '../kit/bench.ts';
import type { Case } from '../kit/bench.ts';

const goals = { first: 3, later: 1.5 };
const root = join(import.meta.dirname, '..', '..', '..');

export const startCase: Case<'start', string> = {
  prepare: (bench) => bench.makeFolder(),

  async run(bench, folder) {
    const startIn = (round: number): Promise<number> => startOnce(join(folder, `data-${round}`));
    // The first two starts fill the cache of compiled sources, as any earlier start does.
    await startIn(0);
    await startIn(0);
    const { first, later } = await inTurn(bench.options.rounds, { first: startIn, later: startIn });
    for (const [index, seconds] of first.entries())
      bench.say(`round ${index + 1}: ${seconds.toFixed(2)} s, then ${later[index]!.toFixed(2)} s`);
    for (const [work, seconds, goal] of [
      ['npm start on a new folder to the first answer', median(first), goals.first],
      ['npm start on its folder to the first answer', median(later), goals.later],
    ] as const)
      bench.compare({ work, ours: `${seconds.toFixed(2)} s`, goal: `< ${goal} s`, isMet: seconds < goal });
  },
};

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
