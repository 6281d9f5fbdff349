import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import { makeReportNode } from '../../src/engine/monitoring/report-node.ts';
import { makeAttributeConversions } from '../../src/engine/conversions.ts';
import { makeJobBook } from '../../src/engine/jobs/job.ts';
import { checkMasterKey } from '../../src/start/database/open-installation.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { endLeasesOfPredecessors } from '../../src/storage/installation/nodes.ts';
import { findNextDue, hasDueWork, readQueues } from '../../src/storage/installation/queues.ts';
import { settleStoppedRuns } from '../../src/storage/runs/campaign-runs.ts';
import { collectPlans } from '../collect-plans.ts';
import { propertyRuns } from '../property-runs.ts';
import { ledgerRun } from '../ledger-run.ts';
import { makeFanOutBundle } from './fan-out/fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out/fan-out-bundle.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const days = propertyRuns(400);
const first = new Date('2026-02-20T00:00:00Z').getTime();
const dayAt = (number: number): string => new Date(first + number * 86_400_000).toISOString().slice(0, 10);
// What is being sent is of 2 March, what is paused of 3, what is stopped of 4, what was sent of 5; nothing is of other days.
const inUse = { SENDING: '2026-03-02', PAUSED: '2026-03-03', STOPPED: '2026-03-04', SENT: '2026-03-05' } as const;

let bundle: FanOutBundle;
const runs = new Map<string, string>();
beforeAll(async () => {
  bundle = await makeFanOutBundle();
  const { database, workspaceId, clock } = bundle;
  await database`
    select make_day_partition(parent, day::date)
    from unnest('{deliveries,events}'::text[]) as parent, unnest(${Array.from({ length: days }, (_, n) => dayAt(n))}::text[]) as day`;
  const at = clock.now();
  const ended = new Date(at.getTime() - 60_000);
  for (const [status, day] of Object.entries(inUse)) {
    const { campaignId } = await bundle.accept();
    const runId = makeId(at);
    runs.set(status, runId);
    const isEnded = status === 'STOPPED' || status === 'SENT';
    await database`
      update campaigns set conversion_goals = '[{"name":"Bought","eventName":"Bought"}]' where id = ${campaignId}`;
    await database`delete from runs where campaign_id = ${campaignId}`;
    await database`
      insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, day, send_until, created_at, started_at,
        ended_at)
      values (${runId}, ${workspaceId}, ${campaignId}, 1, ${status}, 'a reason', ${day}, '2027-01-01', ${at}, ${ended},
        ${isEnded ? ended : null})`;
    const numbers = await ledgerRun(database, runId);
    await database`
      insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
        attempts, sent_at, retry_at, lease_until)
      select ${day}::date, ${numbers.workspaceNumber}, 1, ${numbers.runNumber}, substr(sha256(outcome::bytea), 1, 12),
        substr(sha256('u'), 1, 12), 'A', left(outcome, 1)::"char", 1, ${ended},
        case outcome when 'WAITING' then ${ended}::timestamptz end,
        case outcome when 'WAITING' then ${new Date(clock.realNow().getTime() + 60_000)}::timestamptz end
      from unnest('{ACCEPTED,WAITING}'::text[]) as outcome where outcome = 'ACCEPTED' or ${status} <> 'SENT'`;
    if (status !== 'SENT')
      await database`
        insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
        values (${runId}, ${workspaceId}, 1, 'ANDROID', 'WAITING', 1)`;
  }
  await database`
    insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at)
    values ('2026-03-01', ${workspaceId}, 1, 'e', encode(substr(sha256('u'), 1, 12), 'hex'), 'Bought', '{}', ${at}, ${at})`;
  await database`
    insert into unattributed_events (workspace_id, bucket, event_id, day, received_at)
    values (${workspaceId}, 1, 'e', '2026-03-01', ${at})`;
});
afterAll(() => bundle.drop());
beforeEach(({ skip }) =>
  skip(inject('workerUrls') !== null, 'the coordinator locks the partitions of all days, of which its workers choose'),
);

