import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { controlGroups } from '../../src/domain/experiments/control-groups.ts';
import { rateInterval } from '../../src/domain/experiments/learning.ts';
import { freezeShares } from '../../src/engine/fan-out/experiments.ts';
import { addLearned, findRunShares } from '../../src/storage/campaigns/variations.ts';
import { android, campaign, expectStatus, faultsOf } from '../campaigns/authoring-bundle.ts';
import { makeExperimentBundle } from './experiment-bundle.ts';
import type { ExperimentBundle } from './experiment-bundle.ts';
import { contentIn, makeVariationBundle, shares } from './variation-bundle.ts';
import type { VariationBundle } from './variation-bundle.ts';

describe('learning', () => {
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

  const learnedOf = (runId: string) => bundle.database<{ variation: number; trials: number; successes: number }[]>`
    select variation, sum(trials)::int as trials, sum(successes)::int as successes from run_variations
    where run_id = ${runId} group by variation order by variation`;

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
    const before =
      await bundle.database`select * from run_variations where run_id = ${runId} order by bucket, variation`;
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
    const after =
      await bundle.database`select * from run_variations where run_id = ${runId} order by bucket, variation`;
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
    const words = {
      content: { default: { variation_1: { push: { android: { basic_details: { title: 'new 1' } } } } } },
    };
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
      `${at}manual_distribution_percentage cannot be combined with distribution_type SHERPA.`,
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
    [
      'what else there may be',
      learns({ sherpa_duration: 4 }),
      `${at}sherpa_duration is not available in this version.`,
    ],
    [
      'a measure of shares that stay',
      { ...learns({ sherpa_metric: 'CLICKS' }), distribution_type: 'MANUAL' },
      `${at}sherpa_metric needs distribution_type SHERPA.`,
    ],
  ])('a campaign that learns with %s is refused by name', async (_name, details, fault) => {
    expect(await faults(details)).toContain(fault);
  });

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
});

