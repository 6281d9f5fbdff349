import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mergeUsers } from '../../src/app/users/users.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { claimPositions, listDuePositions } from '../../src/storage/journeys/due-positions.ts';
import { deleteOldEntries, eraseJourneysOf } from '../../src/storage/journeys/positions.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import {
  day,
  did,
  exit,
  hour,
  makeJourneyBundle,
  minute,
  second,
  send,
  span,
  start,
  wait,
  waitForEvent,
} from './journey-bundle.ts';
import type { JourneyBundle } from './journey-bundle.ts';

let bundle: JourneyBundle;
beforeAll(async () => {
  bundle = await makeJourneyBundle();
});
afterAll(() => bundle.drop());
beforeEach(async () => {
  const tables = ['journey_figures', 'journey_passages', 'journey_positions', 'journey_users', 'journey_versions'];
  const more = ['journeys', 'triggers', 'events', 'identifiers', 'merged_users', 'users'];
  await bundle.database.unsafe([...tables, ...more].map((table) => `delete from ${table}`).join('; '));
  bundle.logged.length = 0;
});

describe('a person in a journey', () => {
  test('passes waits and messages one after the other, each once', async () => {
    const { track, pass, paths, sends, figures, publish } = bundle;
    const id = await publish([send('hello', 'pause'), wait('pause', 'again', 24), send('again', null)]);
    await track('ada', 'Joined', { attributes: { plan: 'gold' } });
    expect(await paths('ada')).toEqual(['at hello']);
    await pass();
    expect(await paths('ada')).toEqual(['hello next, at pause']);
    await pass(day - 1);
    expect(await paths('ada')).toEqual(['hello next, at pause']);
    await pass(1);
    expect(await paths('ada')).toEqual(['hello next, pause next, again next, COMPLETED']);
    expect(await sends('ada')).toEqual(['hello {"plan":"gold"}', 'again {"plan":"gold"}']);
    expect(await figures(id)).toEqual({
      ...{ entered: 1, COMPLETED: 1 },
      ...{ 'hello next': 1, 'pause next': 1, 'again next': 1 },
    });
    await pass(day);
    expect(await sends('ada')).toHaveLength(2);
  });

  test('waits for the morning in the zone of the person', async () => {
    const { track, pass, paths, publish, database, workspaceId } = bundle;
    await publish([{ type: 'wait_until_time', id: 'morning', time: '09:00', next: null }]);
    await database`update workspaces set zone_attribute = 'zone', time_zone = 'UTC' where id = ${workspaceId}`;
    await track('ada', 'Joined');
    await track('bo', 'Joined');
    await bundle.setAttributes('ada', { zone: 'Asia/Tokyo' });
    await pass();
    const now = bundle.clock.now();
    const rows = await database`
      select customer_id as customer, due_at as due from journey_positions
      join users on users.bucket = journey_positions.bucket and users.id = journey_positions.user_id order by 1`;
    const nextAt = (utcHour: number) => new Date(Math.ceil((+now - utcHour * hour) / day) * day + utcHour * hour);
    expect(rows.map(({ customer, due }) => [customer, due])).toEqual([
      ['ada', nextAt(0)],
      ['bo', nextAt(9)],
    ]);
    await pass(day);
    expect(await paths('ada')).toEqual(['morning next, COMPLETED']);
  });

  test('leaves a wait by the event, or by its timeout', async () => {
    const { track, pass, paths, publish } = bundle;
    await publish([waitForEvent('buys', 'thanks', 'asks'), send('thanks', null), send('asks', null)]);
    for (const name of ['ada', 'bo', 'cy']) await track(name, 'Joined');
    await track('cy', 'Bought');
    await pass();
    // An event at or before the arrival does not count.
    expect(await paths('cy')).toEqual(['at buys']);
    await pass(hour);
    await track('ada', 'Bought');
    await track('bo', 'Bought', { ago: 90 * minute });
    await pass();
    expect(await paths('ada')).toEqual(['buys event, thanks next, COMPLETED']);
    expect(await paths('bo')).toEqual(['at buys']);
    await pass(hour);
    expect(await paths('bo')).toEqual(['buys timeout, asks next, COMPLETED']);
  });

  test('is converted by the goal and removed by an exit event, wherever they are', async () => {
    const { track, pass, paths, figures, publish } = bundle;
    const ends = { goal: { included_filters: did('Paid') }, exit_events: { included_filters: did('Left') } };
    const id = await publish([wait('pause', null, 24)], ends);
    for (const name of ['ada', 'bo', 'cy']) await track(name, 'Joined');
    bundle.clock.advance(second);
    await track('cy', 'Left');
    await pass(second);
    await track('ada', 'Paid');
    await track('bo', 'Left');
    expect(await paths('ada')).toEqual(['GOAL']);
    expect(await paths('bo')).toEqual(['EXIT_EVENT']);
    expect(await paths('cy')).toEqual(['EXIT_EVENT']);
    await pass(2 * day);
    expect(await paths('ada')).toEqual(['GOAL']);
    expect(await figures(id)).toEqual({ entered: 3, GOAL: 1, EXIT_EVENT: 2 });
  });

  test('branches by attributes that a step before has set, by events and by messages', async () => {
    const { track, pass, paths, publish, attributes } = bundle;
    const city = { filter_type: 'user_attributes', name: 'tier', data_type: 'string', operator: 'in', value: ['gold'] };
    const users = { type: 'user', included_filters: { filter_operator: 'and', filters: [city] } };
    await publish([
      { type: 'update', id: 'mark', attributes: { tier: 'gold', old: null }, next: 'gold' },
      { type: 'branch', id: 'gold', condition: users, next: 'bought', else_next: null },
      {
        ...{ type: 'branch', id: 'bought', condition: { type: 'events', included_filters: did('Bought') } },
        ...{ next: 'hello', else_next: null },
      },
      send('hello', 'saw'),
      {
        ...{ type: 'branch', id: 'saw', condition: { type: 'message', step: 'hello', outcome: 'shown' } },
        ...{ next: 'end', else_next: null },
      },
      exit('end'),
    ]);
    await track('ada', 'Joined');
    await track('bo', 'Joined');
    await bundle.setAttributes('bo', { old: 1, name: 'Bo' });
    bundle.clock.advance(second);
    await track('bo', 'Bought');
    await pass();
    expect(await paths('ada')).toEqual(['mark next, gold yes, bought no, COMPLETED']);
    expect((await paths('bo'))[0]!.split(', ').toSorted()).toEqual(
      ['mark next', 'gold yes', 'bought yes', 'hello next', 'saw no', 'COMPLETED'].toSorted(),
    );
    expect(await attributes('bo')).toEqual({ name: 'Bo', tier: 'gold' });
    const identifiers = await bundle.database`select attribute, value from identifiers where attribute = 'tier'`;
    expect(identifiers.map(({ value }) => value)).toEqual(['gold', 'gold']);
  });

  test.each([
    ['send', ['hello next, COMPLETED'], 1],
    ['skip', ['hello late, COMPLETED'], 0],
    ['exit', ['hello late, LATE'], 0],
  ])('who is late after an outage follows the rule %s of the message', async (late, path, messages) => {
    const { track, pass, paths, sends, publish } = bundle;
    await publish([send('hello', null, { late })]);
    await track('ada', 'Joined');
    await pass(62 * minute);
    expect(await paths('ada')).toEqual(path);
    expect(await sends('ada')).toHaveLength(messages);
  });
});

