import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { distributedTables } from '../../src/domain/operations/cluster.ts';
import { withSession } from '../../src/storage/database.ts';
import type { Session } from '../../src/storage/database.ts';
import { makeDeviceStaging } from '../../src/storage/devices/devices.ts';
import { makeEventStaging } from '../../src/storage/users/events.ts';
import { makeUserStaging } from '../../src/storage/users/user-import.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { findBrokenRules } from './distribution-rules.ts';
import type { Catalog } from './distribution-rules.ts';
import { parseNodeTree } from './parse-node-tree.ts';
import type { ParseNode } from './parse-node-tree.ts';
import { readStatements } from './read-statements.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');
const storage = join(root, 'server', 'src', 'storage');

const staged = `${'0'.repeat(24)}_1`;
const standIns = {
  partitionOf: 'deliveries_20260301',
  linesOf: `segment_lines_${staged}`,
  matchesOf: `segment_matches_${staged}`,
};

/** What such a statement locks on one machine is of several buckets; its text for one bucket keeps the rules. */
const byBucket = 'on a cluster its caller names one bucket';

const isAcross = 'nobody bound to a workspace inserts them, and COPY is faster';

/** Statements that break a rule all the same, by file and function, and why they may. */
const exceptions: Record<string, string> = {
  'segments/segment-filters.ts freezeFilterAudience': 'each shard inserts what it selects of its own users',
  'segments/segment-staging.ts stageMatches': isAcross,
  'users/events.ts storeStagedEvents': isAcross,
  'users/user-import.ts storeNewIdentifiers': isAcross,
  'users/users.ts holdUsersOf': byBucket,
  'journeys/due-positions.ts holdUsersOf': byBucket,
  'journeys/due-positions.ts claimOf': byBucket,
  'journeys/positions.ts lockWatchedOf': byBucket,
  'ledger/due-deliveries.ts claimDueDeliveries': byBucket,
  'ledger/due-deliveries.ts settleDeliveries': byBucket,
};

/** Statements whose text this reading does not put together, and where they are looked at instead. */
const unread: Record<string, string> = {
  'segments/segment-staging.ts addMembers':
    'its users are given by its callers: named ones where members lie on one machine, else the staging table beside them',
  'limits/sliding-windows.ts countingInsert':
    'its source is given by its callers; the table is on the coordinator alone',
};

/** Of statements that tests send themselves. Those of rules 4 and 6 are no fault: policies bind no superuser. */
const exceptionsOfTests: Record<string, string> = {
  'soak/audit.ts auditSoak': 'asks a database of the soak, which is no cluster',
  'sdk/situations.ts makeChecks': 'asks one node and its database, which is no cluster',
  'sdk/core-program.ts testCore': 'asks one node and its database, which is no cluster',
  'sdk/swift.test.ts ': 'asks one node and its database, which is no cluster',
};

/** As `unread`, of tests. */
const unreadOfTests: Record<string, string> = {
  'console/statement-plans.test.ts ': 'one parameter has two types where it is read alone',
  'figures/compare-figures.ts countMessages': 'the name of a table is a value; asks one PostgreSQL',
  'figures/compare-figures.ts countGoals': 'the name of a table is a value; asks one PostgreSQL',
  'segments/segment-filter.test.ts storeFilterUsers': 'the rows are put together elsewhere',
  'simulation/simulated-store.ts compareStates': 'asks a table of its own',
};

