import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changeWorkspace } from '../../src/app/workspaces.ts';
import { toInstant, timeZoneAliases } from '../../src/domain/timing/local-time.ts';
import { campaign, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeEach(async () => {
  bundle = await makeAuthoringBundle();
});
afterEach(() => bundle.close());

// 12:00 UTC on the first of March 2026.
const zones = ['Pacific/Kiritimati', 'Asia/Tokyo', 'Europe/Paris', 'America/New_York', 'Pacific/Pago_Pago'];
const inUserZone = (details: object = {}) => ({
  scheduling_details: {
    delivery_type: 'SEND_IN_USER_TIMEZONE',
    start_time: '2026-03-03T09:00:00',
    timezone: 'Europe/Paris',
    ...details,
  },
});

/** One user a zone, and one without. */
async function addUsers(): Promise<void> {
  for (const zone of zones) {
    await bundle.addDevices(1, zone);
    await bundle.setAttribute(`${zone}-0`, { time_zone: zone });
  }
  await bundle.addDevices(1, 'nowhere');
}

/** Moves the clock and lets everything that is due be done. @returns who was sent to */
async function at(instant: string): Promise<string[]> {
  bundle.clock.advance(Date.parse(instant) - bundle.clock.now().getTime());
  await bundle.fire();
  const sent = await bundle.deliver();
  while ((await bundle.retry()) > 0);
  const retried = bundle.sent.map(({ pushId }) => pushId.replace('push-', '').replace(/-0$/, ''));
  await bundle.end();
  return [...new Set([...sent.map((name) => name.replace(/-0$/, '')), ...retried])].sort();
}

const codesOf = async (id: string): Promise<string[]> =>
  (
    await bundle.database`
      select users.customer_id as customer, coalesce(code, outcome) as code from readable_deliveries as deliveries
      join runs on runs.id = deliveries.run_id
      join users on users.bucket = deliveries.bucket and users.id = deliveries.user_id
      where runs.campaign_id = ${id} order by 1`
  ).map((row) => `${(row.customer as string).replace(/-0$/, '')} ${row.code}`);

describe('a campaign in the zones of its users', () => {
  test('reaches each at one local time, from the first zone to the last, in one run', async () => {
    await addUsers();
    const id = await bundle.live(inUserZone());
    expect((await bundle.get(id)).scheduling_details).toMatchObject({
      ...{ delivery_type: 'SEND_IN_USER_TIMEZONE', schedule_time: '2026-03-03T09:00:00', time_zone: 'Europe/Paris' },
      user_timezone_details: { send_if_user_timezone_has_passed: false },
    });
    expect(await at('2026-03-02T18:59:59Z')).toEqual([]);
    expect(await at('2026-03-02T19:00:00Z')).toEqual(['Pacific/Kiritimati']);
    expect(await at('2026-03-03T00:00:00Z')).toEqual(['Asia/Tokyo']);
    expect(await at('2026-03-03T07:59:59Z')).toEqual([]);
    expect(await at('2026-03-03T08:00:00Z')).toEqual(['Europe/Paris', 'nowhere']);
    expect(await at('2026-03-03T14:00:00Z')).toEqual(['America/New_York']);
    expect((await bundle.get(id)).status).toBe('SENDING');
    expect(await at('2026-03-03T20:00:00Z')).toEqual(['Pacific/Pago_Pago']);
    expect(await bundle.runs(id)).toHaveLength(1);
    expect((await bundle.get(id)).status).toBe('SENT');
  });

  test('leaves out users for whom the time had passed when it was published, and says so', async () => {
    await addUsers();
    const id = await bundle.live(inUserZone({ start_time: '2026-03-01T18:00:00' }));
    await at('2026-03-01T12:01:00Z');
    expect(await at('2026-03-02T12:00:00Z')).toEqual([...zones.slice(3), 'Europe/Paris', 'nowhere'].sort());
    expect(await codesOf(id)).toEqual([
      'America/New_York ACCEPTED',
      'Asia/Tokyo USER_TIME_ZONE',
      'Europe/Paris ACCEPTED',
      'Pacific/Kiritimati USER_TIME_ZONE',
      'Pacific/Pago_Pago ACCEPTED',
      'nowhere ACCEPTED',
    ]);
  });

  test('or sends to them at the time of its own zone, when it says so', async () => {
    await addUsers();
    const details = { user_timezone_details: { send_if_user_timezone_has_passed: true } };
    await bundle.live(inUserZone({ start_time: '2026-03-01T18:00:00', ...details }));
    await at('2026-03-01T12:01:00Z');
    expect(await at('2026-03-01T17:00:00Z')).toEqual(['Asia/Tokyo', 'Europe/Paris', 'Pacific/Kiritimati', 'nowhere']);
  });

  test('that is periodic has a run for each of its days', async () => {
    await addUsers();
    const id = await bundle.live({
      campaign_delivery_type: 'PERIODIC',
      ...inUserZone({ periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 2 } }),
    });
    await at('2026-03-02T19:00:00Z');
    await at('2026-03-03T19:00:00Z');
    await at('2026-03-05T00:00:00Z');
    const runs = await bundle.runs(id);
    expect(runs.map(({ status }) => status)).toEqual(['SENT', 'SENT']);
    for (const { id: runId } of runs) expect(await bundle.counters(runId as string)).toEqual({ ACCEPTED: 6 });
    expect((await bundle.get(id)).status).toBe('RETIRED');
  });

  test('still goes to the zones to come after hours of downtime', async () => {
    await addUsers();
    await bundle.live(inUserZone());
    await at('2026-03-03T10:30:00Z');
    expect(await at('2026-03-03T21:00:00Z')).toEqual(['America/New_York', 'Pacific/Pago_Pago']);
  });

  test('names what is missing or wrong', async () => {
    const faults = async (body: object) => faultsOf(await bundle.call('POST', '/v5/campaigns', body));
    const base = { channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'a@b.c' };
    const missing = await bundle.draft(inUserZone({ start_time: null }));
    expect(faultsOf(await bundle.act(missing, 'PUBLISH'))).toEqual(['scheduling_details.start_time is required.']);
    expect(
      await faults({ ...base, scheduling_details: { delivery_type: 'ASAP', user_timezone_details: { a: 1 } } }),
    ).toEqual(['scheduling_details.user_timezone_details needs SEND_IN_USER_TIMEZONE.']);
    const early = await bundle.draft({
      campaign_delivery_type: 'PERIODIC',
      ...inUserZone({
        start_time: '2026-03-01T18:00:00',
        periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 2 },
      }),
    });
    expect(faultsOf(await bundle.act(early, 'PUBLISH'))[0]).toMatch(/has passed in some time zones: begin a day later/);
  });
});

