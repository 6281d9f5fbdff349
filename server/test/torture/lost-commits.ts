import { isPoolerInstalled, startPooler } from '../start-pooler.ts';
import { startCommitCutter } from '../rig/commit-cutter.ts';
import type { CommitCutter, CutPlan, CutWay } from '../rig/commit-cutter.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { Front, TortureBundle, TortureOptions } from '../rig/installation.ts';
import type { Random } from '../rig/random.ts';
import type { Report } from '../rig/report.ts';

export type LostCommitsOptions = TortureOptions & {
  /** `pooler`: PgBouncer in transaction mode, and connections are cut before it and behind it. */
  front: 'none' | 'pooler';
};

const users = 30;
const maxPushes = 400;
/** A busy machine stores all pushes of a round in a few commits, and chance may cut none of them. */
const maxMoreRounds = 20;

/**
 * Connections of all nodes are cut at their commits while pushes to everybody and to single users arrive. What was
 * answered Success is stored and was sent, once; what is stored was answered Success; nothing failed.
 */
export async function lostCommits({ front, ...options }: LostCommitsOptions): Promise<Report> {
  // Of a round, all at once.
  const pushes = Math.min(maxPushes, Math.ceil(options.devices / 10));
  if (front === 'pooler' && !isPoolerInstalled)
    return { numbers: { skipped: 'pgbouncer is missing (Debian: apt install pgbouncer)' }, broken: [] };
  const bundle = await makeTortureBundle({ ...options, devices: users, startFront: front === 'none' ? cutOnly : pool });
  const { cutters } = bundle;
  const cutBefore = countCuts(cutters);
  try {
    await bundle.importDevices();
    await bundle.startWorker();
    const answers: Answer[] = [];
    const isStruck = (): boolean => countCuts(cutters).answered > cutBefore.answered;
    for (let round = 0; round < options.rounds || (!isStruck() && round < options.rounds + maxMoreRounds); round += 1) {
      for (const cutter of cutters) cutter.follow(planCuts(bundle.random, front === 'none' ? 1.5 : 8));
      answers.push(...(await Promise.all(Array.from({ length: pushes }, (_, n) => push(bundle, { round, n })))));
    }
    for (const cutter of cutters) cutter.follow(() => undefined);
    await bundle.waitFor('the end of every run', async () => {
      const [row] = await bundle.database<{ open: number }[]>`
        select count(*) as open from runs where status in ('QUEUED', 'SENDING')`;
      return row!.open === 0 ? true : undefined;
    });
    await bundle.collector.settle();
    const cuts = countCuts(cutters);
    for (const way of Object.keys(cuts) as CutWay[]) cuts[way] -= cutBefore[way];
    return judge(await compare(bundle, answers), cuts);
  } finally {
    await bundle.stop();
  }
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
 * Cuts one of so many commits of a round, and of the questions that follow. Behind a pooler also what reads alone has a
 * commit, and a push several of them.
 */
function planCuts(random: Random, commits: number): CutPlan {
  // Seldom before the database hears of it: a batch is tried five times.
  const ways: CutWay[] = [
    'answered',
    'answered',
    'answered',
    'answered',
    'unanswered',
    'unanswered',
    'unanswered',
    'unheard',
  ];
  return () => (random.next() * commits < 1 ? ways[random.between(0, ways.length - 1)] : undefined);
}

type Answer = { requestId: string; isDocumented: boolean; kind: 'Success' | 'Fail' | '5xx' | 'other' };

/** A third each: to everybody, to one user in a campaign of its own, to one user in a campaign that ten join. */
async function push(bundle: TortureBundle, { round, n }: { round: number; n: number }): Promise<Answer> {
  const requestId = `request-${round}-${n}`;
  const attributeValue = `demo-user-${(round * 7 + n) % users}`;
  const toUser = {
    targetAudience: 'User',
    targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
  };
  const campaignName = n % 3 === 2 ? `Lost commits: shared ${round}-${n % 40}` : `Lost commits: ${requestId}`;
  const audience = n % 3 === 0 ? { targetAudience: 'All Users' } : toUser;
  const answer = await bundle.push({ requestId, campaignName, ...audience });
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
  const [audience] = await bundle.database<{ devices: number }[]>`
    select count(*) as devices from devices where workspace_id = ${bundle.workspaceId} and state <> 'OPTED_OUT'`;
  const expected = (row: { audience: string }): number => (row.audience === 'ALL_USERS' ? audience!.devices : 1);
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
  const promises: Record<string, boolean> = {
    'what was answered Success is stored': counts.successAndNotStored === 0,
    'what is stored was answered Success': counts.storedAndNotSuccess === 0,
    'no request is stored twice': counts.stored === answers.Success,
    'what is stored was sent': counts.sent === counts.stored,
    'nothing was sent twice': counts.received === counts.ledgerRows,
    'nothing failed': answers.Fail + answers['5xx'] + answers.other === 0,
    'answers to commits were lost': cuts.answered > 0,
  };
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
    broken: Object.entries(promises).flatMap(([promise, isKept]) => (isKept ? [] : [promise])),
  };
}
