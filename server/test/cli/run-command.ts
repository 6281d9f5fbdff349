import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');

/** Of the node's settings those that the command is given too. */
type Beside = {
  config: Pick<CarillonBundle['config'], 'databaseUrl' | 'dataFolder'> & { nextMasterKey?: Buffer | undefined };
  environment?: Record<string, string>;
};

export type Ended = { code: number | null; stdout: string; stderr: string };

/**
 * The command line in this process, with the environment, the output and the end that it would have in one of its own: a
 * process costs 0.4 s of the processor, most of it to load what is loaded here. That a command leaves nothing behind
 * which keeps a process alive is what `runProcess` shows.
 */
export function runCommand(beside: Beside, parameters: string[]): Promise<Ended> {
  const ended = before.then(() => runHere(environmentOf(beside), parameters));
  before = ended.catch(() => {});
  return ended;
}

/** The same as a process of its own, which ends by itself. */
export async function runProcess(beside: Beside, parameters: string[]): Promise<Ended> {
  const child = startCommand(beside, parameters);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece) => (stdout += piece));
  child.stderr.on('data', (piece) => (stderr += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** The same, for a test that looks at it while it runs. */
export function startCommand(beside: Beside, parameters: string[]) {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...parameters], {
    env: environmentOf(beside),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function environmentOf({ config, environment }: Beside): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATABASE_URL: config.databaseUrl,
    CARILLON_DATA_DIR: config.dataFolder,
    CARILLON_LOG_LEVEL: 'silent',
    ...(config.nextMasterKey && { CARILLON_MASTER_KEY_NEXT: config.nextMasterKey.toString('hex') }),
    ...environment,
  };
}

// What a command takes from its process is replaced while it runs, so one runs at a time.
let before: Promise<unknown> = Promise.resolve();

async function runHere(environment: NodeJS.ProcessEnv, parameters: string[]): Promise<Ended> {
  const own = {
    env: process.env,
    exit: process.exit,
    exitCode: process.exitCode,
    stdout: Object.getOwnPropertyDescriptor(process, 'stdout')!,
    stderr: Object.getOwnPropertyDescriptor(process, 'stderr')!,
  };
  const [stdout, stderr] = [makeSink(), makeSink()];
  process.env = environment;
  // Nothing after the first end is the command's doing: what unwinds the stack would be told as a fault.
  let end: { code: number; stderr: string } | undefined;
  process.exit = (code) => {
    end ??= { code: Number(code), stderr: stderr.text() };
    throw new Error('The command has ended.');
  };
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdout', { configurable: true, value: stdout.stream });
  Object.defineProperty(process, 'stderr', { configurable: true, value: stderr.stream });
  try {
    await runCommandLine(parameters);
    end = { code: Number(process.exitCode ?? 0), stderr: stderr.text() };
  } catch (error) {
    if (end === undefined) throw error;
  } finally {
    process.env = own.env;
    process.exit = own.exit;
    process.exitCode = own.exitCode;
    Object.defineProperty(process, 'stdout', own.stdout);
    Object.defineProperty(process, 'stderr', own.stderr);
  }
  return { stdout: stdout.text(), ...end };
}

function makeSink() {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(pieces).toString() };
}
