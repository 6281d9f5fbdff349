import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import type { OpenInstallation } from '../../src/start/database/open-installation.ts';
import { startNode } from '../start/start-bundle.ts';
import type { StartLine } from '../start/start-bundle.ts';
import { makeCaller } from '../rig/caller.ts';
import { startCollector } from '../rig/collector.ts';
import { killCluster } from '../rig/databases.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { nodeEnvironment, runCommand, startTortureNode } from '../rig/processes.ts';

/**
 * The only node of an installation: of role `all`, on its own embedded database or on the one that the options start, with
 * users in its demo workspace; and the simulated providers in this process.
 */
export async function startSoleNode(options: TortureOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-torture-'));
  const postgres = await options.startDatabase?.(join(folder, 'database'));
  const environment = {
    ...nodeEnvironment(folder, postgres),
    ...(postgres && { CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }),
    CARILLON_WINDOW_DEVICES: String(options.windowDevices),
    CARILLON_WORKER_CHUNKS: String(options.parallelChunks),
  };
  const { collector, line } = await prepare(options, { folder, environment });
  let node = await startTortureNode(environment, { endpoints: collector.endpoints });
  return {
    collector,
    workspaceId: line.workspaceId,
    caller: makeCaller(line, () => node.url),
    /** `with its database`: nothing of both is left; otherwise the database is found running without its owner. */
    async killAndRestart(what: 'alone' | 'with its database'): Promise<void> {
      node.process.kill('SIGKILL');
      if (what === 'with its database')
        await (postgres?.killAndRestart() ?? killCluster(join(folder, 'postgres', 'cluster')));
      await node.ended;
      node = await startTortureNode(environment, { endpoints: collector.endpoints });
    },
    /** Of the node as it runs now. */
    open: () => open(environment, node.databaseUrl),
    async stop(): Promise<void> {
      node.process.kill('SIGTERM');
      await node.ended;
      await collector.stop();
      await postgres?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Place = { folder: string; environment: Record<string, string> };

/** The demo workspace with people in it, and the providers that know its credentials. */
async function prepare(options: TortureOptions, { folder, environment }: Place) {
  const node = startNode(['--port', '0', '--json', '--seed', String(options.seed)], environment);
  const firstLine = await node.firstLine;
  if (firstLine === undefined) throw new Error(`node: ${(await node.exited).stderr}`);
  const line = JSON.parse(firstLine) as StartLine;
  const file = join(folder, 'users.ndjson');
  await runCommand(environment, ['sandbox', 'generate-users', '--users', String(options.devices), '--out', file]);
  await runCommand(environment, ['import', file]);
  const installation = await open(environment, line.databaseUrl);
  const clock = makeClock();
  const log = makeLog({ level: 'error', pretty: false });
  const secret = installation.secretFor('simulator');
  const collector = await startCollector({
    ...installation,
    database: installation.acrossWorkspaces,
    clock,
    log,
    secret,
  });
  await installation.close();
  node.process.kill('SIGTERM');
  await node.exited;
  return { collector, line };
}

function open(environment: Record<string, string>, databaseUrl: string): Promise<OpenInstallation> {
  const config = readConfig({ environment: { ...environment, DATABASE_URL: databaseUrl }, arguments: [] });
  return openInstallation(config, { clock: makeClock(), log: makeLog({ level: 'error', pretty: false }) });
}

const maxWaitMilliseconds = 180_000;

export async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + maxWaitMilliseconds;
  while (!(await look())) {
    if (performance.now() > deadline) throw new Error(`${what}: nothing moves`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
