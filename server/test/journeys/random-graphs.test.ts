import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mergeUsers } from '../../src/app/users/users.ts';
import { isDatabaseFault } from '../../src/domain/database-faults.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { propertyRuns } from '../property-runs.ts';
import { refuseInserts } from '../refuse-inserts.ts';
import { makeRandom } from '../rig/random.ts';
import { did, makeJourneyBundle, minute, second } from './journey-bundle.ts';
import type { JourneyBundle } from './journey-bundle.ts';
import { goOn, join, makeNaiveUser, receive } from './naive-journey.ts';
import type { NaiveGraph, NaiveStep, NaiveUser } from './naive-journey.ts';

// JOURNEY_GRAPHS=200 npm run test:only -- server/test/journeys/random-graphs.test.ts tries 10,000 users.
const graphs = Number(process.env.JOURNEY_GRAPHS ?? propertyRuns(12, 3));
const firstSeed = Number(process.env.JOURNEY_SEED ?? 1);
const usersPerGraph = 50;
const rounds = 30;

const eventNames = ['Bought', 'Paid', 'Left', 'Viewed'] as const;

let bundle: JourneyBundle;
beforeAll(async () => {
  bundle = await makeJourneyBundle();
  await bundle.database`update workspaces set zone_attribute = 'zone', time_zone = 'UTC'`;
});
afterAll(() => bundle.drop());
beforeEach(async () => {
  const tables = ['journey_figures', 'journey_passages', 'journey_positions', 'journey_users', 'journey_versions'];
  const more = ['journeys', 'triggers', 'events', 'identifiers', 'merged_users', 'users'];
  await bundle.database.unsafe([...tables, ...more].map((table) => `delete from ${table}`).join('; '));
});

type Random = ReturnType<typeof makeRandom>;

/** A graph of three to ten steps whose edges lead forward. */
function makeGraph(random: Random, version: number): NaiveGraph {
  const count = random.between(3, 10);
  const all = Array.from({ length: count }, (_, index) => makeStep(random, { index, count, version }));
  const reached = new Set([all[0]!.id]);
  for (const step of all) if (reached.has(step.id)) for (const id of targetsOf(step)) reached.add(id);
  const maybe = <Value>(value: Value) => (random.between(0, 1) === 0 ? value : undefined);
  return {
    steps: all.filter(({ id }) => reached.has(id)),
    first: all[0]!.id,
    goal: maybe('Paid'),
    exit: maybe('Left'),
    atATime: maybe(random.between(1, 3)),
  };
}

