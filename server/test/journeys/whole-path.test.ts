import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { abandonedCart, message, welcome, winBack } from './journey-examples.ts';

const [hour, day] = [3_600, 86_400];

/** The examples of docs/journeys.md on a whole node: what is called, what time does, and what phones get. */
describe('an example of the guide', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    for (const name of ['noor', 'piet', 'rana', 'sami']) await addUser(name);
  });
  afterAll(() => bundle?.stop());

  async function call(path: string, body: object, key = bundle.keys.data): Promise<any> {
    const answer = await bundle.call('POST', path, { headers: bundle.basic(key), body });
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
    return answer.text === '' ? undefined : answer.json();
  }

  async function addUser(name: string): Promise<void> {
    await call(`/v1/customer/${bundle.workspaceId}`, { type: 'customer', customer_id: name });
    const attributes = { platform: 'ANDROID', push_id: `token-of-${name}` };
    await call(`/v1/device/${bundle.workspaceId}`, {
      ...{ type: 'device', customer_id: name, device_id: `phone-of-${name}` },
      attributes,
    });
  }

  const track = (name: string, action: string, attributes: object = {}) =>
    call(`/v1/event/${bundle.workspaceId}`, { type: 'event', customer_id: name, actions: [{ action, attributes }] });

  async function launch(name: string, graph: object): Promise<string> {
    const created = await call('/v1/journeys', { name, graph }, bundle.keys.campaigns);
    const { id } = created.data.journey;
    await call(`/v1/journeys/${id}/publish`, {}, bundle.keys.campaigns);
    return id;
  }

  async function read(path: string): Promise<any> {
    const answer = await bundle.call('GET', path, { headers: bundle.basic(bundle.keys.campaigns) });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    return answer.json().data;
  }

  /** Moves the clock and waits until everything due meanwhile is done. */
  async function pass(advanceSeconds: number): Promise<void> {
    expect((await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds } })).status).toBe(200);
    await until(async () => (await bundle.call('GET', '/sandbox/clock')).json().advancing === null);
  }

  type Received = { to: string; text: string; token: string };
  /** What phones of these users got, oldest first. */
  async function received(...names: string[]): Promise<Received[]> {
    const messages = await bundle.inbox('?limit=100');
    const phones = new Map(names.map((name) => [`token-of-${name}`, name]));
    return messages
      .filter(({ deviceToken }) => phones.has(deviceToken))
      .map(({ deviceToken, body, payload }) => ({
        ...{ to: phones.get(deviceToken)!, text: body },
        token: payload.data.svc_report_token,
      }))
      .toReversed();
  }
  const texts = async (...names: string[]) => (await received(...names)).map(({ to, text }) => `${to}: ${text}`);

  async function passedBy(journey: string, name: string): Promise<string> {
    const { entries } = await read(`/v1/journeys/${journey}/history?customer_id=${name}`);
    return entries
      .map((entry: any) => [
        ...entry.passages.map(({ step, edge }: any) => `${step} ${edge}`),
        entry.end_reason ?? `at ${entry.step}`,
      ])
      .join('; ');
  }

  test('a welcome over two days gives an offer to those who opened it, and tips to the others', async () => {
    const id = await launch('Welcome', welcome);
    for (const name of ['noor', 'piet', 'rana']) await track(name, 'Signed up');
    const first = await until(async () => {
      const messages = await received('noor', 'piet', 'rana');
      return messages.length === 3 && messages;
    });
    expect(new Set(first.map(({ text }) => text))).toEqual(new Set(['Welcome! Take a look around.']));
    const ofNoor = first.find(({ to }) => to === 'noor')!;
    await bundle.call('POST', '/v1/interactions', { body: { token: ofNoor.token, kind: 'click' } });
    await until(async () => (await bundle.database`select 1 from device_interactions where kind = 'CLICK'`)[0]);
    await pass(day);
    await track('rana', 'Ordered');
    expect(await passedBy(id, 'rana')).toBe('hello next,GOAL');
    expect(await texts('noor', 'piet', 'rana')).toHaveLength(3);
    await pass(2 * day + hour);
    expect((await texts('noor', 'piet', 'rana')).slice(3).toSorted()).toEqual([
      'noor: 10 % off your first order',
      'piet: Three tips to get started',
    ]);
    expect(await passedBy(id, 'noor')).toBe('hello next,two-days next,morning next,saw-it yes,offer next,COMPLETED');
    const { edges, inside } = await read(`/v1/journeys/${id}/figures`);
    expect(inside).toEqual([]);
    expect(edges).toContainEqual({ version: 1, step: 'saw-it', edge: 'no', users: 1 });
    expect(edges).toContainEqual({ version: 1, step: '', edge: 'GOAL', users: 1 });
  });

  test('its hidden campaigns explain why somebody got no message, and no list has them', async () => {
    const { journeys } = await read('/v1/journeys?name=Welcome');
    const { journey } = await read(`/v1/journeys/${journeys[0].id}`);
    const explained = await read(`/v5/campaigns/${journey.campaigns.offer}/explain?customer_id=noor`);
    expect([explained.step, explained.triggers[0].state]).toEqual(['ACCEPTED', 'SENT']);
    expect((await read(`/v5/campaigns/${journey.campaigns.offer}/explain?customer_id=piet`)).step).toBe('NO_RUN');
    const found = await bundle.call('POST', '/v5/campaigns/search', {
      headers: bundle.basic(bundle.keys.campaigns),
      body: { request_id: 'all', page: 1, limit: 15 },
    });
    expect(found.text).not.toContain(journey.campaigns.offer);
  });

  test('an abandoned cart is remembered once a week, with the product of the event', async () => {
    const id = await launch('Cart', abandonedCart);
    await track('noor', 'Added to cart', { product: 'a lamp' });
    await track('piet', 'Added to cart', { product: 'a chair' });
    await pass(hour / 2);
    await track('piet', 'Ordered');
    await pass(hour);
    const reminders = async () => (await texts('noor', 'piet')).filter((text) => text.includes('cart'));
    expect(await reminders()).toEqual(['noor: You left a lamp in your cart']);
    expect(await passedBy(id, 'piet')).toBe('buys event,COMPLETED');
    await pass(day);
    await track('noor', 'Added to cart', { product: 'a rug' });
    await pass(2 * hour);
    expect(await reminders()).toHaveLength(1);
    await pass(7 * day);
    await track('noor', 'Added to cart', { product: 'a bed' });
    await pass(2 * hour);
    expect(await reminders()).toEqual(['noor: You left a lamp in your cart', 'noor: You left a bed in your cart']);
  });

  test('a win-back marks those who come back, and those who do not', async () => {
    const id = await launch('Win back', winBack);
    const users = ['noor', 'piet', 'sami', 'nobody'].map((customer_id) => ({ customer_id }));
    const { data } = await call(`/v1/journeys/${id}/entries`, { users }, bundle.keys.campaigns);
    expect(data).toEqual({ entered: expect.any(Array), refused: [], unknown: ['nobody'] });
    expect(data.entered.toSorted()).toEqual(['noor', 'piet', 'sami']);
    await pass(day);
    expect((await texts('sami')).map((text) => text.slice('sami: '.length))).toEqual([
      expect.stringMatching(/^(?:We miss you: here are 5 €|Here is what is new)$/),
    ]);
    await track('sami', 'Opened app');
    await pass(15 * day);
    const stages = await bundle.database`
      select customer_id as name, attributes ->> 'stage' as stage from users
      where customer_id in ('noor', 'piet', 'sami') order by 1`;
    expect(stages.map(({ name, stage }) => `${name} ${stage}`)).toEqual(['noor lost', 'piet lost', 'sami active']);
  });

  test('a message with a topic and an inbox leaves out who left the topic, and stays in the inbox of the others', async () => {
    await call('/v1/topics', { key: 'news', name: 'News', default: 'opted_in' });
    const choice = { headers: bundle.basic(), body: { topics: { news: false } } };
    expect((await bundle.call('PATCH', '/v1/users/piet/topics', choice)).status).toBe(200);
    const advanced = { topic: 'news', inbox: { send_to: 'BOTH', inbox_expiry: 24 } };
    const id = await launch('News', {
      ...{ entry: { type: 'api' }, first_step: 'news' },
      steps: [{ type: 'send', id: 'news', message: message('The news', { advanced }), next: null }],
    });
    const users = ['noor', 'piet'].map((customer_id) => ({ customer_id }));
    await call(`/v1/journeys/${id}/entries`, { users }, bundle.keys.campaigns);
    await pass(hour);
    expect((await texts('noor', 'piet')).filter((text) => text.includes('The news'))).toEqual(['noor: The news']);
    const kept = await bundle.database`
      select users.customer_id as name from inbox_messages join users
        on users.bucket = inbox_messages.bucket and users.id = inbox_messages.user_id`;
    expect(kept.map(({ name }) => name)).toEqual(['noor']);
    const { journey } = await read(`/v1/journeys/${id}`);
    const explained = await read(`/v5/campaigns/${journey.campaigns.news}/explain?customer_id=piet`);
    expect(explained.step).toBe('TOPIC_OPTED_OUT');
  });
});
