import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { makeVariationOf } from '../../src/domain/experiments/variants.ts';
import { rateInterval } from '../../src/domain/experiments/learning.ts';
import { makeCampaignReport } from '../../src/app/campaigns/campaign-report.ts';
import { propertyRuns } from '../property-runs.ts';
import { contentIn, makeVariationBundle, shares } from './variation-bundle.ts';
import type { VariationBundle } from './variation-bundle.ts';

describe('the draw of a variation', () => {
  const users = Array.from({ length: 100_000 }, (_, number) => number.toString(16).padStart(24, '0'));

  test('gives each its share of 100,000 users within 1 %', () => {
    const variationOf = makeVariationOf([40, 30, 20, 10], 'c');
    const counts = [0, 0, 0, 0];
    for (const userId of users) counts[variationOf(userId) - 1]! += 1;
    [40, 30, 20, 10].forEach((percent, index) =>
      expect(Math.abs(counts[index]! / users.length - percent / 100)).toBeLessThan(0.01),
    );
  });

  test('is another in another campaign, and gives nothing to a share of nought', () => {
    const [one, other] = [makeVariationOf([50, 50], 'a'), makeVariationOf([50, 50], 'b')];
    const both = users.slice(0, 20_000).filter((userId) => one(userId) === 1 && other(userId) === 1).length;
    expect(both / 20_000).toBeCloseTo(0.25, 2);
    const drawn = new Set(users.slice(0, 2_000).map(makeVariationOf([0, 50, 0, 50, 0], 'a')));
    expect([...drawn].sort()).toEqual([2, 4]);
    // A larger share of the first takes from the second alone.
    const [few, many] = [makeVariationOf([40, 30, 30], 'a'), makeVariationOf([50, 20, 30], 'a')];
    for (const userId of users.slice(0, 2_000))
      if (few(userId) !== many(userId)) expect([few(userId), many(userId)]).toEqual([2, 1]);
  });
});

