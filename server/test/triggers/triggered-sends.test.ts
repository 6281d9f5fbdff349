import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { hasDueWork } from '../../src/storage/installation/queues.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { campaign } from '../campaigns/authoring-bundle.ts';
import { contentIn, shares } from '../experiments/variation-bundle.ts';
import { afterHours, did, triggered } from './trigger-bundle.ts';

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

/** Each test has an event of its own: the campaigns of the others listen on. */
let event = '';
const act = (customer_id: string) =>
  post(`/v1/event/${bundle.workspaceId}`, { type: 'event', customer_id, actions: [{ action: event }] });
const merge = (merged_user: string, retained_user: string) =>
  post(`/v1/customer/merge?app_id=${bundle.workspaceId}`, { merge_data: [{ merged_user, retained_user }] });

const authorization = () => bundle.basic(bundle.keys.campaigns);
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
  const published = await bundle.call('PATCH', `/v5/campaigns/${id}/status`, { headers, body: { action: 'PUBLISH' } });
  expect(published.text).toContain('PUBLISH');
  return id;
}

/** Whose phones got something: as many messages as the ledger knows to be accepted since the inbox was emptied arrive a little later. */
async function inbox(): Promise<string[]> {
  const [row] = await bundle.database`select count(*) as accepted from readable_deliveries where outcome = 'ACCEPTED'`;
  const messages = await until(async () => {
    const found = await bundle.inbox('?limit=100');
    return found.length >= row!.accepted - acceptedBefore && found;
  });
  return messages.map(({ deviceToken }) => String(deviceToken).replace('token-of-', '')).sort();
}

/** What came before is not looked at again. */
let acceptedBefore = 0;
async function emptyInbox(): Promise<void> {
  await inbox();
  await bundle.call('DELETE', '/sandbox/inbox');
  const [row] = await bundle.database`select count(*) as accepted from readable_deliveries where outcome = 'ACCEPTED'`;
  acceptedBefore = row!.accepted;
}

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

describe('what an event starts', () => {
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
});
