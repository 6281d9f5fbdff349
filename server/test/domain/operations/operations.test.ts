import { describe, expect, test } from 'vitest';
import { findAlertIssues, runbookOf, writeAlertBody, writeAlertEmail } from '../../../src/domain/operations/alerts.ts';
import type { Alert } from '../../../src/domain/operations/alerts.ts';
import {
  ManifestError,
  findScheduledBackups,
  nameScheduledBackup,
  parseManifest,
  writeManifest,
} from '../../../src/domain/operations/backup.ts';
import type { BackupManifest } from '../../../src/domain/operations/backup.ts';
import {
  cutTable,
  distributedTables,
  measureImbalance,
  planDistribution,
} from '../../../src/domain/operations/cluster.ts';
import type { FoundTable } from '../../../src/domain/operations/cluster.ts';
import { alertKinds, conditionTable } from '../../../src/domain/operations/conditions.ts';
import type { InstallationFacts, WorkspaceFacts } from '../../../src/domain/operations/conditions.ts';
import { makeBucketCounts, minuteOf } from '../../../src/domain/operations/metrics.ts';
import { describeTrouble } from '../../../src/domain/operations/readiness.ts';
import { keptSince, retentionTime } from '../../../src/domain/operations/retention.ts';
import { parseTraceparent, writeTraceparent } from '../../../src/domain/operations/tracing.ts';

