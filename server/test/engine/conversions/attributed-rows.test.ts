import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConversionGoal } from '../../../src/domain/campaigns/conversions.ts';
import { makeAttributeConversions } from '../../../src/engine/conversions.ts';
import { makeStatsBundle } from '../../stats/stats-bundle.ts';
import type { StatsBundle } from '../../stats/stats-bundle.ts';

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

/** What is stored, as `goal attribution revenue`. */
async function readConversions(): Promise<string[]> {
  const rows = await bundle.database<{ line: string }[]>`
    select concat_ws(' ', goal, attribution, revenue) as line from conversions order by 1`;
  return rows.map(({ line }) => line);
}

test('an event after a click counts by message, click and session, with what it brought', async () => {
  const runId = await bundle.addRun(await bundle.addCampaign([bought]), [{ customerId: 'ann' }]);
  await bundle.report(runId, { nth: 0, kind: 'click' });
  await bundle.track('ann', { name: 'Bought', afterHours: 0.5, attributes: { price: 12.5 } });
  expect(await bundle.attribute()).toBe(1);
  const all = ['CLICK_CONVERSIONS', 'CLICK_THROUGH', 'IN_SESSION', 'TOTAL_CONVERSIONS'];
  expect(await readConversions()).toEqual(all.map((attribution) => `0 ${attribution} 12.5`));
});

test('nothing for longer than half an hour ends the session of a click', async () => {
  const runId = await bundle.addRun(await bundle.addCampaign([bought]), [{ customerId: 'ann' }]);
  await bundle.report(runId, { nth: 0, kind: 'click' });
  await bundle.track('ann', { name: 'Bought', afterHours: 0.5 + 1 / 3600 });
  await bundle.attribute();
  expect(await readConversions()).toEqual(['0 CLICK_CONVERSIONS', '0 CLICK_THROUGH', '0 TOTAL_CONVERSIONS']);
});

test('each goal that an event fulfils has its place among the campaign’s goals', async () => {
  await bundle.addRun(await bundle.addCampaign([looked, bought, bought]), [{ customerId: 'ann' }]);
  await bundle.track('ann', { name: 'Bought', afterHours: 0.5, attributes: { price: 3 } });
  await bundle.attribute();
  expect(await readConversions()).toEqual(['1 TOTAL_CONVERSIONS 3', '2 TOTAL_CONVERSIONS 3']);
});

test('an event counts once it has waited as long as it is to, and the job looks twice as often, at most', async () => {
  const { database, clock } = bundle;
  await bundle.addRun(await bundle.addCampaign([bought]), [{ customerId: 'ann' }]);
  await bundle.track('ann', { name: 'Bought', afterHours: 1 });
  const job = makeAttributeConversions({ database, settleSeconds: 8 });
  expect(await job.runOnce(new Date(clock.now().getTime() + 7_999))).toBe(0);
  expect(await job.runOnce(new Date(clock.now().getTime() + 8_000))).toBe(1);
  expect(job.intervalMilliseconds).toBe(4_000);
  expect(makeAttributeConversions({ database, settleSeconds: 600 }).intervalMilliseconds).toBe(5_000);
});

async function readLearned(): Promise<string[]> {
  const rows = await bundle.database<{ line: string }[]>`
    select concat_ws(' ', variation, trials, successes) as line from run_variations order by 1`;
  return rows.map(({ line }) => line);
}

/** A run of a campaign whose variations are learned by the given measure; Ann got the second. */
async function addLearningRun(learnsBy: string): Promise<string> {
  const runId = await bundle.addRun(await bundle.addCampaign([bought, looked]), [{ customerId: 'ann' }]);
  await bundle.database`update runs set learns_by = ${learnsBy}, contents_digest = 'd' where id = ${runId}`;
  await bundle.database`update deliveries set variation = '2'`;
  return runId;
}

test('a run that learns by its goal learns of each user once, of the variation that the user got', async () => {
  await addLearningRun('GOAL');
  await bundle.track('ann', { name: 'Bought', afterHours: 1 });
  await bundle.track('ann', { name: 'Bought', afterHours: 2 });
  await bundle.attribute();
  expect(await readLearned()).toEqual(['2 0 1']);
  await bundle.track('ann', { name: 'Bought', afterHours: 3 });
  await bundle.attribute();
  expect(await readLearned()).toEqual(['2 0 1']);
});

test('of other goals than the first, and where clicks are learned, nothing is', async () => {
  await addLearningRun('GOAL');
  await bundle.track('ann', { name: 'Looked', afterHours: 1 });
  await bundle.attribute();
  await addLearningRun('CLICKS');
  await bundle.database`update runs set learns_by = 'CLICKS'`;
  await bundle.track('ann', { name: 'Bought', afterHours: 2 });
  await bundle.attribute();
  expect(await readLearned()).toEqual([]);
});
