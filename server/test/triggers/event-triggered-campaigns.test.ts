import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { changeCampaignState } from '../../src/app/campaigns/change-campaign-state.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { moveTriggers } from '../../src/storage/triggers.ts';
import { android, campaign, expectStatus, faultsOf } from '../campaigns/authoring-bundle.ts';
import { afterHours, day, did, didNot, hour, makeTriggerBundle, minute, triggered } from './trigger-bundle.ts';
import type { TriggerBundle } from './trigger-bundle.ts';

let bundle: TriggerBundle;
const bundles: TriggerBundle[] = [];
afterAll(() => Promise.all(bundles.map((one) => one.close())));
beforeEach(async () => {
  bundle ??= await makeTriggerBundle();
  if (bundles.length === 0) {
    bundles.push(bundle);
    await bundle.addDevices(12);
  }
  // What the test before left.
  await bundle.database`update campaigns set status = 'STOPPED', next_at = null where delivery_type = 'EVENT_TRIGGERED'`;
  await bundle.releaseTriggers();
  await bundle.deliver();
  bundle.clock.advance(2 * hour);
});

const ofAndroid = { basic_details: { name: 'Come back', platforms: ['ANDROID'] } };
const live = (condition: object = {}, more: Record<string, unknown> = {}) =>
  bundle.live(triggered(condition, { ...ofAndroid, ...more }));
const explain = async (id: string, customerId: string) =>
  (await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=${customerId}`)).json().data;
const users = ['user-0', 'user-3', 'user-6', 'user-9'] as const;

describe('an event', () => {
  test('starts the campaign for its user, once, and none of another name or of before the campaign', async () => {
    await bundle.track('user-3', 'Left');
    const id = await live();
    expect((await bundle.get(id)).status).toBe('ACTIVE');
    await bundle.track('user-0', 'Left');
    await bundle.track('user-6', 'Came');
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await bundle.triggers(id)).toEqual(['user-0 SENT']);
    bundle.clock.advance(1);
    await bundle.track('user-0', 'Left');
    expect(await bundle.deliverDue()).toEqual(['user-0']);
  });

  test('that is sent again is the same trigger, before and after it was sent', async () => {
    const id = await live();
    await bundle.track('user-0', 'Left');
    await bundle.track('user-0', 'Left');
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    bundle.clock.advance(minute);
    await bundle.track('user-0', 'Left', { ago: minute });
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await bundle.triggers(id)).toEqual(['user-0 SENT']);
  });

  test('starts the other campaigns where one of them cannot be released, and that one once it can be', async () => {
    const [poisoned, other] = [
      await live(),
      await live({}, { basic_details: { name: 'Other', platforms: ['ANDROID'] } }),
    ];
    const { database } = bundle;
    await database.unsafe(`
      create function poison() returns trigger language plpgsql as
        $$ begin raise exception 'a row that cannot be' using errcode = '22000'; end $$`);
    await database.unsafe(`
      create trigger poison before insert on runs for each row when (new.campaign_id = '${poisoned}') execute function poison()`);
    await bundle.track('user-0', 'Left');
    await bundle.releaseTriggers();
    expect([await bundle.triggers(poisoned), await bundle.triggers(other)]).toEqual([
      ['user-0 WAITING'],
      ['user-0 SENT'],
    ]);
    await database.unsafe('drop function poison() cascade');
    await bundle.releaseTriggers();
    expect(await bundle.triggers(poisoned)).toEqual(['user-0 WAITING']);
    bundle.clock.advance(2_000);
    await bundle.releaseTriggers();
    expect(await bundle.triggers(poisoned)).toEqual(['user-0 SENT']);
    await bundle.deliver();
  });

  test('twice in one look is two runs: each has a user once', async () => {
    const id = await live();
    await bundle.track('user-0', 'Left', { ago: 10 });
    await bundle.track('user-0', 'Left');
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await bundle.runs(id)).toHaveLength(2);
  });

  test('of an unknown customer makes the user and is no fault; one without a device is told so', async () => {
    const id = await live();
    await bundle.track('nobody-yet', 'Left');
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await bundle.triggers(id)).toEqual(['nobody-yet SENT']);
    const told = await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=nobody-yet`);
    expect(told.json().data.step).toBe('NO_DEVICE');
    expect((await bundle.runs(id))[0].status).toBe('SENT');
  });

  test('whose attributes do not pass starts nothing', async () => {
    const attributes = {
      filter_operator: 'and',
      filters: [
        { name: 'price', data_type: 'double', operator: 'greaterThan', value: 100 },
        { name: 'shop', data_type: 'string', operator: 'is', value: ['ROMA'], category: 'default' },
      ],
    };
    await live({ included_filters: { filter_operator: 'or', filters: [did('Left', { attributes }), did('Fled')] } });
    await bundle.track('user-0', 'Left', { attributes: { price: 101, shop: 'Roma' } });
    await bundle.track('user-3', 'Left', { attributes: { price: 100, shop: 'Roma' } });
    await bundle.track('user-6', 'Left', { attributes: { price: '101', shop: 'Roma' } });
    await bundle.track('user-9', 'Fled');
    expect(await bundle.deliverDue()).toEqual(['user-0', 'user-9']);
  });

  test('that comes late counts from when it happened, and too late it is dropped', async () => {
    const id = await live(afterHours(1));
    await bundle.track('user-0', 'Left', { ago: 59 * minute });
    await bundle.track('user-3', 'Left', { ago: 2 * hour });
    await bundle.track('user-6', 'Left', { ago: 2 * hour + minute });
    expect(await bundle.deliverDue()).toEqual(['user-3']);
    bundle.clock.advance(minute);
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    expect(await bundle.triggers(id)).toEqual(['user-0 SENT', 'user-3 SENT', 'user-6 DROPPED LATE']);
  });

  test('and its triggers are stored together or not at all', async () => {
    const id = await live();
    const { database } = bundle;
    await database`alter table triggers add constraint refused check (event_name <> 'Left') not valid`;
    await expect(bundle.track('user-0', 'Left')).rejects.toThrow();
    await database`alter table triggers drop constraint refused`;
    const [row] = await database`select count(*) as events from events where occurred_at = ${bundle.clock.now()}`;
    expect([row!.events, await bundle.triggers(id)]).toEqual([0, []]);
  });
});

