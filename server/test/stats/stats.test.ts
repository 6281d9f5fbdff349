import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { attributionTypes } from '../../src/domain/campaigns/conversions.ts';
import type { ConversionGoal } from '../../src/domain/campaigns/conversions.ts';
import { statsAnswer } from '../../src/http/stats/stats.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { figuresOf, makeStatsBundle, start } from './stats-bundle.ts';
import type { StatsBundle } from './stats-bundle.ts';

describe('the statistics API', () => {
  const bought = { name: 'Bought', eventName: 'Bought' };
  const day = 86_400_000;

  let bundle: StatsBundle;

  describe('the figures (fact 7)', () => {
    beforeEach(begin);
    afterEach(() => bundle.end());

    test('adds up all platforms, and has both spellings of the locale key (field B3)', async () => {
      const campaignId = await bundle.addCampaign([{ name: 'Bought', event: 'Bought' } as never], {
        platforms: ['ANDROID', 'IOS'],
      });
      await bundle.addRun(campaignId, [
        { customerId: 'ann' },
        { customerId: 'bob', outcome: 'GONE', code: 'UNREGISTERED' },
        { customerId: 'ann', platform: 'IOS' },
      ]);
      const { platforms } = (await bundle.ask()).body.data[campaignId]![0];
      expect(Object.keys(platforms)).toEqual(['ALL_PLATFORMS', 'ANDROID', 'IOS']);
      const { all_locale, all_locales } = platforms['ALL_PLATFORMS']!.locales as Record<string, any>;
      expect(all_locale).toEqual(all_locales);
      const { performance_stats, failure_breakdown } = all_locale.variations.all_variations;
      expect(performance_stats).toMatchObject({ attempted: 3, sent: 2, failed: 1, bounced: 1, sent_rate: 66.67 });
      expect(failure_breakdown).toEqual({ UNREGISTERED: 1 });
    });

    test('has lower-case platforms without a total for a workspace that chose the earlier form', async () => {
      await bundle.database`update workspaces set earlier_statistics = true where id = ${bundle.workspaceId}`;
      const campaignId = await bundle.addCampaign([], { platforms: ['ANDROID', 'IOS'] });
      await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      const { platforms } = (await bundle.ask()).body.data[campaignId]![0];
      expect(Object.keys(platforms)).toEqual(['android', 'ios']);
      expect(Object.keys(platforms['android']!.locales)).toEqual(['all_locales']);
    });

    test('counts attempted, sent and failed messages with reasons, and rates in percent', async () => {
      const campaignId = await bundle.addCampaign([], { platforms: ['ANDROID', 'IOS'] });
      const runId = await bundle.addRun(campaignId, [
        { customerId: 'ann' },
        { customerId: 'bob' },
        { customerId: 'ann', outcome: 'GONE', code: 'UNREGISTERED' },
        { customerId: 'bob', outcome: 'FAILED', code: 'INTERNAL' },
        { customerId: 'bob', outcome: 'GONE', code: 'UNREGISTERED' },
        { customerId: 'ann', outcome: 'EXPIRED' },
        { customerId: 'ann', outcome: 'WAITING', code: 'UNAVAILABLE' },
        { customerId: 'ann', platform: 'IOS' },
      ]);
      await bundle.countAudience(runId, [{ platform: 'ANDROID', users: 2, installed: 3 }]);
      // The first device shows its message three times and clicks it four times, the second shows it once and closes it.
      for (const name of ['1', '2', '3']) await bundle.report(runId, { nth: 0, kind: 'impression', name });
      for (const name of ['1', '2', '3', '4', '5', '6', '7', '8'])
        await bundle.report(runId, { nth: 0, kind: 'click', name });
      for (const kind of ['impression', 'close'] as const) await bundle.report(runId, { nth: 1, kind });
      const answer = await bundle.ask();
      expect(answer.status).toBe(200);
      expect(figuresOf(answer, campaignId)).toEqual({
        performance_stats: {
          attempted: 7,
          sent: 2,
          failed: 4,
          bounced: 2,
          delivered: 2,
          impression: 4,
          click: 8,
          closed_click: 1,
          // The sample of fact 7: 4 clicks on 2 impressions are 200.
          ctr: 200,
          delivery_rate: 100,
          sent_rate: 28.57,
          failure_rate: 71.43,
          eligible_users: 2,
        },
        conversion_goal_stats: {},
        delivery_funnel: {
          reachable_users_in_segment: 2,
          segment_after_uninstall: 3,
          users_after_dup: 2,
          user_devices: 7,
          active_device_token: 5,
          after_fc: 7,
          sent: 2,
          impressions: 4,
        },
        failure_breakdown: { UNREGISTERED: 2, INTERNAL: 1, EXPIRED: 1 },
      });
      const ofIos = {
        attempted: 1,
        sent: 1,
        failed: 0,
        bounced: 0,
        impression: 0,
        click: 0,
        closed_click: 0,
        delivered: 0,
      };
      // Of no impressions there is no share; an audience that has no iPhones has no users of them.
      expect(figuresOf(answer, campaignId, 'IOS').performance_stats).toEqual({
        ...ofIos,
        ...{ delivery_rate: 0, sent_rate: 100, failure_rate: 0, eligible_users: 0 },
      });
      const unique = await bundle.ask({ metric_type: 'UNIQUE' });
      expect(figuresOf(unique, campaignId).performance_stats).toMatchObject({
        impression: 2,
        click: 1,
        closed_click: 1,
        delivered: 2,
        ctr: 50,
        sent: 2,
      });
    });

    test('counts a withheld message as neither attempted nor failed, and lists it in the breakdown with its cause', async () => {
      const campaignId = await bundle.addCampaign([]);
      await bundle.addRun(campaignId, [
        { customerId: 'ann' },
        { customerId: 'bob', outcome: 'WITHHELD', code: 'FREQUENCY_CAP' },
        { customerId: 'bob', outcome: 'WITHHELD', code: 'QUIET_HOURS' },
        { customerId: 'ann', outcome: 'WITHHELD', code: 'FREQUENCY_CAP' },
      ]);
      expect(figuresOf(await bundle.ask(), campaignId)).toMatchObject({
        performance_stats: { attempted: 1, sent: 1, failed: 0, sent_rate: 100, failure_rate: 0 },
        // A frequency cap took two of four devices out.
        delivery_funnel: { user_devices: 4, after_fc: 2, active_device_token: 4, sent: 1 },
        failure_breakdown: { FREQUENCY_CAP: 2, QUIET_HOURS: 1 },
      });
    });

    test('counts conversions per goal, total and by unique user, and distinguishes goals of the same name', async () => {
      const goals = [bought, { name: 'Bought', eventName: 'Looked' }];
      const campaignId = await bundle.addCampaign(goals);
      await bundle.addRun(campaignId, [{ customerId: 'ann' }, { customerId: 'bob' }]);
      for (const [customerId, name] of [
        ['ann', 'Bought'],
        ['ann', 'Bought'],
        ['bob', 'Bought'],
        ['ann', 'Looked'],
      ] as const)
        await bundle.track(customerId, { name, afterHours: 1 });
      await bundle.attribute();
      const total = figuresOf(await bundle.ask(), campaignId);
      expect(total.conversion_goal_stats).toEqual({
        Bought: { conversions: 3, total: 3, unique: 2 },
        'Bought (2)': { conversions: 1, total: 1, unique: 1 },
      });
      const unique = figuresOf(await bundle.ask({ metric_type: 'UNIQUE' }), campaignId);
      expect(unique.conversion_goal_stats.Bought).toEqual({ conversions: 2, total: 3, unique: 2 });
    });

    test('limits the figures to the runs and reports of the days, and omits what was not counted', async () => {
      const campaignId = await bundle.addCampaign([]);
      const first = await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      const later = new Date(start.getTime() + day);
      const second = await bundle.addRun(campaignId, [{ customerId: 'ann' }, { customerId: 'bob' }], later);
      for (const name of ['1', '2']) await bundle.report(first, { nth: 0, kind: 'impression', name });
      await bundle.report(second, { nth: 0, kind: 'impression' });
      await bundle.report(second, { nth: 1, kind: 'click' });
      const of = async (more: Record<string, unknown>) => {
        const { performance_stats: shown, ...rest } = figuresOf(await bundle.ask(more), campaignId);
        const { sent, impression, click, delivered } = shown;
        return { sent, impression, click, delivered, causes: rest.failure_breakdown };
      };
      expect(await of({})).toEqual({ sent: 3, impression: 3, click: 1, delivered: 2, causes: {} });
      expect(await of({ end_date: '2026-03-01' })).toEqual({
        sent: 1,
        impression: 2,
        click: 0,
        delivered: 1,
        causes: {},
      });
      expect(await of({ end_date: '2026-03-01', metric_type: 'UNIQUE' })).toEqual({
        ...{ sent: 1, impression: 1, click: 0, delivered: 1, causes: {} },
      });
      // Ann's device is the same in both: of what it reported that is known, of what was sent it is not.
      expect(await of({ metric_type: 'UNIQUE' })).toEqual({ impression: 1, click: 1, delivered: 1 });
      const third = await bundle.addRun(campaignId, [{ customerId: 'ann' }], new Date(later.getTime() + day));
      await bundle.report(third, { nth: 0, kind: 'impression' });
      expect(await of({ end_date: '2026-03-02', metric_type: 'UNIQUE' })).toEqual({ click: 1 });
      const [{ delivery_funnel: funnel }] = [figuresOf(await bundle.ask(), campaignId)];
      expect(funnel).toEqual({ user_devices: 4, active_device_token: 4, after_fc: 4, sent: 4, impressions: 4 });
    });

    test('uses days in the zone of the workspace', async () => {
      await bundle.database`update workspaces set time_zone = 'Asia/Kolkata' where id = ${bundle.workspaceId}`;
      const campaignId = await bundle.addCampaign([]);
      // 00:30 on the 2nd in Kolkata.
      await bundle.addRun(campaignId, [{ customerId: 'ann' }], new Date('2026-03-01T19:00:00Z'));
      const asked = async (date: string) =>
        (await bundle.ask({ start_date: date, end_date: date })).body.total_campaigns;
      expect([await asked('2026-03-01'), await asked('2026-03-02')]).toEqual([0, 1]);
    });
  });

  describe('the list of campaigns', () => {
    beforeEach(begin);
    afterEach(() => bundle.end());

    test('contains campaigns with a run in the days, newest first, ten per page', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 13; count += 1) {
        const createdAt = new Date(start.getTime() - count * 1000);
        ids.push(await bundle.addCampaign([], { createdAt }));
        await bundle.addRun(ids.at(-1)!, [{ customerId: 'ann' }]);
      }
      await bundle.addCampaign([]);
      const first = (await bundle.ask()).body;
      expect(first).toMatchObject({ response_id: 'r1', total_campaigns: 13, current_page: 1, total_pages: 2 });
      expect(Object.keys(first.data).sort()).toEqual(ids.slice(0, 10).sort());
      const second = (await bundle.ask({ offset: 10, limit: 10 })).body;
      expect(second).toMatchObject({ total_campaigns: 13, current_page: 2 });
      expect(Object.keys(second.data).sort()).toEqual(ids.slice(10).sort());
    });

    test('contains campaigns requested by id, even without a run, but none of other workspaces', async () => {
      const own = await bundle.addCampaign([]);
      const foreign = await bundle.addCampaign([], { workspace: await insertTestWorkspace(bundle.database, start) });
      const { body } = await bundle.ask({ campaign_ids: [own, foreign, '0'.repeat(24)] });
      expect([body.total_campaigns, Object.keys(body.data)]).toEqual([1, [own]]);
    });
  });

  describe('requests', () => {
    beforeAll(begin);
    afterAll(() => bundle.end());

    const refusals: [string, Record<string, unknown>, string][] = [
      ['no request_id', { request_id: undefined }, 'request_id: is required'],
      ['a number as request_id', { request_id: 5 }, 'request_id: must be a text'],
      ['no start_date', { start_date: undefined }, 'start_date: is required'],
      ['an invalid date', { end_date: '2026-02-30' }, 'end_date: must be a date'],
      ['a time', { end_date: '2026-03-01T00:00:00Z' }, 'end_date: must be a date'],
      ['an end before the start', { end_date: '2026-02-19' }, 'end_date: must not be before start_date'],
      ['31 days', { start_date: '2026-03-01', end_date: '2026-04-01' }, 'at most 30 days'],
      ['an unknown attribution', { attribution_type: 'LAST' }, 'attribution_type: must be one of'],
      ['an unknown metric', { metric_type: 'total' }, 'metric_type: must be one of'],
      [
        'eleven ids',
        { campaign_ids: Array.from({ length: 11 }, () => '0'.repeat(24)) },
        'campaign_ids: must be a list',
      ],
      ['an invalid id', { campaign_ids: ['x'] }, 'campaign_ids: must hold ids'],
      ['a limit over 10', { limit: 11 }, 'limit: must be a whole number from 1 to 10'],
      ['an offset below 0', { offset: -1 }, 'offset: must be a whole number'],
    ];
    test.each(refusals)('are rejected for %s', async (_name, change, words) => {
      const { status, body } = await bundle.ask(change);
      expect([status, body.title]).toEqual([400, 'Invalid Field Value']);
      expect(body.description).toContain(words);
      expect(body.code).toMatch(/^[a-z]{8}$/);
    });

    test('may cover 30 days, at both spellings of the address', async () => {
      const month = { start_date: '2026-03-01', end_date: '2026-03-31' };
      for (const url of ['/core-services/v1/campaign-stats', '/v1/campaign-stats'])
        expect((await bundle.ask(month, { url })).status).toBe(200);
    });

    test('require the campaigns key and the header of its workspace', async () => {
      const refused = async (headers: Record<string, string | undefined>) => {
        const { status, body } = await bundle.ask({}, { headers });
        return [status, body.title];
      };
      expect(await refused({ authorization: undefined })).toEqual([401, 'Authentication required']);
      expect(await refused({ authorization: bundle.basic('wrong') })).toEqual([401, 'Authentication required']);
      expect(await refused({ authorization: bundle.basic(bundle.key) })).toEqual([403, 'Forbidden Request']);
      expect(await refused({ 'svc-appkey': undefined })).toEqual([400, 'Invalid Field Value']);
      expect(await refused({ 'svc-appkey': 'OTHER' })).toEqual([401, 'Authentication required']);
    });

    test('are limited to 100 a minute, until the next one begins', async () => {
      bundle.clock.advance(60_000);
      for (let count = 0; count < 100; count += 1) expect((await bundle.ask()).status).toBe(200);
      const refused = await bundle.ask();
      expect([refused.status, refused.body.title]).toEqual([429, 'Too Many Requests']);
      bundle.clock.advance(Number(refused.headers['retry-after']) * 1000);
      expect((await bundle.ask()).status).toBe(200);
    });
  });

  async function begin(): Promise<void> {
    bundle = await makeStatsBundle();
    await bundle.addUser('ann');
    await bundle.addUser('bob');
  }
});

