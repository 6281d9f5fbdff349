import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppSettings } from '../../../src/domain/apps.ts';
import type { BadgeChange } from '../../../src/domain/content/content.ts';
import { messageIdentity } from '../../../src/domain/content/message.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import { composeMessage, makePartsOf, makePersonaliseDevices } from '../../../src/engine/fan-out/compose-message.ts';
import type { Recipient } from '../../../src/engine/fan-out/compose-message.ts';
import { countRunBadges } from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import { deliverVariants } from '../../../src/engine/fan-out/experiments.ts';
import type { DeviceToDeliver } from '../../../src/engine/fan-out/settle-outcome.ts';
import type { AudienceDevice } from '../../../src/storage/campaigns/audience.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');

type Composed = Parameters<typeof composeMessage>[0];
type Run = Composed['run'];
type Device = Composed['device'];

describe('a composed message', () => {
  const createdAt = new Date('2026-03-01T12:00:00Z');
  const texts = { title: 'Hello', message: 'Ready', richContent: [], additionalActions: [] };
  const web = { ...{ title: 'Hello', message: 'Ready', autoDismiss: false }, iconUrl: 'https://shop.example/icon.png' };
  const content: Run['content'] = {
    ANDROID: texts,
    IOS: { ...texts, enableBadge: true },
    WEB: { ...web, redirectUrl: 'https://shop.example/?a=1&b=2' },
  };
  const run: Run = {
    ...{ id: 'run', workspaceId: 'WORKSPACE', campaignId: 'campaign', content, createdAt },
    settings: {
      ttlMinutes: { ANDROID: 3, IOS: 5, WEB: 7 },
      androidPriority: 'NORMAL',
      iosPriority: 5,
      webUrgency: 'low',
    },
    androidPayload: { mode: 'data', pushFrom: 'shop', dataPrefix: null },
  };
  const deviceOn = (platform: Device['platform'], more: Partial<Device> = {}): Device => ({
    ...{ id: 'device', bucket: 7, platform },
    ...more,
  });
  /** What a pass is issued for stands in it. */
  const tokens: Composed['tokens'] = {
    issue: (subject, address) => ({
      token: JSON.stringify(subject),
      ...(address && { clickProof: `proof of ${address}` }),
    }),
    open: () => undefined,
    openClick: () => undefined,
  };
  const phoneDefaults = { dataPrefix: 'svc', publicUrl: 'https://push.example' };
  const compose = (device: Device, more: Partial<Composed> = {}) =>
    composeMessage({ run, device, tokens, phoneDefaults, ...more });
  const withContent = (own: object): Run => ({ ...run, content: own as Run['content'] });
  const withSettings = (settings: object): Run => ({ ...run, settings: { ...run.settings, ...settings } });
  const passOf = (platform: string) => ({
    workspaceId: 'WORKSPACE',
    runId: 'run',
    bucket: 7,
    deviceId: 'device',
    platform,
  });
  const ids = { workspaceId: 'WORKSPACE', campaignId: 'campaign', runId: 'run' };

  test('has for an Android phone its lifetime in seconds, its priority and the payload of its workspace', () => {
    expect(compose(deviceOn('ANDROID'))).toEqual({
      ...{ ...ids, platform: 'ANDROID', content: texts, ttlSeconds: 180, priority: 'NORMAL', isSilent: false },
      identity: messageIdentity('run', 'device'),
      report: { token: JSON.stringify(passOf('ANDROID')) },
      payload: { mode: 'data', pushFrom: 'shop', dataPrefix: 'svc', reportUrl: 'https://push.example/v1/interactions' },
    });
  });

  test('has for an iPhone its own lifetime, its priority and the prefix next to `aps`', () => {
    expect(compose(deviceOn('IOS'))).toEqual({
      ...{ ...ids, platform: 'IOS', content: content.IOS, ttlSeconds: 300, priority: 5, isSilent: false },
      identity: messageIdentity('run', 'device'),
      report: { token: JSON.stringify(passOf('IOS')) },
      dataPrefix: 'svc',
    });
  });

  test('has for a browser a link through this service, which knows its own', () => {
    const token = JSON.stringify(passOf('WEB'));
    const message = {
      ...{ ...ids, platform: 'WEB', content: content.WEB, ttlSeconds: 420, urgency: 'low' },
      identity: messageIdentity('run', 'device'),
      report: { token, clickProof: 'proof of https://shop.example/?a=1&b=2' },
    };
    expect(compose(deviceOn('WEB'))).toEqual({
      ...message,
      link: `https://push.example/v1/click/${token}.proof of https://shop.example/?a=1&b=2?to=https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b%3D2`,
    });
    expect(compose(deviceOn('WEB'), { phoneDefaults: { dataPrefix: 'svc', publicUrl: undefined } })).toEqual(message);
    const noProof = { ...tokens, issue: () => ({ token: 'token' }) };
    expect(compose(deviceOn('WEB'), { tokens: noProof })).not.toHaveProperty('link');
  });

  test('does not exist if the run has no content for the platform', () => {
    for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
      expect(compose(deviceOn(platform), { run: withContent({}) })).toBeUndefined();
  });

  test('states when it leaves the inbox, counted from its acceptance', () => {
    expect(compose(deviceOn('IOS'), { run: withSettings({ inboxExpiryHours: 36 }) })).toMatchObject({
      inboxExpiresAt: new Date('2026-03-03T00:00:00Z'),
    });
    expect(compose(deviceOn('IOS'))).not.toHaveProperty('inboxExpiresAt');
  });

  test('replaces messages by the key of its content, on each platform', () => {
    const keyed = withContent({
      ANDROID: { ...texts, collapseReplaceKey: 'offer' },
      IOS: { ...texts, collapseReplaceKey: 'offer' },
      WEB: { ...content.WEB, options: { tag: 'offer' } },
    });
    for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
      expect(compose(deviceOn(platform), { run: keyed })!.identity).toEqual(messageIdentity('run', 'device', 'offer'));
  });

  test('proves a click of a phone for the address in the message', () => {
    const defaultAction = { type: 'richlanding', value: 'https://shop.example/', keyValuePairs: {} };
    const linked = withContent({ ANDROID: { ...texts, defaultAction }, IOS: { ...texts, defaultAction } });
    for (const platform of ['ANDROID', 'IOS'] as const)
      expect(compose(deviceOn(platform), { run: linked })!.report).toEqual({
        token: JSON.stringify(passOf(platform)),
        clickProof: 'proof of https://shop.example/',
      });
  });

  test('names its content in the report token if there are several', () => {
    const variant = { variation: 2, locale: 1 };
    expect(compose(deviceOn('IOS'), { run: { ...run, variant } })!.report!.token).toBe(
      JSON.stringify({ ...passOf('IOS'), variant }),
    );
  });

  test('has no report, no app defaults, but a badge if it is silent', () => {
    const silent = {
      ...withSettings({ isSilent: true }),
      content: { IOS: { ...texts, options: { badge: {} } } as never },
    };
    const app: AppSettings = { defaults: { sound: 'bell' } };
    const message = compose(deviceOn('IOS', { badge: { operation: 'set', value: 4 } }), { run: silent, app })!;
    expect(message).not.toHaveProperty('report');
    expect(message).toMatchObject({ isSilent: true, content: { richContent: [] } });
    expect(message.content.options).toEqual({ badge: { operation: 'set', value: 4 } });
  });

  test('uses the defaults, payload and names of its app, after the choices of the content', () => {
    const app: AppSettings = { mode: 'both', pushFrom: 'app', dataPrefix: 'own', defaults: { sound: 'bell' } };
    expect(compose(deviceOn('ANDROID'), { app })).toMatchObject({
      content: { richContent: [{ type: 'sound', value: 'bell' }] },
      payload: { mode: 'both', appMode: 'both', pushFrom: 'app', dataPrefix: 'own' },
    });
    expect(compose(deviceOn('IOS'), { app })).toMatchObject({
      content: { richContent: [{ type: 'sound', value: 'bell' }] },
      dataPrefix: 'own',
    });
    const chosen = withContent({ ANDROID: { ...texts, options: { deliveryMode: 'notification' } } });
    expect(compose(deviceOn('ANDROID'), { app, run: chosen })).toMatchObject({
      payload: { mode: 'notification', appMode: 'both' },
    });
    expect(compose(deviceOn('ANDROID'), { run: chosen })).toMatchObject({ payload: { mode: 'notification' } });
    const { payload } = compose(deviceOn('ANDROID'), { app: { pushFrom: 'app' } }) as never;
    expect(payload).not.toHaveProperty('appMode');
  });

  test('has a critical sound on an iPhone only if Apple granted that to the app', () => {
    const loud = withContent({ IOS: { ...texts, options: { sound: { name: 'alarm', critical: true } } } });
    expect(compose(deviceOn('IOS'), { run: loud })!.content.options).toEqual({ sound: { name: 'alarm' } });
    expect(compose(deviceOn('IOS'), { run: loud, app: { criticalAlerts: true } })!.content.options).toEqual({
      sound: { name: 'alarm', critical: true },
    });
  });

  test('contains neither the fallback nor other languages', () => {
    const own = { fallback: texts, locales: { de: { title: 'Hallo' } } };
    const run = withContent({
      ANDROID: { ...texts, ...own },
      IOS: { ...texts, ...own },
      WEB: { ...content.WEB, ...own },
    });
    expect(compose(deviceOn('ANDROID'), { run })!.content).toEqual(texts);
    expect(Object.keys(compose(deviceOn('IOS'), { run })!.content)).toEqual(Object.keys(texts));
    expect(compose(deviceOn('WEB'), { run })!.content).toEqual(content.WEB);
  });

  test('states its language, except for a fallback in the default language', () => {
    const localized = { language: 'de', content: { ...texts, title: 'Hallo' } };
    const german = compose(deviceOn('ANDROID', { localized }));
    expect(german).toMatchObject({ language: 'de', content: { title: 'Hallo' } });
    const personal = { content: { ...texts, title: 'Ada' } };
    expect(compose(deviceOn('ANDROID', { localized, personal }))).toMatchObject({
      language: 'de',
      content: { title: 'Ada' },
    });
    const instead = { ...{ field: 'title', cause: 'USER_ATTRIBUTE' }, detail: '' } as never;
    const fallback = compose(deviceOn('ANDROID', { localized, personal: { ...personal, instead } }));
    expect(fallback).not.toHaveProperty('language');
    expect(fallback!.content.title).toBe('Ada');
    expect(compose(deviceOn('ANDROID'))).not.toHaveProperty('language');
    // The fallback of a language's own content is in that language.
    const spoken = { ...run, language: 'fr' };
    expect(compose(deviceOn('ANDROID', { personal: { ...personal, instead } }), { run: spoken })!.language).toBe('fr');
    expect(compose(deviceOn('ANDROID', { localized }), { run: spoken })!.language).toBe('fr');
  });

  test('contains the default content if the personal content could not be created', () => {
    const fault = { field: 'title', cause: 'USER_ATTRIBUTE', detail: '' } as never;
    expect(compose(deviceOn('ANDROID', { personal: { fault } }))!.content).toEqual(texts);
  });

  test('contains a badge count in the content that it belongs to', () => {
    const counted = withContent({
      IOS: { ...texts, options: { badge: { operation: 'increment', value: 1 }, targetContentId: 'a' } },
      WEB: { ...content.WEB, options: { appBadge: { operation: 'increment', value: 1 } } },
    });
    const badge = { operation: 'set', value: 9 } as const;
    expect(compose(deviceOn('IOS', { badge }), { run: counted })!.content.options).toEqual({
      badge,
      targetContentId: 'a',
    });
    expect(compose(deviceOn('WEB', { badge }), { run: counted })!.content.options).toEqual({ appBadge: badge });
  });

  test('has, among similar messages to phones, a separate identity and report; there are no parts for browsers or without content', () => {
    const device = deviceOn('ANDROID');
    const { identity, report } = compose(device)!;
    expect(makePartsOf({ run, platform: 'ANDROID', tokens })!(device)).toEqual({ identity, report });
    const silent = makePartsOf({ run: withSettings({ isSilent: true }), platform: 'IOS', tokens })!;
    expect(silent(deviceOn('IOS'))).toEqual({ identity });
    expect(makePartsOf({ run, platform: 'WEB', tokens })).toBeUndefined();
    expect(makePartsOf({ run: withContent({}), platform: 'IOS', tokens })).toBeUndefined();
  });

  const name = '{{ UserAttribute.name }}';
  const user = { customerId: 'c', attributes: { name: 'Ada' } };

  test('has the personal texts in its parts, with the key and address made from them', () => {
    const plain = personalParts({ title: name });
    expect(plain.parts).toMatchObject({ identity: plain.message.identity, report: plain.message.report });
    expect(plain.parts!.own!.texts).toEqual(['Ada']);
    const defaultAction = { type: 'richlanding', value: `https://shop.example/${name}`, keyValuePairs: {} };
    const linked = personalParts({ defaultAction });
    expect(linked.parts!.report).toEqual(linked.message.report);
    expect(linked.parts!.report!.clickProof).toBe('proof of https://shop.example/Ada');
    const keyed = personalParts({ collapseReplaceKey: name });
    expect(keyed.parts!.identity).toEqual(messageIdentity('run', 'device', 'Ada'));
  });

  test('is composed individually if its texts could not be created or are a fallback', () => {
    const partsOf = makePartsOf({ run, platform: 'ANDROID', tokens })!;
    expect(partsOf(deviceOn('ANDROID', { personal: { fault: {} as never } }))).toBeUndefined();
    expect(partsOf(deviceOn('ANDROID', { personal: { content: texts } }))).toBeUndefined();
  });

  /** The parts of a message to a user named Ada, and the whole of it. */
  function personalParts(own: object) {
    const run = withContent({ ANDROID: { ...texts, ...own } });
    const personaliser = makePersonaliser(run.content, 'AUTO')!;
    const personal = personaliser.render({ platform: 'ANDROID', user, event: {} });
    const device = deviceOn('ANDROID', { personal });
    return { parts: makePartsOf({ run, platform: 'ANDROID', tokens })!(device), message: compose(device, { run })! };
  }
});

