import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCampaignFigures } from '../../src/app/campaigns/campaign-figures.ts';
import { presentFigureFile } from '../../src/http/console/campaign-figure-file.ts';
import { contentIn, makeVariationBundle, shares } from '../experiments/variation-bundle.ts';
import type { VariationBundle } from '../experiments/variation-bundle.ts';

describe('a campaign of two variations, two locales and a control group', () => {
  let bundle: VariationBundle;
  let id: string;
  let titles: Map<string, string>;
  const ofVariation = (number: number) =>
    [...titles].flatMap(([customer, title]) => (title.endsWith(String(number)) ? [customer] : []));
  const figures = (attribution: 'TOTAL_CONVERSIONS' | 'CLICK_THROUGH' = 'TOTAL_CONVERSIONS') =>
    readCampaignFigures(bundle, { workspaceId: bundle.workspaceId, id, attribution });

  beforeAll(async () => {
    bundle = await makeVariationBundle();
    await bundle.addPhones(300);
    await bundle.database`
      update users set attributes = '{"locale": "de"}' where (substring(customer_id from 6))::int % 3 = 0`;
    bundle.answer(() => ({ kind: 'accepted' }));
    id = await bundle.live({
      campaign_content: {
        ...{ locales: ['default', 'de'], variation_details: shares(50, 50) },
        content: contentIn(['default', 'de'], 2),
      },
      control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 30 },
      conversion_goal_details: {
        attribution_window_in_hours: 24,
        goals: [{ goal_name: 'Bought', goal_event_name: 'Bought', is_primary_goal: true }],
      },
    });
    await bundle.deliver();
    titles = bundle.titles();
  });
  afterAll(() => bundle.close());

  test('has what the statistics say, of each content and of all, and of the control group', async () => {
    const [first, second] = [ofVariation(1), ofVariation(2)];
    await bundle.report([...first.slice(0, 20), ...second.slice(0, 60)], 'impression');
    await bundle.report([...first.slice(0, 2), ...second.slice(0, 50)], 'click');
    // Some of those who were kept out buy as well.
    const kept = (
      await bundle.database<{ customer: string }[]>`
      select customer_id as customer from users order by customer_id`
    )
      .map(({ customer }) => customer)
      .filter((customer) => !titles.has(customer));
    await bundle.track([...first.slice(0, 8), ...second.slice(0, 30), ...kept.slice(0, 5)], 'Bought');
    await bundle.attribute();

    const found = await figures();
    expect(found).toMatchObject({ windowHours: 24, runs: 1, attribution: 'TOTAL_CONVERSIONS' });
    expect(found.all).toMatchObject({ accepted: titles.size, shown: 80, clicked: 52 });
    const stats = await bundle.locales(id);
    const all = stats.all_locales.variations.all_variations;
    const [android] = found.platforms;
    expect(android!.all.goals[0]).toMatchObject({
      name: 'Bought',
      total: all.conversion_goal_stats.Bought.total,
      rate: {
        percent: all.conversion_goal_stats.Bought.cvr,
        low: all.conversion_goal_stats.Bought.cvr_low,
        high: all.conversion_goal_stats.Bought.cvr_high,
      },
    });
    const { uplift, uplift_low: low, uplift_high: high } = all.conversion_goal_stats.Bought;
    expect(uplift).toEqual(expect.any(Number));
    expect(android!.uplifts).toEqual([{ name: 'Bought', percent: uplift, low, high }]);
    expect(android!.groups.map(({ group, users, goals }) => [group, users, goals[0]!.users])).toEqual([
      [null, titles.size, 38],
      ['CAMPAIGN_CONTROL_GROUP', kept.length, 5],
    ]);
    for (const [locale, variations] of Object.entries<any>(stats))
      for (const [name, shown] of Object.entries<any>(variations.variations)) {
        if (!/^(all_variations|variation_\d)$/.test(name) || (locale === 'all_locales' && name === 'all_variations'))
          continue;
        const place = {
          locale: locale === 'all_locales' ? null : locale,
          variation: name === 'all_variations' ? null : Number(name.slice(-1)),
        };
        const { performance_stats: performance } = shown;
        const expected = {
          ...place,
          accepted: performance.sent,
          clicked: performance.click,
          shown: performance.delivered,
          clickedRate: {
            percent: performance.clicked_rate,
            low: performance.clicked_rate_low,
            high: performance.clicked_rate_high,
          },
        };
        expect(android!.contents).toContainEqual(expect.objectContaining(expected));
        // One platform: all of them are the same.
        expect(found.contents).toContainEqual(expect.objectContaining(expected));
      }
    expect(found.contents).toHaveLength(8);
  });

  test('names the variation that is the best with 95 %, and nobody while no message was clicked', async () => {
    const { leaders, winner } = await figures();
    expect(leaders.map(({ measure, variation, isBest }) => [measure, variation, isBest])).toEqual([
      ['CLICKS', 2, true],
      ['GOAL', 2, true],
    ]);
    expect(winner).toEqual({ variation: null, namedAt: null, namedBy: null, isLearned: false });
    const unread = await bundle.live({
      campaign_content: { variation_details: shares(50, 50), content: contentIn(['default'], 2) },
    });
    const other = await readCampaignFigures(bundle, {
      workspaceId: bundle.workspaceId,
      id: unread,
      attribution: 'TOTAL_CONVERSIONS',
    });
    expect(other.leaders).toMatchObject([{ measure: 'CLICKS', isBest: false }]);
  });

  test('counts conversions by the attribution that is asked for', async () => {
    const { all, attribution } = await figures('CLICK_THROUGH');
    // 2 and 30 of those who bought had clicked.
    expect([attribution, all.goals[0]!.users]).toEqual(['CLICK_THROUGH', 32]);
  });

  test('as a file is a line for each content and control group, in the same numbers', async () => {
    const found = await figures();
    const [header, ...lines] = presentFigureFile(found)
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const rows = lines.map((line) => Object.fromEntries(header!.map((name, place) => [name, line[place]])));
    expect(rows).toHaveLength(1 + 8 + 1 + 8);
    expect(rows[0]).toMatchObject({
      platform: 'ANDROID',
      variation: '',
      accepted: String(titles.size),
      clicked: '52',
      'Bought: people': '38',
    });
    const kept = rows.find((row) => row['control group'] === 'CAMPAIGN_CONTROL_GROUP')!;
    expect([kept['people'], kept['Bought: people'], kept['accepted']]).toEqual([String(300 - titles.size), '5', '']);
    expect(
      rows.filter((row) => row.platform === 'ALL' && row.variation === 'variation_2' && row.locale === ''),
    ).toHaveLength(1);
  });

  test('of another workspace is not there', async () => {
    await expect(
      readCampaignFigures(bundle, { workspaceId: 'none', id, attribution: 'TOTAL_CONVERSIONS' }),
    ).rejects.toMatchObject({
      code: 'CAMPAIGN_NOT_FOUND',
    });
  });
});