async function readCatalog(session: Session): Promise<Catalog> {
  const tables = await session<{ id: number; name: string; parent: string; columns: string[]; isStaging: boolean }[]>`
    select pg_class.oid::int as id, relname as name, relpersistence = 't' as "isStaging", coalesce(inhparent::regclass::text, relname) as parent,
      array(select attname::text from pg_attribute where attrelid = pg_class.oid and attnum > 0 order by attnum) as columns
    from pg_class left join pg_inherits on inhrelid = pg_class.oid
    where relkind in ('r', 'p') and (relnamespace = 'public'::regnamespace or relpersistence = 't')`;
  const known = new Map(distributedTables.map((table) => [table.name, table]));
  // On a cluster it is made beside the members that it is compared with.
  known.set(standIns.matchesOf, { ...known.get('segment_members')!, name: 'segment_matches' });
  const functions = await session<{ id: number; name: string }[]>`
    select oid::int as id, proname as name from pg_proc where provolatile <> 'i'`;
  const stableTexts = await session<{ id: number }[]>`
    select pg_type.oid::int as id from pg_type
    join pg_proc as reading on reading.oid = typinput join pg_proc as writing on writing.oid = typoutput
    where reading.provolatile <> 'i' or writing.provolatile <> 'i'`;
  const equalities = await session<{ id: number }[]>`select oid::int as id from pg_operator where oprname = '='`;
  const catalog: Catalog = {
    distributed: new Map(),
    local: new Map(),
    staging: new Map(),
    stableFunctions: new Map(functions.map(({ id, name }) => [id, name])),
    stableTexts: new Set(stableTexts.map(({ id }) => id)),
    equalities: new Set(equalities.map(({ id }) => id)),
  };
  for (const { id, name, parent, columns, isStaging } of tables) {
    const table = known.get(parent);
    if (!table) (isStaging || name === standIns.linesOf ? catalog.staging : catalog.local).set(id, name);
    else
      catalog.distributed.set(id, {
        name: table.name,
        column: columns.indexOf(table.column) + 1,
        group: table.besides,
      });
  }
  return catalog;
}

/** PostgreSQL's own tree of a statement, with every name resolved: it keeps the body of a function as one. */
async function readTree(session: Session, text: string): Promise<ParseNode> {
  // A statement that was prepared outlives what follows.
  const name = `asked_${randomBytes(8).toString('hex')}`;
  await session.unsafe('savepoint statement');
  try {
    await session.unsafe(`prepare ${name} as ${text}`);
    const [prepared] = await session<{ types: string }[]>`
      select array_to_string(parameter_types, ', ') as types from pg_prepared_statements where name = ${name}`;
    await session.unsafe(
      `create function pg_temp.${name}(${prepared!.types}) returns void language sql begin atomic ${text}; end`,
    );
    const [stored] = await session<{ body: string }[]>`
      select prosqlbody::text as body from pg_proc where proname = ${name}`;
    return parseNodeTree(stored!.body) as ParseNode;
  } finally {
    await session.unsafe('rollback to savepoint statement');
  }
}

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
  await bundle.database`select make_day_partition('deliveries', '2026-03-01')`;
  for (const name of [standIns.linesOf, standIns.matchesOf])
    await bundle.database`select make_segment_staging(${name})`;
});
afterAll(() => bundle.drop());

async function inCatalog<Result>(look: (session: Session, catalog: Catalog) => Promise<Result>): Promise<Result> {
  return withSession(bundle.database, async (session) => {
    await makeUserStaging(session);
    await makeDeviceStaging(session);
    await makeEventStaging(session);
    await session.unsafe('begin');
    return look(session, await readCatalog(session));
  });
}

const ofDistributed = new RegExp(
  `\\b(?:${[...distributedTables.map(({ name }) => name), ...Object.values(standIns)].join('|')})\\b`,
);

/** By place: the faults of each text of the statements there, and those that PostgreSQL does not take as they are read. */
async function judgeStatements(folder: string) {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
  const statements = readStatements(paths, { root: folder, tables: standIns });
  const [judged, notRead] = [new Map<string, string[][]>(), new Map<string, string>()];
  await inCatalog(async (session, catalog) => {
    for (const { place, texts } of statements)
      for (const text of texts.filter((one) => ofDistributed.test(one))) {
        const tree = await readTree(session, text).catch(
          (error: Error) => void notRead.set(place, `${error.message}\n${text}`),
        );
        if (tree) judged.set(place, [...(judged.get(place) ?? []), findBrokenRules(tree, catalog)]);
      }
  });
  return { count: statements.length, judged, notRead };
}

type Judged = Map<string, string[][]>;

/** The faults of the places that are not excepted. */
function listUnexpected(judged: Judged, excepted: Record<string, string>): Record<string, string[]> {
  const broken = [...judged].map(([place, texts]) => [place, [...new Set(texts.flat())]] as [string, string[]]);
  return Object.fromEntries(broken.filter(([place, faults]) => faults.length > 0 && !Object.hasOwn(excepted, place)));
}

