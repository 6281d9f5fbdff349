import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '../../src/storage/database.ts';
import { auditFills, auditLoad, auditRun, findBrokenPromises, findFaults } from '../rig/audit.ts';
import { toUser } from '../rig/caller.ts';
import { startCommitCutter } from '../rig/commit-cutter.ts';
import type { CommitCutter, CutPlan, CutWay } from '../rig/commit-cutter.ts';
import { withTortureBundle } from '../rig/installation.ts';
import type { Front, TortureBundle, TortureOptions } from '../rig/installation.ts';
import { startCalls, startPushLoad } from '../rig/load.ts';
import type { Random } from '../rig/random.ts';
import { startFileHost } from '../rig/receivers.ts';
import type { FileHost } from '../rig/receivers.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';
import { isPoolerInstalled, startPooler } from '../start-pooler.ts';

const clients = 16;
const everyMilliseconds = 1_000;

/**
 * Every session of the application in the database is ended once a second (`pg_terminate_backend`), as by a fail-over
 * that does not settle, while a campaign, pushes to single users, a segment's fill and other calls go on. No caller gets a
 * 500, what was answered Success is stored and sent, and everything ends.
 */
export async function terminatedSessions(options: TortureOptions): Promise<Report> {
  const host = await startFileHost(options.devices);
  try {
    return await withTortureBundle(options, (bundle) => endSessions(bundle, host));
  } finally {
    await host.close();
  }
}

async function endSessions(bundle: TortureBundle, host: FileHost): Promise<Report> {
  const { caller, devices, rounds } = bundle;
  const workers = 2;
  await bundle.importDevices();
  await bundle.startWorkers(workers);
  const campaignId = await bundle.pushToAll('Torture: sessions are ended');
  const fill = await caller.fillSegment({ name: 'Torture', fileUrl: host.fileUrl, callbackUrl: host.callbackUrl });
  if (fill.httpStatus >= 300) throw new Error(`segment: ${JSON.stringify(fill)}`);
  const load = startPushLoad(caller, { clients, users: devices });
  const saves = startCalls({
    clients: 1,
    call(_client, count) {
      const id = `torture-${count}`;
      return { id, reply: caller.saveUser(id) };
    },
    isAccepted: ({ httpStatus }) => httpStatus === 200,
  });
  let ended = 0;
  const killer = openDatabase({ url: bundle.databaseUrl, connections: 1, name: 'torture killer' });
  // Also if a round fails: clients that go on calling keep the process alive.
  try {
    for (let round = 0; round < rounds; round += 1) {
      // The rate is what the scenario tries; there is no event to wait for.
      await wait(everyMilliseconds);
      const sessions = await killer`
        select pg_terminate_backend(pid) from pg_stat_activity
        where usename = current_user and pid <> pg_backend_pid()`;
      ended += sessions.count;
    }
  } finally {
    await Promise.all([load.stop(), saves.stop(), killer.end()]);
  }
  await bundle.waitForAll();
  const run = await bundle.waitForRunEnd(campaignId);
  const audit = await auditRun(bundle, campaignId);
  const calls = await auditLoad(bundle, [load]);
  const fills = await auditFills({ ...bundle, host }, { fills: 1, users: devices });
  const [saved] = await bundle.database<{ users: number }[]>`
    select count(*) as users from users where customer_id = any(${[...saves.answered]})`;
  const bound = rounds * workers * bundle.parallelChunks * bundle.windowDevices;
  return {
    numbers: {
      ...{ ...audit, bound, 'sessions ended': ended, ...calls.numbers },
      lost: audit.lost + calls.numbers['answered and not sent'],
      undocumented5xx: load.undocumented(),
      unanswered: load.unanswered() + saves.unanswered(),
      'statuses of pushes': JSON.stringify(load.statuses),
      'statuses of others': JSON.stringify(saves.statuses),
      'users saved': saved!.users,
      fill: JSON.stringify(fills.audit),
    },
    broken: [
      ...[...findBrokenPromises(audit, run), ...fills.broken, ...calls.broken],
      ...(await findFaults(bundle, [load, saves])),
      ...brokenOf({
        'repeats stay within ends × workers × chunks × window': audit.repeats <= bound,
        'sessions are ended': ended > 0,
        'some requests are answered': load.answered.length > 0,
        'a user that was answered as saved is on disk': saved!.users === saves.answered.length,
      }),
    ],
  };
}