describe('the delay', () => {
  test('is waited for, to the millisecond', async () => {
    await live(afterHours(2));
    await bundle.track('user-0', 'Left');
    bundle.clock.advance(2 * hour - 1);
    expect(await bundle.deliverDue()).toEqual([]);
    bundle.clock.advance(1);
    expect(await bundle.deliverDue()).toEqual(['user-0']);
  });

  test.each([
    ['of the event', { attributes: { leaves: '2026-03-09T12:00:00Z' } }, {}],
    ['of the user, where the event has none', {}, { leaves: Date.parse('2026-03-09T12:00:00Z') / 1000 }],
  ])('before a time that an attribute says, %s', async (_name, event, ofUser) => {
    bundle.clock.advance(Date.parse('2026-03-07T00:00:00Z') - bundle.clock.now().getTime());
    const id = await live({ ...afterHours(24), trigger_relation: 'BEFORE', trigger_attr: 'leaves' });
    await bundle.setAttribute('user-0', ofUser);
    await bundle.track('user-0', 'Left', event);
    bundle.clock.advance(Date.parse('2026-03-08T12:00:00Z') - bundle.clock.now().getTime() - 1);
    expect(await bundle.deliverDue()).toEqual([]);
    bundle.clock.advance(1);
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    await bundle.setAttribute('user-0', {});
    bundle.clock.advance(-2 * day);
    await bundle.database`update campaigns set status = 'STOPPED' where id = ${id}`;
  });

  test('after a time that says nothing, or is a year and two days ahead, drops the trigger', async () => {
    const id = await live({ trigger_attr: 'leaves' });
    const ahead = new Date(bundle.clock.now().getTime() + 367 * day).toISOString();
    await bundle.track('user-0', 'Left', { attributes: { leaves: 'soon' } });
    await bundle.track('user-3', 'Left', { attributes: { leaves: ahead } });
    await bundle.track('user-6', 'Left', { attributes: { leaves: bundle.clock.now().toISOString() } });
    expect(await bundle.deliverDue()).toEqual(['user-6']);
    expect(await bundle.triggers(id)).toEqual(['user-0 DROPPED NO_TIME', 'user-3 DROPPED TOO_FAR', 'user-6 SENT']);
  });
});

