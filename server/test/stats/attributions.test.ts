import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attributionTypes } from '../../src/domain/campaigns/conversions.ts';
import type { ConversionGoal } from '../../src/domain/campaigns/conversions.ts';
import { figuresOf, makeStatsBundle, start } from './stats-bundle.ts';
import type { StatsBundle } from './stats-bundle.ts';

const bought: ConversionGoal = {
  ...{ name: 'Bought', eventName: 'Bought', windowHours: 24 },
  revenue: { attribute: 'price', currency: 'EUR' },
};
const hour = 3_600_000;

let bundle: StatsBundle;
beforeAll(async () => {
  bundle = await makeStatsBundle();
  for (const name of ['ann', 'bob', 'cyd', 'dan', 'eve']) await bundle.addUser(name);
});
afterAll(() => bundle.end());

/** What the API answers of the first goal, by attribution. */
async function goalsOf(campaignId: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const answers = await Promise.all(
    attributionTypes.map((attribution_type) => bundle.ask({ ...more, attribution_type, campaign_ids: [campaignId] })),
  );
  return Object.fromEntries(
    attributionTypes.map((type, place) => [
      type,
      figuresOf(answers[place]!, campaignId).conversion_goal_stats['Bought'],
    ]),
  );
}

describe('the five attributions of a conversion (fact 7)', () => {
  let campaignId: string;
  let first: string;
  let second: string;
  beforeAll(async () => {
    campaignId = await bundle.addCampaign([bought]);
    first = await bundle.addRun(campaignId, [
      { customerId: 'ann' },
      { customerId: 'bob' },
      { customerId: 'cyd' },
      { customerId: 'dan' },
    ]);
    // Ann: shown and clicked, and goes on until she buys 50 minutes later. Bob: shown alone, long ago.
    await bundle.report(first, { nth: 0, kind: 'impression' });
    await bundle.report(first, { nth: 1, kind: 'impression' });
    bundle.setHour(1);
    await bundle.report(first, { nth: 0, kind: 'click' });
    await bundle.track('ann', { name: 'Looked', afterHours: 1 + 25 / 60 });
    await bundle.track('ann', { name: 'Bought', afterHours: 1 + 50 / 60, attributes: { price: 10.1 } });
    // Nothing for 31 minutes ends the session.
    await bundle.track('ann', { name: 'Bought', afterHours: 1 + 81 / 60, attributes: { price: 20.2 } });
    await bundle.track('bob', { name: 'Bought', afterHours: 25, attributes: { price: 5 } });
    // Cyd clicks what was sent 20 hours before, and buys when it is past the window of the message alone.
    bundle.setHour(20);
    await bundle.report(first, { nth: 2, kind: 'click' });
    await bundle.track('cyd', { name: 'Bought', afterHours: 30 });
    // Dan is sent another message, and buys after it.
    second = await bundle.addRun(
      campaignId,
      [{ customerId: 'dan', platform: 'ANDROID' }],
      new Date(start.getTime() + 31 * hour),
    );
    await bundle.track('dan', { name: 'Bought', afterHours: 32, attributes: { price: 1 } });
    // What is reported later than the event is not before it.
    bundle.setHour(33);
    await bundle.report(second, { nth: 0, kind: 'click' });
    await bundle.attribute();
  });

  test('count by the message, its showing, its click, the click of a message that is new, and the session of the click', async () => {
    const of = (total: number, unique: number, revenue: number) => ({
      ...{ conversions: total, total, unique, revenue, revenue_currency: 'EUR' },
    });
    expect(await goalsOf(campaignId)).toEqual({
      // Ann twice, and Dan; Bob and Cyd are too late for that.
      TOTAL_CONVERSIONS: of(3, 2, 31.3),
      CLICK_CONVERSIONS: of(2, 1, 30.3),
      VIEW_THROUGH: of(2, 1, 30.3),
      // And Cyd, whose event says no price.
      CLICK_THROUGH: of(3, 2, 30.3),
      IN_SESSION: of(1, 1, 10.1),
    });
    const unique = await goalsOf(campaignId, { metric_type: 'UNIQUE' });
    expect(unique['TOTAL_CONVERSIONS']).toMatchObject({ conversions: 2, total: 3, unique: 2 });
  });

  test('are those of the runs that are asked for', async () => {
    const dayOf = (run: string) => (run === first ? '2026-03-01' : '2026-03-02');
    const of = async (run: string) => {
      const goals = await goalsOf(campaignId, { start_date: dayOf(run), end_date: dayOf(run) });
      return attributionTypes.map((type) => (goals[type] as { total: number }).total);
    };
    expect([await of(first), await of(second)]).toEqual([
      [2, 3, 1, 2, 2],
      [0, 0, 0, 1, 0],
    ]);
  });

  test('are counted once, however often the job looks', async () => {
    const rows = () => bundle.database`select attribution, revenue::text from conversions order by 1, event_id`;
    const before = await rows();
    const [day] = await bundle.database<{ day: string }[]>`select min(day)::text as day from events`;
    await bundle.database`
      insert into unattributed_events (workspace_id, bucket, event_id, day, received_at)
      select workspace_id, bucket, id, day, received_at from events where day >= ${day!.day}::date`;
    expect(await bundle.attribute()).toBe(before.length > 0 ? 6 : 0);
    expect(await rows()).toEqual(before);
  });
});

test('a report that comes with the event counts, and one of a message of another campaign does not', async () => {
  const [one, other] = [await bundle.addCampaign([bought]), await bundle.addCampaign([bought])];
  const at = new Date(start.getTime() + 100 * hour);
  const run = await bundle.addRun(one, [{ customerId: 'eve' }], at);
  await bundle.addRun(other, [{ customerId: 'eve' }], at);
  bundle.setHour(101);
  await bundle.report(run, { nth: 0, kind: 'click' });
  await bundle.track('eve', { name: 'Bought', afterHours: 101 });
  await bundle.attribute();
  const total = async (campaignId: string) => (await goalsOf(campaignId))['CLICK_THROUGH'] as { total: number };
  expect([(await total(one)).total, (await total(other)).total]).toEqual([1, 0]);
});
