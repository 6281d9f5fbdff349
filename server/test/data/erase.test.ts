import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeInteractionReports } from '../../src/app/interactions.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { addHistory, addRun } from './add-history.ts';
import { makeDataBundle, start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';
import { idBytes } from '../../src/storage/ledger/ledger-encoding.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle({ requestsPerMinute: 100_000 });
});
afterAll(() => bundle.end());

const hour = 3_600_000;
const remove = (value: string, type = 'customer_id') =>
  bundle.call('/v1/customer/delete', { identity_type: type, identity_value: value });
async function erase(): Promise<number> {
  const job = makeEraseDueUsers(bundle);
  let steps = 0;
  while ((await job.runOnce(bundle.clock.now())) > 0) steps += 1;
  return steps;
}
/** Every table of the catalog, with the rows in which one of the texts stands in any column. */
async function findEverywhere(texts: string[]): Promise<Record<string, number>> {
  const tables = await bundle.database`
    select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'public' and relkind = 'r' and relname <> 'spatial_ref_sys' order by 1`;
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await bundle.database`
      select count(*) as rows from ${bundle.database(name as string)} as given
      where exists (select 1 from unnest(${texts}::text[]) as wanted where position(wanted in given::text) > 0)`;
    if ((row!.rows as number) > 0) found[name as string] = row!.rows as number;
  }
  return found;
}
async function tracesOf(customerId: string): Promise<string[]> {
  const rows = await bundle.database`
    select users.id as user, devices.id as device from users
    left join devices on devices.bucket = users.bucket and devices.user_id = users.id
    where users.customer_id = ${customerId}`;
  const ids = rows.flatMap(({ user, device }) => [user, device] as (string | null)[]).filter((id) => id !== null);
  const address = await bundle.database`
    select encode(address_hash, 'hex') as hash from push_addresses
    where device_row_id = any(${rows.map((row) => row.device as string)})`;
  return [customerId, ...ids, ...address.map((row) => row.hash as string)];
}
const figures = async () => ({
  deliveries: [
    ...(await bundle.database`
    select outcome, count(*) as rows, count(distinct user_id) as users, count(distinct device_id) as devices
    from readable_deliveries as deliveries group by 1 order by 1`),
  ],
  conversions: [
    ...(await bundle.database`
    select count(*) as rows, count(distinct user_id) as users, count(distinct event_id) as events from conversions`),
  ],
});

