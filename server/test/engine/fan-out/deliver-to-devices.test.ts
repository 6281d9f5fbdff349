import { expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { defaultAppId } from '../../../src/domain/apps.ts';
import type { CredentialsOfApps } from '../../../src/domain/credentials/credentials.ts';
import { providerOf } from '../../../src/domain/delivery/providers.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import type { DeliveryBatch } from '../../../src/providers/batch.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { makeQuietEvidence } from '../governor/quiet-evidence.ts';
import { makeDeliverToDevices } from '../../../src/engine/fan-out/deliver-to-devices.ts';
import type { Addressee, Recipient } from '../../../src/engine/fan-out/compose-message.ts';
import type { Turns } from '../../../src/engine/governor/send-budgets.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { refusal } from './known-refusal.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
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

test('results are in the order of the addressees, whichever account reaches them', async () => {
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

test('a send to named users goes promptly, before what is sent to audiences', async () => {
  const { batches, turns } = await deliver([phone('one')], { run: { lane: 0 } });
  expect(batches[0]!.pace).toBe('promptly');
  expect(turns).toEqual([{ account: 'fcm:shop', lane: 0, messages: 1 }]);
});

test('nobody is asked about a device that gets no message', async () => {
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

test('a message whose time is over goes to nobody, at the very instant as well', async () => {
  const expired = delivered('one', { outcome: 'EXPIRED', code: 'TTL' });
  expect((await deliver([phone('one')], { run: { sendUntil: now } })).deliveries).toEqual([expired]);
  expect((await deliver([phone('one')], { run: { sendUntil: later(0.001) } })).deliveries).toEqual([delivered('one')]);
});

test('while credentials cannot be read devices wait some seconds, and no attempt is counted', async () => {
  const { deliveries } = await deliver([phone('one'), phone('late', { fault: new Error() })], {
    loadCredentials: () => Promise.reject(new Error('the database is away')),
  });
  expect(deliveries).toMatchObject([
    { deviceId: 'one', outcome: 'WAITING', code: 'CREDENTIALS_UNREAD', attempts: 0, retryAt: later(2.5) },
    { deviceId: 'late', code: 'RECIPIENT_FAULT' },
  ]);
});

test('an app without a credential, while another has one, is rejected alone', async () => {
  const { deliveries } = await deliver([phone('one', { appId: 'lost' }), phone('two')], {
    find: (device) => (device.appId === 'lost' ? undefined : withAll(device)),
  });
  expect(deliveries).toEqual([
    delivered('one', { outcome: 'REJECTED', code: 'NO_CREDENTIAL_FOR_APP' }),
    delivered('two'),
  ]);
});

test('a workspace without the credential has no account: its devices are sent to without turns, and told so', async () => {
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

test('a credential that is known to be refused is not asked again, and its devices wait for another', async () => {
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

test('a refusal that leaves no credential of the run says that nobody is reached', async () => {
  const { results } = await deliver([phone('one'), phone('two')], {
    run: { platforms: ['ANDROID'] },
    find: (device) => ({ ...withAll(device)!, credentials: { fcm: all.fcm } as never }),
    outcomeOf: (id) => (id === 'one' ? { kind: 'stopped', code: 'SENDER_ID', detail: 'wrong' } : { kind: 'accepted' }),
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

test('devices of one account, app, language and count are one batch', async () => {
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

test('browsers are one batch for each push service, since each is an account', async () => {
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

test('whoever has no turn is tried when the account may, and it is no attempt', async () => {
  const { deliveries } = await deliver([phone('one'), phone('two')], {
    turnOf: (place) => (place === 0 ? undefined : later(30)),
  });
  expect(deliveries).toEqual([
    delivered('one'),
    delivered('two', { outcome: 'WAITING', code: 'PROVIDER_WAIT', attempts: 0, retryAt: later(32.5) }),
  ]);
});

test('a shown fallback says why, and a rendered message says nothing', async () => {
  const instead = { field: 'title', cause: 'USER_ATTRIBUTE', reason: '' } as const;
  const { deliveries } = await deliver([
    phone('one', { personal: { content: texts, instead } }),
    phone('two', { personal: { content: texts } }),
  ]);
  expect(deliveries.map(({ code }) => code)).toEqual(['FALLBACK_USER_ATTRIBUTE', null]);
});

test('a fault of the service about one recipient is told with it, and is nobody else’s outcome', async () => {
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

test('a batch makes each device’s message, its parts, and the same with other texts', async () => {
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