describe('secondary filters', () => {
  const secondary = (...filters: object[]) => ({
    ...afterHours(1),
    secondary_included_filters: { filter_operator: 'and', filters },
  });

  test('hold of what the user did after the event, up to the due time', async () => {
    const bought = (price: number) => ({ attributes: { price } });
    const attributes = {
      filter_operator: 'and',
      filters: [{ name: 'price', data_type: 'double', operator: 'greaterThan', value: 5 }],
    };
    const id = await live(secondary(didNot('Bought', { attributes })));
    await bundle.track('user-0', 'Bought', bought(9));
    bundle.clock.advance(1);
    for (const user of users) await bundle.track(user, 'Left');
    bundle.clock.advance(hour - 1);
    await bundle.track('user-3', 'Bought', bought(9));
    await bundle.track('user-6', 'Bought', bought(2));
    bundle.clock.advance(1);
    // At the due time itself.
    await bundle.track('user-9', 'Bought', bought(9));
    expect(await bundle.deliverDue()).toEqual(['user-0', 'user-6']);
    expect(await bundle.triggers(id)).toEqual([
      'user-0 SENT',
      'user-3 DROPPED CONDITION',
      'user-6 SENT',
      'user-9 DROPPED CONDITION',
    ]);
  });

  test('count, for each of two triggers of a user by its own span', async () => {
    const id = await live(secondary(did('Looked', { execution: { type: 'atleast', count: 2 } })));
    await bundle.track('user-0', 'Left');
    bundle.clock.advance(10 * minute);
    await bundle.track('user-0', 'Looked');
    bundle.clock.advance(10 * minute);
    await bundle.track('user-0', 'Left');
    await bundle.track('user-0', 'Looked', { ago: minute });
    bundle.clock.advance(hour);
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    expect(await bundle.triggers(id)).toEqual(['user-0 SENT', 'user-0 DROPPED CONDITION']);
  });
});

describe('the audience', () => {
  test('is looked at when the message is due: filters of users, and segments', async () => {
    const filter = { filter_type: 'user_attributes', name: 'vip', data_type: 'bool', operator: 'is', value: true };
    const segmentation_details = { included_filters: { filter_operator: 'and', filters: [filter] } };
    const id = await live(afterHours(1), { segmentation_details });
    const segmentId = await bundle.fileSegment('Friends', ['user-3']);
    const ofSegment = {
      filter_operator: 'and',
      filters: [{ filter_type: 'custom_segments', id: segmentId, name: 'Friends' }],
    };
    const other = await live(afterHours(1), { segmentation_details: { included_filters: ofSegment } });
    await bundle.track('user-0', 'Left');
    await bundle.track('user-3', 'Left');
    await bundle.setAttribute('user-0', { vip: true });
    bundle.clock.advance(hour);
    expect(await bundle.deliverDue()).toEqual(['user-0', 'user-3']);
    expect(await bundle.triggers(id)).toEqual(['user-0 SENT', 'user-3 DROPPED AUDIENCE']);
    expect(await bundle.triggers(other)).toEqual(['user-0 DROPPED AUDIENCE', 'user-3 SENT']);
  });
});

