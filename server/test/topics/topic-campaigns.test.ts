import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countComposed } from '../../src/app/campaigns/composer.ts';
import { addTopic, removeTopic } from '../../src/app/topics/manage-topics.ts';
import { setUserTopics } from '../../src/app/topics/user-topics.ts';
import { whatMayNotChange } from '../../src/domain/campaign-document/changes.ts';
import type { ServiceError } from '../../src/domain/errors.ts';
import { campaign } from '../campaigns/authoring-bundle.ts';
import { hour, makeTriggerBundle, triggered } from '../triggers/trigger-bundle.ts';
import type { TriggerBundle } from '../triggers/trigger-bundle.ts';

let bundle: TriggerBundle;
const actor = { kind: 'program', name: 'test' } as const;

/** Of each default: one user who made no choice, one who joined and one who left. */
const [silent, joined, left] = ['user-0', 'user-3', 'user-6'] as const;
const everyone = [silent, joined, left];

beforeAll(async () => {
  bundle = await makeTriggerBundle();
  await bundle.addDevices(9);
  await bundle.database`update devices set platform = 'ANDROID'`;
  await bundle.database`delete from devices where user_id not in (select id from users where customer_id = any(${everyone}))`;
  const { workspaceId } = bundle;
  for (const [key, isInByDefault] of [
    ['news', true],
    ['offers', false],
  ] as const) {
    await addTopic(bundle, { actor, workspaceId, key, name: key, description: '', position: 0, isInByDefault });
    await choose(joined, key, true);
    await choose(left, key, false);
  }
});
afterAll(() => bundle.close());

function choose(customerId: string, key: string, isIn: boolean) {
  const { workspaceId } = bundle;
  const identity = { kind: 'customer-id' as const, value: customerId };
  return setUserTopics(bundle, { actor, workspaceId, identity, choices: new Map([[key, isIn]]), source: 'API' });
}

async function stop(id: string): Promise<void> {
  await bundle.database`update campaigns set status = 'STOPPED', next_at = null where id = ${id}`;
  await bundle.deliver();
}

