import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addressOf } from '../../../scripts/site/list-pages.ts';
import { makeReadAlertIssues } from '../../src/app/system/alerts.ts';
import { makeManualClock } from '../../src/clock.ts';
import type { AlertIssue } from '../../src/domain/operations/alerts.ts';
import { alertKinds, conditionTable } from '../../src/domain/operations/conditions.ts';
import type { AlertKind } from '../../src/domain/operations/conditions.ts';
import { makeJobBook } from '../../src/engine/jobs/job.ts';
import { makeRecheckPlan, makeWatchAlerts } from '../../src/engine/monitoring/alerts.ts';
import { makeReadDatabaseSamples } from '../../src/engine/monitoring/metric-samples.ts';
import { makeLog } from '../../src/log.ts';
import { noteBackup, noteBackupSchedule } from '../../src/storage/backup.ts';
import { storeAlertSettings } from '../../src/storage/installation/alerts.ts';
import { insertInstallation } from '../../src/storage/installation/installation.ts';
import { upsertNode } from '../../src/storage/installation/nodes.ts';
import type { JobNote } from '../../src/storage/installation/nodes.ts';
import { insertChunks } from '../../src/storage/runs/chunks.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe('rechecks of a provider', () => {
  const start = Date.parse('2026-03-01T12:00:00Z');

  test('checks a rejecting provider again after 15 seconds, then doubles the delay up to ten minutes', () => {
    expect(dueAt(makeRecheckPlan(), { to: 3_000 })).toEqual([15, 45, 105, 225, 465, 945, 1_545, 2_145, 2_745]);
  });

  test('keeps the delay of a provider that rejected within ten minutes, and starts over after that', () => {
    const plan = makeRecheckPlan();
    expect(dueAt(plan, { to: 50 })).toEqual([15, 45]);
    // Last seen at 50; 650 is ten minutes later.
    expect(dueAt(plan, { from: 650, to: 650 })).toEqual([650]);
    expect(dueAt(plan, { from: 1_255, to: 1_275 })).toEqual([1_270]);
  });

  test('keeps a separate delay for each provider', () => {
    const plan = makeRecheckPlan();
    expect([dueAt(plan, { to: 15 }), dueAt(plan, { key: 'b', from: 15, to: 30 })]).toEqual([[15], [30]]);
  });

  /** The seconds at which it was due, of looks every five. */
  function dueAt(plan: ReturnType<typeof makeRecheckPlan>, { key = 'a', from = 0, to = 0 }): number[] {
    const due: number[] = [];
    for (let seconds = from; seconds <= to; seconds += 5)
      if (plan.isDue(key, new Date(start + seconds * 1_000))) due.push(seconds);
    return due;
  }
});

