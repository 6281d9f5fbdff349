import { writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { readCommit } from '../read-commit.ts';

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