describe('an entry', () => {
  test('is refused to people who were in the journey, unless its rule allows it', async () => {
    const { track, pass, paths, publish } = bundle;
    await publish([exit('end')]);
    await track('ada', 'Joined');
    await pass(day);
    await track('ada', 'Joined');
    expect(await paths('ada')).toHaveLength(1);
    await publish([exit('end')], {
      entry: { type: 'event', included_filters: did('Came') },
      reentry: { type: 'after', after: span(2, 'DAYS') },
    });
    for (const [passed, entries] of [
      [0, 2],
      [2 * day - 1, 2],
      [1, 3],
    ] as const) {
      await pass(passed);
      await track('ada', 'Came');
      expect(await paths('ada')).toHaveLength(entries);
    }
  });

  test('is made once by an event that is sent twice, and as often as allowed at a time', async () => {
    const { track, pass, paths, publish } = bundle;
    await publish([wait('pause', null)], { reentry: { type: 'always', at_a_time: 2 } });
    await track('ada', 'Joined');
    await track('ada', 'Joined');
    expect(await paths('ada')).toHaveLength(1);
    for (let count = 0; count < 3; count += 1) {
      await pass(second);
      await track('ada', 'Joined');
    }
    expect(await paths('ada')).toEqual(['at pause', 'at pause']);
    await pass(2 * hour);
    await track('ada', 'Joined');
    expect(await paths('ada')).toHaveLength(3);
  });

  test('is one of two that are made at the same time', async () => {
    const { database, trackIn, track, paths, publish } = bundle;
    await publish([wait('pause', null)]);
    await track('ada', 'Other');
    let other: Promise<void> | undefined;
    await inTransaction(database, async (tx) => {
      const [user] = await tx<{ bucket: number; id: string }[]>`select bucket, id from users`;
      await trackIn(tx, { customerId: 'ada', name: 'Joined' });
      bundle.clock.advance(1);
      expect(user).toBeDefined();
      other = track('ada', 'Joined');
      await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
    });
    await other;
    expect(await paths('ada')).toEqual(['at pause']);
  });

  test('of an app needs a journey that accepts apps', async () => {
    const { track, paths, publish } = bundle;
    await publish([wait('pause', null)], {
      entry: { type: 'event', included_filters: did('Joined'), from_apps: true },
    });
    await publish([wait('pause', null)]);
    await track('ada', 'Joined', { sender: 'app' });
    expect(await paths('ada')).toHaveLength(1);
  });
});

