import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { defaultAppId } from '../../../src/domain/apps.ts';
import type { CredentialsOfApps } from '../../../src/domain/credentials/credentials.ts';
import { providerOf } from '../../../src/domain/delivery/providers.ts';
import { maxDeliveryAttempts } from '../../../src/domain/limits/delivery.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import type { Addressee, Recipient } from '../../../src/engine/fan-out/compose-message.ts';
import { makeDeliverToDevices } from '../../../src/engine/fan-out/deliver-to-devices.ts';
import { retryOfUntried, settleAs, settleOutcome, settleUntried } from '../../../src/engine/fan-out/settle-outcome.ts';
import type { Turns } from '../../../src/engine/governor/send-budgets.ts';
import type { DeliveryBatch } from '../../../src/providers/batch.ts';
import type { DecidedOutcome, Outcome } from '../../../src/providers/provider.ts';
import { makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import type { AudienceDevice } from '../../../src/storage/campaigns/audience.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { startCarillonBundle, until } from '../../carillon-bundle.ts';
import { refuseInserts } from '../../refuse-inserts.ts';
import { makeQuietEvidence } from '../governor/quiet-evidence.ts';
import { makeRecordingGovernor } from '../governor/recording-governor.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';
import { refusal } from './known-refusal.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);

type Given = {
  run?: Partial<RunToSend>;
  find?: CredentialsOfApps['find'];
  apps?: CredentialsOfApps['apps'];
  outcomeOf?: (id: string) => Outcome;
  turnOf?: (place: number) => Date | undefined;
  /** As the governor is told of the outcome of a device. */
  onReport?: (id: string) => void;
  loadCredentials?: () => Promise<CredentialsOfApps>;
};

describe('delivery to devices', () => {
  const texts = { title: 'T', message: 'M', richContent: [], additionalActions: [] };
  const run = {
    ...{ id: 'run', workspaceId: 'WORKSPACE', campaignId: 'campaign', lane: 1, settings: {}, refusals: [] },
    ...{ createdAt: now, sendUntil: later(3600), platforms: ['ANDROID', 'IOS', 'WEB'] },
    androidPayload: { mode: 'data', pushFrom: 'shop', dataPrefix: null },
    content: {
      ...{ ANDROID: texts, IOS: { ...texts, enableBadge: false } },
      WEB: { title: 'T', message: 'M', redirectUrl: 'https://a.b/', iconUrl: 'https://a.b/i.png', autoDismiss: false },
    },
  } as unknown as RunToSend;

  const phone = (id: string, more: Partial<Recipient> = {}): Addressee => ({
    device: {
      ...{ bucket: 1, id, userId: `user of ${id}`, platform: 'ANDROID', provider: null },
      ...{ pushId: `address of ${id}`, pushIdType: null, appId: null },
      ...more,
    },
    attempt: 1,
  });
  const delivered = (id: string, more: object = {}) => ({
    ...{ bucket: 1, deviceId: id, userId: `user of ${id}`, platform: 'ANDROID', outcome: 'ACCEPTED', code: null },
    ...{ providerMessageId: null, attempts: 1, retryAt: null, ...more },
  });

  const keyOfBrowser = { publicKey: 'B'.repeat(87) };
  const all = { fcm: { projectId: 'shop' }, apns: { teamId: 'TEAM' }, webpush: keyOfBrowser };
  const withAll: CredentialsOfApps['find'] = (device) => ({
    credentials: all as never,
    name: { provider: providerOf(device), appId: device.appId ?? defaultAppId, version: 'v1' },
  });

  test('returns results in the order of the recipients, whatever their account', async () => {
    const { deliveries, batches, turns } = await deliver([
      phone('one'),
      phone('two', { platform: 'IOS' }),
      { ...phone('three'), attempt: 4 },
    ]);
    expect(deliveries).toEqual([
      delivered('one'),
      delivered('two', { platform: 'IOS' }),
      delivered('three', { attempts: 4 }),
    ]);
    expect(batches.map(({ devices, pace }) => [pace, ...devices.map(({ id }) => id)])).toEqual([
      ['in turn', 'one', 'three'],
      ['in turn', 'two'],
    ]);
    expect(turns).toEqual([
      { account: 'fcm:shop', lane: 1, messages: 2 },
      { account: 'apns:TEAM', lane: 1, messages: 1 },
    ]);
  });

  test('sends promptly to named users, before audiences', async () => {
    const { batches, turns } = await deliver([phone('one')], { run: { lane: 0 } });
    expect(batches[0]!.pace).toBe('promptly');
    expect(turns).toEqual([{ account: 'fcm:shop', lane: 0, messages: 1 }]);
  });

  test('sends no request for a device without a message', async () => {
    const fault = new Error('cannot be rendered');
    const templateFault = { field: 'title', cause: 'USER_ATTRIBUTE', reason: '' } as const;
    const { deliveries, batches, logged } = await deliver(
      [
        phone('faulty', { fault }),
        phone('unnamed', { personal: { fault: templateFault } }),
        phone('other', { platform: 'IOS' }),
      ],
      { run: { content: { ANDROID: texts } }, loadCredentials: () => Promise.reject(new Error('is not asked for')) },
    );
    expect(deliveries).toEqual([
      delivered('faulty', { outcome: 'FAILED', code: 'RECIPIENT_FAULT' }),
      delivered('unnamed', { outcome: 'FAILED', code: 'TEMPLATE_USER_ATTRIBUTE' }),
      delivered('other', { platform: 'IOS', outcome: 'REJECTED', code: 'NO_CONTENT_FOR_PLATFORM' }),
    ]);
    expect(batches).toEqual([]);
    expect(logged).toEqual([{ err: fault, runId: 'run', deviceId: 'faulty' }]);
  });

  test('expires a message at the exact end of its lifetime', async () => {
    const expired = delivered('one', { outcome: 'EXPIRED', code: 'TTL' });
    expect((await deliver([phone('one')], { run: { sendUntil: now } })).deliveries).toEqual([expired]);
    expect((await deliver([phone('one')], { run: { sendUntil: later(0.001) } })).deliveries).toEqual([
      delivered('one'),
    ]);
  });

  test('makes devices wait some seconds while credentials cannot be read, without counting an attempt', async () => {
    const { deliveries } = await deliver([phone('one'), phone('late', { fault: new Error() })], {
      loadCredentials: () => Promise.reject(new Error('the database is away')),
    });
    expect(deliveries).toMatchObject([
      { deviceId: 'one', outcome: 'WAITING', code: 'CREDENTIALS_UNREAD', attempts: 0, retryAt: later(2.5) },
      { deviceId: 'late', code: 'RECIPIENT_FAULT' },
    ]);
  });

  test('rejects an app without a credential if another app has one, without affecting others', async () => {
    const { deliveries } = await deliver([phone('one', { appId: 'lost' }), phone('two')], {
      find: (device) => (device.appId === 'lost' ? undefined : withAll(device)),
    });
    expect(deliveries).toEqual([
      delivered('one', { outcome: 'REJECTED', code: 'NO_CREDENTIAL_FOR_APP' }),
      delivered('two'),
    ]);
  });

  test('sends without quota if the workspace lacks the credential, and reports that', async () => {
    const { deliveries, turns } = await deliver([phone('one'), phone('two')], {
      find: (device) => ({ ...withAll(device)!, credentials: {} }),
      outcomeOf: () => ({ kind: 'stopped', code: 'NO_CREDENTIAL', detail: 'none' }),
    });
    expect(turns).toEqual([]);
    expect(deliveries.map(({ deviceId, code }) => [deviceId, code])).toEqual([
      ['one', 'NO_CREDENTIAL'],
      ['two', 'NO_CREDENTIAL'],
    ]);
  });

  test('does not try a credential that is known to be rejected; its devices wait for another', async () => {
    const { results, batches } = await deliver([phone('one'), phone('two', { platform: 'IOS' })], {
      run: { refusals: [refusal] },
    });
    expect(batches).toHaveLength(1);
    expect(results).toEqual([
      {
        delivery: delivered('one', { outcome: 'WAITING', code: 'SENDER_ID', attempts: 0, retryAt: later(3600) }),
        refused: { refusal, by: 'what is known', reaches: 'others' },
      },
      { delivery: delivered('two', { platform: 'IOS' }) },
    ]);
  });

  test('reports a rejection after which the run has no usable credential', async () => {
    const { results } = await deliver([phone('one'), phone('two')], {
      run: { platforms: ['ANDROID'] },
      find: (device) => ({ ...withAll(device)!, credentials: { fcm: all.fcm } as never }),
      outcomeOf: (id) =>
        id === 'one' ? { kind: 'stopped', code: 'SENDER_ID', detail: 'wrong' } : { kind: 'accepted' },
    });
    expect(results).toMatchObject([
      {
        delivery: { outcome: 'WAITING' },
        refused: {
          refusal: { ...refusal, evidenceKey: 'WORKSPACE fcm default v1' },
          by: 'the provider',
          reaches: 'nobody',
        },
      },
      { delivery: { outcome: 'ACCEPTED' } },
    ]);
  });

  test('batches devices of one account, app, language and badge count', async () => {
    const german = { localized: { language: 'de', content: texts } };
    const counted = (value: number) => ({ badge: { operation: 'set', value } as const });
    const { batches } = await deliver([
      phone('plain'),
      phone('german', german),
      phone('app', { appId: 'shop' }),
      phone('counted', counted(3)),
      phone('German app', { appId: 'shop', ...german }),
      phone('counted too', counted(3)),
      phone('counted more', counted(4)),
      phone('cleared', { badge: { operation: 'clear' } }),
      phone('French', { localized: { language: 'fr', content: texts } }),
    ]);
    expect(batches.map(({ devices }) => devices.map(({ id }) => id))).toEqual([
      ['plain', 'cleared'],
      ['german'],
      ['app'],
      ['counted', 'counted too'],
      ['German app'],
      ['counted more'],
      ['French'],
    ]);
  });

  test('batches browsers per push service, because each is an account', async () => {
    const address = (origin: string) =>
      JSON.stringify({
        ...JSON.parse(makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: origin })),
        endpoint: `https://${origin}/subscription`,
      });
    const browser = (id: string, origin: string) => phone(id, { platform: 'WEB', pushId: address(origin) });
    const { batches, turns } = await deliver([
      browser('one', 'updates.push.example'),
      browser('two', 'web.push.example'),
      browser('three', 'updates.push.example'),
    ]);
    expect(batches.map(({ devices }) => devices.map(({ id }) => id))).toEqual([['one', 'three'], ['two']]);
    expect(turns.map(({ account }) => account)).toEqual([
      `webpush:${'B'.repeat(22)}:https://updates.push.example`,
      `webpush:${'B'.repeat(22)}:https://web.push.example`,
    ]);
  });

  test('retries a device without quota when the account may send again, without counting an attempt', async () => {
    const { deliveries } = await deliver([phone('one'), phone('two')], {
      turnOf: (place) => (place === 0 ? undefined : later(30)),
    });
    expect(deliveries).toEqual([
      delivered('one'),
      delivered('two', { outcome: 'WAITING', code: 'PROVIDER_WAIT', attempts: 0, retryAt: later(32.5) }),
    ]);
  });

  test('records why a fallback was shown, and nothing for a rendered message', async () => {
    const instead = { field: 'title', cause: 'USER_ATTRIBUTE', reason: '' } as const;
    const { deliveries } = await deliver([
      phone('one', { personal: { content: texts, instead } }),
      phone('two', { personal: { content: texts } }),
    ]);
    expect(deliveries.map(({ code }) => code)).toEqual(['FALLBACK_USER_ATTRIBUTE', null]);
  });

  test('reports an internal fault for its recipient only', async () => {
    const fault = new Error('cannot be told');
    const onReport = (id: string): void => {
      if (id === 'two') throw fault;
    };
    const { deliveries, logged } = await deliver([phone('one'), phone('two'), phone('three')], { onReport });
    expect(deliveries).toEqual([
      delivered('one'),
      delivered('two', { outcome: 'FAILED', code: 'RECIPIENT_FAULT' }),
      delivered('three'),
    ]);
    expect(logged).toEqual([{ err: fault, runId: 'run', deviceId: 'two' }]);
    const unmade = await deliver([phone('one')], {
      outcomeOf() {
        throw fault;
      },
    });
    expect(unmade.deliveries).toEqual([delivered('one', { outcome: 'FAILED', code: 'RECIPIENT_FAULT' })]);
    expect(unmade.logged).toEqual([{ err: fault, runId: 'run', deviceId: 'one' }]);
  });

  test('creates for a batch each message, its parts, and the message with other texts', async () => {
    const name = '{{ UserAttribute.name }}';
    const content = { ANDROID: { ...texts, title: name }, WEB: run.content.WEB! };
    const personaliser = makePersonaliser(content, 'AUTO')!;
    const user = { customerId: 'c', attributes: { name: 'Ada' } };
    const personal = personaliser.render({ platform: 'ANDROID', user, event: {} });
    const pushId = makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: 'browser' });
    const { batches } = await deliver([phone('one', { personal }), phone('site', { platform: 'WEB', pushId })], {
      run: { content },
      find: (device) => ({ ...withAll(device)!, settings: { pushFrom: 'own app' } }),
    });
    const [ofPhones, ofBrowsers] = batches;
    const message = ofPhones!.messageOf(0);
    expect(message).toMatchObject({ content: { title: 'Ada' }, payload: { pushFrom: 'own app' } });
    expect(ofPhones!.partsOf!(0)).toMatchObject({ identity: message.identity, own: { texts: ['Ada'] } });
    expect(ofPhones!.messageWith!(0, ['Grace'])).toEqual({
      ...message,
      content: { ...message.content, title: 'Grace' },
    });
    expect(ofBrowsers!.partsOf).toBeUndefined();
  });

  /** Delivers, and says what batches were opened, which turns were asked for, and what was logged. */
  async function deliver(addressees: readonly Addressee[], given: Given = {}) {
    const batches: DeliveryBatch[] = [];
    const turns: (Omit<Turns, 'onTurn'> & { account: string })[] = [];
    const logged: Record<string, unknown>[] = [];
    let telling = '';
    const { find = withAll, apps = [], outcomeOf = () => ({ kind: 'accepted' }), turnOf = () => undefined } = given;
    const work = makeDeliverToDevices({
      log: { error: (line: Record<string, unknown>) => void logged.push(line) } as never,
      clock: makeManualClock(now),
      evidence: makeQuietEvidence().evidence,
      random: () => 0.5,
      interactionTokens: { issue: () => ({ token: 'pass' }), open: () => undefined, openClick: () => undefined },
      phoneDefaults: { dataPrefix: 'svc', publicUrl: undefined },
      loadCredentials: given.loadCredentials ?? (async () => ({ find, apps })),
      governor: {
        acquire(account, { onTurn, ...asked }) {
          turns.push({ account: account.key, ...asked });
          for (let place = 0; place < asked.messages; place += 1) onTurn(turnOf(place));
        },
        pause() {},
        pauseAfterFailure: () => later(60),
        report: () => given.onReport?.(telling),
      },
      delivery: {
        openBatch(batch) {
          batches.push(batch);
          return (place) => {
            try {
              batch.messageOf(place);
              telling = batch.devices[place]!.id;
              batch.onOutcome(place, outcomeOf(telling));
            } catch (error) {
              batch.onFault(place, error);
            }
          };
        },
      },
    });
    const results = await work({ ...run, ...given.run }, addressees);
    return { results, deliveries: results.map(({ delivery }) => delivery), batches, turns, logged };
  }
});