describe('each condition', () => {
  const start = new Date('2026-03-01T10:00:00Z');
  const origin = 'https://push.example';

  let bundle: TestDatabase;
  let workspaceId: string;
  let clock: ReturnType<typeof makeManualClock>;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    const secret = Buffer.alloc(32);
    const encryptedSecrets = { interactions: secret, simulator: secret };
    await insertInstallation(bundle.database, { createdAt: start, masterKeyCheck: secret, encryptedSecrets });
  });
  afterAll(() => bundle.drop());
  beforeEach(async () => {
    await bundle.database`truncate alerts, callbacks, nodes, chunks, runs, campaigns cascade`;
    await bundle.database`update installation set alerts_checked_at = null, backup_hours = null`;
    clock = makeManualClock(start);
    workspaceId = await insertTestWorkspace(bundle.database, start);
    await reportNode([]);
  });

  /** What keeps messages from people, really, as the database has it then. */
  const causes: Record<AlertKind, () => Promise<unknown>> = {
    provider: () => insertRun('PAUSED', { reason: 'PERMISSION_DENIED: not enabled', platform: 'ANDROID' }),
    async queue() {
      const runId = await insertRun('SENDING');
      const waitingSince = new Date(start.getTime() - 180_000);
      const ranges = [{ from: 0, to: 255 }];
      await insertChunks(bundle.database, { runId, workspaceId, lane: 0, at: waitingSince, winner: null, ranges });
    },
    node: () => bundle.database`update nodes set seen_at = ${new Date(start.getTime() - 31_000)}`,
    job() {
      const book = makeJobBook();
      book.note('release-runs', { at: start, error: Object.assign(new Error('disk full'), { code: '53100' }) });
      return reportNode(book.read());
    },
    credential: () => bundle.database`
      insert into api_keys
        (id, workspace_id, kind, name, scopes, secret_hash, secret_hint, created_at, last_used_at, ends_at)
      values (${randomBytes(12).toString('hex')}, ${workspaceId}, 'data', 'Nightly', '{}', ${randomBytes(32)}, 'x',
        ${start}, ${start}, ${new Date(start.getTime() + 3 * 86_400_000)})`,
    async backup() {
      await noteBackup(bundle.database, new Date(start.getTime() - 7 * 3_600_000));
      await noteBackupSchedule(bundle.database, { everyHours: 4, lookedAt: start });
    },
    certificate: () => reportNode([], new Date(start.getTime() + 3 * 86_400_000)),
  };

  test.each(alertKinds)(
    '%s: opens an alert for its cause, and reports it with its runbook and in the Prometheus metrics',
    async (kind) => {
      const settings = { webhookUrl: 'https://ops.example/alerts', emails: [], mutedKinds: [] };
      await storeAlertSettings(bundle.database, { ...settings, workspaceId, at: start });
      expect(await look()).toEqual([]);
      await causes[kind]();
      clock.advance(5_000);
      if (kind !== 'node') await bundle.database`update nodes set seen_at = ${clock.realNow()}`;
      const told = await look();
      const { runbook } = conditionTable[kind].alert;
      const address = addressOf(`docs/runbooks/${runbook}.md`);
      expect(told).toMatchObject([{ kind, runbook_url: `${origin}/docs/${address}` }]);
      expect(existsSync(join(import.meta.dirname, '../../../docs/runbooks', `${runbook}.md`))).toBe(true);
      const samples = await makeReadDatabaseSamples({ database: bundle.database, clock })();
      const open = samples.carillon_alerts_open!.filter(({ value }) => value === 1);
      expect(open.map(({ labels }) => labels['kind'])).toEqual([kind]);
    },
  );

  test('queue: opens for a run that no worker starts, but not while the run waits for its segment to be filled', async () => {
    const runId = await insertRun('SENDING');
    const since = new Date(start.getTime() - 180_000);
    const { database } = bundle;
    await database`update runs set status = 'QUEUED', created_at = ${since} where id = ${runId}`;
    const segmentId = 'd'.repeat(24);
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
        created_at, updated_at)
      values (${segmentId}, ${workspaceId}, 'Buyers', 'FILE', 'FILLING', 'API', 'ID', 'string', 'API', ${start}, ${start})`;
    await database`update campaigns set audience = 'SEGMENT', segment_id = ${segmentId} from runs where runs.campaign_id = campaigns.id`;
    const settings = { webhookUrl: 'https://ops.example/alerts', emails: [], mutedKinds: [] };
    await storeAlertSettings(database, { ...settings, workspaceId, at: start });
    expect(await look()).toEqual([]);
    await database`update segments set state = 'READY' where id = ${segmentId}`;
    clock.advance(5_000);
    expect(await look()).toMatchObject([{ kind: 'queue' }]);
  });

  async function reportNode(jobs: JobNote[], certificateEndsAt: Date | null = null): Promise<void> {
    await upsertNode(bundle.database, {
      ...{
        id: 'worker',
        host: 'h',
        processId: 1,
        role: 'worker',
        version: '1',
        startedAt: start,
        seenAt: clock.realNow(),
      },
      ...{ memoryBytes: 1, jobs, masterKeyIds: [], simulators: null, connections: 1, url: null, certificateEndsAt },
    });
  }

  /** A campaign of this workspace whose run is in such a state. */
  async function insertRun(status: 'SENDING' | 'PAUSED', more: { reason?: string; platform?: string } = {}) {
    const id = randomBytes(12).toString('hex');
    await insertSentRun(bundle.database, { workspaceId, id, at: start });
    await bundle.database`
      update runs set status = ${status}, ended_at = null, status_reason = ${more.reason ?? null},
        paused_platform = ${more.platform ?? null} where id = ${id}`;
    return id;
  }

  async function look() {
    const { database } = bundle;
    const readAll = makeReadAlertIssues({ database, clock });
    await makeWatchAlerts({
      ...{ database, clock, emailState: 'KEPT', consoleUrl: origin, recheck: async () => {}, onNotified: () => {} },
      log: makeLog({ level: 'silent', pretty: false }),
      readAlertIssues: (asked) => (asked.workspaceId === workspaceId ? readAll(asked) : Promise.resolve([])),
    }).runOnce(clock.now());
    const posted = await database<{ body: string }[]>`select body from callbacks where workspace_id = ${workspaceId}`;
    return posted.map(({ body }) => (JSON.parse(body) as { alert: { kind: AlertKind; runbook_url: string } }).alert);
  }
});

describe('the alert job', () => {
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
  const alerts = () =>
    bundle.database<{ subject: string; openedAt: Date; closedAt: Date | null }[]>`
      select subject, opened_at as "openedAt", closed_at as "closedAt" from alerts order by opened_at`;
  const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);

  test('opens one alert for a continuing problem, and closes it shortly after the problem ends', async () => {
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

  test('keeps an alert open if the problem is absent from a single check', async () => {
    issues = [refused];
    await look();
    issues = [];
    await pass(5);
    issues = [refused];
    await pass(20);
    expect(await alerts()).toEqual([{ subject: 'FCM (Android)', openedAt: start, closedAt: null }]);
  });

  test('notifies the configured receivers once on opening and once on closing, and skips muted kinds', async () => {
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
    expect(emails[1]!.subject).toMatch(/Resolved: FCM \(Android\)$/);
  });

  test('checks on one of two nodes, and opens an alert once even if both check', async () => {
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

  test('opens the alerts of other workspaces when the facts of one cannot be read', async () => {
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

  test('checks a rejecting provider again automatically, at growing intervals', async () => {
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

  /** As the loop does, every five seconds. */
  async function pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 5) {
      clock.advance(5000);
      await look();
    }
  }
});