const targetsOf = (step: NaiveStep): string[] =>
  (JSON.stringify(step).match(/"(?:next|timeout_next|else_next)":"[^"]+"/g) ?? []).map((edge) => edge.split('"')[3]!);

type Place = { index: number; count: number; version: number };

function makeStep(random: Random, { index, count, version }: Place): NaiveStep {
  const id = `v${version}s${index}`;
  const pick = <Value>(values: readonly Value[]): Value => values[random.between(0, values.length - 1)]!;
  const target = (): string | null => {
    const to = index + random.between(1, 3);
    return to < count ? `v${version}s${to}` : null;
  };
  const span = () => ({ value: pick([3, 20, 61, 240, 1_500]), unit: 'MINUTES' as const });
  switch (pick(['wait', 'until', 'event', 'branch', 'count', 'split', 'send', 'send', 'update', 'exit'] as const)) {
    case 'wait':
      return { id, type: 'wait', duration: span(), next: target() };
    case 'until':
      return {
        ...{ id, type: 'wait_until_time', time: pick(['00:00', '09:30', '23:59']) },
        ...{ weekdays: pick([[1], [2, 4], [1, 2, 3, 4, 5, 6, 7]]), next: target() },
      };
    case 'event':
      return {
        ...{ id, type: 'wait_for_event', event: pick(eventNames), timeout: span() },
        ...{ next: target(), timeout_next: target() },
      };
    case 'branch':
      return { id, type: 'branch', condition: { type: 'user' }, next: target(), else_next: target() };
    case 'count': {
      const counted = { action_name: pick(eventNames), execution: { count: random.between(1, 2) } };
      const condition = { type: 'events' as const, included_filters: { filters: [counted] } };
      return { id, type: 'branch', condition, next: target(), else_next: target() };
    }
    case 'split': {
      const percent = random.between(1, 99);
      return { id, type: 'split', ways: [percent, 100 - percent].map((share) => ({ percent: share, next: target() })) };
    }
    case 'send':
      return { id, type: 'send', late: pick(['send', 'skip', 'exit'] as const), next: target() };
    case 'update':
      return { id, type: 'update', next: target() };
    case 'exit':
      return { id, type: 'exit' };
  }
}

/** The step as the interface takes it. */
function sentStep(step: NaiveStep): { id: string } & Record<string, unknown> {
  if (step.type === 'wait_for_event') {
    const { event, ...rest } = step;
    return { ...rest, included_filters: did(event) };
  }
  if (step.type === 'send') return { ...step, message: { platforms: ['ANDROID'] } };
  if (step.type === 'update') return { ...step, attributes: { tier: 'gold' } };
  if (step.type !== 'branch') return { ...step };
  if (step.condition.type === 'user') {
    const tier = { filter_type: 'user_attributes', name: 'tier', data_type: 'string', operator: 'in', value: ['gold'] };
    return { ...step, condition: { type: 'user', included_filters: { filter_operator: 'and', filters: [tier] } } };
  }
  const filters = step.condition.included_filters.filters.map(({ action_name, execution }) => ({
    ...{ filter_type: 'actions', action_name, executed: true },
    execution: { type: 'atleast', count: execution.count },
  }));
  return { ...step, condition: { type: 'events', included_filters: { filter_operator: 'and', filters } } };
}

function sentRest({ goal, exit, atATime }: NaiveGraph): Record<string, unknown> {
  return {
    ...(goal !== undefined && { goal: { included_filters: did(goal) } }),
    ...(exit !== undefined && { exit_events: { included_filters: did(exit) } }),
    reentry: atATime === undefined ? { type: 'never' } : { type: 'always', at_a_time: atATime },
  };
}

type World = { random: Random; users: Map<string, NaiveUser>; live: NaiveGraph; journeyId: string };

async function publish(graph: NaiveGraph, id?: string): Promise<string> {
  return bundle.publish(graph.steps.map(sentStep), sentRest(graph), id);
}

/** Does what a process does that was cut off: the whole once more. */
async function untilStored(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return void (await work());
    } catch (error) {
      if (!isDatabaseFault(error) || attempt === 50) throw error;
    }
}

async function sendEvent({ random, users, live }: World): Promise<void> {
  const { clock, track } = bundle;
  const names = [...users.keys()];
  const name = names[random.between(0, names.length - 1)]!;
  clock.advance(random.between(1, 900));
  const now = clock.now().getTime();
  const isEntry = random.between(0, 2) === 0;
  const event = isEntry ? 'Joined' : eventNames[random.between(0, eventNames.length - 1)]!;
  // Some are reported late, which an entry is not: it would be older than another one.
  const ago = !isEntry && random.between(0, 3) === 0 ? random.between(1, 90) * minute : 0;
  await untilStored(() => track(name, event, { ago }));
  receive(users.get(name)!, { name: event, at: now - ago }, { now, live });
}

async function mergeTwo({ random, users }: World): Promise<void> {
  const { clock, database, workspaceId } = bundle;
  const known = [...users].filter(([, { events }]) => events.length > 0);
  if (known.length < 2) return;
  clock.advance(random.between(1, 900));
  const [[merged, other], [retained, user]] = [known[0]!, known[random.between(1, known.length - 1)]!];
  const at = clock.now();
  await untilStored(() =>
    inTransaction(database, (tx) => mergeUsers(tx, { workspaceId, pairs: [{ merged, retained }], at })),
  );
  join(user, other);
  users.delete(merged);
}