describe('an event and a timeout', () => {
  const graph = [waitForEvent('buys', null, null)];

  test('meet in the one row: the event is first', async () => {
    const { database, clock, trackIn, track, pass, paths, publish, makeJob } = bundle;
    await publish(graph);
    await track('ada', 'Joined');
    await pass();
    clock.advance(2 * hour);
    await inTransaction(database, async (tx) => {
      await trackIn(tx, { customerId: 'ada', name: 'Bought', ago: second });
      // The row is held, so the engine goes past it.
      expect(await makeJob().runOnce(clock.now())).toBe(0);
    });
    await pass();
    expect(await paths('ada')).toEqual(['buys event, COMPLETED']);
  });

  test('meet in the one row: the timeout is first', async () => {
    const { database, clock, track, pass, paths, publish } = bundle;
    const id = await publish(graph);
    await track('ada', 'Joined');
    await pass();
    clock.advance(2 * hour);
    const at = clock.now();
    let event: Promise<void> | undefined;
    await inTransaction(database, async (tx) => {
      const journeys = [{ workspaceId: bundle.workspaceId, journeyId: id }];
      const keys = await listDuePositions(tx, { journeys, at, perJourney: 10 });
      expect(await claimPositions(tx, { keys, due: at })).toHaveLength(1);
      event = track('ada', 'Bought', { ago: second });
      await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
      await tx`
        update journey_positions set ended_at = ${at}, end_reason = 'COMPLETED', due_at = null where journey_id = ${id}`;
    });
    await event;
    const [row] = await database`select event_at as "eventAt" from journey_positions`;
    expect(row).toEqual({ eventAt: null });
    expect(await paths('ada')).toEqual(['COMPLETED']);
  });

  test('lose no event that comes while the wait begins, before or after its row is locked', async () => {
    const { database, clock, track, pass, paths, publish } = bundle;
    const id = await publish([wait('pause', 'buys'), ...graph]);
    await track('ada', 'Joined');
    await track('bo', 'Joined');
    await pass();
    clock.advance(hour);
    const at = clock.now();
    clock.advance(10);
    // After the job read the clock, and before it locks the entry.
    await track('ada', 'Bought');
    await bundle.makeJob().runOnce(at);
    await pass();
    expect(await paths('ada')).toEqual(['pause next, buys event, COMPLETED']);
    // While the entry is locked: the request waits, and finds the wait.
    expect(await paths('bo')).toEqual(['pause next, at buys']);
    let event: Promise<void> | undefined;
    await inTransaction(database, async (tx) => {
      await tx`update journey_positions set step = step where journey_id = ${id} and ended_at is null`;
      clock.advance(second);
      event = track('bo', 'Bought');
      await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
    });
    await event;
    await pass();
    expect(await paths('bo')).toEqual(['pause next, buys event, COMPLETED']);
  });
});