describe('the name of a time zone', () => {
  const names = ['IST', 'BST', 'VST'];
  const delivery = (timezone: string) => ({ type: 'later', date: '05/01/2026', time: '09:00 AM', timezone });
  const fixed = (timezone: string) => ({
    scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2026-05-01T09:00:00', timezone },
  });
  const dueAt = async (id: string): Promise<unknown> => (await bundle.row(id)).timing;

  test('may be one that ICU knows and Temporal refuses: a push, a draft and a publication mean the same instant', async () => {
    for (const name of names) {
      const { zone } = timeZoneAliases[name]!;
      const at = toInstant({ date: '2026-05-01', time: '09:00', timeZone: zone }).toISOString();
      const pushed = await bundle.push({ campaignName: `In the zone ${name}`, campaignDelivery: delivery(name) });
      const published = await bundle.live({
        ...fixed(name),
        basic_details: { name: `In the zone ${name}`, platforms: ['ANDROID'] },
      });
      for (const id of [pushed, published]) expect(await dueAt(id)).toMatchObject({ at, timeZone: zone });
    }
  });

  test('that is none is refused by name, and nothing is stored', async () => {
    const before = (await bundle.database`select count(*) as campaigns from campaigns`)[0]!.campaigns as number;
    const pushed = await bundle.callPush({ campaignName: 'In no zone', campaignDelivery: delivery('Mars/Phobos') });
    expect(pushed.json()).toMatchObject({
      status: 'Fail',
      Error_Message: 'Error parsing parameters: campaignDelivery.timezone: is not a time-zone name',
    });
    const drafted = await bundle.call('POST', '/v5/campaigns', campaign(fixed('+05:30')));
    expect(faultsOf(drafted)).toEqual(['scheduling_details.timezone is not a time-zone name.']);
    expect((await bundle.database`select count(*) as campaigns from campaigns`)[0]!.campaigns).toBe(before);
    const change = changeWorkspace(bundle, { id: bundle.workspaceId, timeZone: 'Mars/Phobos' } as never);
    await expect(change).rejects.toThrow('Mars/Phobos is not a time-zone name');
  });

  test('of a workspace may have been stored as an alias: what names no zone is sent in the zone it stands for', async () => {
    await bundle.database`update workspaces set time_zone = 'BST' where id = ${bundle.workspaceId}`;
    const { timezone: _none, ...later } = delivery('');
    const pushed = await bundle.push({ campaignName: 'In the zone of all', campaignDelivery: later });
    expect(await dueAt(pushed)).toMatchObject({ at: '2026-05-01T03:00:00.000Z', timeZone: 'Asia/Dhaka' });
  });
});