describe('personalised messages', () => {
  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    await testDatabase.database.unsafe('delete from triggers; delete from devices; delete from users');
  });

  const phone = (userId: string, more: Partial<AudienceDevice> = {}): AudienceDevice => ({
    ...{ bucket: 1, id: `phone of ${userId}`, userId, platform: 'ANDROID', provider: null, pushId: 'p' },
    ...{ pushIdType: null, appId: null, ...more },
  });

  const texts = { title: 'Hello', message: 'Ready', richContent: [], additionalActions: [] };
  const runOf = (android: object, more: Partial<RunToSend> = {}): RunToSend =>
    ({
      ...{ id: 'run', workspaceId, settings: { templates: 'AUTO' }, deliveryType: 'ONE_TIME', businessEvent: null },
      content: { ANDROID: { ...texts, ...android } },
      ...more,
    }) as unknown as RunToSend;

  const noDatabase = undefined as unknown as Database;

  test('need no query without templates and languages, or without devices', async () => {
    const work = makePersonaliseDevices({ database: noDatabase });
    const devices = [phone('ada')];
    expect(await work(runOf({}), devices)).toBe(devices);
    const nobody: AudienceDevice[] = [];
    expect(await work(runOf({ title: '{{ UserAttribute.name }}' }), nobody)).toBe(nobody);
    // Texts of settings from before there were templates are literal.
    expect(await work(runOf({ title: '{{ UserAttribute.name }}' }, { settings: {} }), devices)).toBe(devices);
  });

  test('contain the attributes of their users, and nothing about an erased user', async () => {
    await addUser('ada', { attributes: { name: 'Ada' } });
    await addUser('bob', { attributes: { name: 'Bob' } });
    const run = runOf({ title: '{{ UserAttribute.name | default("friend") }}' });
    expect(await titlesOf(run, phone('bob'), phone('erased'), phone('ada'))).toEqual(['Bob', 'friend', 'Ada']);
  });

  test('leave a device of a platform without content unchanged', async () => {
    await addUser('ada', { attributes: { name: 'Ada' } });
    const browser = phone('ada', { platform: 'WEB' });
    const [first, second] = await personalise(runOf({ title: '{{ UserAttribute.name }}' }), browser, phone('ada'));
    expect(first).toEqual(browser);
    expect(second).toMatchObject({ personal: { content: { title: 'Ada' } } });
  });

  test('contain the business event that started the run, the same for all', async () => {
    await addUser('ada');
    const run = runOf(
      { title: '{{ BusinessEventAttribute.goal }}' },
      { businessEvent: { attributes: { goal: '2:1' } } },
    );
    expect(await titlesOf(run, phone('ada'))).toEqual(['2:1']);
  });

  test('contain the event of each user if user events started the run', async () => {
    for (const [id, cart] of [['ada', 'a hat'] as const, ['bob', 'a coat'] as const]) {
      await addUser(id);
      await addTrigger(id, { attributes: { cart } });
      await addTrigger(id, { attributes: { cart: 'of another run' }, runId: 'other', occurredAt: new Date(0) });
    }
    const title = '{{ EventAttribute.cart | default("nothing") }}';
    const run = runOf({ title }, { deliveryType: 'EVENT_TRIGGERED' });
    await addUser('eve');
    expect(await titlesOf(run, phone('bob'), phone('ada'), phone('eve'))).toEqual(['a coat', 'a hat', 'nothing']);
    // Of a campaign that is started otherwise there is none.
    expect(await titlesOf(runOf({ title }), phone('bob'))).toEqual(['nothing']);
  });

  const locales = { de: { title: 'Hallo' }, fr: { title: 'Bonjour' } };

  test('use the language of the device, then the attribute of the user, then the default texts', async () => {
    await addUser('ada', { locale: 'de-AT', attributes: { locale: 'fr' } });
    await addUser('bob', { attributes: { locale: 'fr' } });
    await addUser('eve', { locale: 'it' });
    const run = runOf({ locales });
    const [ada, bob, eve, another] = await personalise(run, phone('ada'), phone('bob'), phone('eve'), phone('ada'));
    expect(ada!.localized).toMatchObject({ language: 'de', content: { title: 'Hallo', message: 'Ready' } });
    expect(bob!.localized).toMatchObject({ language: 'fr', content: { title: 'Bonjour' } });
    expect(eve).toEqual(phone('eve'));
    // One object for each language, so that its messages are known to be alike.
    expect(another!.localized).toBe(ada!.localized);
    expect(ada).not.toHaveProperty('personal');
  });

  test('render templates in the language of the user', async () => {
    await addUser('ada', { locale: 'de', attributes: { name: 'Ada' } });
    await addUser('bob', { attributes: { name: 'Bob' } });
    const name = '{{ UserAttribute.name }}';
    const run = runOf({ title: `Hello ${name}`, locales: { de: { title: `Hallo ${name}` } } });
    expect(await titlesOf(run, phone('ada'), phone('bob'))).toEqual(['Hallo Ada', 'Hello Bob']);
  });

  test('read only the language and the attributes that templates use', async () => {
    await addUser('bob', { attributes: { name: 'Bob', locale: 'fr' } });
    const name = '{{ UserAttribute.name }}';
    const french = { fr: { title: `Bonjour ${name}` } };
    expect(await titlesOf(runOf({ title: name, locales: french }), phone('bob'))).toEqual(['Bonjour Bob']);
    // A name that is made while it is rendered: everything is read.
    const any = "{{ UserAttribute['na' ~ 'me'] }}";
    expect(await titlesOf(runOf({ title: any, locales: { fr: { title: `Oui ${any}` } } }), phone('bob'))).toEqual([
      'Oui Bob',
    ]);
  });

  test('keep the order of a page that is rendered in several parts', async () => {
    await addUser('ada', { attributes: { name: 'Ada' } });
    const devices = Array.from({ length: 130 }, (_, number) => phone('ada', { id: `phone ${number}` }));
    const recipients = await personalise(runOf({ title: '{{ UserAttribute.name }}' }), ...devices);
    expect(recipients.map(({ id }) => id)).toEqual(devices.map(({ id }) => id));
    expect(recipients.every(({ personal }) => personal && 'content' in personal)).toBe(true);
  });

  async function addUser(id: string, { attributes = {}, locale }: { attributes?: object; locale?: string } = {}) {
    const { database } = testDatabase;
    await database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      values (${workspaceId}, 1, ${id}, ${`customer ${id}`}, ${database.json(attributes)}, ${now}, ${now})`;
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, locale, registered_at,
        created_at, updated_at)
      values (${workspaceId}, 1, ${`phone of ${id}`}, ${id}, 'phone', 'ANDROID', 'p', 'ACTIVE', ${locale ?? null}, ${now},
        ${now}, ${now})`;
  }

  async function personalise(run: RunToSend, ...devices: AudienceDevice[]) {
    return makePersonaliseDevices(testDatabase)(run, devices);
  }

  async function titlesOf(run: RunToSend, ...devices: AudienceDevice[]): Promise<unknown[]> {
    const recipients = await personalise(run, ...devices);
    return recipients.map(({ personal }) => (personal && 'content' in personal ? personal.content.title : personal));
  }

  async function addTrigger(userId: string, { occurredAt = now, runId = 'run', attributes = {} }) {
    const { database } = testDatabase;
    await database`
      insert into triggers (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes,
        due_at, state, run_id, ended_at)
      values (${workspaceId}, 1, ${userId}, 'campaign', 'Left', ${occurredAt}, ${now}, ${database.json(attributes)}, ${now},
        'SENT', ${runId}, ${now})`;
  }
});

