import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export type Shell = {
  /** Runs lines as somebody types them into the same shell. */
  run(lines: string): Promise<{ printed: string; status: number }>;
  /** Ends it, and what it left in the background. */
  close(): Promise<void>;
};

const mark = '=== ended with';
// Below the limit of a test: a loop that waits in vain is ended and shows what it printed, and does not outlive the tests.
const maxLinesMs = 50_000;

type ShellOptions = { folder: string; environment: Record<string, string>; maxMs?: number };

/** As coreutils' timeout says it. */
const endedByLimit = 124;

/** A bash in a folder, with nothing of this process in its environment but the path. */
export function openShell({ folder, environment, maxMs = maxLinesMs }: ShellOptions): Shell {
  const bash = spawn('bash', ['--norc', '--noprofile'], {
    cwd: folder,
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = new Promise<void>((resolve) => bash.once('close', () => resolve()));
  const printed: string[] = [];
  let ended: ((status: number) => void) | undefined;
  createInterface({ input: bash.stdout }).on('line', (line) => {
    // What a command prints need not end with a new line.
    const at = line.indexOf(mark);
    if (at !== 0) printed.push(at === -1 ? line : line.slice(0, at));
    if (at !== -1) ended?.(Number(line.slice(at + mark.length)));
  });
  void closed.then(() => ended?.(-1));
  bash.stdin.write('exec 2>&1\n');
  return {
    async run(lines) {
      printed.length = 0;
      const status = await new Promise<number>((resolve) => {
        const limit = setTimeout(() => resolve(endedByLimit), maxMs);
        ended = (code) => {
          clearTimeout(limit);
          resolve(code);
        };
        // Nothing of it reads the lines that are still to come.
        bash.stdin.write(`{\n${lines}\n} </dev/null\nprintf '${mark} %s\\n' $?\n`);
      });
      return { printed: printed.map((line) => `${line}\n`).join(''), status };
    },
    async close() {
      if (bash.pid !== undefined && bash.exitCode === null) process.kill(-bash.pid, 'SIGKILL');
      await closed;
    },
  };
}
