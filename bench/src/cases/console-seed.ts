import type { Database, Fragment } from '../../../server/src/storage/database.ts';

export type SeedPlan = {
  workspaceId: string;
  users: number;
  campaigns: number;
  ledgerRows: number;
  /** The newest time; all data is spread over the thirty days before. */
  until: Date;
  say: (line: string) => void;
};

/** Ids that the measurement requests. */
export type Seeded = { segmentId: string; bigCampaignId: string };

const days = 30;
// Log sizes: half a year of an integrator's calls, a day of a busy sender.
const calls = 500_000;
const callbacks = 20_000;
const emails = 20_000;
const auditLines = 200_000;
const events = 2_000_000;
const interactions = 500_000;
const segments = 900;

/**
 * Fills a workspace set by set, with every index in place: users with attributes and one or two devices, campaigns of all kinds
 * with their runs and counts, a ledger of which one campaign holds a fifth, and the data of the other screens. Ids and buckets
 * equal those the server would have created for the same number, so no joins are needed. Completed steps are skipped.
 */
export async function seedConsole(database: Database, plan: SeedPlan): Promise<Seeded> {
  const { say } = plan;
  const seeded = { segmentId: idOf(0, 'segment'), bigCampaignId: idOf(plan.campaigns, 'campaign') };
  await database`create table if not exists bench_steps (name text primary key)`;
  const done = new Set((await database`select name from bench_steps`).map(({ name }) => String(name)));
  if (!done.has('people')) await makeFunctions(database);
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    if (done.has(name)) return;
    const begun = performance.now();
    await work();
    await database`insert into bench_steps (name) values (${name})`;
    say(`${name.padEnd(12)} ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  };
  await step('people', () => insertUsers(database, plan));
  await step('campaigns', () => insertCampaigns(database, plan));
  await step('ledger', () => insertLedger(database, plan));
  await step('segments', () => insertSegments(database, plan));
  await step('logs', () => insertLogs(database, plan));
  await step('activity', () => insertActivity(database, plan));
  // Twice, because a vacuum right after an insert cannot yet mark the new rows as visible to all.
  await step('vacuum', async () => {
    await database`vacuum`;
    await database`vacuum analyze`;
  });
  return seeded;
}

/** Returns the id that `bench_id` creates. */
function idOf(number: number, kind: string): string {
  return `${kind.slice(0, 1).charCodeAt(0).toString(16)}${number.toString(16).padStart(21, '0')}a`;
}

async function makeFunctions(database: Database): Promise<void> {
  await database.unsafe(`
    create or replace function bench_id(kind text, number bigint) returns text language sql immutable parallel safe
      return to_hex(ascii(kind)) || lpad(to_hex(number), 21, '0') || 'a';
    create or replace function bench_bucket(number bigint) returns smallint language sql immutable parallel safe
      return get_byte(sha256(convert_to('user-' || number, 'UTF8')), 0)::smallint;
    create or replace function bench_platform(number bigint) returns text language sql immutable parallel safe
      return (array['ANDROID', 'ANDROID', 'IOS', 'ANDROID', 'WEB'])[1 + number % 5];`);
}

async function insertUsers(database: Database, { workspaceId, users, until }: SeedPlan): Promise<void> {
  const numbered = database`
    select number, bench_bucket(number) as bucket, bench_id('user', number) as id, 'user-' || number as customer_id,
      ${until}::timestamptz - interval '300 days' + number * (interval '299 days' / ${users}) as at
    from generate_series(0, ${users - 1}) as number`;
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select ${workspaceId}, bucket, id, customer_id, jsonb_build_object('u_em', customer_id || '@example.com',
      'u_fn', 'Person ' || number, 'city', (array['Lisbon', 'Pune', 'Oslo', 'Lima'])[1 + number % 4],
      'orders', number % 50), at, at
    from (${numbered}) as numbered`;
  await database`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select ${workspaceId}, bucket, id, given.attribute, given.type, given.value
    from (${numbered}) as numbered, lateral (values
      ('u_em', 'string', customer_id || '@example.com'), ('u_fn', 'string', 'Person ' || number),
      ('city', 'string', (array['Lisbon', 'Pune', 'Oslo', 'Lima'])[1 + number % 4]),
      ('orders', 'double', (number % 50)::text), ('device:push_id', 'string', 'token-' || number)
    ) as given (attribute, type, value)`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, gone_at,
      gone_reason, created_at, updated_at)
    select ${workspaceId}, bucket, bench_id('device', number + place * ${users}::bigint), id, 'phone-' || place,
      bench_platform(number + place), 'token-' || number || case when place = 1 then '-second' else '' end,
      case when number % 33 = 0 then 'GONE' when number % 29 = 0 then 'OPTED_OUT' else 'ACTIVE' end, at,
      case when number % 33 = 0 then at end, case when number % 33 = 0 then 'UNREGISTERED' end, at, at
    from (${numbered}) as numbered, generate_series(0, case when number % 5 = 0 then 1 else 0 end) as place`;
}

async function insertCampaigns(database: Database, plan: SeedPlan): Promise<void> {
  const { workspaceId, campaigns, until } = plan;
  await database`
    insert into campaigns (id, workspace_id, name, channel, source, delivery_type, audience, platforms, content, timing,
      tags, status, status_reason, segment_id, created_by, created_at, updated_at)
    select bench_id('campaign', number), ${workspaceId},
      (array['Spring sale', 'Order shipped', 'Cart reminder', 'Weekly digest', 'Price drop', 'Welcome back', 'Your code'])
        [1 + number * 7919::bigint % 7] || ' ' || number,
      case when number % 53 = 0 then 'SMS' when number % 19 = 0 then 'EMAIL' else 'PUSH' end, 'PUSH_API', type,
      case when number % 37 = 0 then 'SEGMENT' else 'ALL_USERS' end, '{ANDROID,IOS,WEB}',
      jsonb_build_object('ANDROID', jsonb_build_object('title', 'Hello', 'message', md5(number::text)),
        'IOS', jsonb_build_object('title', 'Hello', 'message', md5(number::text))),
      '{"kind": "soon"}', array['team' || number % 200, case when number % 1000 = 0 then 'rare' else 'common' end],
      case when type <> 'ONE_TIME' then (array['RETIRED', 'ACTIVE', 'PAUSED'])[1 + number % 3]
        when number % 31 = 0 then 'DRAFT' when number % 47 = 0 then 'FAILED' when number % 43 = 0 then 'ARCHIVED'
        when number % 97 = 0 then 'STOPPED' else 'SENT' end,
      'reason', case when number % 37 = 0 then bench_id('segment', 0) end, 'person' || number % 40 || '@example.com',
      at, at
    from generate_series(1, ${campaigns}) as number, lateral (
      select ${until}::timestamptz - make_interval(days => ${days})
          + number * (make_interval(days => ${days}) / ${campaigns}) as at,
        case when number = ${campaigns} then 'ONE_TIME' when number % 29 = 0 then 'PERIODIC'
          when number % 101 = 0 then 'EVENT_TRIGGERED' else 'ONE_TIME' end as type
    ) as made`;
  // One run per campaign, ten for periodic ones. A run's number is its campaign's number followed by its index.
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at,
      audience_users, audience_devices)
    select bench_id('run', number * 10 + place), ${workspaceId}, bench_id('campaign', number), 1, 'SENT',
      (at at time zone 'UTC')::date, at + interval '1 day', at, at, at + interval '10 minutes', 290, 300
    from (
      select row_number() over (order by id) as number, created_at as at, delivery_type, status
      from campaigns where workspace_id = ${workspaceId} and source = 'PUSH_API'
    ) as made, generate_series(0, case when delivery_type = 'PERIODIC' then 9 else 0 end) as place
    where status <> 'DRAFT'`;
}

