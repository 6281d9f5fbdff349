import { resolve } from 'node:path';
import { documentedAuthoringLimits } from '../../../server/src/app/campaigns/authoring.ts';
import { makeCampaignTotals, searchCampaigns } from '../../../server/src/app/campaigns/search-campaigns.ts';
import { createKey } from '../../../server/src/app/keys/keys.ts';
import { makeTokenAuthority } from '../../../server/src/app/tokens/token-authority.ts';
import { makeManualClock } from '../../../server/src/clock.ts';
import { makeEncryption } from '../../../server/src/domain/crypto/encryption.ts';
import { buildServer } from '../../../server/src/http/server/build-server.ts';
import { parseSearch } from '../../../server/src/http/campaigns/search.ts';
import { campaignRoutes } from '../../../server/src/http/campaigns/routes.ts';
import { makeVendorHeaders } from '../../../server/src/http/route/vendor-headers.ts';
import { makeLog } from '../../../server/src/log.ts';

import { percentile } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { startDatabase } from '../kit/embedded-database.ts';
import type { BenchDatabase } from '../kit/embedded-database.ts';

type Version = 'V1' | 'V5';
type Filter = { name: string; filters: Record<string, unknown>; more?: Record<string, unknown>; versions?: Version[] };

const goalMilliseconds = 25;
const workspaceId = 'W0';

type Searching = BenchDatabase & { clock: ManualClock; totals: ReturnType<typeof makeCampaignTotals> };
type ManualClock = ReturnType<typeof makeManualClock>;

/** DATABASE_URL names an empty database to use instead of an embedded one. */
export const searchCase: Case<'search', Searching> = {
  async prepare(bench) {
    const folder = bench.options.folder === undefined ? undefined : resolve(bench.options.folder);
    const database = await startDatabase(bench, { folder, url: process.env.DATABASE_URL || undefined });
    await insertCampaigns(bench, database);
    const clock = makeManualClock(new Date('2026-06-01T00:00:00Z'));
    return { ...database, clock, totals: makeCampaignTotals({ database: database.across, clock }) };
  },

  async run(bench, searching) {
    const { across: database, clock, totals } = searching;
    const encryption = makeEncryption(Buffer.alloc(32, 1));
    const edge = {
      ...{ database, clock, encryption, totals, limits: documentedAuthoringLimits },
      tokens: makeTokenAuthority({ database, clock, encryption }),
      ...{ vendorHeaders: makeVendorHeaders('SVC'), migrationGuideFile: '' },
    };
    const log = makeLog({ level: 'silent', pretty: false });
    const server = await buildServer({ log, clock, trustProxy: false }, [campaignRoutes(edge)]);
    bench.defer(() => server.close());
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const command = { workspaceId, kind: 'campaigns', name: 'Bench', at: clock.now() } as const;
    const { secret } = await createKey({ encryption }, database, command);
    bench.say(await describeDatabase(searching));
    const headers = {
      authorization: `Basic ${Buffer.from(`${workspaceId}:${secret}`).toString('base64')}`,
      'svc-appkey': workspaceId,
      'content-type': 'application/json',
    };
    bench.say('filter                          version limit  found   HTTP p50   p99   SQL p50   p99  (ms)');
    let worst = 0;
    const filters = await listFilters(searching);
    const first = Math.max(
      0,
      filters.findIndex(({ name }) => name === bench.options.from),
    );
    for (const filter of filters.slice(first))
      for (const version of filter.versions ?? (['V1', 'V5'] as const))
        for (const limit of version === 'V1' ? [15, 100] : [15])
          worst = Math.max(worst, await measure(bench, { searching, filter, version, limit, url, headers }));
    bench.compare({
      work: `any filter, any of the first ${bench.options.pages} pages, among ${bench.options.campaigns} campaigns`,
      ours: `worst p99 ${worst.toFixed(1)} ms`,
      ...{ goal: `p99 < ${goalMilliseconds} ms`, isMet: worst < goalMilliseconds },
    });
  },
};

