import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freezeShares } from '../../src/engine/fan-out/experiments.ts';
import { addLearned, findRunShares } from '../../src/storage/campaigns/variations.ts';
import { campaign, faultsOf } from '../campaigns/authoring-bundle.ts';
import { contentIn, makeVariationBundle } from './variation-bundle.ts';
import type { VariationBundle } from './variation-bundle.ts';

const phones = 1_200;
let bundle: VariationBundle;
beforeAll(async () => {
  bundle = await makeVariationBundle();
  await bundle.addPhones(phones);
});
afterAll(() => bundle.close());
beforeEach(() => bundle.answer(() => ({ kind: 'accepted' })));

const learns = (more: object = {}) => ({ no_of_variations: 3, distribution_type: 'SHERPA', ...more });
const content = (details: object = learns(), variations = 3) => ({
  campaign_content: { variation_details: details, content: contentIn(['default'], variations) },
});
const goals = {
  conversion_goal_details: { goals: [{ goal_name: 'Bought', goal_event_name: 'Bought', is_primary_goal: true }] },
};

/** Of a hundred users so many click each variation, at once; one of fifty gets it at the second attempt. */
const rates = [5, 15, 60];
function clickAtOnce(): void {
  const waited = new Set<string>();
  bundle.answer(async ({ pushId }, nth) => {
    const customer = pushId.replace('push-', '');
    const number = Number(customer.split('-')[1]);
    if (number % 50 === 7 && !waited.has(pushId)) {
      waited.add(pushId);
      return { kind: 'wait', code: 'UNAVAILABLE', scope: 'device', retryAfterSeconds: 60 };
    }
    const variation = Number(String((bundle.messages[nth - 1]!.content as { title: string }).title).at(-1));
    if (number % 100 < rates[variation - 1]!) await bundle.report([customer], 'click');
    return { kind: 'accepted' };
  });
}

const learnedOf = (runId: string) => bundle.database<{ variation: number; trials: number; successes: number }[]>`
  select variation, sum(trials)::int as trials, sum(successes)::int as successes from run_variations
  where run_id = ${runId} group by variation order by variation`;

/** What the ledger says, beside what each user's bucket and hash say, counted by SQL alone. */
async function expectDrawn(campaignId: string, runId: string): Promise<void> {
  const wrong = await bundle.database`
    with bound as (
      select bucket, variation,
        sum(share) over (partition by bucket order by variation) * 4294967296 / 10000 as until
      from run_variations where run_id = ${runId}
    ), drawn as (
      select users.id, users.bucket, get_byte(digest, 0)::bigint * 16777216 + get_byte(digest, 1) * 65536
          + get_byte(digest, 2) * 256 + get_byte(digest, 3) as point
      from users
      cross join lateral (
        select sha256(convert_to(${`variation ${campaignId} `}::text || users.id, 'UTF8')) as digest
      ) as hashed
    )
    select deliveries.user_id, deliveries.variation from readable_deliveries as deliveries
    join drawn on drawn.id = deliveries.user_id
    where deliveries.run_id = ${runId} and deliveries.variation is distinct from (
      select min(bound.variation) from bound where bound.bucket = drawn.bucket and drawn.point < floor(bound.until)
    )`;
  expect([...wrong]).toEqual([]);
}

