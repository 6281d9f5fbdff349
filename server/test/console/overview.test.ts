import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countFileOperation, documentedSegmentLimits } from '../../src/app/segments/segment-limits.ts';
import { makeReadAlertIssues } from '../../src/app/system/alerts.ts';
import { makeJobBook, startJob } from '../../src/engine/jobs/job.ts';
import { makeReadDatabaseSamples } from '../../src/engine/monitoring/metric-samples.ts';
import { makeReportNode } from '../../src/engine/monitoring/report-node.ts';
import { makeLog } from '../../src/log.ts';
import { checkMasterKey } from '../../src/start/database/open-installation.ts';
import type { CheckedKeys } from '../../src/start/database/open-installation.ts';
import { noteBackup, noteBackupSchedule } from '../../src/storage/backup.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { listNodes, upsertNode } from '../../src/storage/installation/nodes.ts';
import { queueNames, readQueues } from '../../src/storage/installation/queues.ts';
import { ensureDeliveriesPartition } from '../../src/storage/ledger/deliveries.ts';
import { pauseAccount } from '../../src/storage/limits/governor.ts';
import { countWithinLimit } from '../../src/storage/limits/push-rate-limit.ts';
import { insertChunks } from '../../src/storage/runs/chunks.ts';
import { until } from '../carillon-bundle.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { ledgerRun } from '../ledger-run.ts';
import { goodPassword, makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

describe('overview', () => {
  let bundle: AccountsBundle;
  let owner: string;
  let encryption: CheckedKeys['encryption'];
  beforeAll(async () => {
    bundle = await makeAccountsBundle();
    const keys = { masterKey: Buffer.alloc(32, 1), nextMasterKey: undefined };
    ({ encryption } = await checkMasterKey(bundle.database, { ...keys, at: start }));
    owner = await bundle.createOwner();
  });
  afterAll(() => bundle.end());

  const read = async (cookie = owner) =>
    (await bundle.call('GET', `overview?workspaceId=${bundle.workspaceId}`, { cookie })).body;

  const node = (id: string, role: 'all' | 'api' | 'worker', certificateEndsAt?: Date) =>
    makeReportNode({
      database: bundle.database,
      clock: bundle.clock,
      encryption,
      node: { id, role, version: '1.2.3', simulators: null, connections: 10 },
      book: makeJobBook(),
      findUrl: () => undefined,
      findCertificateEnd: () => certificateEndsAt,
    });

  describe('nodes', () => {
    test('report that they are alive; one of role api sends nothing, and the overview says so', async () => {
      expect((await read()).verdict).toMatchObject({
        level: 'trouble',
        headline: '1 problem is blocking delivery',
      });
      await node('answers', 'api').runOnce(bundle.clock.now());
      expect((await read()).work).toMatchObject({ nodes: 1, sendingNodes: 0 });
      await node('sends', 'worker').runOnce(bundle.clock.now());
      const { work, verdict } = await read();
      expect(work).toMatchObject({ nodes: 2, sendingNodes: 1, seenAt: start.toISOString() });
      // There is no credential yet, and nothing else is wrong.
      expect(verdict.findings.map(({ what }: { what: string }) => what)).toEqual([
        'No provider is connected, so no message can be sent.',
      ]);
    });

    test('are silent after 30 seconds, removed after a day, and leave when they stop', async () => {
      bundle.clock.advance(30_001);
      expect((await read()).work).toMatchObject({ nodes: 0, sendingNodes: 0, seenAt: null });
      bundle.clock.advance(24 * 3_600_000);
      // The session of yesterday is over, too.
      const body = { email: 'olga@example.com', password: goodPassword };
      owner = (await bundle.call('POST', 'session/password', { body })).cookie;
      const job = node('new', 'all');
      await job.runOnce(bundle.clock.now());
      expect((await listNodes(bundle.database)).map(({ id }) => id)).toEqual(['new']);
      await job.leave();
      expect(await listNodes(bundle.database)).toEqual([]);
    });

    test('report the last result of each job, and the kind of its last fault without its text', async () => {
      const book = makeJobBook();
      const log = makeLog({ level: 'silent', pretty: false });
      let rounds = 0;
      const job = startJob(
        {
          name: 'erase-people',
          intervalMilliseconds: 1,
          async runOnce() {
            rounds += 1;
            if (rounds === 1) return 3;
            throw Object.assign(new Error('value ana@example.com'), { code: '23505' });
          },
        },
        { clock: bundle.clock, log, book },
      );
      await until(async () => book.read()[0]?.fault);
      await job.stop();
      const at = bundle.clock.now().toISOString();
      expect(book.read()).toEqual([{ name: 'erase-people', doneAt: at, done: 3, failedAt: at, fault: '23505' }]);
    });
  });

  describe('the overview', () => {
    test('shows sends that are running, paused and scheduled, with the words of the provider', async () => {
      const { database, workspaceId, clock } = bundle;
      await node('sends', 'all').runOnce(clock.now());
      const now = clock.now();
      const later = new Date(now.getTime() + 60_000);
      for (const [id, status, nextAt] of [
        ['c1', 'SENDING', null],
        ['c2', 'SENDING', null],
        ['c3', 'SCHEDULED', later],
      ] as const)
        await database`
          insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
            next_at, created_by, created_at, updated_at)
          values (${id}, ${workspaceId}, ${`Campaign ${id}`}, 'CONSOLE', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}',
            ${status}, ${nextAt}, 'test', ${now}, ${now})`;
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, paused_platform, day, send_until,
          created_at, started_at, audience_devices)
        values ('r1', ${workspaceId}, 'c1', 1, 'SENDING', null, null, ${now}, ${later}, ${now}, ${now}, 200),
          ('r2', ${workspaceId}, 'c2', 1, 'PAUSED', 'PERMISSION_DENIED: not you', 'ANDROID', ${now}, ${later}, ${now},
            ${now}, 200)`;
      await database`
        insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
        values ('r1', ${workspaceId}, 0, 'ANDROID', 'ACCEPTED', 40), ('r1', ${workspaceId}, 9, 'ANDROID', 'GONE', 2)`;
      await database`
        insert into run_refusals (run_id, workspace_id, provider, app_id, credentials, words, refused_at)
        values ('r1', ${workspaceId}, 'hms', 'courier', '1', '80200001: no (app courier)', ${now})`;
      const shown = await read();
      expect(shown.running).toMatchObject([
        { campaignId: 'c1', campaignName: 'Campaign c1', audienceDevices: 200, accepted: 40, notDelivered: 2 },
      ]);
      expect(shown.paused).toMatchObject([
        { campaignId: 'c1', platform: 'ANDROID', provider: 'hms', waits: 'some', runs: 1 },
        { campaignId: 'c2', platform: 'ANDROID', provider: 'fcm', waits: 'all', runs: 1 },
      ]);
      expect(shown.scheduled).toMatchObject([{ campaignId: 'c3', nextAt: later.toISOString() }]);
      expect(shown.verdict.findings[1]).toMatchObject({
        what: 'A send is paused. FCM (Android) says: PERMISSION_DENIED: not you',
        place: { screen: 'campaign', campaignId: 'c2' },
      });
    });

    test('shows an account that a provider asked to wait, for this workspace only', async () => {
      const { database, workspaceId, clock } = bundle;
      const at = clock.now();
      await database`
        insert into provider_credentials (workspace_id, provider, sealed, summary, simulated, updated_at)
        values (${workspaceId}, 'fcm', 'x', '{"projectId": "shop"}', false, ${at})`;
      const until = new Date(at.getTime() + 60_000);
      await pauseAccount(database, { key: 'fcm:other', until, reason: 'QUOTA_EXCEEDED', at });
      expect((await read()).providers[0]).toMatchObject({ isConnected: true, account: 'shop', silent: null });
      await pauseAccount(database, { key: 'fcm:shop', until, reason: 'QUOTA_EXCEEDED', at });
      expect((await read()).providers[0].silent).toEqual({ until: until.toISOString(), reason: 'QUOTA_EXCEEDED' });
    });

    test('shows the use of each limit as the limits count it', async () => {
      const { database, workspaceId, clock } = bundle;
      const at = clock.now();
      await countFileOperation(database, { workspaceId, at, limits: documentedSegmentLimits });
      const count = { operation: 'push', workspaceId, wanted: 7, limit: 10_000, windowSeconds: 60, at };
      await inTransaction(database, (tx) => countWithinLimit(tx, count));
      const { limits } = await read();
      expect(limits.find(({ id }: { id: string }) => id === 'pushes')).toMatchObject({ used: 7, most: 10_000 });
      const files = limits.filter(({ id }: { id: string }) => id.startsWith('segment-files'));
      expect(files).toMatchObject([
        { used: 1, most: 10, windowSeconds: 3600 },
        { used: 1, most: 100, windowSeconds: 86_400 },
      ]);
      expect(limits.find(({ id }: { id: string }) => id === 'segments')).toMatchObject({ used: 0, most: 1_000 });
      expect(limits.find(({ id }: { id: string }) => id === 'segment-users')).toMatchObject({
        most: 2_000_000,
        setting: 'CARILLON_SEGMENT_USERS_PER_DAY',
      });
    });

    test('reports a late backup and an expiring certificate of live nodes, like the system page', async () => {
      const { database, workspaceId, clock } = bundle;
      const found = async () => {
        const { verdict } = await read();
        return verdict.findings.filter(({ place }: { place: { screen: string } }) => place.screen === 'system');
      };
      const system = async () =>
        (await bundle.call('GET', `system?workspaceId=${workspaceId}`, { cookie: owner })).body;
      expect(await found()).toEqual([]);
      const now = clock.realNow();
      const endsAt = new Date(now.getTime() + 5 * 86_400_000);
      await node('sends', 'all', endsAt).runOnce(clock.now());
      await noteBackup(database, new Date(now.getTime() - 40 * 3_600_000));
      expect(await found()).toMatchObject([
        { what: expect.stringMatching(/^The certificate of .* expires on .*, in 5 days\.$/) },
      ]);
      expect((await system()).database).toMatchObject({
        backupHours: null,
        isBackupLate: false,
        hasPageChecksums: true,
      });
      await noteBackupSchedule(database, { everyHours: 24, lookedAt: now });
      expect(await found()).toMatchObject([
        { level: 'attention', what: 'The newest backup is 40 hours old; one is due every 24 hours.' },
        { level: 'attention', what: expect.stringContaining('The certificate of') },
      ]);
      expect(await system()).toMatchObject({
        database: { backupHours: 24, isBackupLate: true },
        nodes: [{ id: 'sends', certificateEndsAt: endsAt.toISOString() }],
      });
      await noteBackup(database, now);
      await node('sends', 'all').runOnce(clock.now());
      expect(await found()).toEqual([]);
      expect((await system()).database).toMatchObject({ backupHours: 24, isBackupLate: false });
    });

    test('hides the signed command from roles that may not see keys, and counts users separately', async () => {
      const analyst = await bundle.join(owner, { email: 'ana@example.com', role: 'analyst' });
      expect((await read()).curl).toBe('curl of a key');
      expect((await read(analyst)).curl).toBeUndefined();
      const path = `overview/people?workspaceId=${bundle.workspaceId}`;
      const now = bundle.clock.now();
      const lastWeek = new Date(now.getTime() - 7 * 86_400_000);
      await bundle.database`
        insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
        values (${bundle.workspaceId}, 1, 'n1', 'new', ${now}, ${now}),
          (${bundle.workspaceId}, 2, 'n2', 'old', ${lastWeek}, ${now})`;
      const { body } = await bundle.call('GET', path, { cookie: analyst });
      expect(body).toEqual({ users: 2, newUsers: 1, devices: [] });
    });
  });

  describe('diagnostics', () => {
    test('contain no key, no address and no user', async () => {
      const { database, workspaceId, clock } = bundle;
      const at = clock.now();
      await database`update provider_credentials set summary = '{"projectId": "shop", "clientEmail": "key@example.com"}',
        checked_at = ${at}, check_verdict = 'REFUSED', check_words = 'no account key@example.com'`;
      await database`
        insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
        values (${workspaceId}, 1, 'u1', 'customer-77', '{"email": "bo@example.com"}', ${at}, ${at})`;
      const answer = await bundle.call('GET', `system?workspaceId=${workspaceId}`, { cookie: owner });
      expect(answer.status).toBe(200);
      const text = JSON.stringify(answer.body);
      for (const secret of [
        'key@example.com',
        'customer-77',
        'bo@example.com',
        'ana@',
        'olga@',
        'argon2',
        'Campaign c1',
      ])
        expect(text).not.toContain(secret);
      expect(answer.body).toMatchObject({
        version: '1.2.3',
        database: { isEmbedded: false, migrations: { newest: { name: expect.stringMatching(/^0000\d\d_/) } } },
        nodes: [{ id: 'sends', isAlive: true }],
        providers: [{ provider: 'fcm', verdict: 'REFUSED' }, { provider: 'apns' }, { provider: 'webpush' }],
      });
      expect(answer.body.queues.map(({ name }: { name: string }) => name)).toEqual([
        'runs',
        'chunks',
        'retries',
        'segment-files',
        'callbacks',
        'event-batches',
        'mails',
        'erasures',
      ]);
      expect(answer.body.database.sizeBytes).toBeGreaterThan(1_000_000);
    });

    test('are available to owners and developers', async () => {
      for (const [email, role, status] of [
        ['mo@example.com', 'marketer', 403],
        ['dev@example.com', 'developer', 200],
      ] as const) {
        const cookie = await bundle.join(owner, { email, role });
        const path = `system?workspaceId=${bundle.workspaceId}`;
        expect((await bundle.call('GET', path, { cookie })).status).toBe(status);
      }
    });
  });
});

describe('the last seven days', () => {
  let bundle: AccountsBundle;
  let owner: string;
  beforeAll(async () => {
    bundle = await makeAccountsBundle();
    owner = await bundle.createOwner();
  });
  afterAll(() => bundle.end());

  test('sum the results of the runs that began in each, in the zone of the workspace, and of the seven days before up to the same time', async () => {
    const { database, workspaceId, clock } = bundle;
    // In Auckland it is the next day for the second half of a day in UTC.
    await database`update workspaces set time_zone = 'Pacific/Auckland' where id = ${workspaceId}`;
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Auckland' }).format(clock.now());
    const hours = (count: number): Date => new Date(clock.now().getTime() - count * 3_600_000);
    const runs: [letter: string, at: Date, accepted: number, gone: number, clicked: number][] = [
      ['1', hours(0), 10, 2, 3],
      ['2', hours(0), 5, 0, 0],
      // A week ago a minute later, and a minute earlier.
      ['3', new Date(hours(7 * 24).getTime() + 60_000), 1_000, 0, 0],
      ['4', new Date(hours(7 * 24).getTime() - 60_000), 40, 10, 4],
      ['5', hours(15 * 24), 7_000, 0, 0],
    ];
    for (const [letter, at, accepted, gone, clicked] of runs) {
      const id = letter.repeat(24);
      await insertSentRun(database, { workspaceId, id, at });
      await database`
        insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
        values (${id}, ${workspaceId}, 0, 'ANDROID', 'ACCEPTED', ${accepted}),
          (${id}, ${workspaceId}, 9, 'IOS', 'GONE', ${gone}), (${id}, ${workspaceId}, 9, 'IOS', 'WITHHELD', 99),
          (${id}, ${workspaceId}, 9, 'IOS', 'WAITING', 99)`;
      await database`
        insert into run_interactions (run_id, workspace_id, bucket, platform, kind, total, messages)
        values (${id}, ${workspaceId}, 0, 'ANDROID', 'CLICK', 77, ${clicked}),
          (${id}, ${workspaceId}, 0, 'ANDROID', 'IMPRESSION', 99, 99)`;
    }
    await database`update runs set is_test = true where id = ${'2'.repeat(24)}`;
    const path = `overview/week?workspaceId=${workspaceId}`;
    const { body } = await bundle.call('GET', path, { cookie: owner });
    expect(body.days).toHaveLength(7);
    expect(body.days.at(-1)).toEqual({ date: today, tried: 12, accepted: 10, clicked: 3 });
    expect(body.before).toEqual({ tried: 50, accepted: 40, clicked: 4 });
    expect(body.isPartial).toBe(false);
    // Kept for five seconds, because every open page asks.
    await database`update run_counts set devices = 11 where run_id = ${'1'.repeat(24)} and outcome = 'ACCEPTED'`;
    expect((await bundle.call('GET', path, { cookie: owner })).body.days.at(-1).accepted).toBe(10);
    clock.advance(5_001);
    expect((await bundle.call('GET', path, { cookie: owner })).body.days.at(-1).accepted).toBe(11);
  });
});

describe('the figures of the queues', () => {
  const before = (seconds: number): Date => new Date(start.getTime() - seconds * 1000);
  const day = start.toISOString().slice(0, 10);
  const [sending, fillingRun, readyRun] = ['a', 'b', 'c'].map((letter) => letter.repeat(24)) as [
    string,
    string,
    string,
  ];
  const [filling, around] = ['d', 'e'].map((letter) => letter.repeat(24)) as [string, string];

  /**
   * Work in each place where a cluster keeps it: deliveries in the shards of 40 buckets, runs, chunks and segments on the
   * coordinator. One run waits for a segment that refers to one that is being filled, which only the recursive part finds.
   */
  let bundle: AccountsBundle;
  let owner: string;
  beforeAll(async () => {
    bundle = await makeAccountsBundle();
    owner = await bundle.createOwner();
    const { database, workspaceId } = bundle;
    for (const id of [sending, fillingRun, readyRun])
      await insertSentRun(database, { workspaceId, id, at: before(300) });
    await database`update runs set status = 'SENDING', day = ${day}, ended_at = null where id = ${sending}`;
    await database`update runs set status = 'QUEUED', started_at = null, ended_at = null, created_at = ${before(200)}
      where id = any(${[fillingRun, readyRun]})`;
    for (const [id, state, uses] of [
      [filling, 'FILLING', []],
      [around, 'READY', [filling]],
    ] as const)
      await database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, uses_segments,
          created_by, created_at, updated_at)
        values (${id}, ${workspaceId}, ${`Segment ${id}`}, 'FILE', ${state}, 'API', 'ID', 'string', ${[...uses]}, 'API',
          ${start}, ${start})`;
    await database`
      update campaigns set audience = 'SEGMENT', segment_id = ${around} where id = ${fillingRun}`;
    await insertChunks(database, {
      ...{ runId: sending, workspaceId, lane: 0, at: before(100), winner: null },
      ranges: [{ from: 0, to: 255 }],
    });
    await insertDeliveries();
  });
  afterAll(() => bundle.end());

  test('count waiting, running and later work of each kind, sorted by name', async () => {
    const states = await readQueues(bundle.database, start);
    const idle = { waiting: 0, running: 0, later: 0, failed: 0, oldestAt: null };
    const work: Record<string, object> = {
      runs: { ...idle, waiting: 1, running: 1, later: 1, oldestAt: before(200) },
      chunks: { ...idle, waiting: 1, oldestAt: before(100) },
      retries: { ...idle, waiting: 30, later: 10, oldestAt: before(400) },
    };
    expect(states).toEqual(queueNames.map((name) => ({ name, ...idle, ...work[name] })));
  });

  test('are included in the metrics', async () => {
    const { database, clock } = bundle;
    const samples = await makeReadDatabaseSamples({ database, clock })();
    expect(samples.carillon_database_read_success).toContainEqual({ labels: { read: 'queues' }, value: 1 });
    const of = (name: string) =>
      (['waiting', 'later', 'age_seconds'] as const).map(
        (figure) => samples[`carillon_queue_${figure}`]!.find(({ labels }) => labels['queue'] === name)!.value,
      );
    expect([of('runs'), of('chunks'), of('retries')]).toEqual([
      [1, 1, 200],
      [1, 0, 100],
      [30, 10, 400],
    ]);
  });

  test('are shown in the overview', async () => {
    const { status, body } = await bundle.call('GET', `overview?workspaceId=${bundle.workspaceId}`, { cookie: owner });
    expect([status, body.work]).toMatchObject([200, { waiting: 31, later: 10, oldestAt: before(400).toISOString() }]);
  });

  test('open the queue alert with the age of the oldest item', async () => {
    const { database, clock, workspaceId } = bundle;
    // Without a node that sends, that is the alert.
    await upsertNode(database, {
      ...{ id: 'worker', host: 'h', processId: 1, role: 'worker', version: '1', startedAt: start },
      ...{ seenAt: clock.realNow(), memoryBytes: 1, jobs: [], masterKeyIds: [], simulators: null, connections: 1 },
      ...{ url: null, certificateEndsAt: null },
    });
    const issues = await makeReadAlertIssues({ database, clock })({ workspaceId, at: start });
    expect(issues.filter(({ kind }) => kind === 'queue')).toMatchObject([
      { what: expect.stringContaining('7 minutes') as string },
    ]);
  });

  /** 30 are due for 400 seconds and less, 10 later. */
  async function insertDeliveries(): Promise<void> {
    const { database } = bundle;
    await ensureDeliveriesPartition(database, day);
    const { runNumber, workspaceNumber } = await ledgerRun(database, sending);
    await database`
      insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, attempts,
        sent_at, retry_at)
      select ${day}::date, ${workspaceNumber}, bucket, ${runNumber}, substr(sha256(bucket::text::bytea), 1, 12),
        substr(sha256('user'), 1, 12), 'A', 'W', 1, ${start},
        ${start}::timestamptz - make_interval(secs => case when bucket < 30 then 400 - bucket else -60 end)
      from generate_series(0, 39) as bucket`;
  }
});
