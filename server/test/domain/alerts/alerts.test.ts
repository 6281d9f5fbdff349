import { describe, expect, test } from 'vitest';
import { findAlertIssues, runbookOf, writeAlertBody, writeAlertEmail } from '../../../src/domain/operations/alerts.ts';
import type { Alert } from '../../../src/domain/operations/alerts.ts';
import { alertKinds, conditionTable } from '../../../src/domain/operations/conditions.ts';
import type { InstallationFacts, WorkspaceFacts } from '../../../src/domain/operations/conditions.ts';

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
    what: 'FCM (Android) refuses the credential: UNREGISTERED: no',
    todo: 'Mend the account at the provider, or connect a credential that it takes: it is asked again by itself, and what waits is sent then.',
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
        what: 'The certificate of api-1 ends on 2026-03-02, in 1 day.',
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
        what: 'FCM (Android) refused its credential when it was last checked: invalid_grant',
        todo: 'Replace the credential, or give its account what it lacks.',
      },
    ]);
    expect(issuesOf({ providers: [{ ...fcm, isConnected: false, check: refused }] })).toEqual([]);
    expect(issuesOf({ providers: [{ ...fcm, check: { ...refused, verdict: 'UNKNOWN' } }] })).toEqual([]);
  });

  test('is a provider that accepts nothing, but not one that accepts a part', () => {
    const [found, ...others] = issuesOf({ answers });
    expect(found).toEqual({
      ...{ kind: 'provider', subject: fcm.name, todo: expect.stringMatching(/^They are tried again by themselves/) },
      what: 'FCM (Android) takes no message: 1 message waits for another attempt, FCM answered 503.',
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
        ...{ kind: 'node', subject: 'sending nodes', todo: 'Start one with the role "all" or "worker".' },
        what: 'No node that sends has been heard of in the last 30 seconds.',
      },
      {
        ...{ kind: 'job', subject: 'erase-users', what: 'The job erase-users of the server fails: 57014.' },
        todo: 'It is tried again and again; the log of the server says why it fails.',
      },
    ]);
    expect(issuesOf({ oldestWaitingAt: later(-2 * minute) })).toEqual([]);
    expect(issuesOf({ oldestWaitingAt: later(-5 * minute) })).toEqual([
      {
        ...{ kind: 'queue', subject: 'messages', what: 'Messages wait for a worker since 5 minutes.' },
        todo: 'See on the system page what the nodes do; more of them share the work.',
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
    const what = `The API key Shop is still used and ends on ${key.endsAt.toISOString().slice(0, 10)}.`;
    expect(issuesOf({ endingKeys: [{ name: 'Shop', ...key }] })).toEqual(
      isOne
        ? [{ kind: 'credential', subject: 'key Shop', what, todo: 'Give its callers the key that replaces it.' }]
        : [],
    );
  });
});

describe('an alert', () => {
  const alert: Alert = {
    ...{ id: 'a1', workspaceId: 'SHOP', kind: 'job', subject: 'erase-users', what: 'It fails.', todo: 'See the log.' },
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
      subject: '[Shop] Over: erase-users',
      body: `It is over: It fails.\n\nSince 2026-03-01 12:00 UTC, for ${minutes} min.\nConsole: https://push.example/console/w/SHOP/alerts`,
    });
  });

  test('can be sent as a test', () => {
    expect(writeAlertEmail('test', told)).toEqual({
      subject: '[Shop] Test of alerts',
      body: 'This is a test. Alerts of this workspace come to this address.\nConsole: https://push.example/console/w/SHOP/alerts',
    });
  });

  test('links to its page of the documentation if the origin is known', () => {
    expect(runbookOf('node', consoleUrl)).toBe('https://push.example/docs/runbooks/carillonnosendingnode/');
    expect(runbookOf('node', undefined)).toBeNull();
  });
});
