import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export type Outcome = { result?: any; error?: any; waits: number[] };

export type ProgramStart = { command: string[]; environment?: Record<string, string> };

/** A running program of a client, which performs one step after the other. */
export type Program = { ask(step: object): Promise<Outcome>; stop(): void };

/** Starts the program of a client. `ask` rejects if the program ends. */
export function startProgram({ command, environment = {} }: ProgramStart): Program {
  const [program, ...words] = command;
  const child = spawn(program!, words, {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(step) {
      child.stdin.write(`${JSON.stringify(step)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${program} ended at ${JSON.stringify(step)}`);
      return JSON.parse(value) as Outcome;
    },
    stop() {
      child.stdin.end();
      child.kill();
    },
  };
}
