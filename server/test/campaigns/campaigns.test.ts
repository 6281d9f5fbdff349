import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  freshMilliseconds,
  makeCampaignTotals,
  maxMilliseconds,
  settledMilliseconds,
  smallestKept,
} from '../../src/app/campaigns/search-campaigns.ts';
import type { CampaignTotals } from '../../src/app/campaigns/search-campaigns.ts';
import { changeWorkspace } from '../../src/app/workspaces.ts';
import { makeManualClock } from '../../src/clock.ts';
import { selectCampaigns } from '../../src/domain/campaigns/campaign.ts';
import type { CampaignSearch, SearchVersion } from '../../src/domain/campaigns/campaign.ts';
import { timeZoneAliases, toInstant } from '../../src/domain/timing/local-time.ts';
import { parseSearch } from '../../src/http/campaigns/search.ts';
import {
  countCampaigns,
  findCampaignPage,
  findFewCampaigns,
  selectCampaignCount,
  selectCampaignPage,
  selectFewCampaigns,
} from '../../src/storage/campaigns/campaign-search.ts';
import { inTransaction, planByValues } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { vacuumWhole } from '../vacuum-whole.ts';
import { campaign, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';
import { campaignsOf, makeCampaignBundle, versions } from './campaign-bundle.ts';
import type { CampaignBundle, Version } from './campaign-bundle.ts';

describe('plans of searches', () => {
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

  test.each(searches)('reads %s through an index: the page and the count', async (_name, filters, index) => {
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
  ])('looks up through an index whether only a few campaigns have %s', async (_name, filters, index) => {
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
    'returns the same page and count for %j, whether or not a small number was known',
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
    'merges a page for several %s from the index entries of each, as far as they reach',
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
    'finds each campaign once for several %s, in either order, on its page',
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
});

describe('totals of campaigns', () => {
  const start = new Date('2026-03-01T12:00:00Z');
  let bundle: TestDatabase;
  let workspaceId: string;
  let clock: ReturnType<typeof makeManualClock>;
  let totals: CampaignTotals;
  let created = 0;

  beforeAll(async () => {
    bundle = await createTestDatabase();
    workspaceId = await insertTestWorkspace(bundle.database, start);
    await add(smallestKept + 100, new Date(start.getTime() - 2 * settledMilliseconds));
  });
  afterAll(() => bundle.drop());
  beforeEach(() => {
    clock = makeManualClock(start);
    totals = makeCampaignTotals({ database: bundle.database, clock });
  });

  const count = (filters?: object) => inTransaction(bundle.database, (tx) => totals.count(tx, found(filters)));
  const exact = (filters?: object) => countCampaigns(bundle.database, found(filters));
  const archive = (campaigns: number) => bundle.database`
    update campaigns set status = 'ARCHIVED'
    where id in (select id from campaigns where status <> 'ARCHIVED' order by created_at limit ${campaigns})`;

  describe('the total of a large search (docs/decisions/0021)', () => {
    test('is exact at the first request, and counts campaigns created since', async () => {
      await add(3, start);
      expect(await count()).toBe(await exact());
      const before = await count();
      clock.advance(1_000);
      await add(5, clock.now());
      expect(await count()).toBe(before + 5);
      expect(await count()).toBe(await exact());
      await totals.settle();
    });

    test('includes a change of an older campaign after a minute, recounted after the response that asked for it', async () => {
      const before = await count();
      await archive(7);
      expect(await count()).toBe(before);
      clock.advance(freshMilliseconds + 1);
      expect(await count()).toBe(before);
      await totals.settle();
      expect(await count()).toBe(before - 7);
      expect(await count()).toBe(await exact());
    });

    test('is recounted before the response if no caller asked for ten minutes', async () => {
      const before = await count();
      await archive(4);
      clock.advance(maxMilliseconds + 1);
      expect(await count()).toBe(before - 4);
      await totals.settle();
    });

    test('is kept per search: filters and date ranges have separate totals', async () => {
      const day = { from_date: '2026-03-01', to_date: '2026-03-01' };
      const other = { from_date: '2026-03-02', to_date: '2026-03-02' };
      for (const filters of [{ created_date: day }, { created_date: other }, { created_by: ['even'] }, {}])
        for (let time = 0; time < 2; time += 1) expect(await count(filters)).toBe(await exact(filters));
      await totals.settle();
    });
  });

  test('always counts a small search exactly', async () => {
    const filters = { created_by: ['even'] };
    expect(await exact(filters)).toBeLessThan(smallestKept);
    await count(filters);
    await archive(20);
    expect(await count(filters)).toBe(await exact(filters));
  });

  test('repeats a failed count', async () => {
    const before = await count();
    await archive(2);
    clock.advance(freshMilliseconds + 1);
    await bundle.database`alter table campaigns rename column version_of to away`;
    await bundle.database`alter table campaigns rename column status to gone`;
    await count().catch(() => {});
    await totals.settle();
    await bundle.database`alter table campaigns rename column gone to status`;
    await bundle.database`alter table campaigns rename column away to version_of`;
    await count();
    await totals.settle();
    expect(await count()).toBe(before - 2);
  });

  async function add(campaigns: number, at: Date): Promise<void> {
    created += campaigns;
    await bundle.database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        created_by, created_at, updated_at)
      select lpad(to_hex(${created} - number), 24, '0'), ${workspaceId}, 'C', 'PUSH_API', 'ONE_TIME', 'ALL_USERS',
        '{WEB}', '{}', '{}', 'SENT', case when number % 2 = 0 then 'even' else 'odd' end, ${at}, ${at}
      from generate_series(1, ${campaigns}) as number`;
  }

  function found(filters: object = {}) {
    const asked = parseSearch(
      { request_id: 'r', limit: 1, page: 1, campaign_fields: filters },
      { version: 'V1', versioning: 'off' },
    );
    return { workspaceId, selection: selectCampaigns(asked.search, { version: 'V1', versioning: 'off' }) };
  }
});

describe('executions', () => {
  let bundle: CampaignBundle;
  beforeAll(async () => {
    bundle = await makeCampaignBundle();
  });
  afterAll(() => bundle.end());

  const recurring = { delivery_type: 'PERIODIC', status: 'ACTIVE' };
  const dataOf = (answer: any) => answer.json().data ?? answer.json();
  const idOf = (version: Version, row: any) => (version === 'V1' ? row.campaign_id : row.id);

  describe('executions of a recurring campaign (interface 4.6, decision D43)', () => {
    test('returns child ids, sent times and statuses in V1, newest first, with their total', async () => {
      const parent = await bundle.insert(recurring);
      const at = new Date('2026-06-24T14:30:18.908Z');
      const sent = await bundle.insertRun(parent, { created_at: at, started_at: at });
      const waiting = {
        status: 'QUEUED',
        started_at: null,
        ended_at: null,
        created_at: new Date('2026-06-25T00:00:00Z'),
      };
      const queued = await bundle.insertRun(parent, waiting);
      expect((await bundle.executions('V1', parent)).json()).toEqual({
        executions: [
          { campaign_id: queued, sent_time: null, status: 'SCHEDULED' },
          { campaign_id: sent, sent_time: '2026-06-24T14:30:18.908000', status: 'SENT' },
        ],
        total_instances: 2,
      });
      expect((await bundle.executions('V5', parent)).json()).toEqual({
        response_id: expect.stringMatching(/^[a-z]{8}$/),
        type: 'campaign',
        data: {
          executions: [
            { id: queued, campaign_id: parent, sent_time: null, status: 'SCHEDULED' },
            { id: sent, campaign_id: parent, sent_time: '2026-06-24T14:30:18.908000', status: 'SENT' },
          ],
          total_instances: 2,
        },
      });
    });

    test.each(versions)(
      'returns an upper-case word in %s for every status of a run (decision D44)',
      async (version) => {
        const parent = await bundle.insert({ delivery_type: 'EVENT_TRIGGERED', status: 'ACTIVE' });
        const open = { ended_at: null };
        const reason = { status_reason: 'why' };
        await bundle.insertRun(parent, { status: 'QUEUED', ...open, started_at: null });
        await bundle.insertRun(parent, { status: 'SENDING', ...open });
        await bundle.insertRun(parent, { status: 'PAUSED', ...open, ...reason });
        await bundle.insertRun(parent, { status: 'SENT' });
        for (const status of ['FAILED', 'STOPPED', 'MISSED']) await bundle.insertRun(parent, { status, ...reason });
        const words = dataOf(await bundle.executions(version, parent)).executions.map((row: any) => row.status);
        expect(words).toEqual(['MISSED', 'STOPPED', 'FAILED', 'SENT', 'PAUSED', 'SENDING', 'SCHEDULED']);
      },
    );

    test.each(versions)(
      'adds in %s the reason and due time of a failed or missed run as additional members',
      async (version) => {
        const parent = await bundle.insert(recurring);
        const on = (day: number) => ({ started_at: null, moment: new Date(Date.UTC(2026, 5, day, 14, 30)) });
        await bundle.insertRun(parent, { status: 'SENT', ...on(21) });
        await bundle.insertRun(parent, { status: 'FAILED', ...on(22), status_reason: 'the segment is archived' });
        const late = 'found 3 h late';
        const missed = await bundle.insertRun(parent, { status: 'MISSED', ...on(23), status_reason: late });
        const said = (row: any) => [row.status, row.status_reason, row.planned_time];
        expect(dataOf(await bundle.executions(version, parent)).executions.map(said)).toEqual([
          ['MISSED', late, '2026-06-23T14:30:00.000000'],
          ['FAILED', 'the segment is archived', '2026-06-22T14:30:00.000000'],
          ['SENT', undefined, '2026-06-21T14:30:00.000000'],
        ]);
        const fields = version === 'V1' ? { id: missed } : { ids: [missed] };
        const found = await bundle.search(version, { include_child_campaigns: true, campaign_fields: fields });
        expect(campaignsOf(found).map(said)).toEqual([['MISSED', late, '2026-06-23 14:30:00.000000']]);
      },
    );

    test.each(versions)(
      'shows in a %s search why a campaign failed, and when it was due if it was missed',
      async (version) => {
        const name = `Failed in ${version}`;
        const failed = await bundle.insert({ name, status: 'FAILED', status_reason: 'the segment is archived' });
        await bundle.insertRun(failed, { status: 'FAILED', status_reason: 'the segment is archived' });
        const missed = await bundle.insert({ name, status: 'FAILED', status_reason: 'MISSED: found 3 h late' });
        const moment = new Date('2026-06-23T14:30:00Z');
        await bundle.insertRun(missed, { status: 'MISSED', started_at: null, moment, status_reason: 'found 3 h late' });
        await bundle.insert({ name });
        const found = campaignsOf(await bundle.search(version, { campaign_fields: { name } }));
        expect(found.map((row: any) => [row.status, row.status_reason, row.planned_time])).toEqual([
          ['SENT', undefined, undefined],
          ['FAILED', 'MISSED: found 3 h late', '2026-06-23 14:30:00.000000'],
          ['FAILED', 'the segment is archived', undefined],
        ]);
      },
    );

    test.each(versions)(
      'pages in %s to the last page, with ties ordered by id and the total on each page',
      async (version) => {
        const parent = await bundle.insert({ ...recurring, delivery_type: 'BUSINESS_EVENT_TRIGGERED' });
        const at = new Date('2026-07-01T00:00:00Z');
        for (let index = 0; index < 5; index += 1) await bundle.insertRun(parent, { created_at: at });
        const pages = await Promise.all(
          [1, 2, 3, 4].map((page) => bundle.executions(version, parent, { limit: 2, page })),
        );
        expect(pages.map((page) => dataOf(page).executions.length)).toEqual([2, 2, 1, 0]);
        expect(pages.map((page) => dataOf(page).total_instances)).toEqual([5, 5, 5, 5]);
        const ids = pages.flatMap((page) => dataOf(page).executions.map((row: any) => idOf(version, row)));
        expect(ids).toEqual([...new Set(ids)].sort().reverse());
      },
    );

    test.each(versions)('accepts in %s the id of any version of the campaign', async (version) => {
      const first = await bundle.insert({ ...recurring, status: 'RETIRED', version_number: 1 });
      const second = await bundle.insert({ ...recurring, version_number: 2, version_of: first });
      const runs = [await bundle.insertRun(first), await bundle.insertRun(second)];
      for (const id of [first, second]) {
        const { executions, total_instances } = dataOf(await bundle.executions(version, id));
        expect([executions.map((row: any) => idOf(version, row)), total_instances]).toEqual([runs.toReversed(), 2]);
        if (version === 'V5') expect(executions[0].campaign_id).toBe(first);
      }
    });

    test('uses the page sizes of the version (decision D41)', async () => {
      const parent = await bundle.insert(recurring);
      const status = async (version: Version, limit: number) =>
        (await bundle.executions(version, parent, { limit })).statusCode;
      expect([await status('V1', 100), await status('V1', 101)]).toEqual([200, 400]);
      expect([await status('V5', 15), await status('V5', 16)]).toEqual([200, 400]);
    });

    test('warns about an unknown field (decision D5)', async () => {
      const parent = await bundle.insert(recurring);
      for (const version of versions) {
        const answer = await bundle.executions(version, parent, { campaign_fields: {} });
        expect([answer.statusCode, answer.headers['x-svc-warning']]).toEqual([200, 'unknown field "campaign_fields"']);
      }
    });
  });

  describe('rejected requests', () => {
    test('returns 404 for an unknown campaign and for one of another workspace (reliability R10)', async () => {
      const other = await bundle.makeWorkspace();
      const foreign = await bundle.insert(recurring, other.workspaceId);
      for (const id of ['f'.repeat(24), 'nothing', foreign]) {
        const first = await bundle.executions('V1', id);
        expect([first.statusCode, first.json().error]).toEqual([
          404,
          {
            code: '404 Not Found',
            message: 'Campaign not found.',
            target: 'parent_id',
            details: [],
            request_id: 'r-1',
          },
        ]);
        const fifth = await bundle.executions('V5', id);
        expect([fifth.statusCode, fifth.json().error]).toEqual([
          404,
          { code: 'NOT_FOUND', message: 'Campaign not found.', details: [], request_id: 'r-1' },
        ]);
      }
      expect((await bundle.executions('V5', foreign, { headers: bundle.headersOf(other) })).statusCode).toBe(200);
    });

    test('returns 422 for a one-time campaign', async () => {
      const once = await bundle.insert();
      await bundle.insertRun(once);
      const first = await bundle.executions('V1', once);
      expect([first.statusCode, first.json().error.code]).toEqual([422, '422 Unprocessable Entity']);
      const fifth = await bundle.executions('V5', once);
      expect([fifth.statusCode, fifth.json().error.code]).toEqual([422, 'UNPROCESSABLE_ENTITY']);
    });

    test.each(versions)('checks credentials, limit and page in %s as a search does', async (version) => {
      const parent = await bundle.insert(recurring);
      expect((await bundle.executions(version, parent, { headers: { authorization: undefined } })).statusCode).toBe(
        401,
      );
      for (const field of ['limit', 'page']) {
        const answer = await bundle.executions(version, parent, { [field]: undefined });
        expect([answer.statusCode, answer.json().error.target]).toEqual([400, field]);
      }
    });
  });
});

describe('zones of users', () => {
  let bundle: AuthoringBundle;
  beforeEach(async () => {
    bundle = await makeAuthoringBundle();
  });
  afterEach(() => bundle.close());

  // 12:00 UTC on the first of March 2026.
  const zones = ['Pacific/Kiritimati', 'Asia/Tokyo', 'Europe/Paris', 'America/New_York', 'Pacific/Pago_Pago'];
  const inUserZone = (details: object = {}) => ({
    scheduling_details: {
      delivery_type: 'SEND_IN_USER_TIMEZONE',
      start_time: '2026-03-03T09:00:00',
      timezone: 'Europe/Paris',
      ...details,
    },
  });

  const codesOf = async (id: string): Promise<string[]> =>
    (
      await bundle.database`
        select users.customer_id as customer, coalesce(code, outcome) as code from readable_deliveries as deliveries
        join runs on runs.id = deliveries.run_id
        join users on users.bucket = deliveries.bucket and users.id = deliveries.user_id
        where runs.campaign_id = ${id} order by 1`
    ).map((row) => `${(row.customer as string).replace(/-0$/, '')} ${row.code}`);

  describe('a campaign in the zones of its users', () => {
    test('reaches each user at one local time, from the first zone to the last, in one run', async () => {
      await addUsers();
      const id = await bundle.live(inUserZone());
      expect((await bundle.get(id)).scheduling_details).toMatchObject({
        ...{ delivery_type: 'SEND_IN_USER_TIMEZONE', schedule_time: '2026-03-03T09:00:00', time_zone: 'Europe/Paris' },
        user_timezone_details: { send_if_user_timezone_has_passed: false },
      });
      expect(await at('2026-03-02T18:59:59Z')).toEqual([]);
      expect(await at('2026-03-02T19:00:00Z')).toEqual(['Pacific/Kiritimati']);
      expect(await at('2026-03-03T00:00:00Z')).toEqual(['Asia/Tokyo']);
      expect(await at('2026-03-03T07:59:59Z')).toEqual([]);
      expect(await at('2026-03-03T08:00:00Z')).toEqual(['Europe/Paris', 'nowhere']);
      expect(await at('2026-03-03T14:00:00Z')).toEqual(['America/New_York']);
      expect((await bundle.get(id)).status).toBe('SENDING');
      expect(await at('2026-03-03T20:00:00Z')).toEqual(['Pacific/Pago_Pago']);
      expect(await bundle.runs(id)).toHaveLength(1);
      expect((await bundle.get(id)).status).toBe('SENT');
    });

    test('skips users whose local time had passed at publication, and reports them', async () => {
      await addUsers();
      const id = await bundle.live(inUserZone({ start_time: '2026-03-01T18:00:00' }));
      await at('2026-03-01T12:01:00Z');
      expect(await at('2026-03-02T12:00:00Z')).toEqual([...zones.slice(3), 'Europe/Paris', 'nowhere'].sort());
      expect(await codesOf(id)).toEqual([
        'America/New_York ACCEPTED',
        'Asia/Tokyo USER_TIME_ZONE',
        'Europe/Paris ACCEPTED',
        'Pacific/Kiritimati USER_TIME_ZONE',
        'Pacific/Pago_Pago ACCEPTED',
        'nowhere ACCEPTED',
      ]);
    });

    test('sends to those users at the time of its own zone if it is set to', async () => {
      await addUsers();
      const details = { user_timezone_details: { send_if_user_timezone_has_passed: true } };
      await bundle.live(inUserZone({ start_time: '2026-03-01T18:00:00', ...details }));
      await at('2026-03-01T12:01:00Z');
      expect(await at('2026-03-01T17:00:00Z')).toEqual(['Asia/Tokyo', 'Europe/Paris', 'Pacific/Kiritimati', 'nowhere']);
    });

    test('has a run for each of its days if it is periodic', async () => {
      await addUsers();
      const id = await bundle.live({
        campaign_delivery_type: 'PERIODIC',
        ...inUserZone({ periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 2 } }),
      });
      await at('2026-03-02T19:00:00Z');
      await at('2026-03-03T19:00:00Z');
      await at('2026-03-05T00:00:00Z');
      const runs = await bundle.runs(id);
      expect(runs.map(({ status }) => status)).toEqual(['SENT', 'SENT']);
      for (const { id: runId } of runs) expect(await bundle.counters(runId as string)).toEqual({ ACCEPTED: 6 });
      expect((await bundle.get(id)).status).toBe('RETIRED');
    });

    test('still sends to the remaining zones after hours of downtime', async () => {
      await addUsers();
      await bundle.live(inUserZone());
      await at('2026-03-03T10:30:00Z');
      expect(await at('2026-03-03T21:00:00Z')).toEqual(['America/New_York', 'Pacific/Pago_Pago']);
    });

    test('names the missing or wrong fields', async () => {
      const faults = async (body: object) => faultsOf(await bundle.call('POST', '/v5/campaigns', body));
      const base = { channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'a@b.c' };
      const missing = await bundle.draft(inUserZone({ start_time: null }));
      expect(faultsOf(await bundle.act(missing, 'PUBLISH'))).toEqual(['scheduling_details.start_time is required.']);
      expect(
        await faults({ ...base, scheduling_details: { delivery_type: 'ASAP', user_timezone_details: { a: 1 } } }),
      ).toEqual(['scheduling_details.user_timezone_details needs SEND_IN_USER_TIMEZONE.']);
      const early = await bundle.draft({
        campaign_delivery_type: 'PERIODIC',
        ...inUserZone({
          start_time: '2026-03-01T18:00:00',
          periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 2 },
        }),
      });
      expect(faultsOf(await bundle.act(early, 'PUBLISH'))[0]).toMatch(
        /has passed in some time zones: begin a day later/,
      );
    });
  });

  describe('the name of a time zone', () => {
    const names = ['IST', 'BST', 'VST'];
    const delivery = (timezone: string) => ({ type: 'later', date: '05/01/2026', time: '09:00 AM', timezone });
    const fixed = (timezone: string) => ({
      scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2026-05-01T09:00:00', timezone },
    });
    const dueAt = async (id: string): Promise<unknown> => (await bundle.row(id)).timing;

    test('may be one that ICU knows and Temporal rejects: a push, a draft and a publication mean the same instant', async () => {
      for (const name of names) {
        const { zone } = timeZoneAliases[name]!;
        const at = toInstant({ date: '2026-05-01', time: '09:00', timeZone: zone }).toISOString();
        const pushed = await bundle.push({ campaignName: `In the zone ${name}`, campaignDelivery: delivery(name) });
        const published = await bundle.live({
          ...fixed(name),
          basic_details: { name: `In the zone ${name}`, platforms: ['ANDROID'] },
        });
        for (const id of [pushed, published]) expect(await dueAt(id)).toMatchObject({ at, timeZone: zone });
      }
    });

    test('is rejected with its name if it is unknown, and nothing is stored', async () => {
      const before = (await bundle.database`select count(*) as campaigns from campaigns`)[0]!.campaigns as number;
      const pushed = await bundle.callPush({ campaignName: 'In no zone', campaignDelivery: delivery('Mars/Phobos') });
      expect(pushed.json()).toMatchObject({
        status: 'Fail',
        Error_Message: 'Error parsing parameters: campaignDelivery.timezone: is not a time-zone name',
      });
      const drafted = await bundle.call('POST', '/v5/campaigns', campaign(fixed('+05:30')));
      expect(faultsOf(drafted)).toEqual(['scheduling_details.timezone is not a time-zone name.']);
      expect((await bundle.database`select count(*) as campaigns from campaigns`)[0]!.campaigns).toBe(before);
      const change = changeWorkspace(bundle, { id: bundle.workspaceId, timeZone: 'Mars/Phobos' } as never);
      await expect(change).rejects.toThrow('Mars/Phobos is not a time-zone name');
    });

    test('may be stored as an alias in a workspace: a campaign without a zone is sent in the zone that the alias names', async () => {
      await bundle.database`update workspaces set time_zone = 'BST' where id = ${bundle.workspaceId}`;
      const { timezone: _none, ...later } = delivery('');
      const pushed = await bundle.push({ campaignName: 'In the zone of all', campaignDelivery: later });
      expect(await dueAt(pushed)).toMatchObject({ at: '2026-05-01T03:00:00.000Z', timeZone: 'Asia/Dhaka' });
    });
  });

  /** One user a zone, and one without. */
  async function addUsers(): Promise<void> {
    for (const zone of zones) {
      await bundle.addDevices(1, zone);
      await bundle.setAttribute(`${zone}-0`, { time_zone: zone });
    }
    await bundle.addDevices(1, 'nowhere');
  }

  /** Moves the clock and lets everything that is due be done. @returns who was sent to */
  async function at(instant: string): Promise<string[]> {
    bundle.clock.advance(Date.parse(instant) - bundle.clock.now().getTime());
    await bundle.fire();
    const sent = await bundle.deliver();
    while ((await bundle.retry()) > 0);
    const retried = bundle.sent.map(({ pushId }) => pushId.replace('push-', '').replace(/-0$/, ''));
    await bundle.end();
    return [...new Set([...sent.map((name) => name.replace(/-0$/, '')), ...retried])].sort();
  }
});