test('a campaign that learns sends more of what is clicked more, and its state agrees with the ledger to the unit', async () => {
  clickAtOnce();
  const id = await bundle.live(content());
  while ((await bundle.release()) > 0);
  bundle.sent.length = 0;
  bundle.messages.length = 0;
  await bundle.work({ windowDevices: 60 });
  bundle.clock.advance(600_000);
  while ((await bundle.retry()) > 0);
  // Some click twice: it is the same message.
  await bundle.report(['user-0', 'user-1', 'user-2'], 'click');
  await bundle.report(['user-0', 'user-1', 'user-2'], 'click');
  while ((await bundle.end()) > 0);
  const [{ id: runId, learns_by: by }] = await bundle.runs(id);
  expect(by).toBe('CLICKS');
  await expectDrawn(id, runId);
  const learned = await learnedOf(runId);
  const sent = await bundle.database`
    select variation, count(*)::int as trials from readable_deliveries as deliveries
    where run_id = ${runId} group by variation order by variation`;
  expect(learned.map(({ variation, trials }) => ({ variation, trials }))).toEqual([...sent]);
  // The worst may have been clicked by nobody.
  const clicks = await bundle.database`
    select shown.variation, coalesce(sum(messages), 0)::int as successes from generate_series(1, 3) as shown (variation)
    left join campaign_interactions as clicked
      on clicked.variation = shown.variation and clicked.campaign_id = ${id} and clicked.kind = 'CLICK'
    group by shown.variation order by shown.variation`;
  expect(learned.map(({ variation, successes }) => ({ variation, successes }))).toEqual([...clicks]);
  expect(learned[2]!.trials / phones).toBeGreaterThan(0.6);
  // The last buckets that began knew most: the worst are at the floor of 5 %.
  const least = await bundle.database`
    select variation, min(share)::int as share from run_variations where run_id = ${runId} group by variation order by variation`;
  expect(least[0]!.share).toBe(500);
  const stats = await bundle.variations(id);
  expect(stats.variation_3.performance_stats).toMatchObject({
    sent: learned[2]!.trials,
    clicked_rate: Math.round((learned[2]!.successes / learned[2]!.trials) * 10_000) / 100,
  });
});

test('the shares of a bucket are those of its first window: a worker is lost, and two go on with what it began', async () => {
  clickAtOnce();
  const id = await bundle.live(content());
  while ((await bundle.release()) > 0);
  const [{ id: runId }] = await bundle.runs(id);
  const [run, chunk] = [await bundle.run(runId), (await bundle.claim('first'))!];
  bundle.sent.length = 0;
  bundle.messages.length = 0;
  bundle.answer(() => new Promise(() => {}));
  void bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
  while (bundle.sent.length < 5) await new Promise((resolve) => setTimeout(resolve, 2));
  const first = bundle.titles();
  // Much was learned meanwhile.
  const [known] = await bundle.database`select bucket from run_variations where run_id = ${runId} limit 1`;
  const before = await bundle.database`select * from run_variations where run_id = ${runId} order by bucket, variation`;
  await addLearned(
    bundle.database,
    [0, 4_000, 0].map((successes, index) => ({
      ...{ workspaceId: bundle.workspaceId, runId, bucket: known!.bucket, variation: index + 1 },
      ...{ trials: 5_000, successes },
    })),
  );
  bundle.answer(() => ({ kind: 'accepted' }));
  bundle.clock.advance(61_000);
  await Promise.all([
    bundle.work({ owner: 'second', windowDevices: 60 }),
    bundle.work({ owner: 'third', windowDevices: 70 }),
  ]);
  while ((await bundle.end()) > 0);
  const all = bundle.titles();
  for (const [customer, title] of first) expect(all.get(customer)).toBe(title);
  const after = await bundle.database`select * from run_variations where run_id = ${runId} order by bucket, variation`;
  const kept = after.filter(({ bucket }) => before.some((row) => row.bucket === bucket));
  expect(kept.map(({ share }) => share)).toEqual(before.map(({ share }) => share));
  // Whoever began later knew it.
  const others = after.filter(({ bucket }) => !before.some((row) => row.bucket === bucket));
  expect(others.find(({ variation }) => variation === 2)!.share).toBe(9_000);
  await expectDrawn(id, runId);
});

test('two nodes that begin a bucket at once send by the same shares', async () => {
  const id = await bundle.live(content());
  while ((await bundle.release()) > 0);
  const [{ id: runId }] = await bundle.runs(id);
  const run = await bundle.run(runId);
  const freeze = (buckets: number[]) =>
    freezeShares(bundle.database, { run, buckets, learning: run.variants!.learning!, variations: 3 });
  const shares = await Promise.all([freeze([7, 8]), freeze([8, 9, 7]), freeze([9, 8]), freeze([7])]);
  const stored = await findRunShares(bundle.database, { runId, buckets: [7, 8, 9] });
  for (const own of shares) for (const [bucket, found] of own) expect(found).toEqual(stored.get(bucket));
  await bundle.work({ windowDevices: 200 });
  while ((await bundle.end()) > 0);
});