let names = 0;
const named = (topic: string | undefined, more: object = {}) => ({
  basic_details: { name: `Campaign ${++names}`, platforms: ['ANDROID'] },
  ...(topic === undefined ? {} : { advanced: { topic } }),
  ...more,
});
const stepsOf = async (id: string) =>
  Promise.all(
    everyone.map(async (user) => {
      const { data } = (await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=${user}`)).json();
      return data.step;
    }),
  );

const kinds = {
  async 'one-time'(topic: string) {
    const id = await bundle.live(named(topic));
    return { id, reached: await bundle.deliver() };
  },
  async recurring(topic: string) {
    const at = new Date(bundle.clock.now().getTime() + hour);
    const id = await bundle.live(
      named(topic, {
        campaign_delivery_type: 'PERIODIC',
        scheduling_details: {
          delivery_type: 'AT_FIXED_TIME',
          start_time: at.toISOString(),
          periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 3 },
        },
      }),
    );
    bundle.clock.advance(hour);
    await bundle.fire();
    const reached = await bundle.deliver();
    await stop(id);
    return { id, reached };
  },
  async triggered(topic: string) {
    const id = await bundle.live(triggered({}, named(topic)));
    for (const user of everyone) await bundle.track(user, 'Left');
    const reached = await bundle.deliverDue();
    await stop(id);
    return { id, reached };
  },
};

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('a %s campaign with a topic', (kind) => {
  test('that users leave reaches everyone who did not leave it', async () => {
    const { id, reached } = await kinds[kind]('news');
    expect(reached).toEqual([silent, joined]);
    expect(await stepsOf(id)).toEqual(['ACCEPTED', 'ACCEPTED', 'TOPIC_OPTED_OUT']);
  });

  test('that users join reaches only those who joined it', async () => {
    const { id, reached } = await kinds[kind]('offers');
    expect(reached).toEqual([joined]);
    expect(await stepsOf(id)).toEqual(['TOPIC_NOT_OPTED_IN', 'ACCEPTED', 'TOPIC_OPTED_OUT']);
  });
});

describe('a campaign with a topic', () => {
  test('says in words why a user was left out, and counts them in its ledger', async () => {
    const id = await bundle.live(named('offers'));
    await bundle.deliver();
    const { data } = (await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=${silent}`)).json();
    expect(data.explanation).toBe(
      'The person has not joined the topic of the campaign, which only those get who join it.',
    );
    const ledger = await bundle.database`
      select outcome, code, count(*)::int as devices from readable_deliveries where campaign_id = ${id}
      group by outcome, code order by code nulls first`;
    expect([...ledger]).toEqual([
      { outcome: 'ACCEPTED', code: null, devices: 1 },
      { outcome: 'WITHHELD', code: 'TOPIC_NOT_OPTED_IN', devices: 1 },
      { outcome: 'WITHHELD', code: 'TOPIC_OPTED_OUT', devices: 1 },
    ]);
    expect((await bundle.get(id)).advanced.topic).toBe('offers');
  });

  test('does not reach a user who leaves the topic while the message waits', async () => {
    const quietTo = new Date(bundle.clock.now().getTime() + 2 * hour);
    const clockOf = (at: Date) => at.toISOString().slice(11, 16);
    await bundle.database`
      update workspaces set quiet_from = ${clockOf(bundle.clock.now())}, quiet_to = ${clockOf(quietTo)}`;
    const id = await bundle.live(named('news'));
    await bundle.deliver();
    expect(await stepsOf(id)).toEqual(['QUIET_HOURS', 'QUIET_HOURS', 'TOPIC_OPTED_OUT']);
    await choose(joined, 'news', false);
    await bundle.database`update workspaces set quiet_from = null, quiet_to = null`;
    bundle.clock.advance(3 * hour);
    await bundle.retry();
    expect(await stepsOf(id)).toEqual(['ACCEPTED', 'TOPIC_OPTED_OUT', 'TOPIC_OPTED_OUT']);
    await choose(joined, 'news', true);
  });

  test('is the only one that reads choices', async () => {
    await bundle.database`alter table topic_choices rename to hidden_choices`;
    try {
      await bundle.live(named(undefined));
      expect(await bundle.deliver()).toEqual(everyone);
    } finally {
      await bundle.database`alter table hidden_choices rename to topic_choices`;
    }
  });

  test('is sent to everyone as a test, whose reply says that the topic has no effect', async () => {
    const sent = await bundle.call('POST', '/v5/campaigns/test', {
      ...named('offers'),
      channel: 'PUSH',
      campaign_content: (await bundle.row(await bundle.draft(named('offers')))).parts.campaign_content,
      test_campaign_meta: { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: everyone },
    });
    expect([sent.statusCode, sent.headers['x-svc-warning']]).toEqual([200, 'advanced.topic has no effect in a test']);
    expect(await bundle.deliver()).toEqual(everyone);
  });

  test('that does not exist cannot be published, and a live one cannot change or lose its topic', async () => {
    const draft = await bundle.draft(named('none'));
    const { errors } = (await bundle.call('POST', `/v5/campaigns/${draft}/validate`, {})).json().data;
    expect(errors).toEqual([{ field: 'advanced.topic', issue: 'none is not a topic of this workspace' }]);
    expect((await bundle.act(draft, 'PUBLISH')).statusCode).toBe(400);
    const empty = await bundle.call('PATCH', `/v5/campaigns/${draft}`, { advanced: { topic: '' } });
    expect(empty.statusCode).toBe(400);
    const before = campaign(named('offers'));
    for (const advanced of [{ topic: 'news' }, {}])
      expect(whatMayNotChange({ before, after: { ...before, advanced }, state: 'live' })).toEqual([
        { field: 'advanced.topic', reason: 'cannot be changed once the campaign is published' },
      ]);
  });

  test('keeps its topic from being removed until it has ended', async () => {
    const { workspaceId } = bundle;
    await addTopic(bundle, {
      ...{ actor, workspaceId, key: 'brief', name: 'Brief', description: '', position: 0, isInByDefault: true },
    });
    const remove = () => removeTopic(bundle, { actor, workspaceId, key: 'brief' });
    const id = await bundle.live(triggered({}, named('brief')));
    const { name } = await bundle.row(id);
    const refused = await remove().catch((error: unknown) => error as ServiceError);
    expect(refused).toMatchObject({ code: 'TOPIC_IN_USE', context: { reason: `is named by ${name}` } });
    await stop(id);
    await remove();
    const again = await bundle.draft(named('brief'));
    expect((await bundle.act(again, 'PUBLISH')).statusCode).toBe(400);
  });

  test('counts before it is sent whom the topic leaves out, and why', async () => {
    const { database, clock, workspaceId } = bundle;
    const count = async (topic: string | undefined) => {
      const answer = await countComposed({ database, clock }, { workspaceId, parts: campaign(named(topic)) });
      if (answer.kind !== 'counted') return answer;
      const reached = ['REACHED', 'TOPIC_OPTED_OUT', 'TOPIC_NOT_OPTED_IN'];
      return answer.count.users
        .filter(({ reach }) => reached.includes(reach))
        .map(({ reach, users }) => `${reach} ${users}`);
    };
    expect(await count(undefined)).toEqual(['REACHED 3']);
    expect(await count('news')).toEqual(['REACHED 2', 'TOPIC_OPTED_OUT 1']);
    expect(await count('offers')).toEqual(['REACHED 1', 'TOPIC_OPTED_OUT 1', 'TOPIC_NOT_OPTED_IN 1']);
    expect(await count('none')).toMatchObject({ kind: 'unreadable' });
  });

  test('leaves out users of its control group before those outside the topic', async () => {
    const id = await bundle.live(
      named('offers', {
        control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 100 },
      }),
    );
    expect(await bundle.deliver()).toEqual([]);
    expect(new Set(await stepsOf(id))).toEqual(new Set(['CAMPAIGN_CONTROL_GROUP']));
  });
});

describe('a push to a user', () => {
  test('may not name a topic', async () => {
    const push = {
      campaignName: 'Your code',
      targetAudience: 'User',
      targetUserAttributes: {
        attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
        comparisonParameter: 'is',
        attributeValue: silent,
      },
    };
    const refused = await bundle.callPush({ ...push, advancedSettings: { topic: 'news' } });
    expect(refused.json()).toMatchObject({
      status: 'Fail',
      Error_Message: expect.stringContaining('advancedSettings.topic'),
    });
    expect((await bundle.callPush(push)).json().status).toBe('Success');
    expect(await bundle.deliver()).toEqual([silent]);
  });
});
