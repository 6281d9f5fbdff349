import { once } from 'node:events';
import { saveProviderCredential } from '../../../server/src/app/credentials.ts';
import { makeSimulatedCredentials } from '../../../server/src/app/sandbox/simulated-credentials.ts';
import { defaultAppId } from '../../../server/src/domain/apps.ts';
import { signPush } from '../../../server/src/domain/crypto/signatures.ts';
import { inTransaction } from '../../../server/src/storage/database.ts';
import type { Database } from '../../../server/src/storage/database.ts';
import { nodeEnvironment, startRigNode, startScript } from '../../../server/test/rig/processes.ts';
import type { RigNode, Script } from '../../../server/test/rig/processes.ts';
import { quantile } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import {
  insertDevices,
  insertWorkspaces,
  partsOf,
  passLimit,
  profilingEnvironment,
  startInstallation,
} from '../kit/installation.ts';
import type { BenchWorkspace, Installation } from '../kit/installation.ts';
import { paceCalls } from '../kit/load.ts';
import type { HttpRequest } from '../kit/load.ts';
import { processPath } from '../kit/peers.ts';
import { presentShares, watchProcessor } from '../kit/processor-shares.ts';
import type { Arrivals } from '../processes/quick-provider.ts';
import { countStatements } from './small-runs.ts';

/** Users of each workspace; every third has an iPhone, and gets the pushes. */
const usersOfWorkspace = 90;
const minuteMilliseconds = 61_000;
const maxLateMilliseconds = 60_000;
/** The rates that connections which wait for their responses reach, by the distance to the database. */
const goals = [
  { maxDistance: 0, rate: 3_000, p99: 150 },
  { maxDistance: 10, rate: 1_500, p99: 250 },
  { maxDistance: Infinity, rate: 800, p99: 250 },
];
const p99At1000 = 60;
const p99DuringCampaign = 250;
/** A workspace may push 10,000 times a minute. */
const maxFlood = 9_000;

type Lane = {
  installation: Installation;
  workspaces: readonly BenchWorkspace[];
  node: RigNode;
  provider: Script<unknown>;
  distance: Script<unknown> | undefined;
  /** With the extension that counts statements. */
  superuser: Database | undefined;
  first: number;
};

/**
 * Pushes to one user each, accepted, sent and recorded by one node. Each is a one-time password that joins its workspace's
 * campaign. The provider is a process that accepts everything, and each workspace has its own account there.
 */
export const laneCase: Case<'lane', Lane> = {
  async prepare(bench) {
    const { workspaces: count, distance: roundTrip, profile, campaign, statements } = bench.options;
    const path = await bench.makeFolder();
    const folder = { path, remove: () => Promise.resolve() };
    const options = { devices: usersOfWorkspace, windowDevices: 500, parallelChunks: 8, folder };
    const installation = await startInstallation(bench, options);
    await installation.importDevices();
    const workspaces = await insertWorkspaces(installation, count);
    await addAccounts(installation, workspaces);
    if (campaign > 0)
      await insertDevices(installation, {
        devices: campaign,
        platforms: ['IOS'],
        users: 'without',
        beside: 'those that are there',
      });
    const superuser = statements ? await countStatements(installation, path) : undefined;
    if (superuser) bench.defer(() => superuser.end());
    const start = async (name: string, words: string[] = []): Promise<Script<number>> => {
      const script = await startScript<number>({}, { words: [processPath(name), ...words] });
      bench.defer(() => end(script));
      return script;
    };
    const provider = await start('quick-provider.ts');
    const address = new URL(installation.databaseUrl);
    const distance =
      roundTrip === 0 ? undefined : await start('distant-database.ts', [address.port, String(roundTrip)]);
    if (distance) address.port = String(distance.ready);
    const urls = { url: address.href, ownerUrl: installation.ownerUrl };
    const environment = { ...nodeEnvironment(await bench.makeFolder(), urls), ...profilingEnvironment(profile) };
    const apns = `http://127.0.0.1:${provider.ready}`;
    const endpoints = { ...installation.collector.endpoints, apns };
    const node = await startRigNode(environment, { endpoints, parameters: ['--seed', '1'] });
    bench.defer(() => end(node));
    const lane: Lane = { installation, workspaces, node, provider, distance, superuser, first: 0 };
    await sendRound(bench, { lane, name: 'warm-up', rate: 200, seconds: 3 });
    return lane;
  },

  async run(bench, lane) {
    const { rate, seconds, rounds, campaign, flood } = bench.options;
    for (let round = 1; round <= rounds; round += 1) {
      await passLimit(lane.installation, minuteMilliseconds);
      if (campaign > 0) await lane.installation.pushToAll(`Everybody ${round}`);
      const sent = await sendRound(bench, { lane, name: `round ${round}`, rate, seconds, flood });
      tell(bench, sent);
    }
    if (lane.superuser) await sayStatements(bench, { superuser: lane.superuser, pushes: lane.first });
  },
};

