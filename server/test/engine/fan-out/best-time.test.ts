import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { campaign, faultsOf } from '../../campaigns/authoring-bundle.ts';
import { makeVariationBundle } from '../../experiments/variation-bundle.ts';
import type { VariationBundle } from '../../experiments/variation-bundle.ts';

const hour = 3_600_000;
const phones = 40;
/** Who opens what is sent at noon how many hours later; the others open nothing. */
const evening = ['user-0', 'user-1', 'user-2'];
const atOnce = ['user-3', 'user-4'];
const night = ['user-5'];
const seldom = ['user-6'];
let bundle: VariationBundle;

beforeAll(async () => {
  bundle = await makeVariationBundle();
  await bundle.addPhones(phones);
  for (let day = 0; day < 3; day += 1) {
    await bundle.live();
    await bundle.deliver();
    bundle.clock.advance(10 * 60_000);
    await bundle.report(atOnce, 'click');
    bundle.clock.advance(7 * hour);
    await bundle.report(day === 0 ? [...evening, ...seldom] : evening, 'click');
    // A click that comes again is none, and one that was seen is not opened.
    await bundle.report(seldom, 'impression');
    bundle.clock.advance(6 * hour);
    await bundle.report(night, 'click');
    advanceTo(new Date(bundle.clock.now().getTime() + 12 * hour));
  }
});
afterAll(() => bundle.close());
beforeEach(() => {
  bundle.sent.length = 0;
});

function advanceTo(at: Date): void {
  const noon = new Date(`${at.toISOString().slice(0, 10)}T12:00:00Z`);
  bundle.clock.advance(Math.max(0, noon.getTime() - bundle.clock.now().getTime()));
}

const startAt = (inHours: number) => new Date(bundle.clock.now().getTime() + inHours * hour);
const best = (start: Date, details?: object) => ({
  scheduling_details: {
    ...{ delivery_type: 'SEND_IN_BTS', start_time: start.toISOString().slice(0, 19), timezone: 'UTC' },
    ...(details && { bts_details: details }),
  },
});

/** Everything that is due at the instant. @returns to whom it went, by name */
async function at(instant: Date): Promise<string[]> {
  bundle.clock.advance(instant.getTime() - bundle.clock.now().getTime());
  await bundle.fire();
  const sent = await bundle.deliver();
  const before = bundle.sent.length;
  while ((await bundle.retry()) > 0);
  while ((await bundle.end()) > 0);
  return [...sent, ...bundle.sent.slice(before).map(({ pushId }) => pushId.replace('push-', ''))].toSorted();
}

const noonAfter = () => {
  const at = startAt(25);
  return new Date(`${at.toISOString().slice(0, 10)}T12:00:00Z`);
};
const after = (start: Date, hours: number) => new Date(start.getTime() + hours * hour);

test('each user gets it at the hour at which that user opens messages, the others at the start; once, in one run', async () => {
  const start = noonAfter();
  const id = await bundle.live(best(start));
  expect((await bundle.get(id)).scheduling_details).toMatchObject({
    delivery_type: 'SEND_IN_BTS',
    bts_details: {
      ...{ window_in_hours: 24, if_best_time_is_unknown: 'SEND_AT_START' },
      if_best_time_is_outside: 'SEND_AT_START',
    },
  });
  const special = [...evening, ...night];
  const first = await at(start);
  expect(first).toHaveLength(phones - special.length);
  for (const name of [...atOnce, ...seldom]) expect(first).toContain(name);
  const told = await bundle.explain(id, evening[0]!);
  expect(told.runs[0]).toMatchObject({
    step: 'BEST_TIME',
    devices: [{ code: 'BEST_TIME', until: after(start, 7).toISOString() }],
  });
  expect(await at(new Date(after(start, 7).getTime() - 1))).toEqual([]);
  expect(await at(after(start, 7))).toEqual(evening);
  expect((await bundle.get(id)).status).toBe('SENDING');
  expect(await at(after(start, 13))).toEqual(night);
  expect((await bundle.get(id)).status).toBe('SENT');
  expect(await bundle.runs(id)).toHaveLength(1);
});

