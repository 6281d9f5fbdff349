import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClock } from '../../src/clock.ts';
import { signPush } from '../../src/domain/signature/sign-push.ts';
import type { SimulatorEndpoints } from '../../src/engine/delivery/deliver.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/open-installation.ts';
import type { OpenInstallation } from '../../src/start/open-installation.ts';
import { startNode } from '../start/start-bundle.ts';
import type { StartLine } from '../start/start-bundle.ts';
import { auditRun, findBrokenPromises } from './audit-run.ts';
import { makeRandom } from './make-random.ts';
import { pickOccurrences } from './pick-moments.ts';
import { pushContent } from './push-content.ts';
import { runCommand } from './run-command.ts';
import type { Report } from './scenario.ts';
import { startCollector } from './start-collector.ts';
import type { TortureOptions } from './torture-bundle.ts';

/** Far below a lease, which a node would wait for that did not know that it is alone. */
const maxSentSeconds = 15;

/**
 * The only node is killed with SIGKILL in a campaign to everybody and started again, with its embedded database. It takes
 * up what it held at once: the campaign is sent soon after the last start, nobody is lost, and what is repeated was in
 * its open windows.
 */
export async function killNode(options: TortureOptions): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-torture-'));
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    CARILLON_DATA_DIR: folder,
    CARILLON_WINDOW_DEVICES: String(options.windowDevices),
    CARILLON_WORKER_CHUNKS: String(options.parallelChunks),
    CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'error',
  };
  const { collector, line } = await prepare(options, { folder, environment });
  const start = () => startTortureNode(environment, collector.endpoints);
  let node = await start();
  try {
    const campaignId = await pushToAll(node.url, line);
    let sentSeconds = 0;
    for (const reached of pickOccurrences({ ...options, random: makeRandom(options.seed) })) {
      await until('a moment to kill', () => collector.reached() >= reached);
      node.process.kill('SIGKILL');
      await once(node.process, 'close');
      node = await start();
      sentSeconds = performance.now() / 1000;
    }
    const installation = await open(environment, node.databaseUrl);
    try {
      const run = await waitForEnd(installation, campaignId);
      sentSeconds = Math.round((performance.now() / 1000 - sentSeconds) * 10) / 10;
      const audit = await auditRun(
        { database: installation.acrossWorkspaces, workspaceId: line.workspaceId, collector },
        campaignId,
      );
      const bound = options.rounds * options.parallelChunks * options.windowDevices;
      return {
        numbers: { ...audit, kills: options.rounds, bound, sentSeconds },
        broken: [
          ...findBrokenPromises(audit, run),
          ...(audit.repeats <= bound ? [] : ['repeats stay within kills × chunks × window']),
          ...(sentSeconds <= maxSentSeconds ? [] : [`SENT ${maxSentSeconds} s after the node was ready`]),
        ],
      };
    } finally {
      await installation.close();
    }
  } finally {
    node.process.kill('SIGTERM');
    await once(node.process, 'close');
    await collector.stop();
    await rm(folder, { recursive: true, force: true });
  }
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

async function startTortureNode(environment: Record<string, string>, endpoints: SimulatorEndpoints) {
  const script = join(import.meta.dirname, 'torture-node.ts');
  const child: ChildProcess = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, JSON.stringify(endpoints)],
    {
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  const ended = once(child, 'close').then(() => undefined);
  const ready = await Promise.race([once(child, 'message'), ended]);
  if (!ready) throw new Error('the node ended before it was ready');
  return { process: child, ...(ready[0] as { url: string; databaseUrl: string }) };
}

async function pushToAll(url: string, { workspaceId, keys }: StartLine): Promise<string> {
  const campaignName = 'Torture: the only node is killed';
  const answer = await fetch(`${url}/v2.1/transaction/sendpush`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-svc-appkey': workspaceId,
      'x-svc-pushapi-signature': signPush({ appId: workspaceId, campaignName, key: keys!.push }),
      'x-svc-query-type': 'all users',
    },
    body: JSON.stringify({ ...pushContent, campaignName, targetAudience: 'All Users' }),
  });
  const { status, cid, Error_Message: reason } = (await answer.json()) as Record<string, string>;
  if (status !== 'Success') throw new Error(`sendpush: ${reason}`);
  return cid!;
}

async function waitForEnd({ acrossWorkspaces: database }: OpenInstallation, campaignId: string) {
  let run: { status: string; reason: string | null } | undefined;
  await until('the end of the run', async () => {
    [run] = await database<{ status: string; reason: string | null }[]>`
      select status, status_reason as reason from runs where campaign_id = ${campaignId}`;
    return run!.status !== 'SENDING' && run!.status !== 'QUEUED';
  });
  return run!;
}

const maxWaitMilliseconds = 180_000;

async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + maxWaitMilliseconds;
  while (!(await look())) {
    if (performance.now() > deadline) throw new Error(`${what}: nothing moves`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
