import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makePersonaliseDevices } from '../../../src/engine/fan-out/compose-message.ts';
import type { AudienceDevice } from '../../../src/storage/campaigns/audience.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');

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

async function personalise(run: RunToSend, ...devices: AudienceDevice[]) {
  return makePersonaliseDevices(testDatabase)(run, devices);
}

async function titlesOf(run: RunToSend, ...devices: AudienceDevice[]): Promise<unknown[]> {
  const recipients = await personalise(run, ...devices);
  return recipients.map(({ personal }) => (personal && 'content' in personal ? personal.content.title : personal));
}

const noDatabase = undefined as unknown as Database;

test('a run without templates and languages asks for nothing, and one without devices neither', async () => {
  const work = makePersonaliseDevices({ database: noDatabase });
  const devices = [phone('ada')];
  expect(await work(runOf({}), devices)).toBe(devices);
  const nobody: AudienceDevice[] = [];
  expect(await work(runOf({ title: '{{ UserAttribute.name }}' }), nobody)).toBe(nobody);
  // Texts of settings from before there were templates are literal.
  expect(await work(runOf({ title: '{{ UserAttribute.name }}' }, { settings: {} }), devices)).toBe(devices);
});

test('each user’s message has the user’s own attributes, and of one who was erased nothing is known', async () => {
  await addUser('ada', { attributes: { name: 'Ada' } });
  await addUser('bob', { attributes: { name: 'Bob' } });
  const run = runOf({ title: '{{ UserAttribute.name | default("friend") }}' });
  expect(await titlesOf(run, phone('bob'), phone('erased'), phone('ada'))).toEqual(['Bob', 'friend', 'Ada']);
});

test('a device of a platform without content is passed on as it is', async () => {
  await addUser('ada', { attributes: { name: 'Ada' } });
  const browser = phone('ada', { platform: 'WEB' });
  const [first, second] = await personalise(runOf({ title: '{{ UserAttribute.name }}' }), browser, phone('ada'));
  expect(first).toEqual(browser);
  expect(second).toMatchObject({ personal: { content: { title: 'Ada' } } });
});

test('what started the run is the same for all: its business event', async () => {
  await addUser('ada');
  const run = runOf({ title: '{{ BusinessEventAttribute.goal }}' }, { businessEvent: { attributes: { goal: '2:1' } } });
  expect(await titlesOf(run, phone('ada'))).toEqual(['2:1']);
});

async function addTrigger(userId: string, { occurredAt = now, runId = 'run', attributes = {} }) {
  const { database } = testDatabase;
  await database`
    insert into triggers (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes,
      due_at, state, run_id, ended_at)
    values (${workspaceId}, 1, ${userId}, 'campaign', 'Left', ${occurredAt}, ${now}, ${database.json(attributes)}, ${now},
      'SENT', ${runId}, ${now})`;
}

test('a run that users’ events started has each user’s own event', async () => {
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

test('a device’s language chooses the texts, else the user’s attribute, else they are those for everybody', async () => {
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

test('templates are rendered in the user’s language', async () => {
  await addUser('ada', { locale: 'de', attributes: { name: 'Ada' } });
  await addUser('bob', { attributes: { name: 'Bob' } });
  const name = '{{ UserAttribute.name }}';
  const run = runOf({ title: `Hello ${name}`, locales: { de: { title: `Hallo ${name}` } } });
  expect(await titlesOf(run, phone('ada'), phone('bob'))).toEqual(['Hallo Ada', 'Hello Bob']);
});

test('what is read of a user is the language beside what templates read', async () => {
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

test('a page of more messages than are made at once keeps its order', async () => {
  await addUser('ada', { attributes: { name: 'Ada' } });
  const devices = Array.from({ length: 130 }, (_, number) => phone('ada', { id: `phone ${number}` }));
  const recipients = await personalise(runOf({ title: '{{ UserAttribute.name }}' }), ...devices);
  expect(recipients.map(({ id }) => id)).toEqual(devices.map(({ id }) => id));
  expect(recipients.every(({ personal }) => personal && 'content' in personal)).toBe(true);
});
