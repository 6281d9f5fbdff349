import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addTopic } from '../../src/app/topics/manage-topics.ts';
import { setUserTopics } from '../../src/app/topics/user-topics.ts';
import { campaign } from '../campaigns/authoring-bundle.ts';
import { hour, makeTriggerBundle, triggered } from '../triggers/trigger-bundle.ts';
import type { TriggerBundle } from '../triggers/trigger-bundle.ts';

let bundle: TriggerBundle;

/** One with a phone, one whose phone is opted out, and one without a phone. */
const [phone, muted, bare] = ['user-0', 'user-3', 'user-6'] as const;

beforeAll(async () => {
  bundle = await makeTriggerBundle();
  await bundle.addDevices(9);
  await bundle.database`update devices set platform = 'ANDROID'`;
  await bundle.database`
    delete from devices where user_id in (select id from users where customer_id <> all(${[phone, muted, bare]}))`;
  await bundle.database`delete from users where customer_id <> all(${[phone, muted, bare]})`;
  await bundle.database`delete from devices where user_id = (select id from users where customer_id = ${bare})`;
  await bundle.database`
    update devices set state = 'OPTED_OUT' where user_id = (select id from users where customer_id = ${muted})`;
});
afterAll(() => bundle.close());
beforeEach(async () => {
  bundle.answer(() => ({ kind: 'accepted' }));
  await bundle.database`delete from inbox_messages`;
});

let names = 0;
const kept = (sendTo: string, more: Record<string, unknown> = {}) => ({
  basic_details: { name: `Campaign ${++names}`, platforms: ['ANDROID'] },
  advanced: { inbox: { send_to: sendTo, ...more } },
});

/** Every inbox as `user: title`, sorted. */
async function inboxes(): Promise<string[]> {
  const rows = await bundle.database<{ customer: string; title: string }[]>`
    select users.customer_id as customer,
      coalesce(inbox_messages.content, inbox_contents.content) ->> 'title' as title
    from inbox_messages
    join users on users.bucket = inbox_messages.bucket and users.id = inbox_messages.user_id
    left join inbox_contents on inbox_contents.run_id = inbox_messages.run_id
      and inbox_contents.id = inbox_messages.content_id
    order by 1, 2`;
  return rows.map(({ customer, title }) => `${customer}: ${title}`);
}