/** Exceptions that are none any more. */
function listOutdated(judged: Judged, excepted: Record<string, string>): string[] {
  return Object.keys(excepted).filter((place) => (judged.get(place) ?? []).flat().length === 0);
}

test('are kept by every statement on a distributed table, except those listed with the reason', async () => {
  const { count, judged, notRead } = await judgeStatements(storage);
  expect(count).toBeGreaterThan(350);
  expect(listUnexpected(judged, exceptions)).toEqual({});
  expect(Object.fromEntries([...notRead].filter(([place]) => !Object.hasOwn(unread, place)))).toEqual({});
  expect(listOutdated(judged, exceptions), 'no exception any more').toEqual([]);
  expect(
    Object.keys(unread).filter((place) => !notRead.has(place)),
    'read by now',
  ).toEqual([]);
  const ofOneBucket = Object.keys(exceptions).filter((place) => exceptions[place] === byBucket);
  for (const place of ofOneBucket)
    expect(
      judged.get(place)!.some((faults) => faults.length === 0),
      `${place} has a text for one bucket`,
    ).toBe(true);
});

test('are kept by every statement of a test as far as they hold for a superuser, except those listed with the reason', async () => {
  const { count, judged, notRead } = await judgeStatements(join(root, 'server', 'test'));
  expect(count).toBeGreaterThan(1000);
  const ofSuperuser: Judged = new Map(
    [...judged].map(([place, texts]) => [
      place,
      texts.map((faults) => faults.filter((fault) => !/^[46]:/.test(fault))),
    ]),
  );
  expect(listUnexpected(ofSuperuser, exceptionsOfTests)).toEqual({});
  expect(listOutdated(ofSuperuser, exceptionsOfTests), 'no exception any more').toEqual([]);
  expect([...notRead.keys()].sort()).toEqual(Object.keys(unreadOfTests).sort());
});

test('are kept by every view', async () => {
  await inCatalog(async (session, catalog) => {
    const views = await session<{ name: string; text: string }[]>`
      select relname as name, rtrim(pg_get_viewdef(oid), ';') as text from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'v'`;
    expect(views.map(({ name }) => name)).toContain('readable_deliveries');
    for (const { name, text } of views.filter((view) => ofDistributed.test(view.text)))
      expect(findBrokenRules(await readTree(session, text), catalog), name).toEqual([]);
  });
});

test.each([
  ['1: rows of users are locked', `select 1 from users where workspace_id = $1 for update`],
  [
    '2: users is asked',
    `select given.id from unnest($1::smallint[], $2::text[]) as given (bucket, id), lateral (
      select 1 from users where users.bucket = given.bucket and users.id = given.id limit 1) as found`,
  ],
  [
    '3: convert_to() is given a column',
    `update devices set device_id = encode(convert_to(id, 'UTF8'), 'hex') where bucket = $1`,
  ],
  ['4: deliveries is joined with runs', `select 1 from deliveries join runs on runs.number = deliveries.run_number`],
  [
    '4: deliveries is asked for each row of runs',
    `select (select count(*) from deliveries where run_number = runs.number) from runs`,
  ],
  ['5: users and devices are joined', `select 1 from users join devices on devices.user_id = users.id`],
  [
    '5: devices and push_addresses are joined',
    `select 1 from devices join push_addresses on device_row_id = devices.id`,
  ],
  [
    '6: what is selected is inserted into users',
    `insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      select $1, 7, id, id, now(), now() from unnest($2::text[]) as given (id)`,
  ],
  [
    '7: conversions is grouped by several sets at once',
    `select variation, count(*) from conversions where workspace_id = $1 group by rollup (variation)`,
  ],
  ['1: rows of devices are locked', `select 1 from devices where bucket = any($1::smallint[]) for key share`],
  [
    '8: deliveries is in a statement with a recursive query',
    `with recursive counted (number) as (select 1 union all select number + 1 from counted where number < 9)
      select 1 from deliveries`,
  ],
])('report a statement that breaks one: %s', async (fault, text) => {
  const faults = await inCatalog(async (session, catalog) => findBrokenRules(await readTree(session, text), catalog));
  expect(faults.map((one) => one.slice(0, fault.length))).toEqual([fault]);
});