type LostCommitsOptions = TortureOptions & {
  /** `pooler`: PgBouncer in transaction mode, and connections are cut before it and behind it. */
  front: 'none' | 'pooler';
};

const audience = 30;
const maxPushes = 400;
/** A busy machine stores all pushes of a round in a few commits, and chance may cut none of them. */
const maxMoreRounds = 20;

/**
 * Connections of all nodes are cut at their commits while pushes to all users and to single users arrive. What was
 * answered Success is stored and was sent, once; what is stored was answered Success; nothing failed.
 */
export async function lostCommits({ front, ...options }: LostCommitsOptions): Promise<Report> {
  // Of a round, all at once.
  const pushes = Math.min(maxPushes, Math.ceil(options.devices / 10));
  if (front === 'pooler' && !isPoolerInstalled)
    return { numbers: { skipped: 'pgbouncer is missing (Debian: apt install pgbouncer)' }, broken: [] };
  const startFront = front === 'none' ? cutOnly : pool;
  return withTortureBundle({ ...options, devices: audience, startFront }, async (bundle) => {
    const { cutters } = bundle;
    const cutBefore = countCuts(cutters);
    await bundle.importDevices();
    await bundle.startWorker();
    const answers: Answer[] = [];
    const isStruck = (): boolean => countCuts(cutters).answered > cutBefore.answered;
    for (let round = 0; round < options.rounds || (!isStruck() && round < options.rounds + maxMoreRounds); round += 1) {
      for (const cutter of cutters) cutter.follow(planCuts(bundle.random, front === 'none' ? 1.5 : 8));
      answers.push(...(await Promise.all(Array.from({ length: pushes }, (_, n) => push(bundle, { round, n })))));
    }
    for (const cutter of cutters) cutter.follow(() => undefined);
    await bundle.waitForAll();
    await bundle.collector.settle();
    const cuts = countCuts(cutters);
    for (const way of Object.keys(cuts) as CutWay[]) cuts[way] -= cutBefore[way];
    return judge(await compare(bundle, answers), cuts);
  });
}

async function cutOnly(url: string): Promise<Front> {
  const cutter = await startCommitCutter(url);
  return { environment: { DATABASE_URL: cutter.url }, cutters: [cutter], close: () => cutter.close() };
}

async function pool(url: string): Promise<Front> {
  const behind = await startCommitCutter(url);
  const pooler = await startPooler(behind.url, { mode: 'transaction', roundRobin: true, sessions: 8 });
  const before = await startCommitCutter(pooler.url);
  return {
    cutters: [before, behind],
    environment: {
      DATABASE_URL: before.url,
      CARILLON_DATABASE_POOLER: 'transaction',
      CARILLON_DATABASE_DIRECT_URL: url,
    },
    async close() {
      await before.close();
      await pooler.stop();
      await behind.close();
    },
  };
}

/**
 * Cuts one of this many commits of a round, and of the queries that follow. Behind a pooler, a transaction that only reads
 * commits as well, and a push commits several times.
 */
function planCuts(random: Random, commits: number): CutPlan {
  // Seldom before the commit reaches the database: a batch is tried five times.
  const shares: Record<CutWay, number> = { answered: 4, unanswered: 3, unheard: 1 };
  const ways = Object.entries(shares).flatMap(([way, share]) => Array<CutWay>(share).fill(way as CutWay));
  return () => (random.next() * commits < 1 ? ways[random.between(0, ways.length - 1)] : undefined);
}

type Answer = { requestId: string; isDocumented: boolean; kind: 'Success' | 'Fail' | '5xx' | 'other' };

/** A third each: to all users, to one user in a separate campaign, to one user in a campaign that ten pushes join. */
async function push(bundle: TortureBundle, { round, n }: { round: number; n: number }): Promise<Answer> {
  const requestId = `request-${round}-${n}`;
  const campaignName = n % 3 === 2 ? `Lost commits: shared ${round}-${n % 40}` : `Lost commits: ${requestId}`;
  const target = n % 3 === 0 ? { targetAudience: 'All Users' } : toUser(`demo-user-${(round * 7 + n) % audience}`);
  const answer = await bundle.push({ requestId, campaignName, ...target });
  const { isDocumented } = answer;
  if (answer.httpStatus >= 500) return { requestId, isDocumented, kind: '5xx' };
  return {
    requestId,
    isDocumented,
    kind: answer.status === 'Success' || answer.status === 'Fail' ? answer.status : 'other',
  };
}