describe('attribution types', () => {
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

    test('count by message, impression, click, click of a new message, and session of the click', async () => {
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

    test('count the requested runs only', async () => {
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

    test('are counted once, however often the job runs', async () => {
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

  test('counts a report that arrives with the event, but not one for a message of another campaign', async () => {
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
});

const page = await readFile(new URL('../../../docs/statistics.md', import.meta.url), 'utf8');
const facts = await readFile(new URL('../../../docs/spec/facts.md', import.meta.url), 'utf8');

describe('the documented members', () => {
  const section = (text: string, from: string, to: string): string => text.split(from)[1]!.split(to)[0]!;
  const firstCells = (table: string): string[] => [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);

  const answered = firstCells(section(page, '## Members', 'Some members that other'));
  const absent = firstCells(section(page, 'Some members that other', '## Attributions'));

  test('are exactly the figures in the response', () => {
    expect(answered.toSorted()).toEqual(membersOfShape().toSorted());
  });

  test('include every member of fact 7, or list it as absent', () => {
    const rows = section(facts, '| Block | Keys |', 'Rates are percentages').matchAll(/^\| `(\w+)` \| (.*) \|$/gm);
    const published = [...rows].flatMap(([, block, keys]) => {
      const members = [...keys!.matchAll(/`(\w+)`/g)].map(([, member]) => `${block}.${member}`);
      return members.length > 0 ? members : [block!];
    });
    expect(published.length).toBeGreaterThan(30);
    expect(published.filter((member) => !answered.includes(member)).toSorted()).toEqual(absent.toSorted());
  });
});

/** The members of a block of figures, as the shape of the reply has them. */
function membersOfShape(): string[] {
  const { platforms } = (statsAnswer as any).properties.data.patternProperties['^.*$'].items.properties;
  const { locales } = platforms.patternProperties['^.*$'].properties;
  const { all_variations: block } = locales.properties.all_locales.properties.variations.properties;
  return Object.entries<any>(block.properties).flatMap(([name, { properties, patternProperties }]) => {
    const members = properties ?? patternProperties?.['^.*$'].properties;
    return members ? Object.keys(members).map((member) => `${name}.${member}`) : [name];
  });
}