describe('a campaign', () => {
  test('that is paused takes no events; what became due meanwhile is sent after it, or dropped when too late', async () => {
    const id = await live(afterHours(1));
    await bundle.track('user-0', 'Left', { ago: 30 * minute });
    await bundle.track('user-3', 'Left');
    expectStatus(await bundle.act(id, 'PAUSE'), 200);
    await bundle.track('user-6', 'Left');
    bundle.clock.advance(hour + minute);
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await bundle.triggers(id)).toEqual(['user-0 HELD', 'user-3 HELD']);
    bundle.clock.advance(30 * minute);
    expectStatus(await bundle.act(id, 'RESUME'), 200);
    expect(await bundle.deliverDue()).toEqual(['user-3']);
    expect(await bundle.triggers(id)).toEqual(['user-0 DROPPED LATE', 'user-3 SENT']);
    await bundle.track('user-9', 'Left', { ago: hour });
    expect(await bundle.deliverDue()).toEqual(['user-9']);
  });

  test('that is stopped sends nothing more, also what its pause held', async () => {
    const id = await live(afterHours(1));
    const stop = (action: 'pause' | 'stop') =>
      changeCampaignState(bundle, {
        workspaceId: bundle.workspaceId,
        campaignId: id,
        action,
        actor: { kind: 'system', name: 'test' },
      });
    await bundle.track('user-0', 'Left', { ago: hour });
    await bundle.track('user-3', 'Left');
    expect(await stop('pause')).toMatchObject({ kind: 'changed' });
    await bundle.releaseTriggers();
    expect(await stop('stop')).toEqual({ kind: 'changed', status: 'STOPPED' });
    bundle.clock.advance(hour);
    await bundle.track('user-6', 'Left');
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await bundle.triggers(id)).toEqual(['user-0 DROPPED CAMPAIGN_OVER', 'user-3 DROPPED CAMPAIGN_OVER']);
  });

  test('has a start and an end: events of before and after start nothing, and it retires', async () => {
    const now = bundle.clock.now().getTime();
    const iso = (milliseconds: number) => new Date(now + milliseconds).toISOString().replace(/\.\d+/, '');
    const scheduling_details = { delivery_type: 'AT_FIXED_TIME', start_time: iso(hour), expiry_time: iso(2 * hour) };
    const id = await live({}, { scheduling_details });
    await bundle.track('user-0', 'Left');
    bundle.clock.advance(hour);
    await bundle.track('user-3', 'Left');
    expect(await bundle.deliverDue()).toEqual(['user-3']);
    bundle.clock.advance(hour);
    await bundle.track('user-6', 'Left');
    await bundle.fire();
    expect([await bundle.deliverDue(), (await bundle.get(id)).status]).toEqual([[], 'RETIRED']);
    expect(await bundle.triggers(id)).toEqual(['user-3 SENT']);
  });

  test('sends what waits by its newest version, whose condition is that of the first', async () => {
    await bundle.database`update workspaces set campaign_versioning = true where id = ${bundle.workspaceId}`;
    const id = await live(afterHours(1));
    await bundle.track('user-0', 'Left');
    const refused = await bundle.call('PATCH', `/core-services/v1/campaigns/${id}`, {
      ...{ request_id: 'edit-1', updated_by: 'ada', trigger_condition: { trigger_delay_value: 3 } },
    });
    expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('trigger_condition')]);
    const content = { push: { android: { ...android, basic_details: { ...android.basic_details, title: 'Second' } } } };
    const edited = await bundle.call('PATCH', `/core-services/v1/campaigns/${id}`, {
      ...{ request_id: 'edit-2', updated_by: 'ada', campaign_content: { content } },
    });
    expectStatus(edited, 204);
    await bundle.track('user-3', 'Left');
    bundle.clock.advance(hour);
    expect(await bundle.deliverDue()).toEqual(['user-0', 'user-3']);
    expect(bundle.messages.map((message: any) => message.content.title)).toEqual(['Second', 'Second']);
    const executions = await bundle.call('POST', `/v5/campaigns/${id}/executions`, {
      request_id: 'r',
      limit: 15,
      page: 1,
    });
    expect(executions.json().data.total_instances).toBe(1);
    await bundle.database`update workspaces set campaign_versioning = false where id = ${bundle.workspaceId}`;
  });
});