const explain = async (id: string, user: string) =>
  (await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=${user}`)).json().data;

describe('a campaign', () => {
  test('keeps nothing unless it says so', async () => {
    await bundle.live({ basic_details: { name: `Campaign ${++names}`, platforms: ['ANDROID'] } });
    expect(await bundle.deliver()).toEqual([phone]);
    expect(await inboxes()).toEqual([]);
  });

  test('to the inbox is kept for everyone and pushed to nobody', async () => {
    const id = await bundle.live(kept('INBOX'));
    expect(await bundle.deliver()).toEqual([]);
    expect(await inboxes()).toEqual([`${phone}: Title`, `${muted}: Title`, `${bare}: Title`]);
    expect((await bundle.runs(id))[0].status).toBe('SENT');
    const { step, explanation, runs } = await explain(id, bare);
    expect(step).toBe('INBOX');
    expect(explanation).toContain('is in the inbox of the person since');
    expect(explanation).toContain('and is unread.');
    expect(runs[0].inbox).toMatchObject({ read_at: null, archived_at: null });
  });

  test('to both is pushed and kept for everyone', async () => {
    const id = await bundle.live(kept('BOTH'));
    expect(await bundle.deliver()).toEqual([phone]);
    expect(await inboxes()).toEqual([`${phone}: Title`, `${muted}: Title`, `${bare}: Title`]);
    expect((await explain(id, phone)).step).toBe('ACCEPTED');
    expect((await explain(id, muted)).step).toBe('INBOX');
  });

  test('to either is kept only for users whom no push reaches', async () => {
    const id = await bundle.live(kept('EITHER'));
    expect(await bundle.deliver()).toEqual([phone]);
    expect(await inboxes()).toEqual([`${muted}: Title`, `${bare}: Title`]);
    const counts = await bundle.database`
      select sum(kept)::int as kept from inbox_counts
      where run_id in (select id from runs where campaign_id = ${id})`;
    expect(counts[0]!.kept).toBe(2);
  });

  test('that an event starts is kept for its user', async () => {
    const id = await bundle.live(triggered({}, kept('INBOX')));
    await bundle.track(bare, 'Left');
    expect(await bundle.deliverDue()).toEqual([]);
    expect(await inboxes()).toEqual([`${bare}: Title`]);
    await bundle.database`update campaigns set status = 'STOPPED', next_at = null where id = ${id}`;
  });

  test('of a segment is kept for its members', async () => {
    const segment = await bundle.fileSegment('Members', [phone, bare]);
    await bundle.live({
      ...kept('BOTH'),
      segmentation_details: {
        included_filters: {
          filter_operator: 'and',
          filters: [{ filter_type: 'custom_segments', id: segment, name: 'Members' }],
        },
      },
    });
    expect(await bundle.deliver()).toEqual([phone]);
    expect(await inboxes()).toEqual([`${phone}: Title`, `${bare}: Title`]);
  });

  test('that is personal is kept as each user would read it', async () => {
    for (const user of [phone, muted, bare]) await bundle.setAttribute(user, { first_name: `Ms ${user}` });
    await bundle.live({
      ...kept('INBOX'),
      campaign_content: {
        content: {
          push: {
            android: {
              template_type: 'BASIC',
              basic_details: {
                title: 'Dear {{UserAttribute.first_name}}',
                message: 'Text',
                notification_channel: 'news',
              },
            },
          },
        },
      },
    });
    await bundle.deliver();
    expect(await inboxes()).toEqual([
      `${phone}: Dear Ms ${phone}`,
      `${muted}: Dear Ms ${muted}`,
      `${bare}: Dear Ms ${bare}`,
    ]);
    const [row] = await bundle.database`select count(*)::int as shared from inbox_messages where content is null`;
    expect(row!.shared).toBe(0);
  });

  test('with a topic is not kept for users outside it', async () => {
    const { workspaceId } = bundle;
    const actor = { kind: 'program', name: 'test' } as const;
    const topic = { key: 'offers', name: 'Offers', description: '', position: 0, isInByDefault: true };
    await addTopic(bundle, { actor, workspaceId, ...topic });
    const choices = new Map([['offers', false]]);
    const identity = { kind: 'customer-id', value: bare } as const;
    await setUserTopics(bundle, { actor, workspaceId, identity, choices, source: 'API' });
    const { advanced, ...rest } = kept('INBOX');
    await bundle.live({ ...rest, advanced: { ...advanced, topic: 'offers' } });
    await bundle.deliver();
    expect(await inboxes()).toEqual([`${phone}: Title`, `${muted}: Title`]);
  });

  test('is kept in quiet hours, which hold back its push', async () => {
    const clockOf = (at: Date) => at.toISOString().slice(11, 16);
    const from = bundle.clock.now();
    const to = new Date(from.getTime() + 2 * hour);
    await bundle.database`update workspaces set quiet_from = ${clockOf(from)}, quiet_to = ${clockOf(to)}`;
    await bundle.live(kept('BOTH'));
    expect(await bundle.deliver()).toEqual([]);
    expect(await inboxes()).toEqual([`${phone}: Title`, `${muted}: Title`, `${bare}: Title`]);
    await bundle.database`update workspaces set quiet_from = null, quiet_to = null`;
    bundle.clock.advance(3 * hour);
    await bundle.retry();
  });
});

describe('"either"', () => {
  const devicesOf = (user: string) =>
    bundle.database`select id, push_id from devices where user_id = (select id from users where customer_id = ${user})`;

  const refused = { kind: 'rejected', code: 'INVALID_ARGUMENT', detail: 'no' } as const;
  const everyone = [`${phone}: Title`, `${muted}: Title`, `${bare}: Title`];

  test('keeps the message of a user whose only device is refused', async () => {
    bundle.answer(() => refused);
    await bundle.live(kept('EITHER'));
    await bundle.deliver();
    expect(await inboxes()).toEqual(everyone);
  });

  test('keeps the message of a user when the last attempt fails, and not while one is left', async () => {
    bundle.answer(() => ({ kind: 'wait', code: 'UNAVAILABLE', scope: 'device' }));
    await bundle.live(kept('EITHER'));
    await bundle.deliver();
    expect(await inboxes()).toEqual([`${muted}: Title`, `${bare}: Title`]);
    bundle.answer(() => refused);
    bundle.clock.advance(hour);
    await bundle.retry();
    expect(await inboxes()).toEqual(everyone);
  });

  test('keeps nothing for a user one of whose devices got the push, whichever fails first', async () => {
    await bundle.database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at,
        updated_at)
      select workspace_id, bucket, left(id, 12) || 'ffffffffffff', user_id, 'tablet', platform, 'push-second', state,
        registered_at, created_at, updated_at
      from devices where push_id = ${`push-${phone}`}`;
    for (const failing of [`push-${phone}`, 'push-second']) {
      await bundle.database`delete from inbox_messages`;
      bundle.answer(({ pushId }) => (pushId === failing ? refused : { kind: 'accepted' }));
      await bundle.live(kept('EITHER'));
      await bundle.deliver();
      expect(await inboxes()).toEqual([`${muted}: Title`, `${bare}: Title`]);
    }
    bundle.answer(() => refused);
    await bundle.database`delete from inbox_messages`;
    await bundle.live(kept('EITHER'));
    await bundle.deliver();
    expect(await inboxes()).toEqual(everyone);
    await bundle.database`delete from devices where push_id = 'push-second'`;
  });

  test('does not push to a device that comes back after the message was kept', async () => {
    const id = await bundle.live(kept('EITHER'));
    const [device] = await devicesOf(muted);
    while ((await bundle.release()) > 0);
    const [run] = await bundle.runs(id);
    await bundle.database`
      insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content, kept_at, expires_at, changed_at)
      select workspace_id, bucket, id, ${run.id as string}, ${id}, '{"title": "Before"}', now(), now() + interval '1 day', now()
      from users where customer_id = ${muted}`;
    await bundle.database`update devices set state = 'ACTIVE' where id = ${device!.id as string}`;
    expect(await bundle.deliver()).toEqual([phone]);
    expect(await inboxes()).toEqual([`${muted}: Before`, `${bare}: Title`]);
    await bundle.database`update devices set state = 'OPTED_OUT' where id = ${device!.id as string}`;
  });
});

