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

/** Returns the promises that are not kept. */
export function brokenOf(promises: Record<string, boolean>): string[] {
  return Object.entries(promises).flatMap(([promise, isKept]) => (isKept ? [] : [promise]));
}

/** Returns the lines of a report: a title, a number per line, then each broken promise with the command that repeats it. */
export function describeReport(title: string, { numbers, broken, command }: Report & { command?: string }): string[] {
  const width = Math.max(28, ...Object.keys(numbers).map((label) => label.length + 2));
  return [
    `\n${title}`,
    ...Object.entries(numbers).map(([label, number]) => `  ${label.padEnd(width)}${number}`),
    ...broken.map((promise) => `  BROKEN: ${promise}${command === undefined ? '' : ` (${command})`}`),
  ];
}

/** Ends the process with code 2, as for an option that makes no sense. */
export function refuse(command: string, sentence: string): never {
  process.stderr.write(`${command}: ${sentence}\n`);
  process.exit(2);
}

/** Reads options that are whole numbers from `min`, 1 unless given. Ends the process with code 2 if one is not. */
export function readNumbers<Name extends string>(
  values: Record<Name, string>,
  { command, min = 1 }: { command: string; min?: number },
): Record<Name, number> {
  const numbers = Object.entries<string>(values).map(([name, value]) => [name, Number(value)] as const);
  const wrong = numbers.find(([, number]) => !Number.isSafeInteger(number) || number < min);
  if (wrong) refuse(command, `--${wrong[0]} takes a whole number from ${min}`);
  return Object.fromEntries(numbers) as Record<Name, number>;
}

export const reportFolder = join(import.meta.dirname, '..', '..', '..', 'docs', 'reports');

/** Collects everything a command says; `write` puts it into a report with the command line, the commit and the machine. */
export function startReport(script: string) {
  const words = process.argv.slice(2).join(' ');
  const command = `npm run ${script}${words === '' ? '' : ` -- ${words}`}`;
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
      const path = join(reportFolder, name);
      await writeFile(path, [...head, ...lines, ''].join('\n'));
      return path;
    },
  };
}