async function end({ process: child, exited }: Pick<Script<unknown>, 'process' | 'exited'>): Promise<void> {
  child.kill('SIGTERM');
  await exited;
}

/** Each workspace has a key of its own at the provider, as independent companies have. */
async function addAccounts(installation: Installation, workspaces: readonly BenchWorkspace[]): Promise<void> {
  const { apns } = await makeSimulatedCredentials('bench');
  await inTransaction(installation.database, async (tx) => {
    for (const [number, { id: workspaceId }] of workspaces.entries()) {
      const credential = { ...apns, keyId: `BENCH${String(number).padStart(5, '0')}` };
      await saveProviderCredential(installation, tx, {
        ...{ workspaceId, appId: defaultAppId, credential, at: installation.now() },
      });
    }
  });
}

type Round = {
  lane: Lane;
  name: string;
  /** Zero: each connection sends its next push when the last one is answered. */
  rate: number;
  seconds: number;
  /** Pushes a second of the first workspace, besides. */
  flood?: number;
};

type Sent = {
  name: string;
  seconds: number;
  /** Of those that come at an even rate; the flooding workspace is not among them. */
  waits: number[];
  answers: number[];
  /** Pushes a second from the first call to the last arrival. */
  rate: number;
};

/** Sends pushes, waits until the provider has all of them, and checks that each arrived once. */
async function sendRound(bench: Bench<'lane'>, { lane, name, rate, seconds, flood = 0 }: Round): Promise<Sent> {
  const { installation, node, workspaces } = lane;
  const { connections, pushes } = bench.options;
  const count = rate === 0 ? pushes : rate * seconds;
  const flooding = Math.min(flood * seconds, maxFlood);
  const quiet = flooding > 0 ? workspaces.slice(1) : workspaces;
  const { first } = lane;
  const even = makePushesOf(quiet, { name, first, count });
  const floodFirst = first + count;
  const floods = makePushesOf(workspaces.slice(0, 1), { name, first: floodFirst, count: flooding });
  lane.first += count + flooding;
  const answeredAt = new Map<number, number>();
  const note = (first: number) => (number: number) =>
    void answeredAt.set(first + number, performance.timeOrigin + performance.now());
  const pace = { seconds, connections, words: '"status":"Success"' };
  const pids = {
    node: () => node.process.pid!,
    provider: () => lane.provider.process.pid!,
    callers: () => process.pid,
  };
  const far = lane.distance;
  const parts = partsOf(installation, { ...pids, ...(far && { distance: () => far.process.pid! }) });
  if (lane.superuser) await lane.superuser`select pg_stat_statements_reset()`;
  const endWatch = await watchProcessor(parts);
  const begun = performance.timeOrigin + performance.now();
  const [answers] = await Promise.all([
    paceCalls(node.url, {
      ...{ ...pace, rate: rate === 0 ? Infinity : rate, requests: even, onAnswer: note(first) },
    }),
    flooding > 0 && paceCalls(node.url, { ...pace, rate: flood, requests: floods, onAnswer: note(floodFirst) }),
  ]);
  const answered = performance.timeOrigin + performance.now();
  const arrivals = await collectArrivals(lane, count + flooding);
  const shares = await endWatch(count + flooding);
  const waits = even.map((_, index) => arrivals.get(first + index)! - answeredAt.get(first + index)!);
  const last = Math.max(...[...arrivals.values()]);
  const sent = {
    name,
    seconds,
    waits,
    answers,
    rate: ((count + flooding) / (Math.max(last, answered) - begun)) * 1000,
  };
  const accepted = (answers.length / (answered - begun)) * 1000;
  bench.say(
    `${name}: ${count + flooding} pushes, accepted ${accepted.toFixed(0)}/s, sent ${sent.rate.toFixed(0)}/s; from answer to provider ` +
      `${present(waits)}; callers waited ${present(answers)}; ${presentShares(shares)}`,
  );
  return sent;
}