test.each<[string, { faults: string[]; text: string }]>([
  [
    'the queues',
    {
      faults: ['8: deliveries is in a statement with a recursive query'],
      text: `
        select 'runs' as name, (select count(*) from (
          select 1 from runs join campaigns on campaigns.id = runs.campaign_id where runs.status = 'QUEUED'
            and runs.due_at is null
            and (campaigns.segment_id is null or campaigns.delivery_type = 'EVENT_TRIGGERED' or not exists (
              with recursive reached (id) as (
                select campaigns.segment_id
                union
                select used.id
                from reached
                join segments on segments.id = reached.id
                cross join lateral unnest(segments.uses_segments) as used (id)
              )
              select 1 from reached join segments on segments.id = reached.id where segments.state = 'FILLING'
            )) limit $1) as counted) as waiting
        union all
        select 'retries', (select count(*) from (
          select 1 from deliveries where day = any($2::date[]) and outcome = 'W' and retry_at <= $3 limit $1) as counted)`,
    },
  ],
  [
    'a claim of all buckets',
    {
      faults: ['1: rows of deliveries are locked, and not in one bucket'],
      text: `
        with due as (
          select deliveries.day, deliveries.bucket, deliveries.user_id, deliveries.device_id, deliveries.run_number
          from deliveries
          where true and deliveries.day = any($1::date[]) and deliveries.outcome = 'W' and deliveries.retry_at <= $2
            and deliveries.lease_until is null
            and deliveries.run_number in (select number from runs where status = 'SENDING')
          order by deliveries.retry_at
          limit $3
          for update of deliveries skip locked
        )
        update deliveries
        set lease_until = $4, attempts = deliveries.attempts + 1
        from due
        where true and deliveries.day = any($1::date[]) and deliveries.day = due.day
          and deliveries.bucket = due.bucket and deliveries.user_id = due.user_id
          and deliveries.device_id = due.device_id and deliveries.run_number = due.run_number`,
    },
  ],
  [
    'events with their users and devices',
    {
      faults: [
        '5: events and devices are joined, and not by bucket',
        '5: users and devices are joined, and not by bucket',
      ],
      text: `
        select events.name, users.customer_id as customer, devices.push_id as push from events
        join users on users.bucket = events.bucket and users.id = events.user_id
        left join devices on devices.id = events.device_row_id
        where events.name in ('Looked', 'Left', 'Came') order by 1, 2`,
    },
  ],
  [
    'a change by a time',
    {
      faults: ['3: timestamptz_pl_interval() is given a column where rows are changed'],
      text: `update users set created_at = created_at + interval '1 hour' where customer_id = 'ada'`,
    },
  ],
])('flag %s, as Citus rejected it in November 2026', async (_what, { faults, text }) => {
  const found = await inCatalog(async (session, catalog) => findBrokenRules(await readTree(session, text), catalog));
  expect(found.sort()).toEqual(faults);
});

test.each([
  `select 1 from users where workspace_id = $1 and bucket = $2 for update`,
  `select given.id from unnest($1::text[]) as given (id), lateral (
    select 1 from users where users.bucket = $2 and users.id = given.id limit 1) as found`,
  `with asked as materialized (select number from runs) select 1 from deliveries join asked on asked.number = deliveries.run_number`,
  `select 1 from users left join devices on devices.bucket = users.bucket and devices.user_id = users.id`,
  `insert into run_cursors (workspace_id, bucket, run_id, position) select $1, 7, id, '' from unnest($2::text[]) as given (id)
    returning 1`,
  `with recursive counted (number) as (select 1 union all select number + 1 from counted where number < 9)
    select 1 from users, counted where users.bucket = $1`,
  `update devices set locale = 'de' where substring(push_id from 11)::int % 5 = 1`,
  `select 1 from users, devices where users.bucket = $1 and devices.bucket = $1 and devices.user_id = users.id`,
])('pass a statement that keeps them: %s', async (text) => {
  expect(await inCatalog(async (session, catalog) => findBrokenRules(await readTree(session, text), catalog))).toEqual(
    [],
  );
});
