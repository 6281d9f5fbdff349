import { inTransaction, planByValues } from '../../src/storage/database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { selectCampaigns } from '../../src/domain/campaigns/campaign.ts';
import type { CampaignSearch, SearchVersion } from '../../src/domain/campaigns/campaign.ts';
import {
  countCampaigns,
  findCampaignPage,
  findFewCampaigns,
  selectCampaignCount,
  selectCampaignPage,
  selectFewCampaigns,
} from '../../src/storage/campaigns/campaign-search.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const campaigns = 20_000;
let bundle: TestDatabase;

beforeAll(async () => {
  bundle = await createTestDatabase();
  const { database } = bundle;
  await database`
    insert into workspaces (id, db_name, name, created_at)
    select 'W' || number, 'db' || number, 'Workspace', '2026-01-01' from generate_series(0, 3) as number`;
  await database`
    insert into campaigns (id, workspace_id, name, channel, source, delivery_type, audience, platforms, content, timing,
      tags, status, created_by, created_at, updated_at)
    select lpad(to_hex(number), 24, '0'), 'W' || number % 4, 'Campaign of week ' || number,
      case when number % 50 = 0 then 'SMS' when number % 20 = 1 then 'EMAIL' else 'PUSH' end, 'PUSH_API', type,
      'ALL_USERS', '{ANDROID}', content, '{}', array['tag' || number % 200],
      case when type <> 'ONE_TIME' then 'ACTIVE' when number % 13 = 0 then 'DRAFT' else 'SENT' end,
      'person' || number % 40, at, at
    from generate_series(1, ${campaigns}) as number,
      lateral (select timestamptz '2025-01-01' + number * interval '1 minute' as at,
        case when number % 30 = 0 then 'PERIODIC' else 'ONE_TIME' end as type,
        -- As large as a plain push on three platforms.
        jsonb_build_object('ANDROID', jsonb_build_object('message', repeat(md5(number::text), 16))) as content) as made`;
  await vacuumWhole(database, ['campaigns']);
});
afterAll(() => bundle.drop());

const nothing = Object.fromEntries(
  [
    'ids',
    'channels',
    'createdBy',
    'createdFrom',
    'createdBefore',
    'deliveryTypes',
    'name',
    'statuses',
    'tags',
    'versionNumber',
  ].map((key) => [key, undefined]),
);
const everything = { ...nothing, children: 'without', archived: 'without' } as CampaignSearch;

const searches: [string, Partial<CampaignSearch>, string][] = [
  ['nothing', {}, 'campaigns_newest'],
  ['ids', { ids: ['0'.repeat(23) + '4', 'f'.repeat(24)] }, 'campaigns_pkey'],
  ['a rare channel', { channels: ['EMAIL'] }, 'campaigns_rare_channel'],
  ['channels', { channels: ['EMAIL', 'PUSH'] }, 'campaigns_newest'],
  ['created_by', { createdBy: ['person4'] }, 'campaigns_creator'],
  [
    'created_date',
    { createdFrom: new Date('2025-01-03T00:00:00Z'), createdBefore: new Date('2025-01-04T00:00:00Z') },
    'campaigns_newest',
  ],
  ['a rare delivery type', { deliveryTypes: ['PERIODIC'] }, 'campaigns_rare_type'],
  ['delivery type', { deliveryTypes: ['ONE_TIME'] }, 'campaigns_newest'],
  ['a name that few have', { name: 'week 1234' }, 'campaigns_name'],
  ['a name that all have', { name: 'Campaign' }, 'campaigns_newest'],
  ['a short part of every name', { name: 'ca' }, 'campaigns_newest'],
  ['a rare status', { statuses: ['DRAFT'] }, 'campaigns_rare_status'],
  ['the usual status', { statuses: ['SENT'] }, 'campaigns_newest'],
  ['tags', { tags: ['tag7', 'tag9'] }, 'campaigns_tags'],
  ['version_number', { versionNumber: 2 }, 'campaigns_versions'],
];

test.each(searches)('%s: read through an index, page and count', async (_name, filters, index) => {
  for (const version of ['V1', 'V5'] satisfies SearchVersion[]) {
    const selection = selectCampaigns({ ...everything, ...filters }, { version, versioning: 'on' });
    const found = { workspaceId: 'W0', selection };
    const plans = (await inTransaction(bundle.application.acrossWorkspaces(), async (tx) => {
      await planByValues(tx);
      const page = await tx`explain (costs off) ${selectCampaignPage(tx, { ...found, limit: 15, offset: 0 })}`;
      const count = await tx`explain (costs off) ${selectCampaignCount(tx, found)}`;
      return [page, count].map((rows) => rows.map((row) => String(row['QUERY PLAN'])).join('\n'));
    })) as [string, string];
    for (const plan of plans) expect(plan).not.toContain('Seq Scan');
    expect(plans[0]).toContain(index);
  }
});

