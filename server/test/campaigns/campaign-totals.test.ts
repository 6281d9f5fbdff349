import { inTransaction } from '../../src/storage/database.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  freshMilliseconds,
  maxMilliseconds,
  makeCampaignTotals,
  settledMilliseconds,
  smallestKept,
} from '../../src/app/campaigns/search-campaigns.ts';
import type { CampaignTotals } from '../../src/app/campaigns/search-campaigns.ts';
import { makeManualClock } from '../../src/clock.ts';
import { selectCampaigns } from '../../src/domain/campaigns/campaign.ts';
import { parseSearch } from '../../src/http/campaigns/search.ts';
import { countCampaigns } from '../../src/storage/campaigns/campaign-search.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

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

const count = (filters?: object) => inTransaction(bundle.database, (tx) => totals.count(tx, found(filters)));
const exact = (filters?: object) => countCampaigns(bundle.database, found(filters));
const archive = (campaigns: number) => bundle.database`
  update campaigns set status = 'ARCHIVED'
  where id in (select id from campaigns where status <> 'ARCHIVED' order by created_at limit ${campaigns})`;

describe('the total of a large search (docs/decisions/0021)', () => {
  test('is exact when it is first asked for, and counts what has been created since', async () => {
    await add(3, start);
    expect(await count()).toBe(await exact());
    const before = await count();
    clock.advance(1_000);
    await add(5, clock.now());
    expect(await count()).toBe(before + 5);
    expect(await count()).toBe(await exact());
    await totals.settle();
  });

  test('shows a change of an older campaign after a minute, behind the answer that asked', async () => {
    const before = await count();
    await archive(7);
    expect(await count()).toBe(before);
    clock.advance(freshMilliseconds + 1);
    expect(await count()).toBe(before);
    await totals.settle();
    expect(await count()).toBe(before - 7);
    expect(await count()).toBe(await exact());
  });

  test('is counted before the answer when nobody asked for ten minutes', async () => {
    const before = await count();
    await archive(4);
    clock.advance(maxMilliseconds + 1);
    expect(await count()).toBe(before - 4);
    await totals.settle();
  });

  test('is one per search: filters and spans of days have their own', async () => {
    const day = { from_date: '2026-03-01', to_date: '2026-03-01' };
    const other = { from_date: '2026-03-02', to_date: '2026-03-02' };
    for (const filters of [{ created_date: day }, { created_date: other }, { created_by: ['even'] }, {}])
      for (let time = 0; time < 2; time += 1) expect(await count(filters)).toBe(await exact(filters));
    await totals.settle();
  });
});

test('the total of a small search is always exact', async () => {
  const filters = { created_by: ['even'] };
  expect(await exact(filters)).toBeLessThan(smallestKept);
  await count(filters);
  await archive(20);
  expect(await count(filters)).toBe(await exact(filters));
});

test('a failed count is repeated', async () => {
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