function present(milliseconds: readonly number[]): string {
  const [p50, p99] = [quantile(milliseconds, 0.5), quantile(milliseconds, 0.99)];
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}

function makePushesOf(
  workspaces: readonly BenchWorkspace[],
  { name, first, count }: { name: string; first: number; count: number },
): HttpRequest[] {
  const phones = usersOfWorkspace / 3;
  return Array.from({ length: count }, (_, index) => {
    const { id: appId, pushKey: key } = workspaces[index % workspaces.length]!;
    const attributeValue = `demo-user-${((index * 7919) % phones) * 3 + 1}`;
    const body = {
      ...{ requestId: `${name} ${first + index}`, campaignName: 'One-time password', targetAudience: 'User' },
      targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
      ...{ targetPlatform: ['IOS'], payload: { IOS: { title: 'Hello', message: `Push ${first + index}.` } } },
      campaignDelivery: { type: 'soon' },
    };
    return {
      path: '/v2.1/transaction/sendpush',
      headers: {
        'Content-Type': 'application/json',
        'X-SVC-APPKEY': appId,
        'X-SVC-PushAPI-Signature': signPush({ appId, campaignName: body.campaignName, key }),
        'X-SVC-Query-Type': 'user',
      },
      body: JSON.stringify(body),
    };
  });
}

/** @throws when a push does not arrive, or arrives twice */
async function collectArrivals({ provider }: Lane, count: number): Promise<Map<number, number>> {
  const arrivals = new Map<number, number>();
  const deadline = performance.now() + maxLateMilliseconds;
  while (arrivals.size < count) {
    provider.process.send({});
    const [noted] = (await once(provider.process, 'message')) as [Arrivals];
    for (const [number, at] of noted) {
      if (arrivals.has(number)) throw new Error(`push ${number} arrived twice`);
      arrivals.set(number, at);
    }
    if (performance.now() > deadline) throw new Error(`${arrivals.size} of ${count} pushes arrived`);
    if (arrivals.size < count) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return arrivals;
}

function tell(bench: Bench<'lane'>, { waits, rate }: Sent): void {
  const { rate: given, distance, campaign, flood, workspaces } = bench.options;
  const p99 = quantile(waits, 0.99);
  const goal = goals.find(({ maxDistance }) => distance <= maxDistance)!;
  const isSlow = given > 0 && given <= 1_000 && distance === 0;
  const goalP99 = campaign > 0 ? p99DuringCampaign : isSlow ? p99At1000 : goal.p99;
  const under = [
    ...(distance > 0 ? [`database ${distance} ms away`] : []),
    ...(campaign > 0 ? [`during a campaign to ${campaign}`] : []),
    ...(flood > 0 ? [`one workspace floods with ${flood}/s`] : []),
  ];
  bench.compare({
    work: ['pushes to one user each, accepted and sent by one node', `${workspaces} workspaces`, ...under].join(', '),
    ours: `${Math.round(rate)}/s, ${present(waits)} from answer to provider`,
    goal: given > 0 ? `p99 < ${goalP99} ms at ${given}/s` : `≥ ${goal.rate}/s, p99 < ${goalP99} ms`,
    isMet: p99 < goalP99 && (given > 0 || rate >= goal.rate),
  });
}

/** Prints the statements that took the database the longest, per push of the last round. */
async function sayStatements(
  bench: Bench<'lane'>,
  { superuser }: { superuser: Database; pushes: number },
): Promise<void> {
  const rows = await superuser<
    { calls: number; milliseconds: number; planning: number; rows: number; pages: number; query: string }[]
  >`
    select calls::float8 as calls, total_exec_time as milliseconds, total_plan_time as planning, rows::float8 as rows,
      (shared_blks_hit + shared_blks_read)::float8 as pages,
      regexp_replace(left(query, 150), '\\s+', ' ', 'g') as query
    from pg_stat_statements where userid <> (select oid from pg_roles where rolname = current_user)
    order by total_exec_time desc limit 25`;
  for (const { calls, milliseconds, planning, rows: stored, pages, query } of rows) {
    const [time, plans] = [milliseconds.toFixed(0).padStart(7), planning.toFixed(0).padStart(5)];
    const counts = `${String(calls).padStart(6)} calls ${String(stored).padStart(7)} rows ${String(pages).padStart(8)} pages`;
    bench.say(`${time} ms and ${plans} ms of planning ${counts} ${query}`);
  }
}
