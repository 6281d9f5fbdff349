import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { auditFills, auditRun, findBrokenPromises, findKept, isAllEnded } from '../rig/audit.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { startPushLoad } from '../rig/load.ts';
import { makeRandom } from '../rig/random.ts';
import type { Random } from '../rig/random.ts';
import { startFileHost } from '../rig/receivers.ts';
import type { FileHost } from '../rig/receivers.ts';
import type { Report } from '../rig/report.ts';
import { startSoleNode, until } from './sole-node.ts';

type Work = 'burst' | 'fill' | 'schedule';
const works: Work[] = ['burst', 'fill', 'schedule'];

const clients = 32;
const maxBurstMilliseconds = 5_000;
const pieceLines = 500;

type SoleNode = Awaited<ReturnType<typeof startSoleNode>>;
type Play = { node: SoleNode; host: FileHost; random: Random; users: number; round: number };

/** What was begun, and is to be found at the end. */
type Begun = { answered: string[]; denied: string[]; unanswered: number; fills: number; scheduled: string[] };

/**
 * The only node, and half the times its embedded database with it, is killed with SIGKILL in a burst of pushes to single
 * users, in a segment's fill, or as a scheduled campaign fires; a campaign to everybody is kill-node's. Started again it
 * goes on: what was answered Success is stored and sent, a fill ends once with one callback, a schedule fires once.
 */
export async function killNodeAtWork(options: TortureOptions): Promise<Report> {
  const node = await startSoleNode(options);
  const host = await startFileHost(options.devices);
  const random = makeRandom(options.seed);
  const begun: Begun = { answered: [], denied: [], unanswered: 0, fills: 0, scheduled: [] };
  const kills: Record<Work | 'with the database', number> = { burst: 0, fill: 0, schedule: 0, 'with the database': 0 };
  const first = random.between(0, works.length - 1);
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      const work = works[(first + round) % works.length]!;
      const what = random.between(0, 1) === 0 ? 'alone' : 'with its database';
      kills[work] += 1;
      if (what !== 'alone') kills['with the database'] += 1;
      await playRound[work]({ node, host, random, users: options.devices, round }, { begun, what });
    }
    const installation = await node.open();
    try {
      const { acrossWorkspaces: database } = installation;
      await until('the end of everything', () => isAllEnded(database));
      const { numbers, broken } = await audit({ node, host, database }, { begun, options });
      return { numbers: { ...numbers, kills: options.rounds, 'kills by work': JSON.stringify(kills) }, broken };
    } finally {
      await installation.close();
    }
  } finally {
    await node.stop();
    await host.close();
  }
}

type Round = { begun: Begun; what: 'alone' | 'with its database' };