describe('a campaign with control groups', () => {
  const phones = 400;
  let bundle: ExperimentBundle;
  beforeAll(async () => {
    bundle = await makeExperimentBundle();
    await bundle.addPhones(phones);
  });
  afterAll(() => bundle.close());

  async function setControlGroup(controlGroup: string): Promise<void> {
    const changes = parseControls({ controlGroup } as never);
    await changeWorkspace(bundle, { id: bundle.workspaceId, ...changes } as never);
  }
  const groups = (more: object) => ({ control_group_details: more });
  const both = groups({
    is_campaign_control_group_enabled: true,
    campaign_control_group_percentage: 30,
    is_global_control_group_enabled: true,
  });
  const goals = {
    conversion_goal_details: { goals: [{ goal_name: 'Bought', goal_event_name: 'Bought', is_primary_goal: true }] },
  };

  /** Who is in which group, counted by SQL alone, from the definition in docs/decisions. */
  async function drawnBySql(campaignId: string): Promise<Map<string, string | null>> {
    const point = (name: string) => bundle.database`
      ('x' || encode(substring(sha256(convert_to(${`${name} `}::text || users.id, 'UTF8')) from 1 for 4), 'hex'))::bit(32)::bigint`;
    const rows = await bundle.database<{ customer: string; group: string | null }[]>`
      select customer_id as customer, case
        when ${point(`global-control ${bundle.workspaceId}`)} < 10 * 4294967296 / 100 then 'GLOBAL_CONTROL_GROUP'
        when ${point(`campaign-control ${campaignId}`)} < 30 * 4294967296 / 100 then 'CAMPAIGN_CONTROL_GROUP' end as "group"
      from users`;
    return new Map(rows.map(({ customer, group }) => [customer, group]));
  }

  const ledgerOf = async (campaignId: string) =>
    new Map(
      (
        await bundle.database`
          select users.customer_id as customer, deliveries.outcome, deliveries.code
          from readable_deliveries as deliveries join users on users.id = deliveries.user_id
          where deliveries.campaign_id = ${campaignId}`
      ).map((row) => [row.customer as string, [row.outcome, row.code]]),
    );

  test('keeps them out in the ledger with the group as the reason, and sends to everybody else', async () => {
    await setControlGroup('10');
    const id = await bundle.live({ ...both, ...goals });
    const drawn = await drawnBySql(id);
    const sent = await bundle.deliver();
    expect(sent).toEqual([...drawn].flatMap(([customer, group]) => (group === null ? [customer] : [])).sort());
    const ledger = await ledgerOf(id);
    expect(ledger.size).toBe(phones);
    for (const [customer, group] of drawn)
      expect(ledger.get(customer), customer).toEqual(group === null ? ['ACCEPTED', null] : ['WITHHELD', group]);
    const sizes = controlGroups.map((wanted) => [...drawn.values()].filter((group) => group === wanted).length);
    // 10 % of 400, and 30 % of the rest, within three standard errors.
    expect(Math.abs(sizes[0]! - 40)).toBeLessThan(19);
    expect(Math.abs(sizes[1]! - 108)).toBeLessThan(28);
    expect((await bundle.get(id)).status).toBe('SENT');

    const figures = await bundle.variations(id);
    expect(figures.all_variations).toMatchObject({
      performance_stats: { attempted: sent.length, sent: sent.length, failed: 0, eligible_users: sent.length },
      failure_breakdown: {
        user_removed_due_to_global_control_group: sizes[0],
        user_removed_due_to_campaing_control_group: sizes[1],
      },
    });
    expect(figures.global_control_group.performance_stats).toEqual({ eligible_users: sizes[0] });
    expect(figures.campaign_control_group.performance_stats).toEqual({ eligible_users: sizes[1] });

    for (const wanted of controlGroups) {
      const [customer] = [...drawn].find(([, group]) => group === wanted)!;
      const explained = await bundle.explain(id, customer);
      expect(explained).toMatchObject({
        step: wanted,
        runs: [{ devices: [{ step: wanted, code: wanted, attempts: 0 }] }],
      });
      expect(explained.explanation).toContain('control group');
    }
  });

  test('has an uplift of its goals over its own control group, of everybody it was meant for', async () => {
    const id = await bundle.live({ ...both, ...goals });
    const drawn = await drawnBySql(id);
    const members = (wanted: string | null) =>
      [...drawn].flatMap(([customer, group]) => (group === wanted ? [customer] : []));
    const [treated, control, global] = [
      members(null),
      members('CAMPAIGN_CONTROL_GROUP'),
      members('GLOBAL_CONTROL_GROUP'),
    ];
    // One whom the message does not reach buys all the same: such users are in both sides.
    const unreached = treated[0]!;
    bundle.answer(({ pushId }) =>
      pushId === `push-${unreached}` ? { kind: 'rejected', code: 'TOO_BIG', detail: '' } : { kind: 'accepted' },
    );
    await bundle.deliver();
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.clock.advance(60_000);
    await bundle.track([...treated.slice(0, 61), treated[1]!, ...control.slice(0, 10), global[0]!], 'Bought');
    await bundle.attribute();
    const figures = await bundle.variations(id);
    const rate = 61 / treated.length / (10 / control.length);
    const error = Math.sqrt(1 / 61 - 1 / treated.length + 1 / 10 - 1 / control.length);
    const percent = (share: number) => Math.round(share * 10_000) / 100;
    expect(figures.all_variations.conversion_goal_stats.Bought).toEqual({
      // Of those whom the message reached: all but one, one of them twice.
      ...{ conversions: 61, total: 61, unique: 60 },
      cvr: percent(61 / treated.length),
      cvr_low: percent(rateInterval({ successes: 61, trials: treated.length })!.low),
      cvr_high: percent(rateInterval({ successes: 61, trials: treated.length })!.high),
      uplift: percent(rate - 1),
      uplift_low: percent(rate / Math.exp(1.959963984540054 * error) - 1),
      uplift_high: percent(rate * Math.exp(1.959963984540054 * error) - 1),
    });
    expect(figures.campaign_control_group.conversion_goal_stats.Bought).toEqual({
      ...{ conversions: 10, total: 10, unique: 10 },
      cvr: percent(10 / control.length),
    });
    expect(figures.global_control_group.conversion_goal_stats.Bought).toMatchObject({ total: 1, unique: 1 });
    const unknown = await bundle.variations(id, { attribution: 'VIEW_THROUGH' });
    expect(unknown.all_variations.conversion_goal_stats.Bought).not.toHaveProperty('uplift');
  });

  test('keeps the same users out when a worker dies with a window on its way, and keeps the share its run began with', async () => {
    const id = await bundle.live(both);
    const drawn = await drawnBySql(id);
    while ((await bundle.release()) > 0);
    const [{ id: runId }] = await bundle.runs(id);
    const [run, chunk] = [await bundle.run(runId), (await bundle.claim('first'))!];
    const before = bundle.sent.length;
    bundle.answer(() => new Promise(() => {}));
    void bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
    while (bundle.sent.length === before) await new Promise((resolve) => setTimeout(resolve, 2));
    await setControlGroup('50');
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.clock.advance(61_000);
    await Promise.all([
      bundle.work({ owner: 'second', windowDevices: 7 }),
      bundle.work({ owner: 'third', windowDevices: 11 }),
    ]);
    while ((await bundle.end()) > 0);
    await setControlGroup('10');
    const ledger = await ledgerOf(id);
    const kept = [...ledger].flatMap(([customer, [outcome, code]]) =>
      outcome === 'WITHHELD' ? [[customer, code]] : [],
    );
    expect(kept.sort()).toEqual([...drawn].filter(([, group]) => group !== null).sort());
    expect(ledger.size).toBe(phones);
  });

  test('counts a user of two phones once, and those of a segment alone', async () => {
    const names = Array.from({ length: 60 }, (_, number) => `user-${number}`);
    const segment = await bundle.fileSegment('Some', names);
    await bundle.database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
        created_at, updated_at)
      select workspace_id, bucket, left(id, 16) || translate(right(id, 8), '0123456789abcdef', '123456789abcdef0'), user_id,
        'tablet', platform, push_id || '-2', state, registered_at, created_at, updated_at
      from devices where push_id in ('push-user-0', 'push-user-1')`;
    const filter = { filter_type: 'custom_segments', id: segment, name: 'Some' };
    const id = await bundle.live({
      ...groups({ is_campaign_control_group_enabled: true, campaign_control_group_percentage: 40 }),
      segmentation_details: { included_filters: { filter_operator: 'and', filters: [filter] } },
    });
    await bundle.deliver();
    const figures = await bundle.variations(id);
    const [sent, control] = [figures.all_variations, figures.campaign_control_group].map(
      ({ performance_stats }) => performance_stats.eligible_users,
    );
    expect(sent + control).toBe(60);
    expect(figures.global_control_group).toBeUndefined();
    const [row] = await bundle.database`
      select count(distinct user_id) filter (where outcome = 'ACCEPTED') as sent,
        count(distinct user_id) filter (where code = 'CAMPAIGN_CONTROL_GROUP') as control
      from readable_deliveries where campaign_id = ${id}`;
    expect([sent, control]).toEqual([row!.sent, row!.control]);
    await bundle.database`delete from devices where device_id = 'tablet'`;
  });

  test('leaves nobody out of a test of it', async () => {
    const all = groups({ is_campaign_control_group_enabled: true, campaign_control_group_percentage: 100 });
    const body = {
      ...campaign({ ...all, campaign_content: { content: { push: { android } } } }),
      test_campaign_meta: { identifier: 'uid', identifier_values: ['user-1'] },
    };
    expectStatus(await bundle.call('POST', '/v5/campaigns/test', body), 200);
    expect(await bundle.deliver()).toEqual(['user-1']);
  });

  test('says what is missing of it', async () => {
    const refused = async (more: object) => {
      const answer = await bundle.call('POST', '/v5/campaigns', campaign(groups(more)));
      return answer.statusCode === 201
        ? faultsOf(await bundle.act(answer.json().data.id, 'PUBLISH'))
        : faultsOf(answer);
    };
    expect(await refused({ is_campaign_control_group_enabled: true })).toEqual([
      'control_group_details.campaign_control_group_percentage is required.',
    ]);
    expect(await refused({ campaign_control_group_percentage: 5 })).toEqual([
      'control_group_details.campaign_control_group_percentage needs is_campaign_control_group_enabled.',
    ]);
    expect(await refused({ is_campaign_control_group_enabled: true, campaign_control_group_percentage: 101 })).toEqual([
      'control_group_details.campaign_control_group_percentage must be a whole number from 0 to 100.',
    ]);
    await setControlGroup('none');
    expect(await refused({ is_global_control_group_enabled: true })).toEqual([
      'control_group_details.is_global_control_group_enabled needs a control group of the workspace: carillon workspaces set --control-group.',
    ]);
    expect(() => parseControls({ controlGroup: '51' } as never)).toThrow('The control group is 1 to 50 percent');
  });
});

describe('requested variants', () => {
  let bundle: VariationBundle;
  beforeAll(async () => {
    bundle = await makeVariationBundle();
    await bundle.addPhones(12);
    await bundle.setAttribute('user-1', { locale: 'pt_BR' });
    await bundle.setAttribute('user-2', { locale: 'zh-TW' });
    await bundle.setAttribute('user-3', { locale: 'de' });
    await bundle.database`update devices set locale = 'pt-BR' where push_id = 'push-user-3'`;
    await bundle.setAttribute('user-4', { locale: 'nothing of a language' });
  });
  afterAll(() => bundle.close());

  const content = (more: object) => ({ campaign_content: more });
  const three = ['default', 'pt', 'de'];

  describe('the language of a user', () => {
    test('is the device’s, else the attribute’s, from the exact tag to the language to the default', async () => {
      const locales = ['default', 'pt', 'pt-BR', 'zh-Hant', 'de'];
      await bundle.live(content({ locales, content: contentIn(locales, 1) }));
      await bundle.deliver();
      const titles = bundle.titles();
      const of = (customer: string) => titles.get(customer);
      expect(['user-0', 'user-1', 'user-2', 'user-3', 'user-4'].map(of)).toEqual([
        ...['default 1', 'pt-BR 1', 'zh-Hant 1', 'pt-BR 1', 'default 1'],
      ]);
      // Without Brazilian words those of Portuguese are closest.
      const id = await bundle.live(content({ content: contentIn(three, 1) }));
      await bundle.deliver();
      expect(['user-1', 'user-3'].map((customer) => bundle.titles().get(customer))).toEqual(['pt 1', 'pt 1']);
      expect(bundle.messages.map(({ language }) => language).sort()).toEqual([
        'pt',
        'pt',
        ...new Array(10).fill(undefined),
      ]);
      const figures = await bundle.locales(id);
      expect(Object.keys(figures).sort()).toEqual(['all_locale', 'all_locales', 'de', 'default', 'pt']);
      expect(figures.pt.variations.all_variations.performance_stats.sent).toBe(2);
      expect(Object.keys(figures.pt.variations)).toEqual(['all_variations']);
      expect((await bundle.explain(id, 'user-1')).runs[0].devices[0]).toMatchObject({ variation: null, locale: 'pt' });
    });
  });

  describe('campaign_content with variations', () => {
    test('is stored and shown as it was sent, in V5 and V1', async () => {
      const sent = { variation_details: shares(60, 40), content: contentIn(three, 2) };
      const id = await bundle.live({ ...content(sent), basic_details: { name: 'Varied', platforms: ['ANDROID'] } });
      expect((await bundle.get(id)).campaign_content).toEqual(sent);
      const v1 = await bundle.call('POST', '/v1/campaigns', {
        request_id: 'v1-varied',
        ...campaign({ ...content(sent), delivery_controls: {}, advanced: {} }),
      });
      expectStatus(v1, 201);
      expect((await bundle.row(v1.json().campaign_id)).variants).toMatchObject({
        locales: three,
        percents: [60, 40],
      });
      await bundle.deliver();
      // Both campaigns draw for themselves.
      expect(bundle.sent).toHaveLength(24);
    });

    const faults = async (more: object): Promise<string[]> => {
      const answer = await bundle.call('POST', '/v5/campaigns', campaign(content(more)));
      return answer.statusCode === 201
        ? faultsOf(await bundle.act(answer.json().data.id, 'PUBLISH'))
        : faultsOf(answer);
    };
    const flat = { push: { android } };
    const two = contentIn(['default'], 2);

    test.each<[string, object, string]>([
      [
        'shares that are not 100',
        { variation_details: shares(60, 30), content: two },
        'variation_details.manual_distribution_percentage must be 100 together.',
      ],
      [
        'no shares',
        { variation_details: { no_of_variations: 2 }, content: two },
        'variation_details.manual_distribution_percentage is required.',
      ],
      [
        'a share of another',
        { variation_details: { ...shares(50, 50), no_of_variations: 1 }, content: contentIn(['default'], 1) },
        'variation_details.manual_distribution_percentage.variation_2 must be variation_1.',
      ],
      [
        'ten variations',
        { variation_details: shares(...new Array<number>(10).fill(10)), content: contentIn(['default'], 10) },
        'variation_details.no_of_variations must be a whole number from 1 to 9.',
      ],
      [
        'several of a flat content',
        { variation_details: shares(50, 50), content: flat },
        'variation_details.no_of_variations must be 1 for content.push.',
      ],
      [
        'locales of a flat content',
        { locales: ['default', 'de'], content: flat },
        'locales must name the locales of content, and no others.',
      ],
      [
        'a variation without content',
        { variation_details: shares(50, 50), content: { default: { variation_1: { push: { android } } } } },
        'content.default.variation_2.push is required.',
      ],
      [
        'a variation too many',
        { content: contentIn(['default'], 2) },
        'content.default.variation_2 must be variation_1.',
      ],
      ['no default', { content: contentIn(['de'], 1) }, 'content.default.variation_1.push is required.'],
      [
        'no language tag',
        { content: contentIn(['default', 'b@d'], 1) },
        'content.b@d must be push, default, or a language tag.',
      ],
      ['a language twice', { content: contentIn(['default', 'pt-br', 'pt-BR'], 1) }, 'content.pt-BR is given twice.'],
      [
        'other locales than it has',
        { locales: ['default', 'fr'], content: contentIn(three, 1) },
        'locales must name the locales of content, and no others.',
      ],
      [
        'texts in languages twice',
        {
          content: {
            ...contentIn(['default'], 1),
            de: { variation_1: { push: { android, locales: { de: { android: { title: 'T', message: 'M' } } } } } },
          },
        },
        'content.de.variation_1.push.locales cannot be combined with campaign_content.locales.',
      ],
    ])('%s is refused by name', async (_name, more, fault) => {
      expect((await faults(more)).map((text) => text.replace('campaign_content.', ''))).toContain(fault);
    });

    test('names unknown fields in each of its contents, and none of its own', async () => {
      const answer = await bundle.call(
        'POST',
        '/v5/campaigns',
        campaign(
          content({
            variation_details: shares(50, 50),
            content: {
              default: {
                variation_1: { push: { android: { ...android, odd: 1 } } },
                variation_2: { push: { android } },
              },
            },
          }),
        ),
      );
      expect(answer.headers['x-svc-warning']).toBe(
        'unknown field "campaign_content.content.default.variation_1.push.android.odd"',
      );
    });
  });

  describe('a test and a preview of a campaign with variations', () => {
    const varied = content({ variation_details: shares(50, 50), content: contentIn(three, 2) });
    const inline = (more: object) => ({ channel: 'PUSH', ...varied, ...more });
    const meta = (more: object) => ({
      test_campaign_meta: { identifier: 'uid', identifier_values: ['user-0', 'user-1'], ...more },
    });

    test('is sent of the variation asked for, to each person in their own language or in the one asked for', async () => {
      const sendTest = async (more: object) => {
        expectStatus(await bundle.call('POST', '/v5/campaigns/test', inline(meta(more))), 200);
        await bundle.deliver();
        return ['user-0', 'user-1'].map((customer) => bundle.titles().get(customer));
      };
      expect(await sendTest({})).toEqual(['default 1', 'pt 1']);
      const [last] = await bundle.database`select id from runs order by created_at desc, id desc limit 1`;
      const noted = await bundle.database`
        select locale from readable_deliveries as deliveries where run_id = ${last!.id} order by locale`;
      expect(noted.map(({ locale }) => locale)).toEqual(['default', 'pt']);
      expect(await sendTest({ variation: 'variation_2' })).toEqual(['default 2', 'pt 2']);
      expect(await sendTest({ variation: 2, locale_name: 'de' })).toEqual(['de 2', 'de 2']);
      expect(await sendTest({ locale_name: 'DEFAULT' })).toEqual(['default 1', 'default 1']);
    });

    test('is rendered so, too', async () => {
      const show = async (more: object) => {
        const named = { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_value: 'user-1' };
        const answer = await bundle.call('POST', '/v5/campaigns/preview', inline({ ...named, ...more }));
        expectStatus(answer, 200);
        const { language, content: shown } = answer.json().data.platforms.android;
        return [language, shown.basic_details.title];
      };
      expect(await show({})).toEqual(['pt', 'pt 1']);
      expect(await show({ variation: 'variation_2' })).toEqual(['pt', 'pt 2']);
      expect(await show({ variation: '2', locale_name: 'de' })).toEqual(['de', 'de 2']);
      expect(await show({ locale_name: 'default' })).toEqual([undefined, 'default 1']);
    });

    test.each([
      [{ variation: 'variation_3' }, 'test_campaign_meta.variation is not among the variations of campaign_content.'],
      [{ variation: 'second' }, 'test_campaign_meta.variation must be variation_1, variation_2 ….'],
      [{ locale_name: 'fr' }, 'test_campaign_meta.locale_name is not among the locales of campaign_content.'],
    ])('of %j is refused', async (more, fault) => {
      expect(faultsOf(await bundle.call('POST', '/v5/campaigns/test', inline(meta(more))))).toEqual([fault]);
    });
  });
});