describe('the job', () => {
  test('repeats nothing after it was cut off, and nothing is stored of it', async () => {
    const { database, track, pass, paths, sends, publish, clock } = bundle;
    await publish([
      send('hello', 'mark'),
      { type: 'update', id: 'mark', attributes: { seen: true }, next: 'pause' },
      wait('pause', null),
    ]);
    await track('ada', 'Joined');
    await database.unsafe(`
      create function cut_off() returns trigger language plpgsql as $$ begin raise exception 'cut off'; end $$;
      create constraint trigger cut_off after insert on journey_passages deferrable initially deferred
        for each row execute function cut_off()`);
    try {
      expect(await bundle.makeJob().runOnce(clock.now())).toBe(0);
      expect(await paths('ada')).toEqual(['at hello']);
      expect(await sends('ada')).toEqual([]);
      expect(await bundle.attributes('ada')).toEqual({});
      expect(bundle.logged).toHaveLength(1);
    } finally {
      await database.unsafe('drop trigger cut_off on journey_passages; drop function cut_off');
    }
    // It was put off.
    await pass();
    expect(await paths('ada')).toEqual(['at hello']);
    await pass(3 * second);
    expect((await paths('ada'))[0]).toMatch(/at pause$/);
    expect(await sends('ada')).toHaveLength(1);
  });

  test('goes past an entry that cannot be continued, tries it ever more rarely, and keeps its time', async () => {
    const { database, track, pass, paths, publish } = bundle;
    await publish([wait('pause', 'hello'), send('hello', null, { late: 'skip' })]);
    await track('ada', 'Joined');
    await track('bo', 'Joined');
    await pass();
    await database`update journey_positions set step = 'nowhere' where user_id = (select id from users where customer_id = 'ada')`;
    await pass(hour);
    expect(await paths('bo')).toEqual(['pause next, hello next, COMPLETED']);
    const [row] = await database`
      select attempts, due_at - planned_at as "putOff" from journey_positions where ended_at is null`;
    expect(row!.attempts).toBe(1);
    await pass(2 * second);
    await pass(4 * second);
    expect(bundle.logged).toHaveLength(3);
    await pass(7 * second);
    expect(bundle.logged).toHaveLength(3);
    await database`update journey_positions set step = 'pause' where ended_at is null`;
    await pass(2 * hour);
    expect(await paths('ada')).toEqual(['pause next, hello late, COMPLETED']);
  });

  test('leaves people in a paused or stopped journey where they are, and they go on after the pause', async () => {
    const { database, track, pass, paths, publish } = bundle;
    const id = await publish([wait('pause', 'hello'), send('hello', null)]);
    await track('ada', 'Joined');
    await pass();
    await database`update journeys set status = 'PAUSED' where id = ${id}`;
    await pass(2 * hour);
    await track('bo', 'Joined');
    expect(await paths('ada')).toEqual(['at pause']);
    expect(await paths('bo')).toEqual([]);
    await database`update journeys set status = 'ACTIVE' where id = ${id}`;
    await pass();
    expect(await paths('ada')).toEqual(['pause next, hello next, COMPLETED']);
  });

  test('lets everyone leave a stopped journey, also who entered while it was being stopped', async () => {
    const { database, track, pass, paths, figures, publish, makeJob, clock } = bundle;
    const id = await publish([wait('pause', 'hello'), send('hello', null)]);
    for (const name of ['ada', 'bo', 'cy']) await track(name, 'Joined');
    await pass();
    await database`
      update journeys set status = 'STOPPED', is_ending = true, updated_at = ${clock.now()} where id = ${id}`;
    // In small batches, and again for an entry that a transaction stores after the stop.
    await makeJob({ batchEntries: 2 }).runOnce(clock.now());
    expect((await figures(id)).STOPPED).toBe(2);
    await database`
      insert into journey_positions (workspace_id, bucket, user_id, journey_id, entry_id, version, step, entered_at,
        arrived_at, due_at, entry_event)
      select workspace_id, bucket, user_id, journey_id, 'late', version, step, entered_at, arrived_at, entered_at,
        entry_event
      from journey_positions limit 1`;
    await pass();
    for (const name of ['ada', 'bo', 'cy']) for (const path of await paths(name)) expect(path).toContain('STOPPED');
    expect((await figures(id)).STOPPED).toBe(4);
    const isEnding = async () => (await database`select is_ending from journeys where id = ${id}`)[0]!.is_ending;
    expect(await isEnding()).toBe(true);
    await pass(hour);
    expect(await isEnding()).toBe(false);
    expect((await figures(id)).STOPPED).toBe(4);
  });

  test('lets people finish on the version that they entered', async () => {
    const { track, pass, paths, publish } = bundle;
    const id = await publish([wait('pause', 'old'), send('old', null)]);
    await track('ada', 'Joined');
    await publish([wait('pause', 'new'), send('new', null)], {}, id);
    await track('bo', 'Joined');
    await pass();
    await pass(hour);
    expect(await paths('ada')).toEqual(['pause next, old next, COMPLETED']);
    expect(await paths('bo')).toEqual(['pause next, new next, COMPLETED']);
  });

  test('moves 10,000 people in batches, by two workers, each once', async () => {
    const { database, workspaceId, publish, makeJob, clock, figures } = bundle;
    const users = 10_000;
    const id = await publish([send('hello', 'pause'), wait('pause', 'again'), send('again', null)]);
    const at = clock.now();
    await database`
      insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      select ${workspaceId}, number % 256, lpad(to_hex(number), 24, '0'), 'p' || number, ${at}, ${at}
      from generate_series(1, ${users}::int) as number`;
    await database`
      insert into journey_positions (workspace_id, bucket, user_id, journey_id, entry_id, version, step, entered_at,
        arrived_at, due_at, entry_event)
      select ${workspaceId}, bucket, id, ${id}, id, 1, 'hello', ${at}, ${at}, ${at},
        '{"name":"Joined","attributes":{},"occurredAt":"2026-03-09T12:00:00.000Z"}'
      from users`;
    const drain = async () => {
      const job = makeJob();
      for (let idle = 0; idle < 3;) idle = (await job.runOnce(clock.now())) > 0 ? 0 : idle + 1;
    };
    await Promise.all([drain(), drain()]);
    await drain();
    clock.advance(hour);
    await Promise.all([drain(), drain()]);
    await drain();
    expect(bundle.logged).toEqual([]);
    const steps = { 'again next': users, 'hello next': users, 'pause next': users };
    expect(await figures(id)).toEqual({ COMPLETED: users, ...steps });
    const [row] = await database`
      select (select count(*)::int from triggers) as triggers, (select count(*)::int from journey_passages) as passages`;
    expect(row).toEqual({ triggers: 2 * users, passages: 3 * users });
  });

  test('finds what is due by the index while 100,000 wait', async () => {
    const { database, workspaceId, publish, clock } = bundle;
    const id = await publish([wait('pause', null)]);
    const at = clock.now();
    await database`
      insert into journey_positions (workspace_id, bucket, user_id, journey_id, entry_id, version, step, entered_at,
        arrived_at, due_at, entry_event)
      select ${workspaceId}, number % 256, 'u' || number, ${id}, 'e' || number, 1, 'pause', ${at}, ${at},
        ${at}::timestamptz + number * interval '1 second', '{}'
      from generate_series(1, 100000) as number`;
    await database.unsafe('analyze journey_positions');
    const rows = await database`
      explain (analyze, buffers, format json)
      select entry_id from journey_positions
      where workspace_id = ${workspaceId} and journey_id = ${id} and due_at <= ${new Date(+at + 10 * second)}
      order by due_at limit 500`;
    const plan = JSON.stringify(rows);
    expect(plan).toContain('journey_positions_due');
    expect(plan).not.toContain('Seq Scan');
    const keys = await listDuePositions(database, {
      ...{ journeys: [{ workspaceId, journeyId: id }], at: new Date(+at + 10 * second), perJourney: 500 },
    });
    expect(keys).toHaveLength(10);
  });
});