type Comparison = {
  answers: Record<Answer['kind'], number>;
  stored: number;
  /** Requests whose every device has one accepted message. */
  sent: number;
  storedAndNotSuccess: number;
  successAndNotStored: number;
  undocumented5xx: number;
  ledgerRows: number;
  received: number;
};

async function compare(bundle: TortureBundle, answers: Answer[]): Promise<Comparison> {
  const rows = await bundle.database<{ requestId: string; audience: string; accepted: number; other: number }[]>`
    select push_requests.request_id as "requestId", campaigns.audience,
      count(*) filter (where outcome = 'ACCEPTED') as accepted,
      count(deliveries.device_id) filter (where outcome <> 'ACCEPTED') as other
    from push_requests
    join campaigns on campaigns.id = push_requests.campaign_id
    left join readable_deliveries as deliveries on deliveries.run_id = push_requests.run_id
    group by push_requests.response_id, push_requests.request_id, campaigns.audience`;
  const stored = new Set(rows.map(({ requestId }) => requestId));
  const successes = new Set(answers.filter(({ kind }) => kind === 'Success').map(({ requestId }) => requestId));
  const kinds = { Success: 0, Fail: 0, '5xx': 0, other: 0 };
  for (const { kind } of answers) kinds[kind] += 1;
  const [ledger] = await bundle.database<
    { rows: number }[]
  >`select count(*) as rows from readable_deliveries as deliveries`;
  // Those of the demo's own users among them.
  const [reached] = await bundle.database<{ devices: number }[]>`
    select count(*) as devices from devices where workspace_id = ${bundle.workspaceId} and state <> 'OPTED_OUT'`;
  const expected = (row: { audience: string }): number => (row.audience === 'ALL_USERS' ? reached!.devices : 1);
  return {
    answers: kinds,
    stored: rows.length,
    sent: rows.filter((row) => row.other === 0 && row.accepted === expected(row)).length,
    storedAndNotSuccess: [...stored].filter((requestId) => !successes.has(requestId)).length,
    successAndNotStored: [...successes].filter((requestId) => !stored.has(requestId)).length,
    undocumented5xx: answers.filter(({ isDocumented }) => !isDocumented).length,
    ledgerRows: ledger!.rows,
    received: bundle.collector.requests(),
  };
}

function countCuts(cutters: readonly CommitCutter[]): Record<CutWay, number> {
  const cuts = { unheard: 0, unanswered: 0, answered: 0 };
  for (const cutter of cutters) for (const way of Object.keys(cuts) as CutWay[]) cuts[way] += cutter.cuts()[way];
  return cuts;
}

function judge({ answers, ...counts }: Comparison, cuts: Record<CutWay, number>): Report {
  const broken = brokenOf({
    'what was answered Success is stored': counts.successAndNotStored === 0,
    'what is stored was answered Success': counts.storedAndNotSuccess === 0,
    'no request is stored twice': counts.stored === answers.Success,
    'what is stored was sent': counts.sent === counts.stored,
    'nothing was sent twice': counts.received === counts.ledgerRows,
    'nothing failed': answers.Fail + answers['5xx'] + answers.other === 0,
    'answers to commits were lost': cuts.answered > 0,
  });
  return {
    numbers: {
      answered: answers.Success,
      Fail: answers.Fail,
      '5xx': answers['5xx'],
      other: answers.other,
      stored: counts.stored,
      sent: counts.sent,
      answeredNotStored: counts.successAndNotStored,
      storedNotAnswered: counts.storedAndNotSuccess,
      undocumented5xx: counts.undocumented5xx,
      cuts: cuts.answered + cuts.unanswered + cuts.unheard,
      lost: counts.stored - counts.sent,
      repeats: counts.received - counts.ledgerRows,
      requests: counts.received,
      'rows of the ledger': counts.ledgerRows,
      'cut after the commit': cuts.answered,
      'cut during the commit': cuts.unanswered,
      'cut before the commit': cuts.unheard,
    },
    broken,
  };
}