/** Does the work while the partitions of all days are locked but these: whoever looks into another waits for ever. */
async function besides<Result>(free: readonly string[], work: () => Promise<Result>): Promise<Result> {
  const { database } = bundle;
  return inTransaction(database, async (tx) => {
    const locked = await tx<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits
      where inhparent in ('deliveries'::regclass, 'events'::regclass)
        and inhrelid::regclass::text <> all(${free.map((part) => part.replaceAll('-', ''))})`;
    for (const { name } of locked) await tx`lock table ${tx(name)} in access exclusive mode`;
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      limit = setTimeout(() => reject(new Error('it looks into a day of which nothing is open')), 3_000);
    });
    const result = work();
    result.catch(() => {});
    return Promise.race([result, late]).finally(() => clearTimeout(limit));
  });
}

const ledger = (...statuses: (keyof typeof inUse)[]): string[] =>
  statuses.map((status) => `deliveries_${inUse[status]}`);

// In this order: the later ones change what the earlier ones look at.
test.each<[string, { free: string[]; expected: unknown }, () => Promise<unknown>]>([
  [
    'the report of the queues',
    { free: ledger('SENDING', 'PAUSED'), expected: 2 },
    async () => (await readQueues(bundle.database, bundle.clock.now())).find(({ name }) => name === 'retries')?.waiting,
  ],
  [
    'the look for what is due next',
    { free: ledger('SENDING'), expected: true },
    () =>
      findNextDue(bundle.database, { after: new Date(0), until: bundle.clock.now() }).then((at) => at !== undefined),
  ],
  [
    'the look for what is left to do',
    { free: ledger('SENDING'), expected: true },
    () => hasDueWork(bundle.database, bundle.clock.now()),
  ],
  ['the claim of retries, with nothing free', { free: ledger('SENDING'), expected: 0 }, () => bundle.retry()],
  [
    'the end of a dead process’s leases',
    { free: ledger('SENDING', 'PAUSED'), expected: 2 },
    () => endLeasesOfPredecessors(bundle.database, bundle.clock.realNow()).then(({ retries }) => retries),
  ],
  ['the settling of stopped runs', { free: ledger('STOPPED'), expected: 1 }, () => bundle.end()],
  ['the same, with nothing to settle', { free: [], expected: 0 }, () => bundle.end()],
  [
    'the counting of conversions',
    { free: [...ledger('SENDING', 'PAUSED', 'STOPPED', 'SENT'), 'events_2026-03-01'], expected: 1 },
    () => attribute(),
  ],
  ['the same, with nothing to count', { free: [], expected: 0 }, () => attribute()],
  ['the report of a node', { free: [], expected: 0 }, () => reportNode()],
])('%s reads only the days of its runs', async (_what, { free, expected }, work) => {
  expect(await besides(free, work)).toEqual(expected);
});

const attribute = () =>
  makeAttributeConversions({ database: bundle.database, settleSeconds: 0 }).runOnce(bundle.clock.now());

async function reportNode(): Promise<number> {
  const { database, clock } = bundle;
  const keys = { masterKey: Buffer.alloc(32, 1), nextMasterKey: undefined };
  const { encryption } = await checkMasterKey(database, { ...keys, at: clock.now() });
  const node = { id: 'n', role: 'all', version: '1', simulators: null, connections: 10 } as const;
  const finders = { findUrl: () => undefined, findCertificateEnd: () => undefined };
  return makeReportNode({ database, clock, encryption, node, book: makeJobBook(), ...finders }).runOnce(clock.now());
}

test('assigns each conversion to a run whose day was read', async () => {
  const conversions = await bundle.database`select run_id from conversions`;
  expect(new Set(conversions.map(({ run_id }) => run_id))).toEqual(new Set(runs.values()));
});

test('settles a stopped run once: its waiting delivery expires, and later runs of the job read an empty index only', async () => {
  const { database } = bundle;
  const runId = runs.get('STOPPED')!;
  expect(await bundle.counters(runId)).toEqual({ EXPIRED: 1 });
  expect(await database`select 1 from runs where id = ${runId} and settled_at is not null`).toHaveLength(1);
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, day, send_until, created_at, started_at,
      ended_at, settled_at)
    select 'old' || many, workspace_id, campaign_id, 1, 'STOPPED', 'a reason', day, send_until, created_at, started_at,
      ended_at, ended_at
    from runs, generate_series(1, 2000) as many where id = ${runId}`;
  await vacuumWhole(database, ['runs']);
  const plans: string[] = [];
  await settleStoppedRuns(collectPlans(database, plans) as never, { at: new Date(), leasesEndedAt: new Date() });
  expect(plans).toHaveLength(1);
  expect(plans[0]).toMatch(/Index Scan using runs_stopped/);
});

test('settles a stopped run only after the lease of a worker that holds one of its chunks has ended', async () => {
  const { database, workspaceId, clock } = bundle;
  const at = clock.realNow();
  const [first] = await database`
    update runs set settled_at = null where id = ${runs.get('STOPPED')!} returning id`;
  await database`
    insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, owner, attempt, lease_until,
      not_before, created_at)
    values (${first!.id as string}, 0, ${workspaceId}, 1, 0, 255, 'CLAIMED', 'worker', 1, ${new Date(at.getTime() + 60_000)},
      ${at}, ${at})`;
  const settle = (later: number) =>
    settleStoppedRuns(database, { at, leasesEndedAt: new Date(at.getTime() + later * 1000) });
  expect([await settle(59), await settle(61), await settle(61)]).toEqual([0, 1, 0]);
  expect(await database`select state from chunks where run_id = ${first!.id as string}`).toEqual([{ state: 'DONE' }]);
});
