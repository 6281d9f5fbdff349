import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { changeWorkspace, parseControls } from '../../../src/app/workspaces.ts';
import type { WorkspaceControlTexts } from '../../../src/app/workspaces.ts';
import { makeExperimentBundle } from '../../experiments/experiment-bundle.ts';
import type { ExperimentBundle } from '../../experiments/experiment-bundle.ts';

const phones = 60;
const hour = 3_600_000;
const open = { queuing_enabled: true, queue_duration: 12 };
let bundle: ExperimentBundle;
beforeAll(async () => {
  bundle = await makeExperimentBundle();
  await bundle.addPhones(phones);
});
afterAll(() => bundle.close());
beforeEach(async () => {
  bundle.answer(() => ({ kind: 'accepted' }));
  bundle.sent.length = 0;
  // A day that knows nothing of the one before.
  bundle.clock.advance(60 * 24 * hour);
  await setControls({ frequencyCaps: 'none', quietHours: 'none', quietMode: 'HOLD', minimumDelay: 'none' });
});

function setControls(texts: Partial<WorkspaceControlTexts>): Promise<void> {
  const changes = parseControls({ ...texts } as WorkspaceControlTexts);
  return changeWorkspace(bundle, { id: bundle.workspaceId, ...changes } as never);
}

/** Sends what is due. @returns to how many phones */
async function retryAll(): Promise<number> {
  const before = bundle.sent.length;
  while ((await bundle.retry()) > 0);
  return bundle.sent.length - before;
}

const ledgerOf = async (campaignId: string) =>
  Object.fromEntries(
    (
      await bundle.database`
        select outcome || coalesce(' ' || code, '') as what, count(*)::int as devices from readable_deliveries
        where campaign_id = ${campaignId} group by 1 order by 1`
    ).map(({ what, devices }) => [what, devices]),
  );

test('whoever had as many messages as the cap allows is sent to once one has left it, each once', async () => {
  await setControls({ frequencyCaps: '1/6h' });
  await bundle.live();
  expect(await bundle.deliver()).toHaveLength(phones);
  const sentAt = bundle.clock.now();
  bundle.clock.advance(hour);
  const id = await bundle.live({ delivery_controls: open });
  expect(await bundle.deliver()).toEqual([]);
  expect(await ledgerOf(id)).toEqual({ 'WAITING FREQUENCY_CAP': phones });
  expect((await bundle.get(id)).status).toBe('SENDING');
  const told = await bundle.explain(id, 'user-1');
  expect(told.runs[0]).toMatchObject({ step: 'FREQUENCY_CAP' });
  expect(told.runs[0].devices[0].until).toBe(new Date(sentAt.getTime() + 6 * hour).toISOString());
  bundle.clock.advance(sentAt.getTime() + 6 * hour - bundle.clock.now().getTime() - 1);
  expect(await retryAll()).toBe(0);
  bundle.clock.advance(1);
  expect(await retryAll()).toBe(phones);
  expect(new Set(bundle.sent.map(({ pushId }) => pushId)).size).toBe(phones);
  while ((await bundle.end()) > 0);
  expect(await ledgerOf(id)).toEqual({ ACCEPTED: phones });
  expect((await bundle.get(id)).status).toBe('SENT');
});

test('it is asked again when the time comes: what came in between is waited for, until the queue ends', async () => {
  await setControls({ frequencyCaps: '1/8h' });
  await bundle.live();
  await bundle.deliver();
  bundle.clock.advance(hour);
  const id = await bundle.live({ delivery_controls: open });
  await bundle.deliver();
  bundle.clock.advance(7.5 * hour);
  // Somebody else is faster: the queue ends before his message has left the cap.
  await bundle.live();
  expect(await bundle.deliver()).toHaveLength(phones);
  expect(await retryAll()).toBe(0);
  expect(await ledgerOf(id)).toEqual({ 'WITHHELD FREQUENCY_CAP': phones });
  while ((await bundle.end()) > 0);
  expect((await bundle.get(id)).status).toBe('SENT');
  expect(
    (await bundle.variations(id, { startDate: '2026-01-01', endDate: '2027-01-01' })).all_variations,
  ).toMatchObject({
    failure_breakdown: { FREQUENCY_CAP: phones },
  });
});

test('a delay and quiet hours that drop are waited for, and without a queue they are not', async () => {
  await setControls({ minimumDelay: '120' });
  await bundle.live();
  await bundle.deliver();
  const plain = await bundle.live();
  const queued = await bundle.live({ delivery_controls: open });
  expect(await bundle.deliver()).toEqual([]);
  expect(await ledgerOf(plain)).toEqual({ 'WITHHELD MINIMUM_DELAY': phones });
  expect(await ledgerOf(queued)).toEqual({ 'WAITING MINIMUM_DELAY': phones });
  bundle.clock.advance(2 * hour);
  expect(await retryAll()).toBe(phones);
  const now = bundle.clock.now().toISOString().slice(11, 13);
  const next = String((Number(now) + 3) % 24).padStart(2, '0');
  await setControls({ minimumDelay: 'none', quietHours: `${now}:00-${next}:00`, quietMode: 'DROP' });
  const night = await bundle.live({ delivery_controls: open });
  expect(await bundle.deliver()).toEqual([]);
  expect(await ledgerOf(night)).toEqual({ 'WAITING QUIET_HOURS': phones });
  bundle.clock.advance(3 * hour);
  expect(await retryAll()).toBe(phones);
  while ((await bundle.end()) > 0);
});