type Settling = Parameters<typeof settleOutcome>[1];

describe('the outcome of a message', () => {
  const device: AudienceDevice = {
    ...{ bucket: 7, id: 'device', userId: 'user', pushId: 'address', appId: null },
    platform: 'IOS',
    provider: null,
    pushIdType: null,
  };
  const row = {
    bucket: 7,
    deviceId: 'device',
    userId: 'user',
    platform: 'IOS',
    providerMessageId: null,
    retryAt: null,
  };
  const account = { key: 'apns:TEAM', perMinute: undefined, throttledPerMinute: undefined };

  test('is final for an accepted message, with the id of the provider if there is one', () => {
    expect(settle({ kind: 'accepted', providerMessageId: 'their-id' })).toEqual({
      delivery: { ...row, outcome: 'ACCEPTED', code: null, providerMessageId: 'their-id', attempts: 3 },
      told: [{ reported: 'apns:TEAM', kind: 'accepted' }],
    });
    expect(settle({ kind: 'accepted' }, { acceptedCode: 'FALLBACK_USER_ATTRIBUTE' }).delivery).toMatchObject({
      outcome: 'ACCEPTED',
      code: 'FALLBACK_USER_ATTRIBUTE',
      providerMessageId: null,
    });
  });

  test('moves the device of an accepted message to another address, but not to the same one', () => {
    expect(settle({ kind: 'accepted', address: 'new' }).moved).toEqual({ from: 'address', to: 'new' });
    expect(settle({ kind: 'accepted', address: 'address' })).not.toHaveProperty('moved');
  });

  test('removes a device with a dead address, since the time that the provider reports or now', () => {
    const goneSince = later(-86_400);
    expect(settle({ kind: 'gone', code: 'Unregistered', goneSince })).toEqual({
      delivery: { ...row, outcome: 'GONE', code: 'Unregistered', attempts: 3 },
      gone: { code: 'Unregistered', goneSince },
      told: [{ reported: 'apns:TEAM', kind: 'gone' }],
    });
    expect(settle({ kind: 'gone', code: '410' }).gone).toEqual({ code: '410', goneSince: now });
  });

  test('is final for a rejected message', () => {
    expect(settle({ kind: 'rejected', code: 'PayloadTooLarge', detail: '' })).toEqual({
      delivery: { ...row, outcome: 'REJECTED', code: 'PayloadTooLarge', attempts: 3 },
      told: [{ reported: 'apns:TEAM', kind: 'rejected' }],
    });
  });

  test('does not count an attempt for a rejected credential; the device waits as long as its message lives', () => {
    expect(settle({ kind: 'stopped', code: 'InvalidProviderToken', detail: 'expired' })).toEqual({
      delivery: { ...row, outcome: 'WAITING', code: 'InvalidProviderToken', attempts: 2, retryAt: later(3600) },
      refused: {
        refusal: {
          ...{ provider: 'apns', appId: 'default', version: 'v1', platform: null, evidenceKey: null },
          words: 'InvalidProviderToken: expired',
        },
        by: 'the provider',
        reaches: 'others',
      },
      told: [{ reported: 'apns:TEAM', kind: 'stopped' }],
    });
  });

  test('does not count an attempt without a connection; the device waits for the pause of the account and some seconds', () => {
    expect(settle({ kind: 'unreached', code: 'unreachable' })).toEqual({
      delivery: { ...row, outcome: 'WAITING', code: 'unreachable', attempts: 2, retryAt: later(122.5) },
      told: [{ unreached: 'apns:TEAM' }],
    });
    expect(settle({ kind: 'unreached', code: 'unreachable' }, { account: undefined })).toMatchObject({
      delivery: { outcome: 'WAITING', attempts: 2, retryAt: later(2.5) },
      told: [],
    });
  });

  test('is a counted wait for a temporary failure, and never a ninth attempt (fault F5)', () => {
    const wait = { kind: 'wait', code: 'ServiceUnavailable', scope: 'device' } as const;
    const unknown = { kind: 'unknown', code: 'timeout' } as const;
    // The third attempt: between 10 and 80 seconds, and the draw is 0.5.
    expect(settle(wait)).toEqual({
      delivery: { ...row, outcome: 'WAITING', code: 'ServiceUnavailable', attempts: 3, retryAt: later(45) },
      told: [{ reported: 'apns:TEAM', kind: 'wait' }],
    });
    expect(settle(unknown).delivery).toMatchObject({ outcome: 'WAITING', code: 'timeout', retryAt: later(45) });
    expect(settle({ ...wait, retryAfterSeconds: 300 }).delivery.retryAt).toEqual(later(302.5));
    for (const outcome of [wait, unknown]) {
      expect(settle(outcome, { attempt: maxDeliveryAttempts - 1 }).delivery.outcome).toBe('WAITING');
      for (const attempt of [maxDeliveryAttempts, maxDeliveryAttempts + 1])
        expect(settle(outcome, { attempt }).delivery).toEqual({
          ...row,
          ...{ outcome: 'FAILED', code: outcome.code, attempts: attempt },
        });
    }
  });

  test('pauses the account that its provider asked to wait, even after the last attempt of a device', () => {
    const wait = { kind: 'wait', code: 'HMS_503', scope: 'credential', retryAfterSeconds: 600 } as const;
    const { delivery, told } = settle(wait, { attempt: maxDeliveryAttempts });
    expect(delivery.outcome).toBe('FAILED');
    expect(told).toContainEqual({ silenced: 'apns:TEAM', until: later(602.5), reason: 'HMS_503' });
  });

  test('pauses the account for a wait of the whole credential, and for no other wait', () => {
    const ofCredential = { kind: 'wait', code: 'TooManyRequests', scope: 'credential' } as const;
    // A minute more, as Google asks of whom it names no time (delivery 1).
    expect(settle(ofCredential)).toMatchObject({
      delivery: { outcome: 'WAITING', retryAt: later(105) },
      told: [
        { reported: 'apns:TEAM', kind: 'wait' },
        { silenced: 'apns:TEAM', until: later(105), reason: 'TooManyRequests' },
      ],
    });
    expect(settle(ofCredential, { account: undefined })).toMatchObject({
      delivery: { outcome: 'WAITING', retryAt: later(105) },
      told: [],
    });
  });

  test('is final if the retry would come after the lifetime of the message', () => {
    const wait = { kind: 'wait', code: 'ServiceUnavailable', scope: 'device', retryAfterSeconds: 60 } as const;
    const until = (seconds: number) => settle(wait, { run: { sendUntil: later(seconds) } }).delivery;
    expect(until(62.501)).toMatchObject({ outcome: 'WAITING', retryAt: later(62.5) });
    expect(until(62.5)).toEqual({ ...row, outcome: 'EXPIRED', code: 'ServiceUnavailable', attempts: 3 });
  });

  test('counts no attempt for an unsent message, which is retried within five seconds of its time, and never too late', () => {
    const attempt = { run: { sendUntil: later(100) }, device, attempt: 1 };
    const untried = (until: Date) => settleUntried(attempt, { code: 'PROVIDER_WAIT', until, random: 1 }).delivery;
    expect(untried(later(94))).toEqual({
      ...row,
      ...{ outcome: 'WAITING', code: 'PROVIDER_WAIT', attempts: 0, retryAt: later(99) },
    });
    expect(untried(later(95))).toEqual({ ...row, outcome: 'EXPIRED', code: 'PROVIDER_WAIT', attempts: 1 });
    expect(retryOfUntried(now, 0)).toEqual(now);
    expect(retryOfUntried(now, 1)).toEqual(later(5));
  });

  test('contains the attempt and no retry if there are no details', () => {
    expect(settleAs({ device, attempt: 2 }, 'EXPIRED', 'TTL')).toEqual({
      delivery: { ...row, outcome: 'EXPIRED', code: 'TTL', attempts: 2 },
    });
  });

  /** What was told the governor, beside what becomes of the device. The draw is 0.5, and the message lives an hour. */
  function settle(outcome: DecidedOutcome, more: Partial<Settling> = {}) {
    const { governor, told } = makeRecordingGovernor(later(120));
    const clock = makeManualClock(now);
    const result = settleOutcome(
      { clock, governor, random: () => 0.5 },
      {
        ...{ run: { sendUntil: later(3600) }, device, attempt: 3, account, outcome, acceptedCode: null },
        evidenceKey: undefined,
        credential: { provider: 'apns', appId: 'default', version: 'v1' },
        ...more,
      },
    );
    return { ...result, told };
  }
});