describe('what holds for every campaign', () => {
  test('a control group gets nothing, is counted and told; the others are compared with it', async () => {
    const control_group_details = { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 50 };
    const id = await live({}, { control_group_details });
    for (const user of users) await bundle.track(user, 'Left');
    const sent = await bundle.deliverDue();
    const [run] = await bundle.runs(id);
    const told = await Promise.all(users.map((user) => explain(id, user)));
    const left = users.filter((_user, index) => told[index].step === 'CAMPAIGN_CONTROL_GROUP');
    expect([...sent, ...left].sort()).toEqual([...users]);
    const groups = run.group_users.map(({ group, users: count }: any) => [group, count]);
    expect(groups.reduce((sum: number, [, count]: [unknown, number]) => sum + count, 0)).toBe(4);
    expect(groups.find(([group]: [string]) => group === 'CAMPAIGN_CONTROL_GROUP')?.[1] ?? 0).toBe(left.length);
    expect(run.audience_users).toBe(4);
  });

  test('texts say what the event of each user said, and without the value the user gets nothing', async () => {
    const basic_details = { ...android.basic_details, title: "{{ EventAttribute['shop'] }} waits" };
    const more = { campaign_content: { content: { push: { android: { ...android, basic_details } } } } };
    const id = await live({}, more);
    await bundle.track('user-0', 'Left', { attributes: { shop: 'Roma' } });
    await bundle.track('user-3', 'Left', { attributes: { shop: 'Pisa' } });
    await bundle.track('user-6', 'Left');
    expect(await bundle.deliverDue()).toEqual(['user-0', 'user-3']);
    expect(bundle.messages.map((message: any) => message.content.title).sort()).toEqual(['Pisa waits', 'Roma waits']);
    expect((await explain(id, 'user-6')).runs[0].devices[0].code).toBe('TEMPLATE_EVENT_ATTRIBUTE');
    const other = await bundle.draft({ ...ofAndroid, ...more });
    expect(faultsOf(await bundle.act(other, 'PUBLISH'))).toEqual([
      expect.stringContaining('reads EventAttribute, which has values in campaigns of type EVENT_TRIGGERED'),
    ]);
  });

  test('its own limit of messages to a user is kept over its runs', async () => {
    const limit_send_config = { enabled: true, max_count: 1, window_value: 1, window_unit: 'HOURS' };
    const id = await live({}, { delivery_controls: { limit_send_config } });
    await bundle.track('user-0', 'Left');
    expect(await bundle.deliverDue()).toEqual(['user-0']);
    bundle.clock.advance(minute);
    await bundle.track('user-0', 'Left');
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await bundle.triggers(id)).toEqual(['user-0 SENT', 'user-0 SENT']);
    bundle.clock.advance(hour);
    await bundle.track('user-0', 'Left');
    expect(await bundle.deliverDue()).toEqual(['user-0']);
  });

  test('one throttle for all its runs', async () => {
    await live({}, { delivery_controls: { campaign_throttle_rpm: 60 } });
    await bundle.track('user-0', 'Left');
    await bundle.track('user-3', 'Left');
    await bundle.releaseTriggers();
    await bundle.track('user-6', 'Left');
    await bundle.releaseTriggers();
    while ((await bundle.release()) > 0);
    const budgets = await bundle.database`
      select count(*) as runs, count(distinct runs.devices_per_minute) as rates from runs where status = 'SENDING'`;
    expect(budgets[0]).toEqual({ runs: 2, rates: 1 });
    bundle.sent.length = 0;
    const workers = bundle.startWorkers();
    for (let seconds = 0; seconds < 10; seconds += 1) {
      for (const { id } of await bundle.database<{ id: string }[]>`select id from runs where status = 'SENDING'`)
        await bundle.settled(id, [workers]);
      // The budget fills from nothing.
      expect(bundle.sent.length).toBeLessThanOrEqual(seconds);
      bundle.clock.advance(1000);
    }
    await workers.stop();
    expect(bundle.sent).toHaveLength(3);
  });

  test('who is merged gets what was to come as the retained user', async () => {
    const id = await live(afterHours(1));
    await bundle.track('leaver', 'Left');
    const { database, workspaceId } = bundle;
    const keyOf = async (customerId: string) => {
      const [bucket, userId] = await bundle.userOf(customerId);
      return { bucket, userId };
    };
    const [from, to] = [await keyOf('leaver'), await keyOf('user-3')];
    await inTransaction(database, (tx) => moveTriggers(tx, { workspaceId, from, to }));
    expect(await bundle.triggers(id)).toEqual(['user-3 WAITING']);
    bundle.clock.advance(hour);
    expect(await bundle.deliverDue()).toEqual(['user-3']);
  });
});

