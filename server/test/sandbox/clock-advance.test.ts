import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterEach(() => bundle.call('POST', '/sandbox/faults', { body: {} }));
afterAll(() => bundle.stop());

const days = propertyRuns(105);
const dayMilliseconds = 86_400_000;

const readClock = async () => (await bundle.call('GET', '/sandbox/clock')).json();
const move = (body: object) => bundle.call('POST', '/sandbox/clock', { body });
const setFault = (fcm: object) => bundle.call('POST', '/sandbox/faults', { body: { fcm } });

/** Advances to the end, also when the response came on the way. */
async function advance(advanceSeconds: number) {
  const answer = await move({ advanceSeconds });
  expect(answer.status).toBe(200);
  return await until(async () => {
    const state = await readClock();
    return state.advancing === null && state;
  });
}

const pushToAll = (campaignName: string, campaignDelivery: object = { type: 'soon' }) =>
  bundle.push({
    ...{ campaignName, campaignDelivery, targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
    payload: { ANDROID: { title: 'Title', message: 'Text' } },
  });

const asAmerican = (at: Date): string => at.toISOString().replace(/^(\d+)-(\d+)-(\d+)T.*/, '$2/$3/$1');

test(`an advance of ${days} days sends a daily campaign once a day, at its hour, and misses none`, async () => {
  const { now, offsetSeconds } = await readClock();
  const endDate = asAmerican(new Date(Date.parse(now) + 2 * days * dayMilliseconds));
  const daily = { type: 'periodic', time: '09:00 AM', endDate, repeatAfter: '1' };
  const { cid } = (await pushToAll('Each day at nine', daily)).json();
  const there = await advance((days * dayMilliseconds) / 1000);
  expect(there.offsetSeconds).toBe(offsetSeconds + (days * dayMilliseconds) / 1000);
  const runs = await bundle.database`
    with ledger as materialized (
      select run_id, array_agg(outcome) as outcomes from readable_deliveries where campaign_id = ${cid} group by run_id
    )
    select status, started_at as "startedAt", outcomes
    from runs left join ledger on ledger.run_id = runs.id where campaign_id = ${cid} order by started_at`;
  expect(runs).toHaveLength(days);
  const firstDay = Date.parse((runs[0]!.startedAt as Date).toISOString().slice(0, 10));
  runs.forEach(({ status, startedAt, outcomes }, index) => {
    expect([status, outcomes]).toEqual(['SENT', ['ACCEPTED']]);
    const lateMilliseconds = (startedAt as Date).getTime() - (firstDay + 9 * 3_600_000 + index * dayMilliseconds);
    expect(lateMilliseconds).toBeGreaterThanOrEqual(0);
    // Of real time, on a busy machine.
    expect(lateMilliseconds).toBeLessThan(60_000);
  });
});

test('an advance lets each attempt be made when it is due', async () => {
  await setFault({ status: 503, count: 3 });
  const { cid } = (await pushToAll('At the fourth attempt')).json();
  await until(async () => {
    const [row] = await bundle.database`
      select 1 from readable_deliveries where campaign_id = ${cid} and outcome = 'WAITING'`;
    return row;
  });
  await advance(7200);
  const [delivery] = await bundle.database`
    select outcome, attempts from readable_deliveries where campaign_id = ${cid}`;
  expect(delivery).toEqual({ outcome: 'ACCEPTED', attempts: 4 });
});

test('a clock that runs until it is idle stands where the last thing was due, and passes over what is further ahead', async () => {
  await move({ reset: true });
  const { now } = await readClock();
  const inDays = (days: number) => asAmerican(new Date(Date.parse(now) + days * dayMilliseconds));
  const later = async (name: string, days: number) =>
    (await pushToAll(name, { type: 'later', date: inDays(days), time: '09:00 AM' })).json().cid as string;
  const [near, far] = [await later('In three days', 3), await later('In fifty days', 50)];
  const { offsetSeconds, advancing } = (await move({ runUntilIdle: true, withinSeconds: 10 * 86_400 })).json();
  expect(advancing).toBeNull();
  expect(Math.abs(offsetSeconds / 86_400 - 3)).toBeLessThan(1);
  const runs = await bundle.database`
    select campaign_id as id, status from runs where campaign_id in (${near}, ${far}) and status = 'SENT'`;
  expect(runs).toEqual([{ id: near, status: 'SENT' }]);
  expect((await move({ runUntilIdle: true, withinSeconds: 86_400 })).json().offsetSeconds).toBe(offsetSeconds);
});

test('an advance says how far it is, is the only one, and a reset ends it where it is', async () => {
  await setFault({ delayMilliseconds: 4_000 });
  await pushToAll('On a slow line');
  const first = move({ advanceSeconds: 30 * 86_400 });
  const { advancing } = await until(async () => {
    const state = await readClock();
    return state.advancing !== null && state;
  });
  expect(advancing).toEqual({ stops: 0, remainingSeconds: 30 * 86_400 });
  const second = await move({ advanceSeconds: 1 });
  expect([second.status, second.json().title]).toEqual([409, expect.stringContaining('The clock is being moved')]);
  const reset = await move({ reset: true });
  expect(reset.json()).toMatchObject({ offsetSeconds: 0, advancing: null });
  expect((await first).json()).toMatchObject({ advancing: null });
});

test('what comes after the clock went back, or while it stands, is newer in the inbox than all before it', async () => {
  await advance(40 * 86_400);
  const first = (await pushToAll('In forty days')).json().cid as string;
  const inboxUntil = (cid: string, query = '') =>
    until(async () => {
      const messages: { id: string; campaignId: string; receivedAt: string }[] = await bundle.inbox(query);
      return messages.some(({ campaignId }) => campaignId === cid) && messages;
    });
  const [newest] = await inboxUntil(first);
  await move({ reset: true });
  await move({ freeze: true });
  const order = [];
  for (const name of ['Back again', 'In the same moment', 'And again']) {
    const { cid } = (await pushToAll(name)).json() as { cid: string };
    // Of what is accepted within a moment that stands either may be sent first.
    await inboxUntil(cid, `?after=${newest!.id}`);
    order.unshift(cid);
  }
  const messages = await bundle.inbox(`?after=${newest!.id}`);
  expect(messages).toHaveLength(3);
  expect(messages.every(({ receivedAt }) => receivedAt < newest!.receivedAt)).toBe(true);
  expect(messages.map(({ campaignId }) => campaignId)).toEqual(order);
  expect((await bundle.inbox('?limit=3')).map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
  await move({ reset: true });
});

test('a clock that stands lets nothing come due until it is moved, and runs on from where it stands', async () => {
  await move({ reset: true });
  const frozen = (await move({ freeze: true })).json();
  expect(frozen).toMatchObject({ frozen: true, advancing: null });
  const { cid } = (await pushToAll('While it stands')).json();
  const run = await until(async () => {
    const [found] = await bundle.database`
      select started_at as "startedAt" from runs where campaign_id = ${cid} and status = 'SENT'`;
    return found;
  });
  expect((run.startedAt as Date).toISOString()).toBe(frozen.now);
  expect((await readClock()).now).toBe(frozen.now);
  const message = await until(async () => (await bundle.inbox()).find(({ campaignId }) => campaignId === cid));
  expect(message.receivedAt).toBe(frozen.now);

  const moved = await advance(3600);
  expect(Date.parse(moved.now) - Date.parse(frozen.now)).toBe(3_600_000);
  expect((await move({ freeze: true })).json().now).toBe(moved.now);
  const runs = (await move({ resume: true })).json();
  expect([runs.frozen, Date.parse(runs.now) - Date.parse(moved.now) < 60_000]).toEqual([false, true]);
  await until(async () => (await readClock()).now > runs.now);
  const [stored] = await bundle.database`select clock_frozen_at from installation`;
  expect(stored).toEqual({ clock_frozen_at: null });
  expect((await move({ reset: true })).json()).toMatchObject({ frozen: false, offsetSeconds: 0 });
});

test('a clock that another node let stand stands here within a look, and a reset lets it run', async () => {
  const at = new Date(Math.floor(Date.now() / 1000) * 1000);
  await bundle.database`update installation set clock_offset_ms = 60000, clock_frozen_at = ${at}`;
  const expected = new Date(at.getTime() + 60_000).toISOString();
  await until(async () => (await readClock()).now === expected);
  expect(await readClock()).toMatchObject({ frozen: true, now: expected });
  expect((await move({ reset: true })).json()).toMatchObject({ frozen: false, offsetSeconds: 0 });
});
