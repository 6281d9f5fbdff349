import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoKeys } from '../../src/app/sandbox/find-demo-workspace.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { startKillableDatabase } from '../rig/databases.ts';
import type { FuzzTarget } from './fuzz-routes.ts';
import type { Usage } from './measure-usage.ts';

/** A node in a process of its own, so that what it holds is not mixed with what the fuzz holds, on a database of its own. */
export async function startFuzzNode(): Promise<FuzzTarget & { stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-fuzz-'));
  const postgres = await startKillableDatabase(join(folder, 'postgres'));
  const node = fork(join(import.meta.dirname, 'fuzz-node.ts'), [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
      DATABASE_URL: postgres.url,
      CARILLON_DATABASE_OWNER_URL: postgres.ownerUrl,
      CARILLON_DATA_DIR: folder,
      CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'error',
    },
  });
  const exited = once(node, 'exit');
  const ended = exited.then(([code, signal]) => {
    throw new Error(`the node ended by itself: ${String(code ?? signal)}`);
  });
  ended.catch(() => {});
  const nextMessage = async (): Promise<unknown> =>
    ((await Promise.race([once(node, 'message'), ended])) as unknown[])[0];
  const block = (await nextMessage()) as { url: string; workspaceId: string; keys: DemoKeys };
  const database = openDatabase({ url: postgres.ownerUrl, connections: 2, name: 'fuzz' });
  return {
    ...block,
    database,
    async measure() {
      node.send('measure');
      return (await nextMessage()) as Usage;
    },
    async stop() {
      node.kill('SIGTERM');
      await exited;
      await database.end();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