describe('a campaign in three locales, four variations and two control groups', () => {
  const phones = propertyRuns(2_000, 600);
  const percents = [40, 30, 20, 10];
  let bundle: VariationBundle;
  beforeAll(async () => {
    bundle = await makeVariationBundle();
    await bundle.addPhones(phones);
    // A fifth each: by attribute (fallback to the language), by device against the attribute, another language, nothing, exact.
    await bundle.database`
      update users set attributes = case (substring(customer_id from 6))::int % 5 when 0 then '{"locale": "pt_BR"}'::jsonb
        when 1 then '{"locale": "pt"}' when 2 then '{"locale": "fr"}' when 3 then '{}' else '{"locale": "de"}' end`;
    await bundle.database`
      update devices set locale = 'de-AT' where (substring(push_id from 11))::int % 5 = 1`;
    await changeWorkspace(bundle, {
      id: bundle.workspaceId,
      ...parseControls({ controlGroup: '10' } as never),
    } as never);
  });
  afterAll(() => bundle.close());
  beforeEach(() => bundle.answer(() => ({ kind: 'accepted' })));

  const goals = { goals: [{ goal_name: 'Bought', goal_event_name: 'Bought', is_primary_goal: true }] };
  const compared = {
    campaign_content: {
      locales: ['default', 'de', 'pt'],
      variation_details: shares(...percents),
      content: contentIn(['default', 'de', 'pt'], percents.length),
    },
    control_group_details: {
      is_campaign_control_group_enabled: true,
      campaign_control_group_percentage: 5,
      is_global_control_group_enabled: true,
    },
    conversion_goal_details: goals,
  };

  type Drawn = { customer: string; group: string | null; variation: number; locale: string };

  /** Who belongs where, counted by SQL alone, from the definitions in docs/decisions. */
  async function drawnBySql(campaignId: string): Promise<Drawn[]> {
    const point = (name: string) => bundle.database`
      ('x' || encode(substring(sha256(convert_to(${`${name} `}::text || users.id, 'UTF8')) from 1 for 4), 'hex'))::bit(32)::bigint`;
    return bundle.database<Drawn[]>`
      select customer_id as customer, case
        when ${point(`global-control ${bundle.workspaceId}`)} < 10 * 4294967296 / 100 then 'GLOBAL_CONTROL_GROUP'
        when ${point(`campaign-control ${campaignId}`)} < 5 * 4294967296 / 100 then 'CAMPAIGN_CONTROL_GROUP' end as "group",
        case when point < 40 * 4294967296 / 100 then 1 when point < 70 * 4294967296 / 100 then 2
          when point < 90 * 4294967296 / 100 then 3 else 4 end as variation,
        case (substring(customer_id from 6))::int % 5 when 0 then 'pt' when 1 then 'de' when 2 then 'default'
          when 3 then 'default' else 'de' end as locale
      from users cross join lateral (select ${point(`variation ${campaignId}`)} as point) as drawn
      order by customer_id`;
  }

  const ledgerOf = (campaignId: string) =>
    bundle.database<(Drawn & { outcome: string })[]>`
      select users.customer_id as customer, case when deliveries.outcome = 'WITHHELD' then deliveries.code end as "group",
        deliveries.variation, deliveries.locale, deliveries.outcome
      from readable_deliveries as deliveries join users on users.id = deliveries.user_id
      where deliveries.campaign_id = ${campaignId} order by users.customer_id`;

  async function expectLedger(id: string): Promise<Drawn[]> {
    const drawn = await drawnBySql(id);
    const expected = drawn.map(({ customer, group, variation, locale }) =>
      group === null ? { customer, group, variation, locale } : { customer, group, variation: null, locale: null },
    );
    expect((await ledgerOf(id)).map(({ outcome: _, ...row }) => row)).toEqual(expected);
    return drawn;
  }

  /** Every block of the statistics, counted by hand in the ledger. */
  async function expectStats(id: string): Promise<void> {
    const { all_locale, ...locales } = await bundle.locales(id);
    const rows = await ledgerOf(id);
    expect(all_locale).toEqual(locales.all_locales);
    expect(Object.keys(locales)).toEqual(['all_locales', 'default', 'de', 'pt']);
    for (const [locale, { variations }] of Object.entries<any>(locales)) {
      const names = ['all_variations', 'variation_1', 'variation_2', 'variation_3', 'variation_4'];
      expect(Object.keys(variations).filter((name) => !name.endsWith('group'))).toEqual(names);
      names.forEach((name, number) => {
        const own = rows.filter(
          (row) => (locale === 'all_locales' || row.locale === locale) && (number === 0 || row.variation === number),
        );
        const count = (...outcomes: string[]) => own.filter(({ outcome }) => outcomes.includes(outcome)).length;
        expect(variations[name].performance_stats, `${locale} ${name}`).toMatchObject({
          attempted: count('ACCEPTED', 'REJECTED'),
          sent: count('ACCEPTED'),
          failed: count('REJECTED'),
        });
        const { TOO_BIG: failures = 0 } = variations[name].failure_breakdown;
        expect(failures, `${locale} ${name}`).toBe(count('REJECTED'));
      });
    }
  }

  test('reaches each user with the content that is theirs, and ledger, figures, files and explanations agree', async () => {
    const id = await bundle.live(compared);
    bundle.answer((_device, nth) =>
      nth % 17 === 0 ? { kind: 'rejected', code: 'TOO_BIG', detail: '' } : { kind: 'accepted' },
    );
    await bundle.deliver();
    const drawn = await expectLedger(id);
    const meant = drawn.filter(({ group }) => group === null);
    const titles = bundle.titles();
    expect(meant.map(({ customer }) => titles.get(customer))).toEqual(
      meant.map(({ locale, variation }) => `${locale} ${variation}`),
    );
    expect(titles.size).toBe(meant.length);
    await expectStats(id);

    const eligible = (await bundle.variations(id)).variation_3.performance_stats.eligible_users;
    expect(eligible).toBe(meant.filter(({ variation }) => variation === 3).length);
    const file = await bundle.exported(id);
    expect(file.map((row) => [row.customer_id, row.variation, row.locale]).sort()).toEqual(
      drawn
        .map(({ customer, group, variation, locale }) =>
          group === null ? [customer, `variation_${variation}`, locale] : [customer, null, null],
        )
        .sort(),
    );
    const [somebody] = meant;
    const named = { variation: `variation_${somebody!.variation}`, locale: somebody!.locale };
    const explained = await bundle.explain(id, somebody!.customer);
    expect(explained.runs[0].devices[0]).toMatchObject(named);
    expect(explained.explanation).toContain(`(${named.variation}, ${named.locale})`);
  });

  test('counts clicks and goals of each variation and locale, with intervals', async () => {
    const id = await bundle.live(compared);
    await bundle.deliver();
    const drawn = await drawnBySql(id);
    const meant = drawn.filter(({ group }) => group === null);
    const clicking = meant.filter((_, number) => number % 9 === 0);
    const again = clicking.filter((_, number) => number % 2 === 0);
    await bundle.report(
      meant.filter((_, number) => number % 3 === 0).map(({ customer }) => customer),
      'impression',
    );
    await bundle.report(
      clicking.map(({ customer }) => customer),
      'click',
    );
    await bundle.report(
      again.map(({ customer }) => customer),
      'click',
    );
    bundle.clock.advance(60_000);
    const buying = drawn.filter((_, number) => number % 25 === 0);
    await bundle.track(
      buying.map(({ customer }) => customer),
      'Bought',
    );
    await bundle.attribute();

    const locales = await bundle.locales(id);
    const percent = (share: number) => Math.round(share * 10_000) / 100;
    for (const [locale, number] of [
      ['all_locales', 1],
      ['all_locales', 4],
      ['de', 2],
      ['default', 3],
    ] as const) {
      const isOwn = (row: Drawn) =>
        row.group === null && row.variation === number && (locale === 'all_locales' || row.locale === locale);
      const { performance_stats: shown, conversion_goal_stats: goal } =
        locales[locale].variations[`variation_${number}`];
      const [sent, clicks] = [meant.filter(isOwn).length, clicking.filter(isOwn).length];
      const { low, high } = rateInterval({ successes: clicks, trials: sent })!;
      expect(shown).toMatchObject({
        sent,
        click: clicks + again.filter(isOwn).length,
        clicked_rate: percent(clicks / sent),
        clicked_rate_low: percent(low),
        clicked_rate_high: percent(high),
      });
      const bought = buying.filter(isOwn).length;
      expect(goal.Bought).toMatchObject({ total: bought, unique: bought });
      if (locale !== 'all_locales') continue;
      const control = drawn.filter(({ group }) => group === 'CAMPAIGN_CONTROL_GROUP');
      const controlRate = buying.filter(({ group }) => group === 'CAMPAIGN_CONTROL_GROUP').length / control.length;
      expect(goal.Bought).toMatchObject({
        cvr: percent(bought / sent),
        uplift: controlRate === 0 ? undefined : percent(bought / sent / controlRate - 1),
      });
    }
    // Of a variation a message counts once, of all together a device.
    const { all_variations: all, variation_1: first } = await bundle.variations(id, { metric: 'UNIQUE' });
    expect(all.performance_stats.click).toBe(clicking.length);
    expect(first.performance_stats.click).toBe(clicking.filter(({ variation }) => variation === 1).length);
    const [row] = await bundle.database`
      select sum(total)::int as total, sum(messages)::int as messages from campaign_interactions
      where campaign_id = ${id} and kind = 'CLICK'`;
    expect(row).toEqual({ total: clicking.length + again.length, messages: clicking.length });

    // The console shows the whole, each once whatever content it was.
    const report = makeCampaignReport(bundle);
    const key = { workspaceId: bundle.workspaceId, id };
    const { outcomes, interactions } = await report.progress(key);
    expect(outcomes.filter(({ outcome }) => outcome === 'ACCEPTED')).toEqual([
      { platform: 'ANDROID', outcome: 'ACCEPTED', devices: meant.length },
    ]);
    expect(interactions.filter(({ kind }) => kind === 'CLICK')).toEqual([
      {
        ...{ platform: 'ANDROID', kind: 'CLICK', total: clicking.length + again.length },
        ...{ uniqueDevices: clicking.length, messages: clicking.length },
      },
    ]);
    const sold = buying.filter(({ group }) => group === null).length;
    expect((await report.results(key)).goals).toEqual([{ name: 'Bought', conversions: sold, users: sold }]);
  });

  test('gives each user the same when a worker is lost with a window on its way', async () => {
    const id = await bundle.live(compared);
    while ((await bundle.release()) > 0);
    const [{ id: runId }] = await bundle.runs(id);
    const [run, chunk] = [await bundle.run(runId), (await bundle.claim('first'))!];
    const before = bundle.sent.length;
    bundle.answer(() => new Promise(() => {}));
    void bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
    while (bundle.sent.length === before) await new Promise((resolve) => setTimeout(resolve, 2));
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.clock.advance(61_000);
    await Promise.all([
      bundle.work({ owner: 'second', windowDevices: 170 }),
      bundle.work({ owner: 'third', windowDevices: 210 }),
    ]);
    while ((await bundle.end()) > 0);
    await expectLedger(id);
    await expectStats(id);
  });

  test('sends again what it sent before, to the counters of the same variation', async () => {
    const id = await bundle.live(compared);
    bundle.answer((_device, nth) =>
      nth % 50 === 0
        ? { kind: 'wait', code: 'UNAVAILABLE', scope: 'device', retryAfterSeconds: 60 }
        : { kind: 'accepted' },
    );
    await bundle.deliver();
    const first = bundle.titles();
    const waiting = (await ledgerOf(id)).filter(({ outcome }) => outcome === 'WAITING');
    expect(waiting.length).toBeGreaterThan(phones / 200);
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.sent.length = 0;
    bundle.messages.length = 0;
    bundle.clock.advance(600_000);
    while ((await bundle.retry()) > 0);
    const second = bundle.titles();
    expect(waiting.map(({ customer }) => second.get(customer))).toEqual(
      waiting.map(({ customer }) => first.get(customer)),
    );
    while ((await bundle.end()) > 0);
    await expectLedger(id);
    await expectStats(id);
  });

  test('notes the variation of those whom a cap held back, and their language once it is sent', async () => {
    await bundle.database`update workspaces set quiet_from = '11:00', quiet_to = '20:00'`;
    const id = await bundle.live(compared);
    await bundle.deliver();
    const held = await ledgerOf(id);
    expect(new Set(held.map(({ outcome }) => outcome))).toEqual(new Set(['WAITING', 'WITHHELD']));
    const drawn = await drawnBySql(id);
    expect(held.map(({ variation }) => variation)).toEqual(
      drawn.map(({ group, variation }) => (group === null ? variation : null)),
    );
    bundle.clock.advance(9 * 3_600_000);
    while ((await bundle.retry()) > 0);
    while ((await bundle.end()) > 0);
    await bundle.database`update workspaces set quiet_from = null, quiet_to = null`;
    await expectLedger(id);
    await expectStats(id);
  });
});