/** Gives a fifth to the newest campaign, a tenth each to two others, and the rest evenly to all. */
async function insertLedger(database: Database, plan: SeedPlan): Promise<void> {
  const { workspaceId, users, campaigns, ledgerRows, until } = plan;
  await makeDays(database, { table: 'deliveries', until, back: days + 1 });
  const share = (part: number): number => Math.floor(ledgerRows * part);
  const sizes = new Map([
    [campaigns, share(0.2)],
    [campaigns - 1, share(0.1)],
    [campaigns - 2, share(0.1)],
  ]);
  const rest = ledgerRows - [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const each = Math.max(1, Math.round(rest / campaigns));
  const insert = (runs: Fragment) => database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, code,
      provider_message_id, attempts, sent_at)
    select run.day, (select number from workspaces where id = ${workspaceId}), bench_bucket(person), run.ledger_number,
      decode(bench_id('device', person), 'hex'), decode(bench_id('user', person), 'hex'),
      left(bench_platform(person), 1)::"char",
      case outcome when 'WITHHELD' then 'H' else left(outcome, 1) end::"char", case outcome when 'GONE' then 'UNREGISTERED' when 'REJECTED' then
        'INVALID_ARGUMENT' when 'EXPIRED' then 'EXPIRED' when 'WITHHELD' then 'FREQUENCY_CAP' when 'FAILED' then
        case when person % 10007 = 3 then 'RARE_CODE' else 'UNAVAILABLE' end end,
      case when outcome = 'ACCEPTED' then '\\x01'::bytea || decode(md5(run.id || person), 'hex') end, 1 + (person % 13 = 0)::int,
      run.started_at + place * (interval '10 minutes' / run.size)
    from (${runs}) as run, generate_series(0, run.size - 1) as place,
      lateral (select (run.number * 7919 + place * 3331) % ${users} as person) as who,
      lateral (select case when person % 25 = 1 then 'GONE' when person % 50 = 2 then 'REJECTED'
        when person % 50 = 3 then 'FAILED' when person % 100 = 4 then 'WITHHELD' when person % 200 = 5 then 'EXPIRED'
        else 'ACCEPTED' end as outcome) as what`;
  for (const [number, size] of sizes)
    await insert(database`
      select id, runs.number as ledger_number, day, started_at, ${number}::bigint as number, ${size}::bigint as size
      from runs where campaign_id = bench_id('campaign', ${number})`);
  await insert(database`
    select distinct on (campaign_id) id, runs.number as ledger_number, day, started_at, row_number() over (order by id) as number, ${each}::bigint as size
    from runs
    where workspace_id = ${workspaceId} and campaign_id < bench_id('campaign', ${campaigns - 2})
    order by campaign_id, id`);
  await database`
    insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
    select run_id, workspace_id, bucket, platform, outcome, count(*)
    from readable_deliveries as deliveries group by run_id, workspace_id, bucket, platform, outcome`;
  await database`
    update runs set audience_users = size, audience_devices = size
    from (select run_id, sum(devices) as size from run_counts group by run_id) as counted where counted.run_id = runs.id`;
}

async function insertSegments(database: Database, { workspaceId, users, until }: SeedPlan): Promise<void> {
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version, user_count,
      expiry_days, expires_at, created_by, created_at, updated_at)
    select bench_id('segment', number), ${workspaceId}, 'Segment ' || number, 'FILE', 'READY', 'API', 'u_em', 'string', 1,
      case when number = 0 then ${users} / 2 else 1000 end, 30, ${until}::timestamptz + interval '30 days', 'bench',
      ${until}::timestamptz - number * interval '40 minutes', ${until}
    from generate_series(0, ${segments - 1}) as number`;
  await database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select ${workspaceId}, bench_bucket(number), bench_id('segment', 0), bench_id('user', number), 1
    from generate_series(0, ${users - 1}, 2) as number
    union all
    select ${workspaceId}, bench_bucket(number), bench_id('segment', segment), bench_id('user', number), 1
    from generate_series(1, ${segments - 1}) as segment, lateral (
      select (segment * 991 + place * 17) % ${users} as number from generate_series(0, 999) as place) as member
    on conflict do nothing`;
  await database`
    insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, file_url, state, not_before,
      bytes_read, values_found, values_processed, user_count, counted_users, status, requested_by, created_at, ended_at)
    select bench_id('operation', number), ${workspaceId}, bench_id('segment', number % ${segments}), number / ${segments},
      'ADD', md5(number::text), 'https://example.com/file.csv', 'SUCCEEDED', at, 20000, 1000, 1000, 1000, 1000, 201, 'bench',
      at, at
    from generate_series(0, ${callbacks - 1}) as number,
      lateral (select ${until}::timestamptz - number * interval '2 minutes' as at) as made`;
}

async function insertLogs(database: Database, { workspaceId, until }: SeedPlan): Promise<void> {
  await database`truncate api_log, callbacks, mails, audit_log cascade`;
  await database`
    insert into api_log (id, workspace_id, received_at, method, path, route, status, duration_ms, key_id, error_name,
      error_detail, request_body)
    select bench_id('log', number), case when number % 100 = 99 then null else ${workspaceId} end,
      ${until}::timestamptz - number * interval '5 seconds', 'POST', '/v2.1/transaction/sendpush',
      '/v2.1/transaction/sendpush', 200, 4.2,
      case when number % 3 = 0 then (select id from api_keys where workspace_id = ${workspaceId} and kind = 'push' limit 1) end,
      case when number % 40 = 0 then 'SIGNATURE_INVALID' when number % 100 = 99 then 'APP_ID_UNKNOWN' end, null,
      '{"campaignName":"Sale"}'
    from generate_series(0, ${calls - 1}) as number`;
  await database`
    insert into callbacks (id, workspace_id, operation_id, url, body, state, attempts, created_at, ended_at)
    select bench_id('back', number), ${workspaceId}, bench_id('operation', number), 'https://example.com/hook', '{}',
      case when number % 20 = 0 then 'GIVEN_UP' else 'DELIVERED' end, 1, at, at
    from generate_series(0, ${callbacks - 1}) as number,
      lateral (select ${until}::timestamptz - number * interval '2 minutes' as at) as made`;
  await database`
    insert into mails (id, workspace_id, operation_id, recipients, subject, body, state, attempts, created_at, ended_at)
    select bench_id('mail', number), ${workspaceId}, bench_id('operation', number), '{ops@example.com}', 'Segment filled',
      'It is.', 'SENT', 1, at, at
    from generate_series(0, ${emails - 1}) as number,
      lateral (select ${until}::timestamptz - number * interval '2 minutes' as at) as made`;
  await database`
    insert into audit_log (id, workspace_id, at, actor_name, action, object_kind, object_id)
    select bench_id('audit', ${auditLines} - number), case when number % 10 = 0 then null else ${workspaceId} end,
      ${until}::timestamptz - number * interval '10 seconds', 'bench', 'campaign.stop', 'campaign',
      bench_id('campaign', number)
    from generate_series(0, ${auditLines - 1}) as number`;
}

async function insertActivity(database: Database, plan: SeedPlan): Promise<void> {
  const { workspaceId, users, campaigns, until } = plan;
  await makeDays(database, { table: 'events', until, back: days });
  await database`
    insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at, platform)
    select (at at time zone 'UTC')::date, ${workspaceId}, bench_bucket(person), bench_id('event', number),
      bench_id('user', person), 'viewed', '{"item": "shoe"}', at, at, 'ANDROID'
    from generate_series(0, ${events - 1}) as number,
      lateral (select number * 7 % ${users} as person,
        ${until}::timestamptz - number * (interval '29 days' / ${events}) as at) as made`;
  await database`
    insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, report_digests,
      count, first_at)
    select ${workspaceId}, bucket, bench_id('campaign', ${campaigns}), device_id, kind, run_id, platform,
      array[sha256(convert_to(device_id || kind, 'UTF8'))], 1, sent_at + interval '1 minute'
    from (
      select * from readable_deliveries as deliveries where run_id = bench_id('run', ${campaigns * 10}) and outcome = 'ACCEPTED'
      limit ${Math.floor(interactions / 2)}
    ) as sent, unnest(array['IMPRESSION', 'CLICK']) as kind`;
  await database`
    insert into campaign_interactions (workspace_id, campaign_id, bucket, platform, kind, total, unique_devices)
    select workspace_id, campaign_id, bucket, platform, kind, count(*), count(*) from device_interactions
    where workspace_id = ${workspaceId} group by workspace_id, campaign_id, bucket, platform, kind
    on conflict do nothing`;
}

/** Creates the days with the rights and the row-level security of the product's partitions. */
async function makeDays(
  database: Database,
  { table, until, back }: { table: 'deliveries' | 'events'; until: Date; back: number },
): Promise<void> {
  for (let ago = 0; ago <= back; ago += 1) {
    const day = new Date(until.getTime() - ago * 86_400_000).toISOString().slice(0, 10);
    await database`select make_day_partition(${table}, ${day}::date)`;
  }
}
