import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BadgeChange } from '../../../src/domain/content/content.ts';
import { countRunBadges } from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import { deliverVariants } from '../../../src/engine/fan-out/experiments.ts';
import type { DeviceToDeliver } from '../../../src/engine/fan-out/settle-outcome.ts';
import type { Recipient } from '../../../src/engine/fan-out/compose-message.ts';
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

test('each device gets the texts of the closest language, the default where there is none, under that language’s name', async () => {
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

async function badgesOf(run: RunToSend, ...recipients: Recipient[]) {
  const counted = await countRunBadges(testDatabase.database, { run, recipients });
  return counted.map((recipient) => recipient.badge);
}

test('a run without badges asks for nothing', async () => {
  const recipients = [phone('french')];
  const noDatabase = undefined as unknown as Database;
  expect(await countRunBadges(noDatabase, { run: runWith(1, {}), recipients })).toBe(recipients);
  // Nor one whose badge is shown to nobody here.
  const onWeb = runWith(1, {}, { options: { appBadge: { operation: 'increment', value: 1 } } });
  expect(await countRunBadges(noDatabase, { run: onWeb, recipients })).toBe(recipients);
});

test('a badge is counted for each device: raised, set, cleared, and raised from nothing again', async () => {
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

test('what counts is the content that is shown: a fallback has its own badge, and what cannot be made has none', async () => {
  const run = runWith(6, { fallback: { ...texts, ...badge({ operation: 'set', value: 3 }) } });
  const shown = phone('silent', { personal: { content: { ...texts, ...badge({ operation: 'set', value: 3 }) } } });
  const plain = phone('austrian', { personal: { content: texts } });
  const failed = phone('austrian', { personal: { fault: {} as never } });
  expect(await badgesOf(run, plain, shown, failed)).toEqual([undefined, { operation: 'set', value: 3 }, undefined]);
});