/** Creates 40, 30, 20 and 10 % of the campaigns, with word frequencies of a push service, evenly over a year and a half. */
async function insertCampaigns(bench: Bench<'search'>, { across: database, owner }: BenchDatabase): Promise<void> {
  const { campaigns } = bench.options;
  const [stored] = await database`
    select (select count(*) from campaigns)::int as campaigns, exists (select from workspaces where id = 'whole') as "isWhole"
    where exists (select from workspaces)`;
  if (stored !== undefined) {
    if (stored.campaigns === campaigns && stored.isWhole) return;
    throw new Error(
      `${stored.campaigns} campaigns are there, and perhaps not all that belongs to them: name another folder`,
    );
  }
  await database`
    insert into workspaces (id, db_name, name, campaign_versioning, created_at)
    select 'W' || number, 'db' || number, 'Workspace', true, '2024-01-01' from generate_series(0, 3) as number`;
  const begun = performance.now();
  await database`
    insert into campaigns (id, workspace_id, name, channel, source, delivery_type, audience, platforms, content, timing,
      tags, status, status_reason, created_by, created_at, updated_at)
    select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(number::text), 1, 12),
      case when draw < 4 then 'W0' when draw < 7 then 'W1' when draw < 9 then 'W2' else 'W3' end,
      (array['Spring sale', 'Order shipped', 'Cart reminder', 'Weekly digest', 'Price drop', 'Welcome back', 'Your code'])
        [1 + number * 7919::bigint % 7] || ' ' || number,
      case when number % 53 = 0 then 'SMS' when number % 19 = 0 then 'EMAIL' else 'PUSH' end, 'PUSH_API', type,
      'ALL_USERS', '{ANDROID,IOS}',
      jsonb_build_object('ANDROID', jsonb_build_object('title', 'Hello', 'message', md5(number::text) || md5(at::text)),
        'IOS', jsonb_build_object('title', 'Hello', 'message', md5(number::text), 'enableBadge', false)),
      '{"kind": "soon"}', array['team' || number % 200, case when number % 1000 = 0 then 'rare' else 'common' end],
      case when type <> 'ONE_TIME' then (array['RETIRED', 'ACTIVE', 'PAUSED'])[1 + number % 3]
        when number % 31 = 0 then 'DRAFT' when number % 47 = 0 then 'FAILED' when number % 43 = 0 then 'ARCHIVED'
        when number % 97 = 0 then 'STOPPED' else 'SENT' end,
      'reason', 'person' || number % 40 || '@example.com', at, at
    from generate_series(1, ${campaigns}) as number, lateral (
      select timestamptz '2025-01-01' + number * (interval '500 days' / ${campaigns}) as at, number % 10 as draw,
        case when number % 29 = 0 then 'PERIODIC' when number % 101 = 0 then 'EVENT_TRIGGERED' else 'ONE_TIME' end as type
    ) as made`;
  bench.say(`inserted in ${((performance.now() - begun) / 1000).toFixed(1)} s, every index in place`);
  // Ten runs each for every hundredth recurring campaign: children.
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
    select substr(md5(id || number), 1, 24), workspace_id, id, 1, 'SENT', '2026-01-01', created_at, at, at, at
    from (
      select id, workspace_id, created_at, row_number() over () as place from campaigns where delivery_type <> 'ONE_TIME'
    ) as parents, generate_series(1, 10) as number, lateral (select created_at + number * interval '1 day' as at) as made
    where place % 100 = 0`;
  // Twice, because a vacuum right after an insert cannot yet mark the new rows as visible to all.
  await owner`vacuum campaigns`;
  await owner`vacuum analyze campaigns`;
  await owner`vacuum analyze runs`;
  await database`
    insert into workspaces (id, db_name, name, created_at) values ('whole', 'whole', 'All that is measured is there', '2024-01-01')`;
}

async function listFilters({ across: database }: BenchDatabase): Promise<Filter[]> {
  const [row] = await database`select id from campaigns where workspace_id = ${workspaceId} limit 1`;
  const id = String(row!.id);
  const types = (words: string[]): Filter[] => [
    { name: `delivery type ${words.join('+')}`, filters: { delivery_type: words }, versions: ['V1'] },
    { name: `delivery type ${words.join('+')}`, filters: { campaign_delivery_type: words }, versions: ['V5'] },
  ];
  return [
    { name: 'none', filters: {} },
    { name: 'id', filters: { id }, versions: ['V1'] },
    { name: 'ids', filters: { ids: [id] }, versions: ['V5'] },
    { name: 'channels PUSH', filters: { channels: ['PUSH'] } },
    { name: 'channels EMAIL', filters: { channels: ['EMAIL'] } },
    { name: 'channels SMS', filters: { channels: ['SMS'] } },
    { name: 'created_by, one', filters: { created_by: ['person4@example.com'] } },
    { name: 'created_by, two', filters: { created_by: ['person4@example.com', 'person10@example.com'] } },
    { name: 'created_by, nobody', filters: { created_by: ['nobody'] } },
    { name: 'created_date, 30 days', filters: { created_date: { from_date: '2025-06-01', to_date: '2025-06-30' } } },
    ...types(['PERIODIC']),
    ...types(['ONE_TIME']),
    ...types(['PERIODIC', 'EVENT_TRIGGERED']),
    { name: 'name, in every seventh', filters: { name: 'SALE' } },
    { name: 'name, in few', filters: { name: 'digest 12345' } },
    { name: 'name, in none', filters: { name: 'nothing like it' } },
    { name: 'name, two letters, in none', filters: { name: 'zq' } },
    { name: 'status SENT', filters: { status: ['SENT'] } },
    { name: 'status DRAFT', filters: { status: ['DRAFT'] } },
    { name: 'status DRAFT+FAILED', filters: { status: ['DRAFT', 'FAILED'] } },
    { name: 'tags, in half a percent', filters: { tags: ['team8'] } },
    { name: 'tags, in nearly all', filters: { tags: ['common'] } },
    { name: 'tags, in a thousandth', filters: { tags: ['rare'] } },
    { name: 'version_number 1', filters: { version_number: 1 }, versions: ['V5'] },
    { name: 'version_number 2', filters: { version_number: 2 }, versions: ['V5'] },
    { name: 'with archived', filters: {}, more: { include_archive_campaigns: true } },
    { name: 'with children', filters: {}, more: { include_child_campaigns: true } },
    {
      name: 'name, status, tag, date',
      filters: {
        name: 'sale',
        status: ['SENT', 'STOPPED'],
        tags: ['team8'],
        created_date: { from_date: '2025-03-01' },
      },
    },
  ];
}

type Measuring = {
  searching: Searching;
  filter: Filter;
  version: Version;
  limit: number;
  url: string;
  headers: Record<string, string>;
};

/** @returns p99 of the HTTP responses */
async function measure(
  bench: Bench<'search'>,
  { searching: { across: database, clock, totals }, filter, version, limit, url, headers }: Measuring,
): Promise<number> {
  const http: number[] = [];
  const sql: number[] = [];
  let found = 0;
  // The first call of each kind is not measured: it prepares statements and connections.
  for (let page = 0; page <= bench.options.pages; page += 1) {
    const body = {
      request_id: 'bench',
      limit,
      page: Math.max(1, page),
      ...filter.more,
      campaign_fields: filter.filters,
    };
    // The limit is 100 calls a minute, and it counts these calls too.
    clock.advance(700);
    const begun = performance.now();
    const answer = await fetch(`${url}/${version.toLowerCase()}/campaigns/search`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const rows = (await answer.json()) as { campaigns?: unknown[]; data?: { campaigns: unknown[] } };
    const took = performance.now() - begun;
    if (answer.status !== 200) throw new Error(`${filter.name}: ${answer.status} ${JSON.stringify(rows)}`);
    const asked = parseSearch(body, { version, versioning: 'on' });
    const statementsBegun = performance.now();
    await searchCampaigns({ database, totals }, { ...asked, workspaceId, version, versioning: 'on' });
    const statementsTook = performance.now() - statementsBegun;
    if (page === 0) continue;
    http.push(took);
    sql.push(statementsTook);
    found += (rows.campaigns ?? rows.data!.campaigns).length;
  }
  const p99 = percentile(http, 0.99);
  const times = [percentile(http, 0.5), p99, percentile(sql, 0.5), percentile(sql, 0.99)];
  const cells = times.map((time) => time.toFixed(1).padStart(8)).join('');
  const how = `${version} ${String(limit).padStart(4)} ${String(found).padStart(6)}`;
  bench.say(`${filter.name.padEnd(38)} ${how} ${cells}${p99 > goalMilliseconds ? '  over' : ''}`);
  return p99;
}

async function describeDatabase({ across: database }: BenchDatabase): Promise<string> {
  const [row] = await database`
    select version() as version, current_setting('shared_buffers') as buffers, (select count(*) from campaigns) as rows,
      (select count(*) from campaigns where workspace_id = ${workspaceId}) as largest,
      pg_size_pretty(pg_table_size('campaigns')) as table, pg_size_pretty(pg_indexes_size('campaigns')) as indexes`;
  const { version, buffers, rows, largest, table, indexes } = row!;
  return (
    `${String(version).split(' on ')[0]}, shared_buffers ${buffers}\n` +
    `campaigns: ${rows}, searched workspace ${largest}, table ${table}, indexes ${indexes}`
  );
}
