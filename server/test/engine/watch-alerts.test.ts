import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import type { AlertIssue } from '../../src/domain/operations/alerts.ts';
import { makeWatchAlerts } from '../../src/engine/monitoring/alerts.ts';
import { makeLog } from '../../src/log.ts';
import { insertInstallation } from '../../src/storage/installation/installation.ts';
import { storeAlertSettings } from '../../src/storage/installation/alerts.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const start = new Date('2026-03-01T10:00:00Z');
const refused: AlertIssue = { kind: 'provider', subject: 'FCM (Android)', what: 'FCM refuses', todo: 'Mend it.' };

let bundle: TestDatabase;
let workspaceId: string;
let clock: ReturnType<typeof makeManualClock>;
let issues: AlertIssue[];
let notified: number;
beforeAll(async () => {
  bundle = await createTestDatabase();
  const secret = Buffer.alloc(32);
  const encryptedSecrets = { interactions: secret, simulator: secret };
  await insertInstallation(bundle.database, { createdAt: start, masterKeyCheck: secret, encryptedSecrets });
});
afterAll(() => bundle.drop());
beforeEach(async () => {
  await bundle.database`truncate alerts, alert_settings, callbacks, mails cascade`;
  await bundle.database`update installation set alerts_checked_at = null`;
  clock = makeManualClock(start);
  workspaceId = await insertTestWorkspace(bundle.database, start);
  issues = [];
  notified = 0;
});

const look = (more: object = {}) =>
  makeWatchAlerts({
    ...{ database: bundle.database, clock, emailState: 'KEPT', consoleUrl: 'https://push.example' },
    readAlertIssues: async (asked) => (asked.workspaceId === workspaceId ? issues : []),
    log: makeLog({ level: 'silent', pretty: false }),
    recheck: async () => {},
    onNotified: () => (notified += 1),
    ...more,
  }).runOnce(clock.now());

/** As the loop does, every five seconds. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    clock.advance(5000);
    await look();
  }
}
const alerts = () =>
  bundle.database<{ subject: string; openedAt: Date; closedAt: Date | null }[]>`
    select subject, opened_at as "openedAt", closed_at as "closedAt" from alerts order by opened_at`;
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);

test('what begins opens one alert however long it lasts, and ends by itself soon after it is over', async () => {
  issues = [refused];
  await look();
  await pass(30);
  expect(await alerts()).toEqual([{ subject: 'FCM (Android)', openedAt: start, closedAt: null }]);
  issues = [];
  await pass(10);
  expect((await alerts())[0]!.closedAt).toBeNull();
  await pass(10);
  expect((await alerts())[0]!.closedAt).toEqual(after(45));
  issues = [refused];
  await pass(5);
  expect(await alerts()).toHaveLength(2);
});

test('a flaw of a moment between two looks does not end and open it anew', async () => {
  issues = [refused];
  await look();
  issues = [];
  await pass(5);
  issues = [refused];
  await pass(20);
  expect(await alerts()).toEqual([{ subject: 'FCM (Android)', openedAt: start, closedAt: null }]);
});

test('the settings say who is told: once when it opens, once when it is over, and nothing of a kind that is muted', async () => {
  const settings = { webhookUrl: 'https://ops.example/alerts', emails: ['ops@example.com'], mutedKinds: [] };
  await storeAlertSettings(bundle.database, { ...settings, mutedKinds: ['queue'], workspaceId, at: start });
  issues = [refused, { kind: 'queue', subject: 'messages', what: 'They wait', todo: 'More nodes.' }];
  await look();
  await pass(20);
  issues = [];
  await pass(20);
  expect(await alerts()).toHaveLength(2);
  expect(notified).toBe(2);
  const posted = await bundle.database<{ url: string; body: string; state: string }[]>`
    select url, body, state from callbacks where workspace_id = ${workspaceId} order by id`;
  expect(posted.map(({ url, state }) => [url, state])).toEqual([
    ['https://ops.example/alerts', 'PENDING'],
    ['https://ops.example/alerts', 'PENDING'],
  ]);
  expect(posted.map(({ body }) => JSON.parse(body))).toMatchObject([
    {
      type: 'alert.opened',
      workspace_id: workspaceId,
      alert: {
        kind: 'provider',
        subject: 'FCM (Android)',
        what: 'FCM refuses',
        what_to_do: 'Mend it.',
        closed_at: null,
      },
    },
    { type: 'alert.closed', alert: { opened_at: start.toISOString(), closed_at: after(35).toISOString() } },
  ]);
  const emails = await bundle.database<{ recipients: string[]; subject: string; body: string }[]>`
    select recipients, subject, body from mails where workspace_id = ${workspaceId} order by id`;
  expect(emails.map(({ recipients }) => recipients)).toEqual([['ops@example.com'], ['ops@example.com']]);
  expect(emails[0]!.subject).toMatch(/Alert: FCM \(Android\)$/);
  expect(emails[0]!.body).toContain(`https://push.example/console/w/${workspaceId}/alerts`);
  expect(emails[1]!.subject).toMatch(/Over: FCM \(Android\)$/);
});

test('of two nodes one looks; an alert is opened once even if both do', async () => {
  issues = [refused];
  await Promise.all([look(), look()]);
  expect(await alerts()).toHaveLength(1);
  let looks = 0;
  const counting = { readAlertIssues: async () => ((looks += 1), issues) };
  clock.advance(5000);
  await Promise.all([look(counting), look(counting)]);
  const [{ workspaces } = { workspaces: 0 }] = await bundle.database<{ workspaces: number }[]>`
    select count(*)::int as workspaces from workspaces`;
  expect(looks).toBe(workspaces);
});

test('a workspace whose facts cannot be read keeps no other from its alert', async () => {
  const other = await insertTestWorkspace(bundle.database, start);
  const failing = {
    readAlertIssues: async (asked: { workspaceId: string }) => {
      if (asked.workspaceId === workspaceId) throw new Error('lost');
      return asked.workspaceId === other ? [refused] : [];
    },
  };
  await expect(look(failing)).rejects.toThrow('lost');
  expect(await alerts()).toHaveLength(1);
});

test('a provider that refuses is asked again by itself, ever more seldom', async () => {
  issues = [{ ...refused, recheck: 'fcm' }];
  const asked: number[] = [];
  const job = makeWatchAlerts({
    ...{ database: bundle.database, clock, emailState: 'KEPT', consoleUrl: undefined },
    ...{ log: makeLog({ level: 'silent', pretty: false }), onNotified: () => {} },
    readAlertIssues: async (of) => (of.workspaceId === workspaceId ? issues : []),
    recheck: async () => void asked.push((clock.now().getTime() - start.getTime()) / 1000),
  });
  for (let seconds = 0; seconds <= 300; seconds += 5, clock.advance(5000)) await job.runOnce(clock.now());
  expect(asked).toEqual([15, 45, 105, 225]);
});
