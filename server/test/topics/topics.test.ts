import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClock } from '../../src/clock.ts';
import { exportRows } from '../../src/app/export.ts';
import { addTopic } from '../../src/app/topics/manage-topics.ts';
import { maxTopics } from '../../src/domain/limits/topics.ts';
import { makeRemoveTopics } from '../../src/engine/housekeeping/remove-topics.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle.stop());

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await bundle.call(method, path, { headers: bundle.basic(), body });
  return { status: answer.status, body: answer.text === '' ? undefined : answer.json() };
};
const create = (key: string, more: object = {}) =>
  call('POST', '/v1/topics', { key, name: `About ${key}`, default: 'opted_in', ...more });
const addUser = (customerId: string) =>
  bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
    headers: bundle.basic(),
    body: { type: 'customer', customer_id: customerId },
  });
const topicsOf = async (customerId: string) => {
  const { body } = await call('GET', `/v1/users/${encodeURIComponent(customerId)}/topics`);
  return body.topics.map((one: any) => `${one.topic} ${one.opted_in} ${one.default} ${one.source}`);
};
const removeAll = async () => {
  await bundle.database`delete from topic_choices`;
  await bundle.database`delete from topics`;
};

describe('the topics of a workspace', () => {
  afterAll(removeAll);

  test('are listed by position and key, and can be changed and removed', async () => {
    expect(await create('offers', { position: 2, description: 'Sales', default: 'opted_out' })).toEqual({
      status: 201,
      body: { topic: 'offers', name: 'About offers', description: 'Sales', default: 'opted_out', position: 2 },
    });
    await create('news');
    await create('answers');
    const listed = async () => (await call('GET', '/v1/topics')).body.topics.map(({ topic }: any) => topic);
    expect(await listed()).toEqual(['answers', 'news', 'offers']);
    const changed = await call('PATCH', '/v1/topics/news', { name: 'Headlines', description: 'Daily', position: 3 });
    expect(changed.body).toMatchObject({ topic: 'news', name: 'Headlines', description: 'Daily', position: 3 });
    expect((await call('PATCH', '/v1/topics/news', { description: '' })).body.description).toBe('');
    expect(await listed()).toEqual(['answers', 'offers', 'news']);
    expect((await call('GET', '/v1/topics/news')).body.name).toBe('Headlines');
    expect((await call('DELETE', '/v1/topics/answers')).status).toBe(204);
    expect(await listed()).toEqual(['offers', 'news']);
    expect((await call('GET', '/v1/topics/answers')).status).toBe(404);
  });

  test('reject keys of another form, keys in use, unknown topics, and what cannot be changed', async () => {
    const fault = async (sent: ReturnType<typeof call>) => {
      const { status, body } = await sent;
      return [status, body.code, body.field];
    };
    expect(await fault(create('Offers'))).toEqual([400, 'PARAMETER_INVALID', 'key']);
    expect(await fault(create('news'))).toEqual([400, 'PARAMETER_INVALID', 'key']);
    expect(await fault(create('more', { default: 'in' }))).toEqual([400, 'PARAMETER_INVALID', 'default']);
    expect(await fault(create('more', { name: ' ' }))).toEqual([400, 'PARAMETER_INVALID', 'name']);
    expect(await fault(create('more', { name: 'x'.repeat(101) }))).toEqual([400, 'PARAMETER_INVALID', 'name']);
    expect(await fault(create('more', { position: -1 }))).toEqual([400, 'PARAMETER_INVALID', 'position']);
    expect(await fault(call('PATCH', '/v1/topics/none', { name: 'None' }))).toEqual([404, 'NOT_FOUND', 'topic']);
    expect(await fault(call('DELETE', '/v1/topics/none'))).toEqual([404, 'NOT_FOUND', 'topic']);
    const changed = await bundle.call('PATCH', '/v1/topics/offers', {
      headers: bundle.basic(),
      body: { default: 'opted_in' },
    });
    expect([changed.json().default, changed.headers.get('x-svc-warning')]).toEqual([
      'opted_out',
      expect.stringContaining('default'),
    ]);
  });

  test('need the data key', async () => {
    const refused = await bundle.call('GET', '/v1/topics', { headers: bundle.basic(bundle.keys.push) });
    expect(refused.status).toBe(403);
  });

  test('are at most 50, also if they are added at the same time', async () => {
    const { database, workspaceId } = bundle;
    const [found] = await database`select count(*)::int as topics from topics where removed_at is null`;
    const added = Array.from({ length: maxTopics - (found!.topics as number) + 3 }, (_, index) => {
      const topic = { key: `t${index}`, name: 'T', description: '', position: 0, isInByDefault: true };
      const actor = { kind: 'program', name: 'test' } as const;
      return addTopic({ database, clock: makeClock() }, { actor, workspaceId, ...topic });
    });
    const refused = (await Promise.allSettled(added)).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
  });

  test('leave lines in the audit log', async () => {
    const lines = await bundle.database`
      select action, object_name as name from audit_log where action like 'topic.%' and object_name in ('answers', 'news')
      order by id`;
    expect(lines.map(({ action, name }) => `${action} ${name}`)).toEqual([
      'topic.add news',
      'topic.add answers',
      'topic.change news',
      'topic.change news',
      'topic.remove answers',
    ]);
  });
});