const playRound: Record<Work, (play: Play, round: Round) => Promise<void>> = {
  async burst({ node, random, users, round }, { begun, what }) {
    const load = startPushLoad(node.caller, { clients, users, prefix: `burst-${round}` });
    // Also when a round fails: what goes on calling keeps the process.
    try {
      const wanted = random.between(20, 300);
      const limit = performance.now() + maxBurstMilliseconds;
      await until('answers', () => load.answered.length >= wanted || performance.now() > limit);
      await node.killAndRestart(what);
    } finally {
      await load.stop();
    }
    begun.answered.push(...load.answered);
    begun.denied.push(...load.denied);
    begun.unanswered += load.unanswered();
  },
  async fill({ node, host, random, users, round }, { begun, what }) {
    const served = host.servedPieces();
    const answer = await node.caller.fillSegment({
      name: `Torture ${round}`,
      fileUrl: host.fileUrl,
      callbackUrl: host.callbackUrl,
    });
    if (answer.httpStatus >= 300) throw new Error(`segment: ${JSON.stringify(answer)}`);
    begun.fills += 1;
    // While it is read, or as its last piece has left.
    const piece = random.between(1, Math.ceil(users / pieceLines));
    await until('a piece of the file', () => host.servedPieces() >= served + piece);
    await node.killAndRestart(what);
  },
  async schedule({ node, random, round }, { begun, what }) {
    const answer = await node.caller.push({
      campaignName: `Torture: scheduled ${round}`,
      targetAudience: 'All Users',
      campaignDelivery: { type: 'later', date: '12/31/2099', time: '09:00 AM' },
    });
    if (answer.body.status !== 'Success') throw new Error(`sendpush: ${JSON.stringify(answer.body)}`);
    const campaignId = String(answer.body.cid);
    begun.scheduled.push(campaignId);
    const installation = await node.open();
    const reached = node.collector.reached();
    try {
      // Callers schedule by the minute; it is due now.
      await inTransaction(
        installation.acrossWorkspaces,
        (tx) => tx`update campaigns set next_at = now() where id = ${campaignId} and status = 'SCHEDULED'`,
      );
      // As it fires, as its audience is frozen, or as it begins to send.
      const phase = (['fired', 'released', 'sending'] as const)[random.between(0, 2)]!;
      await until(`the schedule is ${phase}`, async () => {
        const [row] = await installation.acrossWorkspaces<{ runs: number; chunks: number }[]>`
          select (select count(*) from runs where campaign_id = ${campaignId}) as runs,
            (select count(*) from chunks where run_id in (select id from runs where campaign_id = ${campaignId})) as chunks`;
        if (phase === 'fired') return row!.runs > 0;
        return phase === 'released' ? row!.chunks > 0 : node.collector.reached() > reached;
      });
    } finally {
      await installation.close();
    }
    await node.killAndRestart(what);
  },
};

type Found = { node: SoleNode; host: FileHost; database: Database };

async function audit(
  { node, host, database }: Found,
  { begun, options }: { begun: Begun; options: TortureOptions },
): Promise<Report> {
  const { collector, workspaceId } = node;
  await collector.settle();
  const kept = await findKept({ database, collector }, begun);
  const fills = await auditFills({ database, host }, { fills: begun.fills, users: options.devices });
  const bound = options.parallelChunks * options.windowDevices;
  const sums = { devices: 0, lost: 0, mixedIdentities: 0, miscounted: 0, repeats: 0, ledgerRows: 0 };
  const broken: string[] = [...(begun.fills > 0 ? fills.broken : [])];
  for (const campaignId of begun.scheduled) {
    const runs = await database<{ status: string; reason: string | null }[]>`
      select status, status_reason as reason from runs where campaign_id = ${campaignId}`;
    const run = await auditRun({ database, workspaceId, collector }, campaignId);
    if (runs.length !== 1) broken.push(`a schedule fires once, not ${runs.length} times`);
    broken.push(...findBrokenPromises(run, runs[0] ?? { status: 'never', reason: null }));
    if (run.repeats > bound) broken.push('repeats stay within chunks × window');
    sums.devices += run.devices;
    sums.lost += run.lost;
    sums.mixedIdentities += run.mixedIdentities;
    sums.miscounted += run.miscounted;
    sums.repeats += run.repeats;
    sums.ledgerRows += run.ledgerRows;
  }
  if (kept.kept !== begun.answered.length) broken.push('an answered request is on disk');
  if (kept.sent !== begun.answered.length) broken.push('the message of an answered request was sent');
  if (kept.deniedAndKept > 0) broken.push('what is on disk was not answered as failed');
  return {
    numbers: {
      answered: begun.answered.length,
      answeredNotStored: begun.answered.length - kept.kept,
      'answered and not sent': kept.kept - kept.sent,
      unanswered: begun.unanswered,
      denied: begun.denied.length,
      storedNotAnswered: kept.deniedAndKept,
      fills: JSON.stringify(fills.audit),
      'schedules fired': begun.scheduled.length,
      ...sums,
      bound: bound * begun.scheduled.length,
    },
    broken,
  };
}