describe('outcomes that cannot be stored', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
  });
  afterEach(() => bundle.drop());

  test('are kept and stored later; meanwhile nothing else is sent, and nothing twice', async () => {
    await bundle.addDevices(100);
    const { campaignId, runId } = await bundle.accept();
    await bundle.release();
    await bundle.database.unsafe(`create table deliveries_20260301 partition of deliveries
    for values from ('2026-03-01') to ('2026-03-02')`);
    const accept = await refuseInserts(bundle.database, 'deliveries_20260301');
    const workers = bundle.startWorkers({ windowDevices: 10 });
    while (bundle.outcomes.waiting() === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(bundle.outcomes.fault()).toBe('53100');
    const other = await bundle.accept();
    await bundle.release();
    workers.wake();
    // Each slot has the time for many windows.
    for (let questions = 0; questions < 200; questions += 1) {
      await bundle.database`select 1`;
      workers.wake();
    }
    expect(await bundle.retry()).toBe(0);
    expect(bundle.sent.length).toBeLessThanOrEqual(10);
    await accept();
    for (const id of [runId, other.runId]) await bundle.settled(id, [workers]);
    await workers.stop();
    await bundle.end();
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 100 });
    expect(await bundle.counters(other.runId)).toEqual({ ACCEPTED: 100 });
    expect(bundle.sent).toHaveLength(200);
    expect(bundle.outcomes.fault()).toBeUndefined();
    expect((await bundle.states(campaignId)).run).toBe('SENT');
  });

  test('count no crash for the chunk if the database fails while the chunk is only read', async () => {
    await bundle.addDevices(10);
    const { runId } = await bundle.accept();
    await bundle.release();
    let faults = 0;
    bundle.breakPages(() => {
      faults += 1;
      if (faults > 20) return false;
      throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    });
    await bundle.work({ windowDevices: 10 });
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 10 });
  });

  test('make the node report on /readyz and in the console why it is not ready, until they are stored', async () => {
    const node = await startCarillonBundle();
    try {
      const day = new Date().toISOString().slice(0, 10);
      await node.database.unsafe(`create table if not exists deliveries_${day.replaceAll('-', '')}
      partition of deliveries for values from ('${day}') to (date '${day}' + 1)`);
      const accept = await refuseInserts(node.database, `deliveries_${day.replaceAll('-', '')}`);
      const title = { title: 'T', message: 'M' };
      const pushed = await node.push({
        campaignName: 'Disk is full',
        targetAudience: 'All Users',
        targetPlatform: ['ANDROID'],
        payload: { ANDROID: title },
        campaignDelivery: { type: 'soon' },
      });
      const { cid } = pushed.json();
      const refused = await until(async () => {
        const ready = await node.call('GET', '/readyz');
        return ready.status === 503 && ready.text.includes('outcomes') && ready;
      });
      expect(refused.json()).toEqual({ status: 'not ready', troubles: ['outcomes: 1 (53100)'] });
      await accept();
      await until(async () => (await node.call('GET', '/readyz')).status === 200);
      await until(async () => {
        const [run] = await node.database`select status from runs where campaign_id = ${cid}`;
        return run!.status === 'SENT';
      });
      const rows = await node.database`
        select deliveries.attempts, outcome, count(*) as devices from readable_deliveries as deliveries
        join runs on runs.id = deliveries.run_id where runs.campaign_id = ${cid} group by 1, 2`;
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ attempts: 1, outcome: 'ACCEPTED' });
      const { ANDROID } = (await node.call('GET', '/sandbox/counters')).json();
      expect(ANDROID.accepted).toBe(rows[0]!.devices);
    } finally {
      await node.stop();
    }
  });
});
