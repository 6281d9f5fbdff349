import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConversionGoal } from '../../src/domain/campaigns/conversions.ts';
import { conversionSettleSeconds, conversionWindowHours } from '../../src/domain/limits/campaigns.ts';
import { makeAttributeConversions } from '../../src/engine/conversions.ts';
import { makeStatsBundle, start } from '../stats/stats-bundle.ts';
import type { StatsBundle } from '../stats/stats-bundle.ts';

describe('conversion attribution', () => {
  const bought: ConversionGoal = { name: 'Bought', eventName: 'Bought' };
  const dear: ConversionGoal = {
    name: 'Dear',
    eventName: 'Bought',
    attribute: { name: 'price', type: 'numeric', operator: 'is greater than', value: 100 },
  };

  let bundle: StatsBundle;
  beforeEach(async () => {
    bundle = await makeStatsBundle();
    await bundle.addUser('ann');
    await bundle.addUser('bob');
  });
  afterEach(async () => bundle.end());

  describe('an event (interface 2.10)', () => {
    test('counts for each goal that it fulfils of the campaign that reached its user, with run and platform', async () => {
      const campaignId = await bundle.addCampaign([bought, dear]);
      const runId = await bundle.addRun(campaignId, [{ customerId: 'ann', platform: 'IOS' }, { customerId: 'bob' }]);
      await bundle.track('ann', { name: 'Bought', afterHours: 1, attributes: { price: 150 } });
      await bundle.track('bob', { name: 'Bought', afterHours: 1, attributes: { price: 50 } });
      await bundle.track('bob', { name: 'Looked', afterHours: 1 });
      expect(await bundle.attribute()).toBe(3);
      expect(await bundle.conversions()).toEqual([
        { campaignId, goal: 0, customerId: 'ann', runId, platform: 'IOS' },
        { campaignId, goal: 0, customerId: 'bob', runId, platform: 'ANDROID' },
        { campaignId, goal: 1, customerId: 'ann', runId, platform: 'IOS' },
      ]);
    });

    test('counts once for every campaign that reached the user, with its newest run', async () => {
      const [first, second] = [await bundle.addCampaign([bought]), await bundle.addCampaign([bought])];
      await bundle.addRun(first, [{ customerId: 'ann' }]);
      const newest = await bundle.addRun(first, [{ customerId: 'ann' }], new Date(start.getTime() + 1_800_000));
      const other = await bundle.addRun(second, [{ customerId: 'ann' }]);
      await bundle.track('ann', { name: 'Bought', afterHours: 1 });
      await bundle.attribute();
      const runs = Object.fromEntries((await bundle.conversions()).map((row) => [row.campaignId, row.runId]));
      expect(runs).toEqual({ [first]: newest, [second]: other });
      expect(await goalsMet()).toHaveLength(2);
    });

    test('does not count for a user whom the message did not reach', async () => {
      const campaignId = await bundle.addCampaign([bought]);
      await bundle.addRun(campaignId, [
        { customerId: 'ann', outcome: 'GONE' },
        { customerId: 'ann', outcome: 'WAITING' },
        { customerId: 'ann', outcome: 'REJECTED' },
      ]);
      await bundle.track('ann', { name: 'Bought', afterHours: 1 });
      await bundle.track('bob', { name: 'Bought', afterHours: 1 });
      expect(await bundle.attribute()).toBe(2);
      expect(await goalsMet()).toEqual([]);
    });

    test.each([
      ['at the instant of the message', 0, 1],
      ['at the end of the window', conversionWindowHours, 1],
      ['a second after it', conversionWindowHours + 1 / 3_600, 0],
      ['a second before the message', -1 / 3_600, 0],
    ])('counts inside the conversion window only: an event %s', async (_name, afterHours, counted) => {
      const campaignId = await bundle.addCampaign([bought]);
      await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      await bundle.track('ann', { name: 'Bought', afterHours });
      await bundle.attribute();
      expect(await goalsMet()).toHaveLength(counted);
    });

    test('counts by the time it happened even if it is reported days later', async () => {
      const campaignId = await bundle.addCampaign([bought]);
      await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      bundle.clock.advance(5 * 86_400_000);
      await bundle.track('ann', { name: 'Bought', afterHours: 2 });
      await bundle.attribute();
      expect(await goalsMet()).toEqual(['ann 0']);
    });

    test('never counts for campaigns of other workspaces', async () => {
      const campaignId = await bundle.addCampaign([bought]);
      await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      await bundle.database`
        insert into workspaces (id, db_name, name, created_at) values ('OTHER', 'other', 'Other', '2026-01-01')`;
      await bundle.database`update campaigns set workspace_id = 'OTHER' where id = ${campaignId}`;
      await bundle.track('ann', { name: 'Bought', afterHours: 1 });
      await bundle.attribute();
      expect(await goalsMet()).toEqual([]);
    });
  });

  describe('the job', () => {
    test('leaves events until everything sent before them is certainly stored', async () => {
      const campaignId = await bundle.addCampaign([bought]);
      await bundle.track('ann', { name: 'Bought', afterHours: 1 });
      bundle.clock.advance(conversionSettleSeconds * 1000 - 1);
      expect(await bundle.job.runOnce(bundle.clock.now())).toBe(0);
      // Stores a window late: it was sent before the event.
      await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      bundle.clock.advance(1);
      expect(await bundle.job.runOnce(bundle.clock.now())).toBe(1);
      expect(await goalsMet()).toEqual(['ann 0']);
    });

    test('processes each event once on concurrent nodes', async () => {
      const campaignId = await bundle.addCampaign([bought]);
      await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      for (let count = 0; count < 40; count += 1) await bundle.track('ann', { name: 'Bought', afterHours: 1 });
      bundle.clock.advance(conversionSettleSeconds * 1000);
      const taken = await Promise.all([1, 2, 3, 4].map(() => bundle.job.runOnce(bundle.clock.now())));
      expect(taken.reduce((sum, count) => sum + count, 0)).toBe(40);
      expect(await goalsMet()).toHaveLength(40);
    });

    test('processes the events again after a crash before the commit, and counts nothing twice', async () => {
      const campaignId = await bundle.addCampaign([bought]);
      await bundle.addRun(campaignId, [{ customerId: 'ann' }]);
      await bundle.track('ann', { name: 'Bought', afterHours: 1 });
      bundle.clock.advance(conversionSettleSeconds * 1000);
      await bundle.database`alter table conversions rename to conversions_away`;
      await expect(bundle.job.runOnce(bundle.clock.now())).rejects.toThrow('conversions');
      await bundle.database`alter table conversions_away rename to conversions`;
      expect(await bundle.job.runOnce(bundle.clock.now())).toBe(1);
      expect(await bundle.job.runOnce(bundle.clock.now())).toBe(0);
      expect(await goalsMet()).toEqual(['ann 0']);
    });

    test('keeps no list of pending events for a workspace without goals', async () => {
      await bundle.addCampaign([]);
      await bundle.track('ann', { name: 'Bought', afterHours: 1 });
      expect(await bundle.attribute()).toBe(0);
    });
  });

  async function goalsMet(): Promise<string[]> {
    return (await bundle.conversions()).map(({ customerId, goal }) => `${customerId} ${goal}`);
  }
});

