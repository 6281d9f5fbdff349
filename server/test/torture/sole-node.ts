import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import type { OpenInstallation } from '../../src/start/database/open-installation.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import {
  auditFills,
  auditLoad,
  auditRun,
  findBrokenPromises,
  findFinishedRun,
  isAllEnded,
  sumAudits,
} from '../rig/audit.ts';
import { makeCaller } from '../rig/caller.ts';
import { startCollector } from '../rig/collector.ts';
import { killCluster } from '../rig/databases.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { startPushLoad } from '../rig/load.ts';
import type { Load } from '../rig/load.ts';
import { importUsers, nodeEnvironment, startMain, startRigNode } from '../rig/processes.ts';
import { makeRandom, pickOccurrences } from '../rig/random.ts';
import type { Random } from '../rig/random.ts';
import { startFileHost } from '../rig/receivers.ts';
import type { FileHost } from '../rig/receivers.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';
import { until } from '../rig/until.ts';

type SoleNode = Awaited<ReturnType<typeof startSoleNode>>;

/**
 * The only node of an installation: of role `all`, on its own embedded database or on the one that the options start, with
 * users in its demo workspace; and the simulated providers in this process.
 */
async function startSoleNode(options: TortureOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-torture-'));
  const postgres = await options.startDatabase?.(join(folder, 'database'));
  const environment = {
    ...nodeEnvironment(folder, postgres),
    CARILLON_WINDOW_DEVICES: String(options.windowDevices),
    CARILLON_WORKER_CHUNKS: String(options.parallelChunks),
  };
  const { collector, line } = await prepare(options, environment);
  const start = () => startRigNode(environment, { endpoints: collector.endpoints });
  let node = await start();
  return {
    collector,
    workspaceId: line.workspaceId,
    caller: makeCaller(line, () => node.url),
    /** `with its database`: no process of either is left; otherwise the next node finds the database running without an owner. */
    async killAndRestart(what: 'alone' | 'with its database'): Promise<void> {
      node.process.kill('SIGKILL');
      if (what === 'with its database')
        await (postgres?.killAndRestart() ?? killCluster(join(folder, 'postgres', 'cluster')));
      await node.exited;
      node = await start();
    },
    /** Calls `work` with the database of the running node. */
    async withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
      const installation = await open(environment, node.databaseUrl);
      try {
        return await work(installation.acrossWorkspaces);
      } finally {
        await installation.close();
      }
    },
    async stop(): Promise<void> {
      node.process.kill('SIGTERM');
      await node.exited;
      await collector.stop();
      await postgres?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Fills the demo workspace with users, and starts the providers that know its credentials. */
async function prepare(options: TortureOptions, environment: Record<string, string>) {
  const node = await startMain(environment, ['--port', '0', '--seed', String(options.seed)]);
  await importUsers(environment, options.devices);
  const installation = await open(environment, node.line.databaseUrl);
  const collector = await startCollector(installation);
  await installation.close();
  node.process.kill('SIGTERM');
  await node.exited;
  return { collector, line: node.line };
}

function open(environment: Record<string, string>, databaseUrl: string): Promise<OpenInstallation> {
  const config = readConfig({ environment: { ...environment, DATABASE_URL: databaseUrl }, arguments: [] });
  return openInstallation(config, { clock: makeClock(), log: makeLog({ level: 'error', pretty: false }) });
}

async function withSoleNode(options: TortureOptions, work: (node: SoleNode) => Promise<Report>): Promise<Report> {
  const node = await startSoleNode(options);
  try {
    return await work(node);
  } finally {
    await node.stop();
  }
}

async function pushToAll({ caller }: SoleNode, body: { campaignName: string } & Record<string, unknown>) {
  const answer = await caller.push({ targetAudience: 'All Users', ...body });
  if (answer.body.status !== 'Success') throw new Error(`sendpush: ${JSON.stringify(answer.body)}`);
  return String(answer.body.cid);
}

/**
 * With its embedded database a node knows that it is alone, so it waits for much less than a lease. On a database that
 * other nodes may use, it waits until its former work is free (fault F1: at most 60 s).
 */
const maxSentSeconds = { embedded: 15, own: 75 };

/**
 * The only node is killed with SIGKILL in a campaign to all users and started again, with its embedded database. It
 * continues its former work at once: the campaign is sent soon after the last start, no user is lost, and what is repeated
 * was in its open windows.
 */
export function killNode(options: TortureOptions): Promise<Report> {
  return withSoleNode(options, async (node) => {
    const { collector, workspaceId } = node;
    const campaignId = await pushToAll(node, { campaignName: 'Torture: the only node is killed' });
    let startedAt = 0;
    for (const reached of pickOccurrences({ ...options, random: makeRandom(options.seed) })) {
      await until('a moment to kill', { look: () => collector.reached() >= reached });
      await node.killAndRestart('alone');
      startedAt = performance.now();
    }
    return node.withDatabase(async (database) => {
      const run = await until('the end of the run', { look: () => findFinishedRun(database, campaignId) });
      const sentSeconds = Math.round((performance.now() - startedAt) / 100) / 10;
      const audit = await auditRun({ database, workspaceId, collector }, campaignId);
      const maxSeconds = maxSentSeconds[options.startDatabase === undefined ? 'embedded' : 'own'];
      const bound = options.rounds * options.parallelChunks * options.windowDevices;
      return {
        numbers: { ...audit, kills: options.rounds, bound, sentSeconds },
        broken: [
          ...findBrokenPromises(audit, run),
          ...brokenOf({
            'repeats stay within kills × chunks × window': audit.repeats <= bound,
            [`SENT ${maxSeconds} s after the node was ready`]: sentSeconds <= maxSeconds,
          }),
        ],
      };
    });
  });
}

type Work = 'burst' | 'fill' | 'schedule';
const works: Work[] = ['burst', 'fill', 'schedule'];

const clients = 32;
const maxBurstMilliseconds = 5_000;
const pieceLines = 500;

type Play = { node: SoleNode; host: FileHost; random: Random; users: number; round: number };

/** The work that was begun, to be audited at the end. */
type Begun = { loads: Load[]; fills: number; scheduled: string[] };

/**
 * The only node, and half the times its embedded database with it, is killed with SIGKILL in a burst of pushes to single
 * users, in a segment's fill, or as a scheduled campaign fires; a campaign to all users is kill-node's. Started again, it
 * continues: what was answered Success is stored and sent, a fill ends once with one callback, a schedule fires once.
 */
export function killNodeAtWork(options: TortureOptions): Promise<Report> {
  return withSoleNode(options, async (node) => {
    const host = await startFileHost(options.devices);
    const random = makeRandom(options.seed);
    const begun: Begun = { loads: [], fills: 0, scheduled: [] };
    const kills: Record<Work | 'with the database', number> = {
      ...{ burst: 0, fill: 0, schedule: 0, 'with the database': 0 },
    };
    const first = random.between(0, works.length - 1);
    try {
      for (let round = 0; round < options.rounds; round += 1) {
        const work = works[(first + round) % works.length]!;
        const what = random.between(0, 1) === 0 ? 'alone' : 'with its database';
        kills[work] += 1;
        if (what !== 'alone') kills['with the database'] += 1;
        await begin[work]({ node, host, random, users: options.devices, round }, begun);
        await node.killAndRestart(what);
        await begun.loads.at(-1)?.stop();
      }
      return await node.withDatabase(async (database) => {
        await until('the end of everything', { look: () => isAllEnded(database) });
        const { numbers, broken } = await audit({ node, host, database }, { begun, options });
        return { numbers: { ...numbers, kills: options.rounds, 'kills by work': JSON.stringify(kills) }, broken };
      });
    } finally {
      // Also if a round fails: clients that go on calling keep the process alive.
      await begun.loads.at(-1)?.stop();
      await host.close();
    }
  });
}

/** Each begins its work and returns at the moment to kill. */
const begin: Record<Work, (play: Play, begun: Begun) => Promise<void>> = {
  async burst({ node, random, users, round }, { loads }) {
    const load = startPushLoad(node.caller, { clients, users, prefix: `burst-${round}` });
    loads.push(load);
    const wanted = random.between(20, 300);
    const limit = performance.now() + maxBurstMilliseconds;
    await until('answers', { look: () => load.answered.length >= wanted || performance.now() > limit });
  },
  async fill({ node, host, random, users, round }, begun) {
    const served = host.servedPieces();
    const { fileUrl, callbackUrl } = host;
    const answer = await node.caller.fillSegment({ name: `Torture ${round}`, fileUrl, callbackUrl });
    if (answer.httpStatus >= 300) throw new Error(`segment: ${JSON.stringify(answer)}`);
    begun.fills += 1;
    // While it is read, or as its last piece has left.
    const piece = random.between(1, Math.ceil(users / pieceLines));
    await until('a piece of the file', { look: () => host.servedPieces() >= served + piece });
  },
  async schedule({ node, random, round }, { scheduled }) {
    const campaignId = await pushToAll(node, {
      campaignName: `Torture: scheduled ${round}`,
      campaignDelivery: { type: 'later', date: '12/31/2099', time: '09:00 AM' },
    });
    scheduled.push(campaignId);
    const reached = node.collector.reached();
    await node.withDatabase(async (database) => {
      // Callers schedule by the minute; it is due now.
      await inTransaction(
        database,
        (tx) => tx`update campaigns set next_at = now() where id = ${campaignId} and status = 'SCHEDULED'`,
      );
      // As it fires, as its audience is frozen, or as it begins to send.
      const phase = (['fired', 'released', 'sending'] as const)[random.between(0, 2)]!;
      await until(`the schedule is ${phase}`, {
        async look() {
          const [row] = await database<{ runs: number; chunks: number }[]>`
            select (select count(*) from runs where campaign_id = ${campaignId}) as runs,
              (select count(*) from chunks where run_id in (select id from runs where campaign_id = ${campaignId})) as chunks`;
          if (phase === 'fired') return row!.runs > 0;
          return phase === 'released' ? row!.chunks > 0 : node.collector.reached() > reached;
        },
      });
    });
  },
};

type Found = { node: SoleNode; host: FileHost; database: Database };

async function audit(
  { node, host, database }: Found,
  { begun, options }: { begun: Begun; options: TortureOptions },
): Promise<Report> {
  const { collector, workspaceId } = node;
  await collector.settle();
  const calls = await auditLoad({ database, collector }, begun.loads);
  const fills = await auditFills({ database, host }, { fills: begun.fills, users: options.devices });
  const bound = options.parallelChunks * options.windowDevices;
  const audits: Awaited<ReturnType<typeof auditRun>>[] = [];
  const broken = [...calls.broken, ...(begun.fills > 0 ? fills.broken : [])];
  for (const campaignId of begun.scheduled) {
    const runs = await database<{ status: string; reason: string | null }[]>`
      select status, status_reason as reason from runs where campaign_id = ${campaignId}`;
    const run = await auditRun({ database, workspaceId, collector }, campaignId);
    audits.push(run);
    broken.push(
      ...findBrokenPromises(run, runs[0] ?? { status: 'never', reason: null }),
      ...brokenOf({
        [`a schedule fires once, not ${runs.length} times`]: runs.length === 1,
        'repeats stay within chunks × window': run.repeats <= bound,
      }),
    );
  }
  const { requests: _requests, ...sums } = sumAudits(audits);
  return {
    numbers: {
      ...calls.numbers,
      denied: begun.loads.reduce((sum, load) => sum + load.denied.length, 0),
      fills: JSON.stringify(fills.audit),
      'schedules fired': begun.scheduled.length,
      ...{ ...sums, bound: bound * begun.scheduled.length },
    },
    broken,
  };
}
