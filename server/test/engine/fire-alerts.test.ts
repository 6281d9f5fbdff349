import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addressOf } from '../../../scripts/site/list-pages.ts';
import { makeReadAlertIssues } from '../../src/app/system/alerts.ts';
import { makeManualClock } from '../../src/clock.ts';
import { alertKinds, conditionTable } from '../../src/domain/operations/conditions.ts';
import type { AlertKind } from '../../src/domain/operations/conditions.ts';
import { makeWatchAlerts } from '../../src/engine/monitoring/alerts.ts';
import { makeJobBook } from '../../src/engine/jobs/job.ts';
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

test.each(alertKinds)('%s: its cause opens it, and it is told with its runbook and to Prometheus', async (kind) => {
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
});

test('queue: also by a run that nobody starts; one that waits for its segment to be filled is no fault', async () => {
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