describe('variants and badges', () => {
  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
    // What the device says, and what the user's attribute says.
    const languages: [id: string, ofDevice: string | null, ofUser: string | null][] = [
      ['austrian', 'de-AT', 'fr'],
      ['french', null, 'fr'],
      ['italian', 'it', null],
      ['silent', null, null],
    ];
    for (const [id, ofDevice, ofUser] of languages) {
      const attributes = testDatabase.database.json(ofUser === null ? {} : { locale: ofUser });
      await testDatabase.database`
        insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
        values (${workspaceId}, 1, ${id}, ${id}, ${attributes}, ${now}, ${now})`;
      await testDatabase.database`
        insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, locale, registered_at,
          created_at, updated_at)
        values (${workspaceId}, 1, ${id}, ${id}, 'phone', 'IOS', 'p', 'ACTIVE', ${ofDevice}, ${now}, ${now}, ${now})`;
    }
  });
  afterAll(() => testDatabase.drop());

  const phone = (id: string, more: Partial<Recipient> = {}): Recipient => ({
    ...{ bucket: 1, id, userId: id, platform: 'IOS', provider: null, pushId: 'p', pushIdType: null, appId: null },
    ...more,
  });

  test('choose the texts of the closest language for each device, or the default, under the name of that language', async () => {
    const content = (title: string) => ({ IOS: { title } });
    const variants = {
      ...{ locales: ['default', 'de', 'fr'], percents: [50, 50] },
      contents: [
        [content('1'), content('1 de'), content('1 fr')],
        [content('2'), content('2 de'), content('2 fr')],
      ],
    };
    const run = { id: 'run', workspaceId, variants, content: content('1') } as unknown as RunToSend;
    const devices = ['austrian', 'french', 'italian', 'silent', 'erased'].map((id) => ({
      device: phone(id),
      attempt: 1,
    }));
    const got = new Map<string, unknown>();
    const results = await deliverVariants({
      ...{ database: testDatabase.database, run, devices },
      variationOf: ({ userId }) => (userId === 'silent' ? 2 : 1),
      async deliver(part: RunToSend, own: DeviceToDeliver[]) {
        for (const { device } of own) got.set(device.id, [part.content.IOS!.title, part.language, part.variant]);
        return own.map(({ device }) => ({ delivery: { deviceId: device.id } }) as never);
      },
    });
    expect(Object.fromEntries(got)).toEqual({
      austrian: ['1 de', 'de', { variation: 1, locale: 2 }],
      french: ['1 fr', 'fr', { variation: 1, locale: 3 }],
      italian: ['1', undefined, { variation: 1, locale: 1 }],
      silent: ['2', undefined, { variation: 2, locale: 1 }],
      erased: ['1', undefined, { variation: 1, locale: 1 }],
    });
    expect(results.map(({ delivery }) => [delivery.deviceId, delivery.variant!.locale])).toEqual([
      ['austrian', 2],
      ['french', 3],
      ['italian', 1],
      ['silent', 1],
      ['erased', 1],
    ]);
  });

  const texts = { title: 'T', message: 'M', richContent: [], additionalActions: [], enableBadge: true };
  const runWith = (number: number, ios: object, web?: object): RunToSend =>
    ({
      ...{ id: `run ${number}`, number, workspaceId },
      content: { IOS: { ...texts, ...ios }, ...(web && { WEB: { ...texts, ...web } }) },
    }) as unknown as RunToSend;
  const badge = (change: BadgeChange) => ({ options: { badge: change } });

  test('need no query in a run without badges', async () => {
    const recipients = [phone('french')];
    const noDatabase = undefined as unknown as Database;
    expect(await countRunBadges(noDatabase, { run: runWith(1, {}), recipients })).toBe(recipients);
    // Nor one whose badge is shown to nobody here.
    const onWeb = runWith(1, {}, { options: { appBadge: { operation: 'increment', value: 1 } } });
    expect(await countRunBadges(noDatabase, { run: onWeb, recipients })).toBe(recipients);
  });

  test('count a badge for each device: increment, set, clear, and increment from zero again', async () => {
    const devices = [phone('french'), phone('italian')];
    expect(await badgesOf(runWith(1, badge({ operation: 'increment', value: 2 })), ...devices)).toEqual([
      { operation: 'set', value: 2 },
      { operation: 'set', value: 2 },
    ]);
    expect(await badgesOf(runWith(2, badge({ operation: 'set', value: 7 })), devices[0]!)).toEqual([
      { operation: 'set', value: 7 },
    ]);
    expect(await badgesOf(runWith(3, badge({ operation: 'increment', value: 1 })), ...devices)).toEqual([
      { operation: 'set', value: 8 },
      { operation: 'set', value: 3 },
    ]);
    expect(await badgesOf(runWith(4, badge({ operation: 'clear' })), devices[0]!)).toEqual([{ operation: 'clear' }]);
    expect(await badgesOf(runWith(5, badge({ operation: 'increment', value: 1 })), ...devices)).toEqual([
      { operation: 'set', value: 1 },
      { operation: 'set', value: 4 },
    ]);
    // The same run once more: it was counted.
    expect(await badgesOf(runWith(5, badge({ operation: 'increment', value: 1 })), devices[1]!)).toEqual([
      { operation: 'set', value: 4 },
    ]);
  });

  test('count the badge of the shown content: a fallback has its own, and failed content has none', async () => {
    const run = runWith(6, { fallback: { ...texts, ...badge({ operation: 'set', value: 3 }) } });
    const shown = phone('silent', { personal: { content: { ...texts, ...badge({ operation: 'set', value: 3 }) } } });
    const plain = phone('austrian', { personal: { content: texts } });
    const failed = phone('austrian', { personal: { fault: {} as never } });
    expect(await badgesOf(run, plain, shown, failed)).toEqual([undefined, { operation: 'set', value: 3 }, undefined]);
  });

  async function badgesOf(run: RunToSend, ...recipients: Recipient[]) {
    const counted = await countRunBadges(testDatabase.database, { run, recipients });
    return counted.map((recipient) => recipient.badge);
  }
});