describe('explain', () => {
  test('names what the events of a user became, and says who has none', async () => {
    const id = await live(afterHours(1));
    await bundle.track('user-0', 'Left', { ago: hour });
    bundle.clock.advance(minute);
    await bundle.deliverDue();
    await bundle.track('user-0', 'Left');
    const told = await explain(id, 'user-0');
    expect(told).toMatchObject({
      step: 'ACCEPTED',
      runs: [{ step: 'ACCEPTED' }],
      triggers: [
        { event_name: 'Left', state: 'WAITING', run_id: null, reason: null },
        { event_name: 'Left', state: 'SENT', run_id: (await bundle.runs(id))[0].id },
      ],
    });
    expect(told.triggers[0].explanation).toMatch(/^"Left" at .* is due at /);
    expect(await explain(id, 'user-3')).toMatchObject({
      ...{ step: 'NO_RUN', explanation: 'No event of the person has started the campaign.', runs: [], triggers: [] },
    });
    const asked = await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=user-3&run_id=${told.runs[0].id}`);
    expect(asked.json().data.step).toBe('NOT_IN_AUDIENCE');
  });
});

describe('refused by name', () => {
  const filters = (...list: object[]) => ({ filter_operator: 'and', filters: list });
  const refused = async (condition: object, more: Record<string, unknown> = {}) =>
    faultsOf(await bundle.call('POST', '/v5/campaigns', campaign(triggered(condition, { ...ofAndroid, ...more }))));
  test.each<[string, object, string]>([
    ['trigger_delay_type', { trigger_delay_type: 'INTELLIGENT_DELAY' }, 'must be one of ASAP, DELAY in this version'],
    ['intelligent_delay_optimization', { intelligent_delay_optimization: { x: 1 } }, ''],
    ['trigger_delay_value', { ...afterHours(721) }, 'from 1 to 720'],
    ['trigger_delay_value', { trigger_delay_value: 1 }, 'needs trigger_delay_type DELAY'],
    ['trigger_relation', { ...afterHours(1), trigger_relation: 'BEFORE' }, 'needs trigger_attr'],
    [
      'secondary_included_filters',
      { secondary_included_filters: filters(didNot('Bought')) },
      'needs trigger_delay_type',
    ],
    ['included_filters', { included_filters: filters(did('A'), did('B')) }, 'must be or'],
    ['included_filters', { included_filters: filters(didNot('A')) }, 'must be atleast 1'],
    ['included_filters', { included_filters: filters({ filter_type: 'user_attributes' }) }, 'must be actions'],
    [
      'included_filters',
      { included_filters: filters(did('A', { primary_time_range: { type: 'on' } })) },
      'must be absent',
    ],
  ])('%s: %j', async (field, condition, words) => {
    const told = (await refused(condition)).find((fault) => fault.includes(words))!;
    expect(told).toBeDefined();
    expect(
      JSON.stringify((await bundle.call('POST', '/v5/campaigns', campaign(triggered(condition, ofAndroid)))).json()),
    ).toContain(`trigger_condition.${field}`);
  });

  test('not members that nobody knows: twenty of them are named, however many there are (decision D5)', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`unknown_${index}`, index]));
    const condition = { included_filters: { filter_operator: 'or', filters: [did('Left', unknown)] } };
    const answer = await bundle.call('POST', '/v5/campaigns', campaign(triggered(condition, ofAndroid)));
    expect(answer.statusCode).toBe(201);
    expect(String(answer.headers['x-svc-warning']).match(/unknown field "/g)).toHaveLength(20);
  });

  test('a trigger of another type of campaign, a learned variation, and a zone of each user', async () => {
    expect(await refused({}, { campaign_delivery_type: 'ONE_TIME' })).toEqual([
      expect.stringContaining('is for campaigns of type EVENT_TRIGGERED'),
    ]);
    const scheduling_details = { delivery_type: 'SEND_IN_USER_TIMEZONE', start_time: '2027-01-01T10:00:00' };
    expect(await refused({}, { scheduling_details })).toEqual([
      expect.stringContaining('must be ASAP or AT_FIXED_TIME'),
    ]);
  });
});

describe('each trigger is in one run', () => {
  test('of two nodes that release at once, and of workers one of which dies', async () => {
    const id = await live();
    for (const user of users) await bundle.track(user, 'Left');
    await Promise.all([bundle.releaseTriggers(), bundle.releaseTriggers(), bundle.releaseTriggers()]);
    while ((await bundle.release()) > 0);
    bundle.sent.length = 0;
    // Its worker dies with the chunk in its hands.
    expect(await bundle.claim('dead')).toBeDefined();
    bundle.clock.advance(2 * minute);
    await Promise.all([
      bundle.work({ owner: 'one', windowDevices: 2 }),
      bundle.work({ owner: 'other', windowDevices: 2 }),
    ]);
    expect(bundle.sent.map(({ pushId }) => pushId).sort()).toEqual(users.map((user) => `push-${user}`));
    expect(await bundle.triggers(id)).toEqual(users.map((user) => `${user} SENT`));
  });

  test('a release that dies leaves them waiting', async () => {
    const id = await live();
    await bundle.track('user-0', 'Left');
    const { database } = bundle;
    await database`alter table runs add constraint refused check (status <> 'QUEUED') not valid`;
    await bundle.releaseTriggers();
    await database`alter table runs drop constraint refused`;
    expect(await bundle.triggers(id)).toEqual(['user-0 WAITING']);
    bundle.clock.advance(2_000);
    expect(await bundle.deliverDue()).toEqual(['user-0']);
  });
});