/** Two workers continue what is due, while one commit in twenty is lost. */
async function passTime({ random, users }: World): Promise<void> {
  const { clock, makeJob } = bundle;
  clock.advance([minute, 10 * minute, 30 * minute, 300 * minute][random.between(0, 3)]! + second);
  const now = clock.now();
  const drain = async () => {
    const job = makeJob({ batchEntries: random.between(1, 40) });
    for (let idle = 0; idle < 3;) {
      const done = await job.runOnce(now).catch((error: unknown) => {
        if (!isDatabaseFault(error)) throw error;
        return 1;
      });
      idle = done > 0 ? 0 : idle + 1;
    }
  };
  await Promise.all([drain(), drain()]);
  const ways = await readWays();
  for (const user of users.values())
    goOn(user, now.getTime(), ({ enteredAt }, step) => ways.get(`${enteredAt} ${step}`) ?? 0);
}

/** The ways that splits gave, by the time of entry, which no two entries share, and step. */
async function readWays(): Promise<Map<string, number>> {
  const rows = await bundle.database`
    select positions.entered_at as entered, passages.step, passages.edge
    from journey_passages as passages join journey_positions as positions
      on positions.bucket = passages.bucket and positions.user_id = passages.user_id
        and positions.entry_id = passages.entry_id
    where passages.edge like 'way %'`;
  return new Map(rows.map(({ entered, step, edge }) => [`${+entered} ${step}`, Number(edge.slice('way '.length))]));
}

type Path = { passed: string[]; end: string; sent: string[] };

async function readPaths(): Promise<Record<string, Path[]>> {
  const rows = await bundle.database`
    select users.customer_id as name, positions.step, positions.end_reason as reason, array(
      select (extract(epoch from passages.left_at) * 1000)::bigint || ': ' || passages.step || ' ' || passages.edge
      from journey_passages as passages
      where passages.bucket = positions.bucket and passages.user_id = positions.user_id
        and passages.entry_id = positions.entry_id
    ) as passed, array(
      select substr(triggers.campaign_id, 13) from triggers
      where triggers.bucket = positions.bucket and triggers.user_id = positions.user_id
        and triggers.event_name = 'Journey entry ' || positions.entry_id
    ) as sent
    from journey_positions as positions join users
      on users.bucket = positions.bucket and users.id = positions.user_id
    order by positions.entered_at`;
  const paths: Record<string, Path[]> = {};
  for (const { name, step, reason, passed, sent } of rows)
    (paths[name] ??= []).push({ passed: passed.toSorted(), end: reason ?? `at ${step}`, sent: sent.toSorted() });
  return paths;
}

function naivePaths(users: World['users']): Record<string, Path[]> {
  const entered = [...users].filter(([, { entries }]) => entries.length > 0);
  return Object.fromEntries(
    entered.map(([name, { entries }]) => [
      name,
      entries.map(({ passed, end, step, sent }) => ({
        ...{ passed: passed.toSorted(), end: end ?? `at ${step}`, sent: sent.toSorted() },
      })),
    ]),
  );
}

describe('users in random journeys, with lost commits, merges, jumps of the clock and edits while they are inside', () => {
  test.each(Array.from({ length: graphs }, (_, index) => firstSeed + index))(
    'take the paths that a naive reading gives, each message once (seed %i)',
    async (seed) => {
      const random = makeRandom(seed);
      let version = 1;
      const live = makeGraph(random, version);
      const users = new Map(
        Array.from({ length: usersPerGraph }, (_, index) => [`u${seed}-${index}`, makeNaiveUser()]),
      );
      const world: World = { random, users, live, journeyId: await publish(live) };
      const end = await refuseInserts(bundle.database, 'journey_passages', { when: 'random() < 0.05', code: '57P01' });
      try {
        for (let round = 0; round < rounds; round += 1) {
          for (let events = random.between(2, 14); events > 0; events -= 1) await sendEvent(world);
          if (random.between(0, 5) === 0) await mergeTwo(world);
          if (random.between(0, 9) === 0) {
            world.live = makeGraph(random, (version += 1));
            await publish(world.live, world.journeyId);
          }
          await passTime(world);
        }
      } finally {
        await end();
      }
      expect(await readPaths()).toEqual(naivePaths(users));
    },
  );
});