describe('alerts', () => {
  const at = new Date('2026-03-01T12:00:00Z');
  const minute = 60_000;
  const day = 24 * 60 * minute;
  const later = (milliseconds: number) => new Date(at.getTime() + milliseconds);
  const fcm = { provider: 'fcm', name: 'FCM (Android)', isConnected: true, check: null, silent: null } as const;
  const well: InstallationFacts & WorkspaceFacts = {
    ...{ providers: [fcm], paused: [], answers: [], sendingNodes: 1, oldestWaitingAt: null, failingJobs: [] },
    endingKeys: [],
    upkeep: { realAt: at, backup: { madeAt: null, installedAt: null, schedule: null }, certificates: [] },
  };
  const issuesOf = (changed: Partial<typeof well>) => {
    const facts = { ...well, ...changed };
    return findAlertIssues({ at, installation: facts, workspace: facts });
  };

  test('lists the kinds of all conditions that declare an alert', () => {
    const declared = Object.entries(conditionTable).filter(([, condition]) => 'alert' in condition);
    expect(declared.map(([kind]) => kind).sort()).toEqual([...alertKinds].sort());
  });

  describe('an issue that opens an alert', () => {
    test('does not exist if all is well', () => {
      expect(issuesOf({})).toEqual([]);
    });

    const pause = { platform: 'ANDROID', provider: null, waits: 'all', runs: 1, campaignId: 'c' } as const;
    const refused = { verdict: 'REFUSED', words: 'invalid_grant', at } as const;
    const answers: WorkspaceFacts['answers'] = [
      { platform: 'ANDROID', name: fcm.name, accepted: 0, waiting: [{ code: '503', devices: 1 }], failures: [] },
    ];
    const ofPause = {
      ...{ kind: 'provider', subject: fcm.name, recheck: 'fcm' },
      what: 'FCM (Android) rejects the credential: UNREGISTERED: no',
      todo: 'Fix the account at the provider, or connect a credential that it accepts. The credential is checked again automatically, and the waiting messages are then sent.',
    };

    test('is a backup that is late, and a certificate that ends soon', () => {
      const backup = { madeAt: later(-37 * 60 * minute), installedAt: at, schedule: { everyHours: 24, lookedAt: at } };
      const certificates = [{ host: 'api-1', endsAt: later(day) }];
      expect(issuesOf({ upkeep: { realAt: at, backup, certificates } })).toEqual([
        {
          ...{ kind: 'backup', subject: 'backups', todo: expect.stringContaining('carillon backup --out') },
          what: 'The newest backup is 37 hours old; one is due every 24 hours.',
        },
        {
          ...{ kind: 'certificate', subject: 'certificate until 2026-03-02', todo: expect.stringMatching(/^Renew/) },
          what: 'The certificate of api-1 expires on 2026-03-02, in 1 day.',
        },
      ]);
    });

    test('is a provider that makes a run pause', () => {
      expect(issuesOf({ paused: [{ ...pause, reason: 'UNREGISTERED: no' }] })).toEqual([ofPause]);
      expect(issuesOf({ paused: [{ ...pause, platform: null, reason: 'paused by Olga' }] })).toEqual([]);
      expect(issuesOf({ paused: [{ ...pause, platform: 'IOS', reason: 'BadTopic' }] })).toEqual([]);
    });

    test('is a provider that rejected its credential in a check', () => {
      const found = issuesOf({ providers: [{ ...fcm, check: refused }] });
      expect(found).toEqual([
        {
          ...{ kind: 'provider', subject: fcm.name, recheck: 'fcm' },
          what: 'FCM (Android) rejected its credential when it was last checked: invalid_grant',
          todo: 'Replace the credential, or fix its account at the provider.',
        },
      ]);
      expect(issuesOf({ providers: [{ ...fcm, isConnected: false, check: refused }] })).toEqual([]);
      expect(issuesOf({ providers: [{ ...fcm, check: { ...refused, verdict: 'UNKNOWN' } }] })).toEqual([]);
    });

    test('is a provider that accepts nothing, but not one that accepts a part', () => {
      const [found, ...others] = issuesOf({ answers });
      expect(found).toEqual({
        ...{ kind: 'provider', subject: fcm.name, todo: expect.stringMatching(/^They are retried automatically/) },
        what: 'FCM (Android) is accepting no messages: 1 message is waiting for a retry, FCM responded with 503.',
      });
      expect(others).toEqual([]);
      const part = [{ ...answers[0]!, accepted: 100, waiting: [{ code: '503', devices: 50 }] }];
      expect(issuesOf({ answers: part })).toEqual([]);
    });

    test('is a single issue for a provider that rejects for three reasons', () => {
      const providers = [{ ...fcm, check: refused }];
      expect(issuesOf({ providers, answers, paused: [{ ...pause, reason: 'UNREGISTERED: no' }] })).toEqual([ofPause]);
      expect(issuesOf({ providers, answers })).toHaveLength(1);
    });

    test('is a failing job, a missing sending node, or work that no node claims', () => {
      expect(
        issuesOf({
          failingJobs: [{ name: 'erase-users', fault: '57014' }],
          sendingNodes: 0,
          oldestWaitingAt: later(-day),
        }),
      ).toEqual([
        {
          ...{ kind: 'node', subject: 'sending nodes', todo: 'Start a node with the role "all" or "worker".' },
          what: 'No sending node has reported itself in the last 30 seconds.',
        },
        {
          ...{ kind: 'job', subject: 'erase-users', what: 'The server job erase-users is failing: 57014.' },
          todo: 'It is retried automatically. The log of the server says why it fails.',
        },
      ]);
      expect(issuesOf({ oldestWaitingAt: later(-2 * minute) })).toEqual([]);
      expect(issuesOf({ oldestWaitingAt: later(-5 * minute) })).toEqual([
        {
          ...{ kind: 'queue', subject: 'messages', what: 'Messages have been waiting for a worker for 5 minutes.' },
          todo: 'Check on the system page what the nodes are doing. More nodes share the work.',
        },
      ]);
    });

    test.each([
      [{ endsAt: later(7 * day), lastUsedAt: later(-day) }, true],
      [{ endsAt: later(-day), lastUsedAt: at }, true],
      [{ endsAt: later(7 * day + 1), lastUsedAt: at }, false],
      [{ endsAt: later(day), lastUsedAt: later(-day - 1) }, false],
      [{ endsAt: later(day), lastUsedAt: null }, false],
    ])('is a key that expires within a week and was used within a day: %j', (key, isOne) => {
      const what = `The API key Shop is still used and expires on ${key.endsAt.toISOString().slice(0, 10)}.`;
      expect(issuesOf({ endingKeys: [{ name: 'Shop', ...key }] })).toEqual(
        isOne
          ? [{ kind: 'credential', subject: 'key Shop', what, todo: 'Give its callers the key that replaces it.' }]
          : [],
      );
    });
  });

  describe('an alert', () => {
    const alert: Alert = {
      ...{
        id: 'a1',
        workspaceId: 'SHOP',
        kind: 'job',
        subject: 'erase-users',
        what: 'It fails.',
        todo: 'See the log.',
      },
      ...{ openedAt: new Date('2026-03-01T12:00:31Z'), closedAt: null },
    };
    const consoleUrl = 'https://push.example';
    const closedAt = new Date('2026-03-01T12:03:01Z');
    const told = { alert, consoleUrl, workspaceName: 'Shop' };

    test('has a body with the names of callbacks', () => {
      expect(JSON.parse(writeAlertBody('opened', told))).toEqual({
        ...{ type: 'alert.opened', workspace_id: 'SHOP' },
        alert: {
          ...{ id: 'a1', kind: 'job', subject: 'erase-users', what: 'It fails.', what_to_do: 'See the log.' },
          runbook_url: 'https://push.example/docs/runbooks/carillonjobfails/',
          ...{ opened_at: '2026-03-01T12:00:31.000Z', closed_at: null },
        },
      });
      const closed = JSON.parse(writeAlertBody('closed', { alert: { ...alert, closedAt }, consoleUrl: undefined }));
      expect(closed).toMatchObject({
        ...{ type: 'alert.closed', alert: { runbook_url: null, closed_at: '2026-03-01T12:03:01.000Z' } },
      });
    });

    test('is an email when it opens', () => {
      expect(writeAlertEmail('opened', told)).toEqual({
        subject: '[Shop] Alert: erase-users',
        body: [
          ...['It fails.', '', 'What to do: See the log.'],
          ...['Runbook: https://push.example/docs/runbooks/carillonjobfails/', '', 'Since: 2026-03-01 12:00 UTC'],
          'Console: https://push.example/console/w/SHOP/alerts',
        ].join('\n'),
      });
      expect(writeAlertEmail('opened', { ...told, consoleUrl: undefined }).body).toBe(
        'It fails.\n\nWhat to do: See the log.\n\nSince: 2026-03-01 12:00 UTC',
      );
    });

    test.each<[Date | null, number]>([
      [closedAt, 3],
      [new Date('2026-03-01T12:01:00Z'), 1],
      [null, 1],
    ])('is an email when it closes at %s, after %s minutes', (end, minutes) => {
      expect(writeAlertEmail('closed', { ...told, alert: { ...alert, closedAt: end } })).toEqual({
        subject: '[Shop] Resolved: erase-users',
        body: `Resolved: It fails.\n\nOpen since 2026-03-01 12:00 UTC, for ${minutes} min.\nConsole: https://push.example/console/w/SHOP/alerts`,
      });
    });

    test('can be sent as a test', () => {
      expect(writeAlertEmail('test', told)).toEqual({
        subject: '[Shop] Test of alerts',
        body: 'This is a test. Alerts of this workspace are sent to this address.\nConsole: https://push.example/console/w/SHOP/alerts',
      });
    });

    test('links to its page of the documentation if the origin is known', () => {
      expect(runbookOf('node', consoleUrl)).toBe('https://push.example/docs/runbooks/carillonnosendingnode/');
      expect(runbookOf('node', undefined)).toBeNull();
    });
  });
});

