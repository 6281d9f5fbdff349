import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { controlGroups } from '../../src/domain/experiments/control-groups.ts';
import { rateInterval } from '../../src/domain/experiments/learning.ts';
import { android, campaign, expectStatus, faultsOf } from '../campaigns/authoring-bundle.ts';
import { makeExperimentBundle } from './experiment-bundle.ts';
import type { ExperimentBundle } from './experiment-bundle.ts';

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