describe('the choices of a user', () => {
  beforeAll(async () => {
    await create('news');
    await create('offers', { default: 'opted_out' });
    await addUser('eve/1');
  });
  afterAll(removeAll);

  test('follow the default until they are made, and only the named ones change', async () => {
    expect(await topicsOf('eve/1')).toEqual(['news true opted_in null', 'offers false opted_out null']);
    const path = `/v1/users/${encodeURIComponent('eve/1')}/topics`;
    const { status, body } = await call('PATCH', path, { topics: { offers: true } });
    expect([status, body.topics[1]]).toEqual([
      200,
      expect.objectContaining({ topic: 'offers', opted_in: true, source: 'api', chosen_at: expect.any(String) }),
    ]);
    await call('PATCH', path, { topics: { news: false } });
    expect(await topicsOf('eve/1')).toEqual(['news false opted_in api', 'offers true opted_out api']);
    await call('PATCH', path, { topics: { news: true } });
    expect(await topicsOf('eve/1')).toEqual(['news true opted_in api', 'offers true opted_out api']);
    const [rows] = await bundle.database`select count(*)::int as choices from topic_choices`;
    expect(rows).toEqual({ choices: 2 });
  });

  test.each(['x', 'é'])('are read and set by the longest customer ids, of %s', async (character) => {
    const customerId = character.repeat(512 / Buffer.byteLength(character));
    await addUser(customerId);
    const path = `/v1/users/${encodeURIComponent(customerId)}`;
    expect((await call('PATCH', `${path}/topics`, { topics: {} })).status).toBe(200);
    expect((await call('POST', `${path}/preference_link`, {})).status).toBe(201);
  });

  test('are exported with the customer id, the time and the source', async () => {
    const { database, workspaceId } = bundle;
    let text = '';
    const request = { workspaceId, format: 'csv' as const, at: new Date(), subject: { kind: 'topics' as const } };
    const { rows } = await exportRows(database, { ...request, write: async (piece) => void (text += piece) });
    expect(rows).toBe(2);
    expect(
      text
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'at')
        .split('\r\n')
        .sort(),
    ).toEqual([
      '',
      'customer_id,topic,opted_in,chosen_at,source',
      'eve/1,news,true,at,api',
      'eve/1,offers,true,at,api',
    ]);
  });

  test('are all rejected if one is of an unknown topic, or neither true nor false', async () => {
    const set = async (topics: unknown) => {
      const { status, body } = await call('PATCH', '/v1/users/eve%2F1/topics', { topics });
      return [status, body.field];
    };
    expect(await set({ news: false, none: true })).toEqual([400, 'topics']);
    expect(await set({ news: false, offers: null })).toEqual([400, 'topics.offers']);
    expect(await set({ news: 'no' })).toEqual([400, 'topics.news']);
    expect(await set(undefined)).toEqual([400, 'topics']);
    expect((await topicsOf('eve/1'))[0]).toBe('news true opted_in api');
    expect((await call('GET', '/v1/users/nobody/topics')).status).toBe(404);
    expect((await call('PATCH', '/v1/users/nobody/topics', { topics: { news: true } })).status).toBe(404);
  });

  test('are gone with their topic: a later one of the same key begins without any', async () => {
    await call('DELETE', '/v1/topics/news');
    await create('news');
    expect((await topicsOf('eve/1'))[0]).toBe('news true opted_in null');
    const { database } = bundle;
    const [removed] = await database<{ at: Date }[]>`select removed_at as at from topics where removed_at is not null`;
    const job = makeRemoveTopics({ database });
    expect(await job.runOnce(new Date(removed!.at.getTime() + 3_599_999))).toBe(0);
    expect(await job.runOnce(new Date(removed!.at.getTime() + 3_600_000))).toBe(1);
    const left = await database`
      select topics.key from topic_choices left join topics on topics.id = topic_choices.topic_id`;
    expect([...left]).toEqual([{ key: 'offers' }]);
    expect((await database`select 1 from topics where removed_at is not null`).length).toBe(0);
  });
});

describe('a merge of users who chose differently', () => {
  beforeAll(async () => {
    for (const key of ['both', 'same', 'left', 'right']) await create(key);
  });
  afterAll(removeAll);

  test('keeps the newer choice of each topic, and the one against it if both are as old', async () => {
    const ids = new Map((await bundle.database`select id, key from topics`).map(({ id, key }) => [key, id]));
    for (const name of ['newer', 'older']) await addUser(name);
    const choose = (customerId: string, key: string, { isIn, day }: { isIn: boolean; day: number }) =>
      bundle.database`
        insert into topic_choices (workspace_id, bucket, user_id, topic_id, is_in, source, chosen_at)
        select workspace_id, bucket, id, ${ids.get(key) as string}, ${isIn}, 'APP', ${`2026-03-0${day}T10:00:00Z`}
        from users where customer_id = ${customerId}`;
    await choose('newer', 'both', { isIn: false, day: 2 });
    await choose('older', 'both', { isIn: true, day: 1 });
    await choose('newer', 'same', { isIn: true, day: 1 });
    await choose('older', 'same', { isIn: false, day: 1 });
    await choose('newer', 'left', { isIn: false, day: 1 });
    await choose('older', 'right', { isIn: false, day: 1 });
    // The older choices are those of the user who stays.
    const merged = await call('POST', `/v1/customer/merge?app_id=${bundle.workspaceId}`, {
      merge_data: [{ merged_user: 'newer', retained_user: 'older' }],
    });
    expect(merged.status).toBe(200);
    const expected = ['both', 'left', 'right', 'same'].map((key) => `${key} false opted_in app`);
    expect(await topicsOf('older')).toEqual(expected);
    // The merged id names the same user.
    expect(await topicsOf('newer')).toEqual(expected);
    const [rows] = await bundle.database`select count(distinct user_id)::int as users from topic_choices`;
    expect(rows).toEqual({ users: 1 });
  });
});