test('it learns from runs before, by the goal if it says so, and anew when its words are changed', async () => {
  const id = await bundle.live({
    ...content(learns({ sherpa_metric: 'GOAL', sherpa_minimum_percentage: 10 })),
    ...goals,
    campaign_delivery_type: 'PERIODIC',
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME',
      start_time: new Date(bundle.clock.now().getTime() + 60_000).toISOString().slice(0, 19),
      periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 3 },
    },
  });
  const runNow = async (): Promise<string> => {
    bundle.clock.advance(24 * 3_600_000);
    while ((await bundle.fire()) > 0);
    await bundle.deliver();
    const [run] = await bundle.database`
      select runs.id from runs join campaigns on campaigns.id = runs.campaign_id
      where campaigns.campaign_id = ${id} order by runs.created_at desc limit 1`;
    return run!.id as string;
  };
  bundle.clock.advance(120_000 - 24 * 3_600_000);
  const first = await runNow();
  const titles = bundle.titles();
  const buyers = [...titles].flatMap(([customer, title]) => (title.endsWith('2') ? [customer] : [])).slice(0, 200);
  bundle.clock.advance(60_000);
  // Twice is once.
  await bundle.track([...buyers, ...buyers.slice(0, 20)], 'Bought');
  await bundle.attribute();
  await bundle.track(buyers.slice(10, 30), 'Bought');
  await bundle.attribute();
  expect((await learnedOf(first)).map(({ successes }) => successes)).toEqual([0, buyers.length, 0]);
  const second = await runNow();
  const sharesOf = async (runId: string) => {
    const found = await findRunShares(bundle.database, { runId, buckets: Array.from({ length: 256 }, (_, n) => n) });
    return [...found.values()];
  };
  for (const shares of await sharesOf(second)) expect(shares).toEqual([1_000, 8_000, 1_000]);
  await expectDrawn(id, second);
  const change = { request_id: 'r', updated_by: 'ada@example.com' };
  const words = { content: { default: { variation_1: { push: { android: { basic_details: { title: 'new 1' } } } } } } };
  const changed = await bundle.call('PATCH', `/v1/campaigns/${id}`, { ...change, campaign_content: words });
  expect(changed.statusCode).toBe(204);
  const third = await runNow();
  const before = (await sharesOf(third))[0]!;
  expect(Math.max(...before)).toBeLessThan(5_000);
});

const faults = async (details: object) => {
  const answer = await bundle.call('POST', '/v5/campaigns', campaign(content(details)));
  return answer.statusCode === 201 ? faultsOf(await bundle.act(answer.json().data.id, 'PUBLISH')) : faultsOf(answer);
};
const at = 'campaign_content.variation_details.';
test.each<[string, object, string]>([
  [
    'shares of its own',
    learns({ manual_distribution_percentage: { variation_1: 100 } }),
    `${at}manual_distribution_percentage cannot stand beside distribution_type SHERPA.`,
  ],
  [
    'one variation',
    learns({ no_of_variations: 1 }),
    `${at}no_of_variations must be 2 to 9 with distribution_type SHERPA.`,
  ],
  [
    'a floor of more than there is',
    learns({ sherpa_minimum_percentage: 34 }),
    `${at}sherpa_minimum_percentage must be a whole number from 0 to 33.`,
  ],
  [
    'a goal that it does not have',
    learns({ sherpa_metric: 'GOAL' }),
    `${at}sherpa_metric needs conversion_goal_details.goals.`,
  ],
  ['what else there may be', learns({ sherpa_duration: 4 }), `${at}sherpa_duration is not available in this version.`],
  [
    'a measure of shares that stay',
    { ...learns({ sherpa_metric: 'CLICKS' }), distribution_type: 'MANUAL' },
    `${at}sherpa_metric needs distribution_type SHERPA.`,
  ],
])('a campaign that learns with %s is refused by name', async (_name, details, fault) => {
  expect(await faults(details)).toContain(fault);
});
