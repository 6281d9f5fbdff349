import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explainRun, steps, describeDelivery } from '../../src/domain/explain.ts';
import type { ExplainedDevice, RunFacts } from '../../src/domain/explain.ts';
import { findUserOfSuspect, keepSuspectedDevice } from '../../src/storage/devices/suspected-devices.ts';
import { makeDropSegmentLeftovers } from '../../src/engine/housekeeping/expiry.ts';
import { faultsOf, makeAuthoringBundle } from '../campaigns/authoring-bundle.ts';
import type { AuthoringBundle } from '../campaigns/authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeEach(async () => {
  bundle = await makeAuthoringBundle();
  await bundle.addDevices(3);
});
afterEach(() => bundle.close());

const hour = 3_600_000;
const noVariant = { variation: null, locale: null };
const filters = (...list: object[]) => ({ filter_operator: 'and', filters: list });
const explain = async (id: string, customerId: string, more = '') =>
  (await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=${encodeURIComponent(customerId)}${more}`)).json()
    .data;
const platforms = { basic_details: { name: 'Spring', platforms: ['ANDROID'] } };

describe('GET /v5/campaigns/{id}/explain', () => {
  test('says when a provider accepted the message, and of which device', async () => {
    const id = await bundle.live();
    await bundle.deliver();
    const [run] = await bundle.runs(id);
    const sentAt = (await bundle.database`select sent_at from readable_deliveries as deliveries limit 1`)[0]!
      .sent_at as Date;
    const explanation = `The provider accepted the message at ${sentAt.toISOString()}.`;
    expect(await explain(id, 'user-0')).toMatchObject({
      ...{ campaign_id: id, campaign_status: 'SENT', customer_id: 'user-0', step: 'ACCEPTED', explanation },
      runs: [
        {
          ...{ id: run.id, status: 'SENT', step: 'ACCEPTED' },
          devices: [
            {
              device_id: 'phone',
              platform: 'ANDROID',
              attempts: 1,
              at: sentAt.toISOString(),
              until: null,
              ...noVariant,
            },
          ],
        },
      ],
    });
  });

  test('says who is not meant, and why: no device, another platform, opted out, not in the segment', async () => {
    const segment = await bundle.fileSegment('VIP', ['user-0', 'user-1']);
    const included_filters = filters({ filter_type: 'custom_segments', id: segment, name: 'VIP' });
    await bundle.database`update devices set state = 'OPTED_OUT' where push_id = 'push-user-0'`;
    await bundle.database`delete from devices where push_id = 'push-user-2'`;
    const toAll = await bundle.live(platforms);
    const toSome = await bundle.live({ ...platforms, segmentation_details: { included_filters } });
    await bundle.deliver();
    const answers = async (id: string) =>
      Promise.all(['user-0', 'user-1', 'user-2'].map(async (user) => (await explain(id, user)).step));
    expect(await answers(toAll)).toEqual(['DEVICE_OPTED_OUT', 'PLATFORM_NOT_MEANT', 'NO_DEVICE']);
    expect(await answers(toSome)).toEqual(['DEVICE_OPTED_OUT', 'PLATFORM_NOT_MEANT', 'NOT_IN_AUDIENCE']);
  });

  test('says until when a message waits, in quiet hours and for a provider', async () => {
    await bundle.database`update workspaces set quiet_from = '11:00', quiet_to = '13:00'`;
    const held = await bundle.live(platforms);
    await bundle.deliver();
    expect(await explain(held, 'user-0')).toMatchObject({
      step: 'QUIET_HOURS',
      explanation: 'It was within the quiet hours of the person and is waiting until 2026-03-01T13:00:00.000Z.',
    });
    bundle.answer(() => ({ kind: 'wait', code: 'UNAVAILABLE', scope: 'device', retryAfterSeconds: 60 }));
    const waiting = await bundle.live({ ...platforms, delivery_controls: { bypass_dnd: true } });
    await bundle.deliver();
    const { step, explanation } = await explain(waiting, 'user-0');
    expect(step).toBe('WAITING');
    expect(explanation).toMatch(
      /^The message waits for another attempt \(UNAVAILABLE\) and is waiting until 2026-03-01T12:/,
    );
  });

  test('says of a suspected device what it is suspected of, that it left the audience, and how it is kept', async () => {
    const { database } = bundle;
    const [device] = await database`select id from devices where push_id = 'push-user-0'`;
    const strikes = async (sends: number, since: string) => {
      const lastAt = bundle.clock.now();
      await database`
        update devices set suspected_code = 'INVALID_ARGUMENT', suspected_sends = ${sends}, suspected_since = ${since},
          suspected_at = ${lastAt}
        where push_id = 'push-user-0'`;
    };
    bundle.answer(() => ({ kind: 'rejected', code: 'INVALID_ARGUMENT', detail: 'bad' }));
    const rejected = await bundle.live(platforms);
    await bundle.deliver();
    await strikes(2, '2026-02-28T12:00:00Z');
    const keep = `press Keep on the user’s page or run carillon devices keep ${String(device!.id)}.`;
    expect((await explain(rejected, 'user-0')).explanation).toBe(
      `The message was rejected (INVALID_ARGUMENT). The device is suspected: 2 sends since 2026-02-28T12:00:00.000Z failed like a dead address (INVALID_ARGUMENT). It leaves the audience after 3 such sends over 72 hours; to prevent that, ${keep}`,
    );
    await strikes(3, '2026-02-20T12:00:00Z');
    await database`
      update devices set state = 'GONE', gone_at = suspected_at, gone_reason = suspected_code where push_id = 'push-user-0'`;
    bundle.clock.advance(hour);
    bundle.answer(() => ({ kind: 'accepted' }));
    const without = await bundle.live(platforms);
    await bundle.deliver();
    expect(await explain(without, 'user-0')).toMatchObject({
      step: 'DEVICE_GONE',
      explanation: `The device left the audience after 3 sends since 2026-02-20T12:00:00.000Z that failed like a dead address (INVALID_ARGUMENT); to take it back, ${keep}`,
    });
    const { bucket } = (await findUserOfSuspect(database, {
      workspaceId: bundle.workspaceId,
      id: device!.id as string,
    }))!;
    const key = { workspaceId: bundle.workspaceId, bucket, id: device!.id as string };
    expect(await keepSuspectedDevice(database, { ...key, at: bundle.clock.now() })).toBe(true);
    const kept = await bundle.live(platforms);
    await bundle.deliver();
    expect((await explain(kept, 'user-0')).step).toBe('ACCEPTED');
  });

  test('says what a campaign that was not sent yet waits for, and that nobody has an id', async () => {
    const id = await bundle.live({
      scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2026-03-02T09:00:00', timezone: 'UTC' },
    });
    expect(await explain(id, 'user-0')).toMatchObject({
      ...{ step: 'NO_RUN', next_send: '2026-03-02T09:00:00.000Z', runs: [] },
    });
    expect(await explain(id, 'nobody')).toMatchObject({ step: 'UNKNOWN_PERSON', runs: [] });
  });

  test('says of a moment that was missed that it was, and tells runs apart', async () => {
    const id = await bundle.live({
      campaign_delivery_type: 'PERIODIC',
      scheduling_details: {
        ...{ delivery_type: 'AT_FIXED_TIME', start_time: '2026-03-02T09:00:00', timezone: 'UTC' },
        periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 3 },
      },
    });
    bundle.clock.advance(45.5 * hour);
    await bundle.fire();
    await bundle.deliver();
    const { step, runs } = await explain(id, 'user-0');
    const told = runs.map((run: { step: string }) => run.step).sort();
    expect([step, told]).toEqual([runs[0].step, ['ACCEPTED', 'RUN_MISSED']]);
    const missed = runs.find((run: { step: string }) => run.step === 'RUN_MISSED');
    expect(missed.explanation).toMatch(/^The run was due, but was found too late to be sent: /);
    expect((await explain(id, 'user-0', `&run_id=${missed.id}`)).runs).toHaveLength(1);
  });

  test('knows of a filter’s audience that is forgotten who was a stranger: whose device would stand in the ledger', async () => {
    await bundle.addDevices(1, 'stranger');
    await bundle.setAttribute('user-0', { vip: true });
    await bundle.database`update devices set state = 'OPTED_OUT' where push_id = 'push-user-1'`;
    const included_filters = filters({
      filter_type: 'user_attributes',
      name: 'vip',
      data_type: 'bool',
      operator: 'is',
      value: true,
    });
    const id = await bundle.live({ segmentation_details: { included_filters } });
    await bundle.deliver();
    const answers = async () =>
      Promise.all(['user-0', 'user-1', 'stranger-0'].map(async (user) => (await explain(id, user)).step));
    const before = await answers();
    while ((await makeDropSegmentLeftovers(bundle).runOnce(bundle.clock.now())) > 0);
    expect([before, await answers()]).toEqual([
      ['ACCEPTED', 'AUDIENCE_FORGOTTEN', 'NOT_IN_AUDIENCE'],
      ['ACCEPTED', 'AUDIENCE_FORGOTTEN', 'NOT_IN_AUDIENCE'],
    ]);
  });

  test('asks for a person, and knows no campaign of another workspace', async () => {
    const id = await bundle.live();
    const answer = await bundle.call('GET', `/v5/campaigns/${id}/explain`);
    expect([answer.statusCode, faultsOf(answer)]).toEqual([400, ['customer_id is required.']]);
    const wrong = await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=a&run_id=x`);
    expect(faultsOf(wrong)).toEqual(['run_id must be 24 hexadecimal characters.']);
    for (const unknown of ['0'.repeat(24), 'no-id'])
      expect((await bundle.call('GET', `/v5/campaigns/${unknown}/explain?customer_id=a`)).statusCode).toBe(404);
    const { database, clock } = bundle;
    await database`insert into workspaces (id, db_name, name, created_at) values ('OTHER', 'other', 'O', ${clock.now()})`;
    const headers = bundle.basic(await bundle.makeKey('campaigns', 'OTHER'), 'OTHER');
    expect(
      (await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=user-0`, undefined, { headers })).statusCode,
    ).toBe(404);
    expect(
      (
        await bundle.call('GET', `/v5/campaigns/${id}/explain?customer_id=a`, undefined, {
          headers: { authorization: '' },
        })
      ).statusCode,
    ).toBe(401);
  });
});

describe('the step of a person', () => {
  const device = (id: string, more: Partial<ExplainedDevice> = {}): ExplainedDevice => ({
    ...{ id, deviceId: `app-${id}`, platform: 'ANDROID', state: 'ACTIVE', isProvisional: false, appId: null },
    suspicion: null,
    ...more,
  });
  const sent = (deviceId: string, outcome: string, code: string | null = null) => ({
    ...{ deviceId, platform: 'ANDROID' as const, outcome, code, attempts: 1, sentAt: new Date(0), retryAt: null },
    ...noVariant,
  });
  const facts: RunFacts = {
    run: {
      ...{ id: 'run', status: 'SENT', statusReason: null, startedAt: new Date(0), platforms: ['ANDROID', 'IOS'] },
      ...{ iosProvisional: false, audienceBound: 'm', isLedgerDropped: false },
    },
    membership: 'member',
    devices: [],
    deliveries: [],
    chunk: { state: 'DONE' },
  };
  const sending = { ...facts.run, status: 'SENDING' as const };

  test.each<[string, Partial<RunFacts>]>([
    ['NO_DEVICE', {}],
    ['NOT_IN_AUDIENCE', { membership: 'stranger', devices: [device('a')] }],
    ['AUDIENCE_FORGOTTEN', { membership: 'forgotten', devices: [device('a', { state: 'BLOCKED' })] }],
    ['DEVICE_TOO_NEW', { devices: [device('z')] }],
    ['TRIAL_NOT_MEANT', { devices: [device('a', { platform: 'IOS', isProvisional: true })] }],
    ['APP_NOT_MEANT', { devices: [device('a')], run: { ...facts.run, appIds: ['courier'] } }],
    ['CHANGED_SINCE', { devices: [device('a')], run: { ...facts.run, appIds: ['default'] } }],
    ['DEVICE_BLOCKED', { devices: [device('a', { state: 'BLOCKED' }), device('b', { platform: 'WEB' })] }],
    ['CHANGED_SINCE', { devices: [device('a')] }],
    ['NOT_REACHED_YET', { devices: [device('a')], run: sending, chunk: { state: 'READY' } }],
    ['CHUNK_SET_ASIDE', { devices: [device('a')], chunk: { state: 'QUARANTINED' } }],
    ['RUN_STOPPED', { devices: [device('a')], deliveries: [sent('a', 'EXPIRED', 'STOPPED')] }],
    ['EXPIRED', { devices: [device('a')], deliveries: [sent('a', 'EXPIRED', 'TTL')] }],
    ['TEMPLATE_FAILED', { devices: [device('a')], deliveries: [sent('a', 'FAILED', 'TEMPLATE_UNDEFINED')] }],
    ['FREQUENCY_CAP', { devices: [device('a')], deliveries: [sent('a', 'WITHHELD', 'FREQUENCY_CAP')] }],
    ['ACCEPTED', { devices: [device('a'), device('b')], deliveries: [sent('a', 'GONE'), sent('b', 'ACCEPTED')] }],
    ['ACCEPTED', { devices: [], deliveries: [sent('a', 'ACCEPTED')] }],
    ['RUN_NOT_STARTED', { run: { ...facts.run, status: 'QUEUED', startedAt: null } }],
    ['RUN_FAILED', { run: { ...facts.run, status: 'FAILED', startedAt: null } }],
  ])('is %s', (step, more) => {
    expect(explainRun({ ...facts, ...more }).step).toBe(step);
  });

  test('has a sentence, whichever it is', () => {
    const base = {
      deviceId: 'a',
      platform: 'ANDROID' as const,
      code: null,
      attempts: 0,
      at: null,
      until: null,
      suspicion: null,
      ...noVariant,
    };
    for (const step of steps) expect(describeDelivery({ ...base, step })).toMatch(/^[A-Z].*[a-z]\.$/);
  });
});