describe('backup', () => {
  const manifest: BackupManifest = {
    ...{ format: 1, madeAt: new Date('2026-03-01T12:00:00.500Z'), carillonVersion: '0.1.0', postgresVersion: '17.2' },
    ...{ migrations: [{ name: '0001', digest: 'd' }], masterKeyIds: ['aa'], sequences: [] },
    tables: [
      {
        ...{ name: 'users', day: null, columns: ['id'], file: 'users.copy.gz', rows: 1, textBytes: 3, fileBytes: 4 },
        sha256: 'e',
      },
    ],
  };

  describe('the manifest of a backup', () => {
    test('is parsed as it was written', () => {
      const text = writeManifest(manifest);
      expect(parseManifest(text)).toEqual(manifest);
      expect(text.endsWith('\n}\n')).toBe(true);
      expect(text.split('\n')[1]).toBe('  "format": 1,');
    });

    const refusal = (text: string) => {
      try {
        return parseManifest(text);
      } catch (error) {
        expect(error).toBeInstanceOf(ManifestError);
        return `${(error as Error).name} ${(error as Error).message}`;
      }
    };
    const text = writeManifest(manifest);

    test.each([
      ['torn', text.slice(0, -4), 'is torn'],
      ['changed', text.replace('"rows": 1', '"rows": 2'), 'was changed, or is torn'],
      ['without its digest', text.replace(/,\s*"sha256": "[0-9a-f]{64}"/, ''), 'was changed, or is torn'],
      [
        'of a later version',
        text.replace('"format": 1', '"format": 2'),
        'has the format 2, which this version of Carillon does not know',
      ],
      ['of no version', text.replace('"format": 1', '"format": "2"'), 'was changed, or is torn'],
      ['of an earlier version', text.replace('"format": 1', '"format": 0'), 'was changed, or is torn'],
    ])('is rejected if it is %s', (_what, changed, reason) => {
      expect(changed).not.toBe(text);
      expect(refusal(changed)).toBe(`ManifestError ${reason}`);
    });

    test('is rejected in another format, whatever its digest', () => {
      const other = writeManifest({ ...manifest, format: 0 as 1 });
      expect(refusal(other)).toBe('ManifestError was changed, or is torn');
    });
  });

  test('names a scheduled backup after its second, and finds it by its name, newest first', () => {
    const name = nameScheduledBackup(new Date('2026-03-01T12:34:56.789Z'));
    expect(name).toBe('carillon-20260301T123456Z');
    const older = 'carillon-20251231T235959Z';
    const others = [
      ...['x', `${name}.part`, `my-${name}`, 'carillon-20261301T000000Z', 'carillon-2026-03-01', name.toLowerCase()],
    ];
    expect(findScheduledBackups([older, ...others, name])).toEqual([
      { name, madeAt: new Date('2026-03-01T12:34:56Z') },
      { name: older, madeAt: new Date('2025-12-31T23:59:59Z') },
    ]);
  });
});

