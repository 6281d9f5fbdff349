import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { CarillonBundle } from '../carillon-bundle.ts';

const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');

export type Ended = { code: number | null; stdout: string; stderr: string };

/** The command line as a process of its own, beside the running node. */
export async function runCommand({ config }: CarillonBundle, parameters: string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...parameters], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: config.databaseUrl,
      CARILLON_DATA_DIR: config.dataFolder,
      CARILLON_LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece) => (stdout += piece));
  child.stderr.on('data', (piece) => (stderr += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