test('nothing of an erased user is left in any table, the figures stay, and a record says what was removed', async () => {
  const other = await addHistory(bundle, 'neighbour');
  const mergedBefore = await addHistory(bundle, 'merged-before');
  const subject = await addHistory(bundle, 'subject-of-erasure');
  // Somebody who was merged into the person is the person.
  const mergedTraces = await tracesOf('merged-before');
  await bundle.call('/v1/customer/merge', {
    merge_data: [{ merged_user: 'merged-before', retained_user: 'subject-of-erasure' }],
  });
  await addRun(bundle, 'subject-of-erasure', 'WAITING');
  // A change by hand is a line that names the person.
  await bundle.database`
    insert into audit_log (id, workspace_id, at, actor_name, action, object_kind, object_id)
    select ${'9'.repeat(24)}, workspace_id, ${start}, 'Olga', 'person.attributes', 'person', id from users
    where customer_id = 'subject-of-erasure'`;
  const traces = [...mergedTraces, ...(await tracesOf('subject-of-erasure'))];
  const tables = Object.keys(await findEverywhere(traces));
  for (const table of [
    'audit_log',
    'users',
    'devices',
    'identifiers',
    'segment_members',
    'push_addresses',
    'device_interactions',
    'triggers',
  ])
    expect(tables).toContain(table);
  for (const table of ['conversions', 'merged_users', 'runs', 'sandbox_messages']) expect(tables).toContain(table);
  expect(tables.filter((name) => /^(events|deliveries)_2026/.test(name))).toHaveLength(2);
  const [before, neighbour] = [await figures(), await findEverywhere(await tracesOf('neighbour'))];

  expect((await remove('subject-of-erasure')).status).toBe(200);
  bundle.clock.advance(24 * hour - 1);
  expect(await erase()).toBe(0);
  expect(await bundle.attributes('subject-of-erasure')).toBeDefined();
  bundle.clock.advance(1);
  expect(await erase()).toBe(1);
  // The record alone still knows whose rows they were, for the second look.
  expect(Object.keys(await findEverywhere(traces))).toEqual(['erasures']);
  bundle.clock.advance(hour);
  expect(await erase()).toBe(1);
  expect(await findEverywhere(traces)).toEqual({});

  expect(await figures()).toEqual(before);
  expect(await findEverywhere(await tracesOf('neighbour'))).toEqual(neighbour);
  const [segment] = await bundle.database`select user_count from segments where id = ${other.segmentId}`;
  expect(segment!.user_count).toBe(1);
  const [gone] = await bundle.database`
    select sum(user_count) as users from segments where id in (${mergedBefore.segmentId}, ${subject.segmentId})`;
  expect(Number(gone!.users)).toBe(0);
  const [record] = await bundle.database`select state, counts, removed_at from erasures`;
  expect(record).toEqual({
    state: 'DONE',
    removed_at: new Date(start.getTime() + 24 * hour),
    counts: {
      users: 1,
      merged_users: 1,
      identifiers: 7,
      devices: 2,
      event_stream_batches: 0,
      push_addresses: 2,
      events: 2,
      triggers: 2,
      segment_members: 2,
      device_interactions: 6,
      conversions: 2,
      deliveries: 6,
      user_messages: 1,
      audience_seats: 2,
      runs: 5,
      sandbox_messages: 2,
      audit_log: 1,
    },
  });
});

test('what work under way writes after the first look is gone after the second', async () => {
  await addHistory(bundle, 'latecomer');
  const [user] = await bundle.database`select bucket, id from users where customer_id = 'latecomer'`;
  const traces = await tracesOf('latecomer');
  await remove('latecomer');
  bundle.clock.advance(24 * hour);
  await erase();
  // A window that was open stores its outcome, a file its member.
  await bundle.database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
      attempts, sent_at)
    select '2026-03-01', workspaces.number, ${user!.bucket as number}, runs.number, ${idBytes(traces[2]!)},
      ${idBytes(user!.id as string)}, 'A', 'A', 1, ${start}
    from runs join workspaces on workspaces.id = workspace_id limit 1`;
  await bundle.database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select workspace_id, ${user!.bucket as number}, id, ${user!.id as string}, 1 from segments limit 1`;
  bundle.clock.advance(hour);
  await erase();
  expect(await findEverywhere(traces)).toEqual({});
});

test('a report of an erased person’s device is not kept', async () => {
  await bundle.addUser('reporter');
  await bundle.addDevice('reporter', 'd');
  const { runId } = await addRun(bundle, 'reporter');
  const [device] = await bundle.database`select bucket, id from devices where push_id = 'token-reporter-d'`;
  const traces = await tracesOf('reporter');
  await remove('reporter');
  bundle.clock.advance(25 * hour);
  await erase();
  bundle.clock.advance(hour);
  await erase();
  const tokens = makeInteractionTokens(Buffer.alloc(32, 7));
  const { token } = tokens.issue({
    workspaceId: bundle.workspaceId,
    runId,
    bucket: device!.bucket as number,
    deviceId: device!.id as string,
    platform: 'ANDROID',
  });
  const limits = { token: { events: 100, seconds: 60 }, address: { events: 100, seconds: 60 } };
  const interactions = makeInteractionReports({ ...bundle, tokens, limits });
  await interactions.report({ token, kind: 'click', address: '192.0.2.1' } as never);
  expect(await findEverywhere(traces)).toEqual({});
});