describe('plan distribution', () => {
  const users = { name: 'users', column: 'bucket', besides: 'users' };
  const devices = { name: 'devices', column: 'bucket', besides: 'users' };
  const addresses = { name: 'push_addresses', column: 'address_hash', besides: 'push_addresses' };
  const tables = [users, devices, addresses];

  const local = (name: string, localBytes = 0): FoundTable => ({ name, layout: undefined, localBytes, obstacles: [] });
  const spread = (name: string, groupId: number, column = 'bucket'): FoundTable => ({
    ...local(name),
    layout: { column, groupId, shards: 8 },
  });

  describe('what is left to distribute', () => {
    test('is all tables at first, in order, each followed by freeing its local rows', () => {
      expect(planDistribution(tables, [local('users', 10), local('devices'), local('push_addresses', 5)])).toEqual({
        steps: [
          { kind: 'distribute', table: users, bytes: 10 },
          { kind: 'free', table: users, bytes: 10 },
          { kind: 'distribute', table: devices, bytes: 0 },
          { kind: 'distribute', table: addresses, bytes: 5 },
          { kind: 'free', table: addresses, bytes: 5 },
        ],
      });
    });

    test('is the rest after an interrupted run, starting with the rows not yet freed', () => {
      const found = [
        { ...spread('users', 1), localBytes: 10 },
        local('devices'),
        spread('push_addresses', 2, 'address_hash'),
      ];
      expect(planDistribution(tables, found)).toEqual({
        steps: [
          { kind: 'free', table: users, bytes: 10 },
          { kind: 'distribute', table: devices, bytes: 0 },
        ],
      });
    });

    test('is nothing when all is done', () => {
      const found = [spread('users', 1), spread('devices', 1), spread('push_addresses', 2, 'address_hash')];
      expect(planDistribution(tables, found)).toEqual({ steps: [] });
    });

    test.each([
      ['is missing', [local('users'), local('push_addresses')], 'The table devices is missing.'],
      [
        'has what no cluster takes',
        [local('users'), { ...local('devices'), obstacles: ['trigger a', 'foreign key b'] }],
        'The table devices has what no cluster takes: trigger a, foreign key b; drop it first.',
      ],
      [
        'is distributed by another column',
        [spread('users', 1, 'id')],
        "The table users must be distributed by bucket, but is not; undistribute_table('users') makes it local again.",
      ],
      [
        'is not beside its first',
        [spread('users', 1), spread('devices', 2)],
        'must be distributed by bucket and co-located with users, but is not',
      ],
      [
        'is distributed before its first',
        [local('users'), spread('devices', 2)],
        'must be distributed by bucket and co-located with users, but is not',
      ],
    ])('is rejected completely for a table that %s', (_what, found, refusal) => {
      expect(planDistribution(tables, found)).toEqual({ refusal: expect.stringContaining(refusal) });
    });
  });

  describe('the table whose shards are split', () => {
    const first = { name: cutTable, column: 'bucket', besides: cutTable };
    const beside = { ...users, besides: cutTable };
    const uncut = { ...local(cutTable), layout: { column: 'bucket', groupId: 1, shards: 1 } };

    test('is split before another is colocated, also after an interrupted run', () => {
      const rest = [
        { kind: 'cut', table: first, bytes: 0 },
        { kind: 'distribute', table: beside, bytes: 0 },
      ];
      expect(planDistribution([first, beside], [local(cutTable), local('users')])).toEqual({
        steps: [{ kind: 'distribute', table: first, bytes: 0 }, ...rest],
      });
      expect(planDistribution([first, beside], [uncut, local('users')])).toEqual({ steps: rest });
    });

    test('is split whatever other tables are colocated', () => {
      const others = [spread('a', 2), spread('b', 2)];
      expect(planDistribution([first], [...others, uncut])).toEqual({
        steps: [{ kind: 'cut', table: first, bytes: 0 }],
      });
      expect(planDistribution([first], [...others, local(cutTable)])).toMatchObject({ steps: { length: 2 } });
    });

    test('is not split after rows exist that would have to move', () => {
      expect(planDistribution([first, beside], [uncut, spread('users', 1)])).toEqual({ steps: [] });
      expect(planDistribution([first, beside], [spread(cutTable, 1), local('users')])).toEqual({
        steps: [{ kind: 'distribute', table: beside, bytes: 0 }],
      });
    });
  });

  test('colocates each distributed table with an earlier one, by the same column', () => {
    const known = new Map<string, string>();
    for (const { name, column, besides } of distributedTables) {
      expect(known.has(name)).toBe(false);
      known.set(name, column);
      expect({ name, column: known.get(besides) }).toEqual({ name, column });
    }
  });

  test.each([
    [[], 1],
    [[0, 0], 1],
    [[5, 5, 5], 1],
    [[9, 0, 0], 3],
    [[30, 10, 20], 1.5],
  ])('measures the imbalance of %j as %f', (sizes, imbalance) => {
    expect(measureImbalance(sizes)).toBe(imbalance);
  });
});

