import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeCampaignState } from '../../src/app/campaigns/change-campaign-state.ts';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { matchAttributes } from '../../src/domain/events/triggers.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { hasDueWork } from '../../src/storage/installation/queues.ts';
import { moveTriggers } from '../../src/storage/triggers.ts';
import { android, campaign, expectStatus, faultsOf } from '../campaigns/authoring-bundle.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { contentIn, shares } from '../experiments/variation-bundle.ts';
import { propertyRuns } from '../property-runs.ts';
import { evaluateSegmentFilter } from '../segments/evaluate-segment-filter.ts';
import { at, attribute, filterOf, group, parsed, stored } from '../segments/filter-arbitraries.ts';
import { afterHours, day, did, didNot, hour, makeTriggerBundle, minute, triggered } from './trigger-bundle.ts';
import type { TriggerBundle } from './trigger-bundle.ts';

describe('event-triggered campaigns', () => {
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
      const content = {
        push: { android: { ...android, basic_details: { ...android.basic_details, title: 'Second' } } },
      };
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
        ...{
          step: 'NO_RUN',
          explanation: expect.stringMatching(/^No event of the person has started the campaign\./),
          runs: [],
          triggers: [],
        },
      });
      const asked = await bundle.call(
        'GET',
        `/v5/campaigns/${id}/explain?customer_id=user-3&run_id=${told.runs[0].id}`,
      );
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
});

