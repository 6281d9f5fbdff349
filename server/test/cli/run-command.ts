import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { CarillonBundle } from '../carillon-bundle.ts';

const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');

/** Of the node's settings those that the command is given too. */
type Beside = {
  config: Pick<CarillonBundle['config'], 'databaseUrl' | 'dataFolder'> & { nextMasterKey?: Buffer | undefined };
  environment?: Record<string, string>;
};

export type Ended = { code: number | null; stdout: string; stderr: string };

/** The command line as a process of its own, beside the running node. */
export async function runCommand(bundle: Beside, parameters: string[]): Promise<Ended> {
  const child = startCommand(bundle, parameters);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece) => (stdout += piece));
  child.stderr.on('data', (piece) => (stderr += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** The same, for a test that looks at it while it runs. */
export function startCommand({ config, environment }: Beside, parameters: string[]) {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...parameters], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: config.databaseUrl,
      CARILLON_DATA_DIR: config.dataFolder,
      CARILLON_LOG_LEVEL: 'silent',
      ...(config.nextMasterKey && { CARILLON_MASTER_KEY_NEXT: config.nextMasterKey.toString('hex') }),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