describe('retention days', () => {
  test('keeps a record for days of twenty-four hours', () => {
    expect(keptSince(new Date('2026-03-31T12:30:00Z'), 30)).toEqual(new Date('2026-03-01T12:30:00Z'));
    const now = new Date();
    expect(keptSince(now, 0)).toEqual(now);
  });

  test('ages records by the earlier of two clocks, so that a sandbox whose clock is ahead deletes nothing', () => {
    const [early, late] = [new Date('2026-03-01T00:00:00Z'), new Date('2026-06-01T00:00:00Z')];
    expect(retentionTime({ now: late, realNow: early })).toEqual(early);
    expect(retentionTime({ now: early, realNow: late })).toEqual(early);
    expect(retentionTime({ now: early, realNow: early })).toEqual(early);
  });
});

describe('metrics', () => {
  test('counts values up to each bound of a histogram, and all of them', () => {
    const counts = makeBucketCounts([1, 5, 10]);
    const none = [1, 5, 10].map((upTo) => ({ upTo, count: 0 }));
    expect(counts.read()).toEqual({ count: 0, sum: 0, buckets: none });
    for (const value of [0, 1, 1.5, 5, 10, 11, 500]) counts.note(value);
    const expected = {
      ...{ count: 7, sum: 528.5 },
      buckets: [
        { upTo: 1, count: 2 },
        { upTo: 5, count: 4 },
        { upTo: 10, count: 5 },
      ],
    };
    expect(counts.read()).toEqual(expected);
    expect(counts.read()).toEqual(expected);
  });

  test('returns the minute that has started for an instant', () => {
    expect(minuteOf(new Date('2026-03-01T12:34:59.999Z')).toISOString()).toBe('2026-03-01T12:34:00.000Z');
    expect(minuteOf(new Date('2026-03-01T12:35:00.000Z')).toISOString()).toBe('2026-03-01T12:35:00.000Z');
  });
});

