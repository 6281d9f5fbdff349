import { writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { readCommit } from '../read-commit.ts';

/** What a scenario saw, and the promises it found broken. Numbers of these names mean the same in every scenario. */
export type Report = { numbers: Record<string, number | string | boolean>; broken: string[] };

/** Counts that rounds are summed by. Of each, what it counts. */
const summedNumbers = {
  kills: 'processes and databases killed or stopped',
  cuts: 'connections cut at a commit',
  devices: 'devices addressed',
  requests: 'messages received',
  lost: 'devices without a message',
  mixedIdentities: 'devices with messages under two identities',
  notAccepted: 'rows of the ledger that are not ACCEPTED',
  miscounted: 'runs whose counters are not their ledger',
  repeats: 'messages received twice',
  bound: 'messages that might have been, by kills × chunks × window',
  answered: 'requests answered Success',
  answeredNotStored: 'answered Success and not stored',
  storedNotAnswered: 'stored and answered otherwise',
  undocumented5xx: 'answers 5xx that are not a 503 with Retry-After',
} as const;

export type Sums = Partial<Record<keyof typeof summedNumbers, number>>;

export function sumNumbers(reports: readonly Report[]): Sums {
  const sums: Sums = {};
  for (const { numbers } of reports) {
    for (const name of Object.keys(summedNumbers) as (keyof Sums)[]) {
      const number = numbers[name];
      if (typeof number === 'number') sums[name] = (sums[name] ?? 0) + number;
    }
  }
  return sums;
}

/** Everything that is said, which `write` puts into a report with the command, the commit and the machine. */
export function startReport({ command }: { command: string }) {
  const begin = performance.now();
  const lines: string[] = [];
  return {
    say(line: string): void {
      lines.push(line);
      process.stdout.write(`${line}\n`);
    },
    /** @returns where it is */
    async write(name: string): Promise<string> {
      const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
      const memory = Math.round(totalmem() / 1024 ** 3);
      const head = [
        command,
        `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, at ${readCommit()}, in ${minutes} minutes; on one machine of ` +
          `${availableParallelism()} cores and ${memory} GiB, which nodes, databases and simulated providers share; Node ${process.version}`,
        '',
      ];
      const path = join(import.meta.dirname, '..', '..', '..', 'docs', 'reports', name);
      await writeFile(path, [...head, ...lines, ''].join('\n'));
      return path;
    },
  };
}