describe('attributed conversions', () => {
  const bought: ConversionGoal = {
    ...{ name: 'Bought', eventName: 'Bought', windowHours: 24 },
    revenue: { attribute: 'price', currency: 'EUR' },
  };
  const looked: ConversionGoal = { name: 'Looked', eventName: 'Looked' };

  let bundle: StatsBundle;
  beforeEach(async () => {
    bundle = await makeStatsBundle();
    await bundle.addUser('ann');
  });
  afterEach(() => bundle.end());

  test('counts an event after a click by message, click and session, with its value', async () => {
    const runId = await bundle.addRun(await bundle.addCampaign([bought]), [{ customerId: 'ann' }]);
    await bundle.report(runId, { nth: 0, kind: 'click' });
    await bundle.track('ann', { name: 'Bought', afterHours: 0.5, attributes: { price: 12.5 } });
    expect(await bundle.attribute()).toBe(1);
    const all = ['CLICK_CONVERSIONS', 'CLICK_THROUGH', 'IN_SESSION', 'TOTAL_CONVERSIONS'];
    expect(await readConversions()).toEqual(all.map((attribution) => `0 ${attribution} 12.5`));
  });

  test('ends the session of a click after half an hour without activity', async () => {
    const runId = await bundle.addRun(await bundle.addCampaign([bought]), [{ customerId: 'ann' }]);
    await bundle.report(runId, { nth: 0, kind: 'click' });
    await bundle.track('ann', { name: 'Bought', afterHours: 0.5 + 1 / 3600 });
    await bundle.attribute();
    expect(await readConversions()).toEqual(['0 CLICK_CONVERSIONS', '0 CLICK_THROUGH', '0 TOTAL_CONVERSIONS']);
  });

  test('records the position of each fulfilled goal among the goals of the campaign', async () => {
    await bundle.addRun(await bundle.addCampaign([looked, bought, bought]), [{ customerId: 'ann' }]);
    await bundle.track('ann', { name: 'Bought', afterHours: 0.5, attributes: { price: 3 } });
    await bundle.attribute();
    expect(await readConversions()).toEqual(['1 TOTAL_CONVERSIONS 3', '2 TOTAL_CONVERSIONS 3']);
  });

  test('counts an event after its waiting time, and runs the job at twice that rate, at most every five seconds', async () => {
    const { database, clock } = bundle;
    await bundle.addRun(await bundle.addCampaign([bought]), [{ customerId: 'ann' }]);
    await bundle.track('ann', { name: 'Bought', afterHours: 1 });
    const job = makeAttributeConversions({ database, settleSeconds: 8 });
    expect(await job.runOnce(new Date(clock.now().getTime() + 7_999))).toBe(0);
    expect(await job.runOnce(new Date(clock.now().getTime() + 8_000))).toBe(1);
    expect(job.intervalMilliseconds).toBe(4_000);
    expect(makeAttributeConversions({ database, settleSeconds: 600 }).intervalMilliseconds).toBe(5_000);
  });

  test('counts each user once, for the variation that the user received, if the run learns from its goal', async () => {
    await addLearningRun('GOAL');
    await bundle.track('ann', { name: 'Bought', afterHours: 1 });
    await bundle.track('ann', { name: 'Bought', afterHours: 2 });
    await bundle.attribute();
    expect(await readLearned()).toEqual(['2 0 1']);
    await bundle.track('ann', { name: 'Bought', afterHours: 3 });
    await bundle.attribute();
    expect(await readLearned()).toEqual(['2 0 1']);
  });

  test('ignores other goals than the first, and all goals if the run learns from clicks', async () => {
    await addLearningRun('GOAL');
    await bundle.track('ann', { name: 'Looked', afterHours: 1 });
    await bundle.attribute();
    await addLearningRun('CLICKS');
    await bundle.database`update runs set learns_by = 'CLICKS'`;
    await bundle.track('ann', { name: 'Bought', afterHours: 2 });
    await bundle.attribute();
    expect(await readLearned()).toEqual([]);
  });

  /** Returns the stored conversions, each as `goal attribution revenue`. */
  async function readConversions(): Promise<string[]> {
    const rows = await bundle.database<{ line: string }[]>`
      select concat_ws(' ', goal, attribution, revenue) as line from conversions order by 1`;
    return rows.map(({ line }) => line);
  }

  async function readLearned(): Promise<string[]> {
    const rows = await bundle.database<{ line: string }[]>`
      select concat_ws(' ', variation, trials, successes) as line from run_variations order by 1`;
    return rows.map(({ line }) => line);
  }

  /** Adds a run that learns by the given measure. Ann got the second variation. */
  async function addLearningRun(learnsBy: string): Promise<string> {
    const runId = await bundle.addRun(await bundle.addCampaign([bought, looked]), [{ customerId: 'ann' }]);
    await bundle.database`update runs set learns_by = ${learnsBy}, contents_digest = 'd' where id = ${runId}`;
    await bundle.database`update deliveries set variation = '2'`;
    return runId;
  }
});