test('within some hours only: whose best time is later gets it at the end, and whose is not known does not', async () => {
  const start = noonAfter();
  const id = await bundle.live(
    best(start, {
      ...{ window_in_hours: 9, if_best_time_is_outside: 'SEND_AT_END', if_best_time_is_unknown: 'DO_NOT_SEND' },
    }),
  );
  expect(await at(start)).toEqual(atOnce);
  expect(await at(after(start, 7))).toEqual(evening);
  expect(await at(after(start, 9))).toEqual(night);
  const codes = await bundle.database`
    select outcome, code, count(*)::int as devices from readable_deliveries where campaign_id = ${id} group by 1, 2 order by 1`;
  expect([...codes]).toEqual([
    { outcome: 'ACCEPTED', code: null, devices: 6 },
    { outcome: 'WITHHELD', code: 'BEST_TIME', devices: phones - 6 },
  ]);
});

test('a worker that is lost while it plans, and one that is lost while it sends, change nobody’s hour', async () => {
  const start = noonAfter();
  const id = await bundle.live(best(start));
  bundle.clock.advance(start.getTime() - bundle.clock.now().getTime());
  await bundle.fire();
  while ((await bundle.release()) > 0);
  const [{ id: runId }] = await bundle.runs(id);
  bundle.answer(() => new Promise(() => {}));
  const chunk = (await bundle.claim('lost'))!;
  void bundle.sendWindow({ run: await bundle.run(runId), chunk, cursor: { bucket: 0, position: '' } });
  while (bundle.sent.length < 3) await new Promise((resolve) => setTimeout(resolve, 2));
  bundle.answer(() => ({ kind: 'accepted' }));
  expect(await at(new Date(start.getTime() + 61_000))).toHaveLength(phones - evening.length - night.length);
  bundle.clock.advance(after(start, 7).getTime() - bundle.clock.now().getTime());
  bundle.answer(() => new Promise(() => {}));
  const before = bundle.sent.length;
  void bundle.retry();
  while (bundle.sent.length < before + evening.length) await new Promise((resolve) => setTimeout(resolve, 2));
  bundle.answer(() => ({ kind: 'accepted' }));
  expect(await at(new Date(bundle.clock.now().getTime() + 61_000))).toEqual(evening);
  expect(await at(after(start, 13))).toEqual(night);
  const [counted] = await bundle.database`
    select count(*)::int as devices, count(*) filter (where outcome = 'ACCEPTED')::int as accepted
    from readable_deliveries where run_id = ${runId}`;
  expect(counted).toEqual({ devices: phones, accepted: phones });
});

test('a campaign that recurs asks anew each day, and V1 answers what was sent', async () => {
  const start = noonAfter();
  const id = await bundle.live({
    ...{ campaign_delivery_type: 'PERIODIC' },
    scheduling_details: {
      ...best(start, { window_in_hours: 8 }).scheduling_details,
      periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 2 },
    },
  });
  const found = await bundle.call('POST', '/v1/campaigns/search', {
    ...{ request_id: 'r', limit: 1, page: 1, campaign_fields: { id } },
  });
  expect(found.json().campaigns?.[0] ?? found.json()).toMatchObject({
    scheduling_details: { delivery_type: 'SEND_IN_BTS', bts_details: { window_in_hours: 8 } },
  });
  expect(await at(start)).toHaveLength(phones - evening.length);
  expect(await at(after(start, 7))).toEqual(evening);
  expect(await at(after(start, 24))).toHaveLength(phones - evening.length);
  expect(await at(after(start, 31))).toEqual(evening);
});

const faults = async (more: object) =>
  faultsOf(await bundle.call('POST', '/v5/campaigns', campaign({ scheduling_details: more })));
const path = 'scheduling_details.';
test.each<[string, object, string]>([
  [
    'hours of more than a day',
    best(new Date('2027-01-01'), { window_in_hours: 25 }).scheduling_details,
    `${path}bts_details.window_in_hours must be a whole number from 1 to 24.`,
  ],
  [
    'a member that nobody knows',
    best(new Date('2027-01-01'), { a: 1 }).scheduling_details,
    `${path}bts_details.a is not available in this version.`,
  ],
  [
    'details of another kind of send',
    { delivery_type: 'AT_FIXED_TIME', start_time: '2027-01-01T00:00:00', bts_details: { window_in_hours: 2 } },
    `${path}bts_details needs SEND_IN_BTS.`,
  ],
])('%s are refused by name', async (_name, details, sentence) => {
  expect(await faults(details)).toEqual([sentence]);
});