describe('what an event starts', () => {
  /* A whole node, whose simulated phones get what events start; its clock stands, and is moved to where something is due. */
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    await move({ freeze: true });
  });
  afterAll(() => bundle.stop());
  beforeEach(async () => {
    await setControls({ quietHours: 'none', frequencyCaps: 'none' });
    await emptyInbox();
    event = `Left ${expect.getState().currentTestName!.length}`;
  });

  const move = (body: object) => bundle.call('POST', '/sandbox/clock', { body });
  const setControls = (texts: object) =>
    changeWorkspace(bundle, { id: bundle.workspaceId, ...parseControls(texts as never) } as never);

  /** Each test has an event of its own: the campaigns of the others listen on. */
  let event = '';
  const act = (customer_id: string) =>
    post(`/v1/event/${bundle.workspaceId}`, { type: 'event', customer_id, actions: [{ action: event }] });
  const merge = (merged_user: string, retained_user: string) =>
    post(`/v1/customer/merge?app_id=${bundle.workspaceId}`, { merge_data: [{ merged_user, retained_user }] });

  const authorization = () => bundle.basic(bundle.keys.campaigns);

  /** What came before is not looked at again. */
  let acceptedBefore = 0;

  const ledger = async (campaignId: string) =>
    (
      await bundle.database`
        select users.customer_id || ' ' || outcome || coalesce(' ' || code, '') as what
        from readable_deliveries as deliveries join users on users.id = deliveries.user_id
        where campaign_id = ${campaignId} order by 1`
    ).map(({ what }) => what as string);

  const explain = async (id: string, customerId: string) =>
    (
      await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=${customerId}`, { headers: authorization() })
    ).json().data;

  test('goes to so many users as the campaign may reach, over all of its runs', async () => {
    const users = ['lim-1', 'lim-2', 'lim-3', 'lim-4', 'lim-5'];
    await addPhones(...users);
    const campaign_audience_limit = {
      is_campaign_audience_limit_enabled: true,
      ...{ metric: 'SENT', frequency: 'TOTAL', limit: 3 },
    };
    const id = await live({}, { campaign_audience_limit });
    for (const user of users) {
      await act(user);
      await advance(10);
    }
    expect(await inbox()).toEqual(['lim-1', 'lim-2', 'lim-3']);
    expect(await ledger(id)).toEqual([
      ...['lim-1', 'lim-2', 'lim-3'].map((user) => `${user} ACCEPTED`),
      ...['lim-4', 'lim-5'].map((user) => `${user} WITHHELD CAMPAIGN_AUDIENCE_LIMIT`),
    ]);
    expect((await explain(id, 'lim-5')).step).toBe('CAMPAIGN_AUDIENCE_LIMIT');
  });

  test('waits in the queue until a cap lets it through, and is left out if that is after the queue has ended', async () => {
    await addPhones('que-1', 'que-2');
    await setControls({ frequencyCaps: '1/1h' });
    const queuing_enabled = true;
    const id = await live({}, { delivery_controls: { queuing_enabled, queue_duration: 2 } });
    await act('que-1');
    await advance(10);
    await act('que-1');
    await act('que-2');
    await advance(10);
    expect(await inbox()).toEqual(['que-1', 'que-2']);
    expect(await ledger(id)).toEqual(['que-1 ACCEPTED', 'que-1 WAITING FREQUENCY_CAP', 'que-2 ACCEPTED']);
    await advance(3_500);
    expect(await inbox()).toEqual(['que-1', 'que-2']);
    await advance(120);
    expect(await inbox()).toEqual(['que-1', 'que-1', 'que-2']);
    expect(await ledger(id)).toEqual(['que-1 ACCEPTED', 'que-1 ACCEPTED', 'que-2 ACCEPTED']);

    await setControls({ frequencyCaps: '1/3h' });
    event += ' again';
    const other = await live({}, { delivery_controls: { queuing_enabled, queue_duration: 1 } });
    await act('que-2');
    await advance(10);
    expect(await ledger(other)).toEqual(['que-2 WITHHELD FREQUENCY_CAP']);
  });

  test('waits for the end of quiet hours, of the time at which it is due', async () => {
    await setControls({ quietHours: '22:00-08:00', quietMode: 'HOLD' });
    await addPhones('night-1', 'night-2');
    await advanceTo(21);
    const id = await live(afterHours(2));
    await act('night-1');
    await advance(2 * 3_600 + 10);
    expect(await ledger(id)).toEqual(['night-1 WAITING QUIET_HOURS']);
    const { runs } = await explain(id, 'night-1');
    expect(runs[0].devices[0].until).toMatch(/T08:00:00/);
    await act('night-2');
    await advanceTo(7);
    expect(await inbox()).toEqual([]);
    await advanceTo(8);
    await advance(60);
    expect(await inbox()).toEqual(['night-1', 'night-2']);
    expect(await ledger(id)).toEqual(['night-1 ACCEPTED', 'night-2 ACCEPTED']);
  });

  test('is the retained user’s once two are merged, also what waits for the end of quiet hours; each phone gets it once', async () => {
    await addPhones('kept-1', 'kept-2', 'gone-2');
    await advanceTo(12);
    const id = await live(afterHours(1));
    // Of a user without a phone, merged before it is due.
    await act('gone-1');
    await merge('gone-1', 'kept-1');
    await advance(3_610);
    expect(await inbox()).toEqual(['kept-1']);
    expect((await explain(id, 'gone-1')).step).toBe('ACCEPTED');
    // And one whose message waits in the ledger when the user is merged: the phone is the retained user's then.
    await setControls({ quietHours: '22:00-08:00', quietMode: 'HOLD' });
    await emptyInbox();
    await advanceTo(22);
    await act('gone-2');
    await advance(3_610);
    expect(await ledger(id)).toEqual(['gone-2 WAITING QUIET_HOURS', 'kept-1 ACCEPTED']);
    await merge('gone-2', 'kept-2');
    await advanceTo(8);
    await advance(60);
    expect(await inbox()).toEqual(['gone-2']);
    expect(await ledger(id)).toEqual(['kept-1 ACCEPTED', 'kept-2 ACCEPTED']);
  });

  test('is the winner of its variations from the trigger on that is released after it was named', async () => {
    const users = Array.from({ length: 12 }, (_, number) => `win-${number}`);
    await addPhones(...users);
    await advanceTo(12);
    const content = { variation_details: shares(100, 0), content: contentIn(['default'], 2) };
    const id = await live({}, { campaign_content: content });
    const titles = async () => {
      await inbox();
      return new Set((await bundle.inbox('?limit=100')).map(({ title }) => title));
    };
    for (const user of users.slice(0, 6)) await act(user);
    await advance(10);
    expect(await titles()).toEqual(new Set(['default 1']));
    const headers = authorization();
    const named = await bundle.call('PUT', `/v5/campaigns/${id}/winner`, {
      headers,
      body: { variation: 'variation_2' },
    });
    expect(named.json().data.winner).toBe('variation_2');
    await emptyInbox();
    for (const user of users.slice(3)) await act(user);
    await advance(10);
    expect(await inbox()).toEqual(users.slice(3).sort());
    expect(await titles()).toEqual(new Set(['default 2']));
  });

  /** Advances to the end, and lets everything that is due be done. */
  async function advance(advanceSeconds: number): Promise<void> {
    await move({ advanceSeconds });
    await until(async () => (await bundle.call('GET', '/sandbox/clock')).json().advancing === null);
    // What was due when the advance began is no stop of it.
    const { now } = (await bundle.call('GET', '/sandbox/clock')).json();
    await until(async () => !(await hasDueWork(bundle.database, new Date(now))));
  }

  /** To the next time that a clock on the wall in UTC says so. */
  async function advanceTo(hours: number): Promise<void> {
    const now = new Date((await bundle.call('GET', '/sandbox/clock')).json().now);
    const then = new Date(now);
    then.setUTCHours(hours, 0, 0, 0);
    if (then <= now) then.setUTCDate(then.getUTCDate() + 1);
    await advance(Math.round((then.getTime() - now.getTime()) / 1000));
  }

  async function post(path: string, body: object): Promise<void> {
    const reply = await bundle.call('POST', path, { headers: bundle.basic(), body });
    expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
  }

  /** Users with a phone each. */
  async function addPhones(...customerIds: string[]): Promise<void> {
    for (const customer_id of customerIds) {
      await post(`/v1/customer/${bundle.workspaceId}`, { type: 'customer', customer_id, attributes: { city: 'Oslo' } });
      const attributes = { platform: 'ANDROID', push_id: `token-of-${customer_id}` };
      const device = { type: 'device', customer_id, device_id: `phone-of-${customer_id}`, attributes };
      await post(`/v1/device/${bundle.workspaceId}`, device);
    }
  }

  async function live(condition: object = {}, more: Record<string, unknown> = {}): Promise<string> {
    const headers = authorization();
    const included_filters = { filter_operator: 'or', filters: [did(event)] };
    const body = campaign(
      triggered(
        { included_filters, ...condition },
        { basic_details: { name: 'Come back', platforms: ['ANDROID'] }, ...more },
      ),
    );
    const { id } = (await bundle.call('POST', '/v5/campaigns', { headers, body })).json().data;
    const published = await bundle.call('PATCH', `/v5/campaigns/${id}/status`, {
      headers,
      body: { action: 'PUBLISH' },
    });
    expect(published.text).toContain('PUBLISH');
    return id;
  }

  /** Whose phones got something: as many messages as the ledger knows to be accepted since the inbox was emptied arrive a little later. */
  async function inbox(): Promise<string[]> {
    const [row] =
      await bundle.database`select count(*) as accepted from readable_deliveries where outcome = 'ACCEPTED'`;
    const messages = await until(async () => {
      const found = await bundle.inbox('?limit=100');
      return found.length >= row!.accepted - acceptedBefore && found;
    });
    return messages.map(({ deviceToken }) => String(deviceToken).replace('token-of-', '')).sort();
  }

  async function emptyInbox(): Promise<void> {
    await inbox();
    await bundle.call('DELETE', '/sandbox/inbox');
    const [row] =
      await bundle.database`select count(*) as accepted from readable_deliveries where outcome = 'ACCEPTED'`;
    acceptedBefore = row!.accepted;
  }
});

describe('matching attributes', () => {
  test('attributes of an event pass a filter as those of a user do in the database: by the model that both are held to', () => {
    const told = fc.dictionary(fc.constantFrom('x', 'y'), stored);
    const trees = fc.array(fc.oneof(filterOf('x'), filterOf('y')), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(trees, told, (filters, attributes) => {
        const tree = group(...filters);
        const user = { customerId: 'u', attributes, segments: [] };
        expect(matchAttributes(parsed(tree), attributes, at)).toBe(evaluateSegmentFilter(tree, user, at));
      }),
      { numRuns: propertyRuns(3_000, 400) },
    );
  });

  test.each([
    ['-0001', false],
    ['1700000000', false],
    ['2026-02-29', false],
    ['2028-02-29', true],
    [253_402_300_800, false],
  ])('%s is a time: %s', (value, isTime) => {
    const filter = parsed(group(attribute({ data_type: 'datetime', operator: 'exists' })));
    expect(matchAttributes(filter, { x: value }, at)).toBe(isTime);
  });
});