test('a repeated deletion request keeps the date; after the deletion the customer id is free', async () => {
  await bundle.addUser('twice', { old: true });
  await remove('twice');
  bundle.clock.advance(12 * hour);
  expect((await remove('twice')).status).toBe(200);
  bundle.clock.advance(12 * hour);
  await erase();
  expect(await bundle.attributes('twice')).toBeUndefined();
  await bundle.addUser('twice', { fresh: true });
  bundle.clock.advance(48 * hour);
  await erase();
  expect(await bundle.attributes('twice')).toEqual({ fresh: true });
});

test('the user is named by id too; an unknown one, or another kind of name, is refused', async () => {
  await bundle.addUser('by-id');
  const [user] = await bundle.database`select id from users where customer_id = 'by-id'`;
  expect((await remove(user!.id as string, 'svc_id')).status).toBe(200);
  expect((await remove('nobody')).body.error).toMatchObject({ type: 'ValueError', attribute: 'identity_value' });
  expect((await remove('x', 'email')).body.error.attribute).toBe('identity_type');
  expect((await bundle.call('/v1/customer/delete', {})).body.error.type).toBe('MissingAttributeError');
});

const erased = [
  'audience_seats.user_id',
  'conversions.user_id',
  'deliveries.device_id',
  'deliveries.user_id',
  'device_interactions.device_id',
  'devices.device_id',
  'devices.push_id',
  'devices.user_id',
  'erasures.user_ids',
  'event_stream_marks.device_id',
  'events.device_row_id',
  'events.user_id',
  'identifiers.user_id',
  'merged_users.customer_id',
  'merged_users.retained_user_id',
  'merged_users.user_id',
  'push_addresses.address_hash',
  'push_addresses.device_row_id',
  'runs.target_users',
  'sandbox_messages.device_token',
  'segment_members.user_id',
  'triggers.user_id',
  'user_messages.user_id',
  'users.customer_id',
];
const kept: Record<string, string> = {
  'access_tokens.refresh_token_hash': 'a key’s token',
  'access_tokens.token_hash': 'a key’s token',
  'api_keys.access_token_minutes': 'a setting',
  'apps.identifier': 'the name of a package, bundle or site',
  'campaigns.target_selector': 'what a sender wrote (docs/decisions/0013)',
  'console_sessions.source_address': 'an operator’s session',
  'console_sessions.token_hash': 'an operator’s session',
  'console_sessions.user_agent': 'an operator’s session',
  'devices.push_id_type': 'a kind of address',
  'devices.push_provider': 'the name of a service',
  'erased_devices.device_digest': 'the digest of a random id that nothing else knows any more',
  'erasures.customer_digest': 'the proof',
  'event_streams.device_attributes': 'names of attributes',
  'event_streams.user_attributes': 'names of attributes',
  'imports.users': 'a number',
  'live_activity_messages.token': 'of one activity, gone after a day',
  'live_activity_tokens.token': 'of one activity, gone after a day',
  'mails.recipients': 'addresses of operators',
  'refresh_tokens.token_hash': 'a key’s token',
  'runs.audience_users': 'a number',
  'runs.group_users': 'numbers',
  'runs.target_selector': 'what a sender wrote (docs/decisions/0013)',
  'send_budgets.tokens': 'a number',
  'segment_operations.counted_users': 'a number',
  'segment_operations.user_count': 'a number',
  'segments.user_count': 'a number',
  'workspaces.push_bodies': 'a setting',
  'workspaces.push_from': 'a setting',
};

test('every column that may identify a user is in the list', async () => {
  const columns = await bundle.database`
    select distinct relname || '.' || attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
    join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'public' and relkind in ('r', 'p') and not relispartition and attnum > 0 and not attisdropped
      and (attname ~ '(^|_)(user|users|device|customer|customers|push|address|target|recipients?|tokens?|identifiers?)(_|$)')
    order by 1`;
  // Whoever adds a column that may name a person erases it in erase-people.ts, or says here why it need not.
  const names = new Set(columns.map((row) => row.name as string));
  expect([...names].filter((name) => !erased.includes(name) && !(name in kept))).toEqual([]);
  expect([...erased, ...Object.keys(kept)].filter((name) => !names.has(name))).toEqual([]);
});