describe('the inbox of a campaign', () => {
  test('counts whose message was kept, read and archived, run by run', async () => {
    const id = await bundle.live(kept('BOTH'));
    await bundle.deliver();
    const { data } = (await bundle.call('GET', `/v5/campaigns/${id}/inbox`)).json();
    expect(data).toMatchObject({ campaign_id: id, kept: 3, read: 0, archived: 0 });
    expect(data.runs).toMatchObject([{ kept: 3, read: 0, archived: 0 }]);
  });

  test('has no effect in a test of the campaign, which says so', async () => {
    const sent = await bundle.call('POST', '/v5/campaigns/test', {
      ...{ ...kept('INBOX'), channel: 'PUSH' },
      campaign_content: (await bundle.row(await bundle.draft(kept('INBOX')))).parts.campaign_content,
      test_campaign_meta: { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: [phone] },
    });
    expect(sent.statusCode).toBe(200);
    expect(sent.headers['x-svc-warning']).toBe('advanced.inbox has no effect in a test, which is a push');
    expect(await bundle.deliver()).toEqual([phone]);
    expect(await inboxes()).toEqual([]);
  });

  test('is refused with an audience limit, and without what it needs', async () => {
    const faults = async (more: Record<string, unknown>) => {
      const { error } = (await bundle.call('POST', '/v5/campaigns', campaign(more))).json();
      return error.details.map(({ target }: { target: string }) => target);
    };
    const limit = { is_campaign_audience_limit_enabled: true, limit: 5, frequency: 'TOTAL' };
    const field = (name: string) => [`advanced.inbox.${name}`];
    expect(await faults({ ...kept('BOTH'), campaign_audience_limit: limit })).toEqual(field('send_to'));
    expect(await faults(kept('PUSH', { inbox_expiry: 5 }))).toEqual(field('inbox_expiry'));
    expect(await faults(kept('BOTH', { inbox_expiry: 2_161 }))).toEqual(field('inbox_expiry'));
    expect(await faults(kept('BOTH', { tags: ['1', '2', '3', '4', '5', '6'] }))).toEqual(field('tags'));
    expect(await faults(kept('ALL'))).toEqual(field('send_to'));
  });

  test('is read back, with its expiry and tags', async () => {
    const id = await bundle.live(kept('BOTH', { inbox_expiry: 48, tags: ['news', 'shop'] }));
    expect((await bundle.get(id)).advanced.inbox).toEqual({
      send_to: 'BOTH',
      inbox_expiry: 48,
      tags: ['news', 'shop'],
    });
    await bundle.deliver();
    const [row] = await bundle.database<{ tags: string[]; hours: number }[]>`
      select tags, extract(epoch from expires_at - kept_at)::int / 3600 as hours from inbox_messages limit 1`;
    expect(row).toEqual({ tags: ['news', 'shop'], hours: 48 });
  });
});