test('the queue outlives its worker: another sends what the lost one had taken, to the same devices under the same ids', async () => {
  await setControls({ frequencyCaps: '1/6h' });
  await bundle.live();
  await bundle.deliver();
  const id = await bundle.live({ delivery_controls: open });
  await bundle.deliver();
  bundle.sent.length = 0;
  bundle.clock.advance(6 * hour);
  bundle.answer(() => new Promise(() => {}));
  void bundle.retry();
  while (bundle.sent.length < phones) await new Promise((resolve) => setTimeout(resolve, 2));
  const first = bundle.sent.map(({ messageId }) => messageId);
  bundle.answer(() => ({ kind: 'accepted' }));
  expect(await retryAll()).toBe(0);
  bundle.clock.advance(61_000);
  await Promise.all([bundle.retry(), bundle.retry()]);
  while ((await bundle.retry()) > 0);
  expect(await ledgerOf(id)).toEqual({ ACCEPTED: phones });
  expect(
    bundle.sent
      .slice(phones)
      .map(({ messageId }) => messageId)
      .toSorted(),
  ).toEqual(first.toSorted());
  while ((await bundle.end()) > 0);
});

test('of a queue a campaign takes only users that are reached still, and a stop ends it', async () => {
  await setControls({ frequencyCaps: '1/6h' });
  await bundle.live();
  await bundle.deliver();
  const id = await bundle.live({ delivery_controls: open });
  await bundle.deliver();
  expect((await bundle.act(id, 'STOP')).statusCode).toBe(200);
  bundle.clock.advance(6 * hour);
  expect(await retryAll()).toBe(0);
  expect(await ledgerOf(id)).toEqual({ 'EXPIRED STOPPED': phones });
});

test('a limit of the campaign’s own: so many of its messages to a user within a time, in both spellings', async () => {
  const start = new Date(bundle.clock.now().getTime() + hour);
  const periodic = (controls: object) => ({
    ...{ campaign_delivery_type: 'PERIODIC', delivery_controls: controls },
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME',
      start_time: start.toISOString().slice(0, 19),
      periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 5 },
    },
  });
  const window = { enabled: true, max_count: 2, window_value: 3, window_unit: 'DAYS' };
  const sentDaily: Record<string, number[]> = {};
  const ids = [
    await bundle.live(periodic({ limit_send_config: window })),
    await bundle.live(periodic({ send_limit_value: 2, send_limit_granularity_in_hours: 72 })),
  ];
  bundle.clock.advance(start.getTime() + 60_000 - bundle.clock.now().getTime());
  for (let day = 0; day < 5; day += 1) {
    while ((await bundle.fire()) > 0);
    await bundle.deliver();
    for (const id of ids) {
      const { ACCEPTED: accepted = 0 } = await ledgerOf(id);
      (sentDaily[id] ??= []).push(accepted / phones);
    }
    bundle.clock.advance(24 * hour);
  }
  for (const id of ids) expect(sentDaily[id]).toEqual([1, 2, 2, 3, 4]);
  expect(await ledgerOf(ids[0]!)).toEqual({ ACCEPTED: 4 * phones, 'WITHHELD CAMPAIGN_SEND_LIMIT': phones });
  const told = await bundle.explain(ids[0]!, 'user-1');
  expect(told.runs.map(({ step }: { step: string }) => step)).toEqual([
    ...['ACCEPTED', 'ACCEPTED', 'CAMPAIGN_SEND_LIMIT', 'ACCEPTED', 'ACCEPTED'],
  ]);
});

test.each<[object, string]>([
  [{ send_limit_value: 1 }, 'send_limit_granularity_in_hours'],
  [{ send_limit_granularity_in_hours: 1 }, 'send_limit_value'],
  [{ limit_send_config: { enabled: true, max_count: 1, window_value: 1 } }, 'limit_send_config.window_unit'],
  [{ limit_send_config: { enabled: true } }, 'limit_send_config.max_count'],
])('a limit that says only half, %j, keeps a draft from going live', async (controls, field) => {
  const id = await bundle.draft({ delivery_controls: controls });
  const { valid, errors } = (await bundle.call('POST', `/v5/campaigns/${id}/validate`)).json().data;
  expect([valid, errors[0].field]).toEqual([false, `delivery_controls.${field}`]);
});