describe('a user', () => {
  test('takes entries along in a merge, where of two in one journey the older stays', async () => {
    const { database, track, pass, paths, publish, workspaceId, figures } = bundle;
    const id = await publish([wait('pause', 'hello', 2), send('hello', null)]);
    await publish([wait('pause', null, 5)], { entry: { type: 'event', included_filters: did('Came') } });
    await track('anonymous', 'Joined');
    await pass(second);
    await track('ada', 'Joined');
    await pass(second);
    await track('anonymous', 'Came');
    await pass(second);
    const pairs = [{ merged: 'anonymous', retained: 'ada' }];
    await inTransaction(database, (tx) => mergeUsers(tx, { workspaceId, pairs, at: bundle.clock.now() }));
    expect(await paths('ada')).toEqual(['at pause', 'MERGED', 'at pause']);
    await pass(2 * hour);
    expect(await paths('ada')).toEqual(['pause next, hello next, COMPLETED', 'MERGED', 'at pause']);
    expect(await figures(id)).toMatchObject({ entered: 2, MERGED: 1, COMPLETED: 1 });
    await track('ada', 'Joined');
    expect(await paths('ada')).toHaveLength(3);
  });

  test('leaves no trace in journeys when erased, but in the figures', async () => {
    const { database, track, pass, publish, workspaceId, figures } = bundle;
    const id = await publish([send('hello', 'pause'), wait('pause', null)]);
    await track('ada', 'Joined');
    await pass();
    const [user] = await database<{ bucket: number; userId: string }[]>`select bucket, id as "userId" from users`;
    expect(await eraseJourneysOf(database, { workspaceId, ...user! })).toBe(3);
    for (const table of ['journey_users', 'journey_positions', 'journey_passages'])
      expect((await database.unsafe(`select 1 from ${table}`)).length).toBe(0);
    expect(await figures(id)).toMatchObject({ entered: 1 });
  });
});

test('entries are deleted with their history some time after their end, and never while they are open', async () => {
  const { database, track, pass, publish } = bundle;
  await publish([wait('pause', null)]);
  await track('ada', 'Joined');
  await pass();
  await pass(hour);
  await track('bo', 'Joined');
  await pass();
  expect(await deleteOldEntries(database, { before: start, limit: 10 })).toBe(0);
  expect(await deleteOldEntries(database, { before: new Date(+bundle.clock.now() + 1), limit: 10 })).toBe(1);
  const [row] = await database`
    select (select count(*)::int from journey_positions) as positions, (select count(*)::int from journey_passages) as passages`;
  expect(row).toEqual({ positions: 1, passages: 0 });
});