test.each([
  ['a short part of no name', { name: 'zq' }, 'campaigns_name_pairs'],
  ['a character of another script', { name: 'ж' }, 'campaigns_name_pairs'],
  ['a character of most names', { name: 'e' }, 'campaigns'],
  ['tags', { tags: ['tag7', 'tag9'] }, 'campaigns_tags'],
  ['tags and a short part', { name: 'zq', tags: ['tag7'] }, 'campaigns_'],
])('%s: whether only few have it is looked up through an index', async (_name, filters, index) => {
  const selection = selectCampaigns({ ...everything, ...filters }, { version: 'V5', versioning: 'on' });
  const plan = await inTransaction(bundle.application.acrossWorkspaces(), async (tx) => {
    await planByValues(tx);
    const rows = await tx`explain (costs off) ${selectFewCampaigns(tx, { workspaceId: 'W0', selection })}`;
    return rows.map((row) => String(row['QUERY PLAN'])).join('\n');
  });
  expect(plan).not.toContain('Seq Scan');
  expect(plan).toContain(index);
});

test.each([{ name: '77' }, { name: 'e' }, { tags: ['tag8', 'tag16'] }, { name: '08', tags: ['tag8', 'tag12'] }])(
  '%j: the page and the count are the same, whether few were known or not',
  async (filters) => {
    const selection = selectCampaigns({ ...everything, ...filters }, { version: 'V5', versioning: 'on' });
    const found = { workspaceId: 'W0', selection };
    const { database } = bundle;
    const fewIds = await findFewCampaigns(database, found);
    expect(fewIds === undefined).toBe(filters.name === 'e');
    const page = await findCampaignPage(database, { ...found, limit: 500, offset: 0 });
    expect(page.length).toBeGreaterThan(0);
    expect(await findCampaignPage(database, { ...found, fewIds, limit: 500, offset: 0 })).toEqual(page);
    expect(await countCampaigns(database, { ...found, fewIds })).toBe(await countCampaigns(database, found));
  },
);

const severalWords: [string, Partial<CampaignSearch>][] = [
  ['authors', { createdBy: ['person4', 'person8', 'nobody', 'person4'] }],
  ['rare delivery types', { deliveryTypes: ['PERIODIC', 'EVENT_TRIGGERED'] }],
  ['rare statuses', { statuses: ['DRAFT', 'ACTIVE'] }],
  ['rare channels', { channels: ['EMAIL', 'SMS'] }],
];

test.each(severalWords)(
  'several %s: a page is merged from what an index has of each, as far as it goes',
  async (_name, filters) => {
    const selection = selectCampaigns({ ...everything, ...filters }, { version: 'V5', versioning: 'on' });
    const plan = await inTransaction(bundle.application.acrossWorkspaces(), async (tx) => {
      await planByValues(tx);
      const rows = await tx`
      explain (costs off) ${selectCampaignPage(tx, { workspaceId: 'W0', selection, limit: 15, offset: 30 })}`;
      return rows.map((row) => String(row['QUERY PLAN'])).join('\n');
    });
    expect(plan).toContain('Merge Append');
    expect(plan).not.toMatch(/Sort\n|Seq Scan/);
  },
);

test.each(severalWords)(
  'several %s: each campaign is found once, in either order, on its page',
  async (_name, filters) => {
    const { database } = bundle;
    const selection = selectCampaigns({ ...everything, ...filters }, { version: 'V5', versioning: 'on' });
    const [word] = Object.entries({
      created_by: filters.createdBy,
      delivery_type: filters.deliveryTypes,
      status: filters.statuses,
      channel: filters.channels,
    }).filter(([, words]) => words !== undefined);
    const [column, words] = word!;
    const rows = await database<{ id: string }[]>`
    select id from campaigns where workspace_id = 'W0' and ${database(column)} = any(${words!})
      and channel = any(${selection.channels}) and status = any(${selection.statuses})
    order by created_at, id`;
    expect(rows.length).toBeGreaterThan(100);
    const read = async (order: 'newest' | 'oldest', offset: number) =>
      (await findCampaignPage(database, { workspaceId: 'W0', selection, limit: 40, offset, order })).map(
        ({ id }) => id,
      );
    const oldest = rows.map(({ id }) => id);
    expect([...(await read('oldest', 0)), ...(await read('oldest', 40))]).toEqual(oldest.slice(0, 80));
    expect(await read('newest', 20)).toEqual(oldest.toReversed().slice(20, 60));
    expect(await read('newest', oldest.length - 5)).toEqual(oldest.toReversed().slice(-5));
  },
);