describe('traceparent', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const spanId = '00f067aa0ba902b7';
  const known = { traceId, spanId };

  // W3C Trace Context, "traceparent header".
  test.each([
    [`00-${traceId}-${spanId}-01`, { ...known, isSampled: true }],
    [`00-${traceId}-${spanId}-00`, { ...known, isSampled: false }],
    [`00-${traceId}-${spanId}-03`, { ...known, isSampled: true }],
    [`00-${traceId}-${spanId}-fe`, { ...known, isSampled: false }],
    [`cc-${traceId}-${spanId}-01-what-the-future-will-be`, { ...known, isSampled: true }],
    [`00-${traceId}-${spanId}-01-more`, undefined],
    [`ff-${traceId}-${spanId}-01`, undefined],
    [`00-${'0'.repeat(32)}-${spanId}-01`, undefined],
    [`00-${traceId}-${'0'.repeat(16)}-01`, undefined],
    [
      `00-${'0'.repeat(31)}1-1${'0'.repeat(15)}-01`,
      { traceId: `${'0'.repeat(31)}1`, spanId: `1${'0'.repeat(15)}`, isSampled: true },
    ],
    [
      `00-1${'0'.repeat(31)}-${'0'.repeat(15)}1-01`,
      { traceId: `1${'0'.repeat(31)}`, spanId: `${'0'.repeat(15)}1`, isSampled: true },
    ],
    [`00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
    [`x00-${traceId}-${spanId}-01`, undefined],
    [`00-${traceId}-${spanId}-01x`, undefined],
    ['', undefined],
    [undefined, undefined],
  ])('parses %s as %j', (text, parsed) => {
    expect(parseTraceparent(text)).toEqual(parsed);
  });

  test('writes version 00, with one flag', () => {
    expect(writeTraceparent({ ...known, isSampled: true })).toBe(`00-${traceId}-${spanId}-01`);
    expect(writeTraceparent({ ...known, isSampled: false })).toBe(`00-${traceId}-${spanId}-00`);
  });

  test('reports a trouble of a node with its detail, if there is one', () => {
    expect(describeTrouble({ name: 'database' })).toBe('database');
    expect(describeTrouble({ name: 'jobs', detail: 'release-runs (53100)' })).toBe('jobs: release-runs (53100)');
  });
});
