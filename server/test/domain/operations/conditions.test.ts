import { describe, expect, test } from 'vitest';
import { nameProviders } from '../../../src/domain/delivery/providers.ts';
import { findIssues, verdictOf } from '../../../src/domain/operations/conditions.ts';
import type { InstallationFacts, OverviewFacts, WorkspaceFacts } from '../../../src/domain/operations/conditions.ts';
import { judgeConnectionBudget } from '../../../src/domain/operations/connection-budget.ts';
import { isRefusal, judgeAnswers, pausedBy } from '../../../src/domain/operations/provider-issues.ts';
import type { ProviderAnswers } from '../../../src/domain/operations/provider-issues.ts';
import { judgeBackup, judgeCertificates } from '../../../src/domain/operations/upkeep.ts';
import type { UpkeepFacts } from '../../../src/domain/operations/upkeep.ts';

type Facts = InstallationFacts & WorkspaceFacts & OverviewFacts;

const at = new Date('2026-03-01T12:00:00Z');
const fcm = { provider: 'fcm', name: 'FCM (Android)', isConnected: true, check: null, silent: null } as const;

describe('judge overview', () => {
  const well: Facts = {
    troubles: [],
    sendingNodes: 1,
    providers: [fcm],
    paused: [],
    failedRuns: [],
    uncountedRuns: [],
    oldestWaitingAt: new Date(at.getTime() - 60_000),
    accepted: 1000,
    failures: [],
    answers: [],
    failingJobs: [],
    limits: [{ name: 'Push requests', used: 10, most: 100 }],
    tooManyConnections: undefined,
    isEmbeddedWithoutChecksums: false,
    endingKeys: [],
    upkeep: {
      realAt: at,
      backup: { madeAt: at, installedAt: at, schedule: { everyHours: 24, lookedAt: at } },
      certificates: [],
    },
  };
  const pause = { provider: null, waits: 'all', runs: 3, campaignId: 'c' } as const;
  const failure = {
    platform: 'ANDROID',
    outcome: 'REJECTED',
    code: 'INVALID_ARGUMENT',
    advice: 'Look at it.',
  } as const;

  test('summarizes a good state in three words', () => {
    expect(verdict({})).toEqual({ level: 'well', headline: 'All is well', findings: [] });
  });

  test.each<[string, Partial<Facts>, ['trouble' | 'attention', string]]>([
    ['no node that sends', { sendingNodes: 0 }, ['trouble', 'nothing is sent']],
    ['a database that does not answer', { troubles: ['database'] }, ['trouble', 'not ready: database']],
    [
      'a send the provider paused',
      { paused: [{ ...pause, platform: 'ANDROID', reason: 'SENDER: no' }] },
      ['trouble', 'FCM (Android) says: SENDER: no'],
    ],
    [
      'a credential whose devices wait while others are sent to',
      { paused: [{ ...pause, platform: 'ANDROID', provider: 'fcm', waits: 'some', reason: 'X: no (app shop)' }] },
      ['trouble', '3 sends are paused for some devices. FCM (Android) says: X: no (app shop)'],
    ],
    [
      'a credential that was refused',
      {
        providers: [
          { ...fcm, check: { verdict: 'REFUSED', words: 'invalid_grant', at: new Date(at.getTime() - 3_600_000) } },
        ],
      },
      ['trouble', 'when it was last checked, 60 minutes ago: invalid_grant'],
    ],
    [
      'a provider that asked for silence',
      { providers: [{ ...fcm, silent: { until: at, reason: 'QUOTA_EXCEEDED' } }] },
      ['attention', 'QUOTA_EXCEEDED'],
    ],
    [
      'an embedded database without page checksums',
      { isEmbeddedWithoutChecksums: true },
      ['attention', 'no page checksums'],
    ],
    ['no provider at all', { providers: [{ ...fcm, isConnected: false }] }, ['attention', 'No provider is connected']],
    [
      'a moment that was missed',
      { failedRuns: [{ campaignId: 'c', campaignName: 'Spring', status: 'MISSED', reason: '61 minutes late' }] },
      ['attention', 'Spring missed an occurrence'],
    ],
    [
      'a run whose audience cannot be counted',
      { uncountedRuns: [{ campaignId: 'c', campaignName: 'Spring' }] },
      ['attention', 'Spring is not sent to everybody: its audience cannot be counted'],
    ],
    ['work that nobody takes', { oldestWaitingAt: new Date(at.getTime() - 300_000) }, ['attention', 'for 5 minutes']],
    [
      'a job that fails',
      { failingJobs: [{ name: 'erase-people', fault: '57014' }] },
      ['attention', 'erase-people is failing: 57014'],
    ],
    [
      'a limit nearly used up',
      { limits: [{ name: 'Active segments', used: 900, most: 1000 }] },
      ['attention', '900 of 1,000'],
    ],
    [
      'a backup that is late',
      { upkeep: { ...well.upkeep, realAt: new Date(at.getTime() + 37 * 3_600_000) } },
      ['attention', 'The newest backup is 37 hours old'],
    ],
    [
      'a certificate that ends soon',
      { upkeep: { ...well.upkeep, certificates: [{ host: 'api-1', endsAt: new Date(at.getTime() + 86_400_000) }] } },
      ['attention', 'The certificate of api-1 expires on 2026-03-02, in 1 day.'],
    ],
    [
      'a certificate that has ended',
      { upkeep: { ...well.upkeep, certificates: [{ host: 'api-1', endsAt: at }] } },
      ['trouble', 'The certificate of api-1 expired'],
    ],
    [
      'a key that ends though it is used',
      { endingKeys: [{ name: 'Nightly', endsAt: new Date(at.getTime() + 86_400_000), lastUsedAt: at }] },
      ['attention', 'The API key Nightly is still used and expires on 2026-03-02.'],
    ],
    ['more than 5 % failing', { failures: [{ ...failure, devices: 60 }] }, ['attention', '6 % of the messages']],
  ])('reports %s, with the remedy', (_name, facts, [level, words]) => {
    const { level: found, findings } = verdict(facts);
    expect(found).toBe(level);
    expect(findings).toHaveLength(1);
    expect(findings[0]!.what).toContain(words);
    expect(findings[0]!.todo).not.toBe('');
  });

  test.each<[string, Partial<Facts>]>([
    ['what a person paused', { paused: [{ ...pause, platform: null, reason: 'paused by Olga' }] }],
    ['devices that are gone', { failures: [{ ...failure, outcome: 'GONE', devices: 900 }] }],
    ['a few failures', { accepted: 10, failures: [{ ...failure, devices: 19 }] }],
    ['less than 5 % failing', { failures: [{ ...failure, devices: 50 }] }],
  ])('does not report %s', (_name, facts) => {
    expect(verdict(facts).level).toBe('well');
  });

  test('lists what blocks delivery first, and counts it in the headline', () => {
    const { headline, findings } = verdict({
      limits: [{ name: 'Active segments', used: 1000, most: 1000 }],
      sendingNodes: 0,
      troubles: ['database'],
    });
    expect(headline).toBe('2 problems are blocking delivery');
    expect(findings.map(({ level }) => level)).toEqual(['trouble', 'trouble', 'attention']);
  });

  function verdict(changed: Partial<Facts>) {
    const facts = { ...well, ...changed };
    return verdictOf(findIssues({ at, installation: facts, workspace: facts, overview: facts }));
  }
});

describe('findings', () => {
  const ago = (minutes: number) => new Date(at.getTime() - minutes * 60_000);
  const apns = { provider: 'apns', name: 'APNs', isConnected: false, check: null, silent: null } as const;
  const well: Facts = {
    ...{
      troubles: [],
      sendingNodes: 1,
      providers: [apns, fcm],
      paused: [],
      failedRuns: [],
      uncountedRuns: [],
      oldestWaitingAt: null,
    },
    ...{ accepted: 0, failures: [], answers: [], failingJobs: [], limits: [], tooManyConnections: undefined },
    isEmbeddedWithoutChecksums: false,
    endingKeys: [],
    upkeep: { realAt: at, backup: { madeAt: null, installedAt: null, schedule: null }, certificates: [] },
  };
  const findingsOf = (changed: Partial<Facts>) => verdict(changed).findings;

  describe('a finding', () => {
    test('reports a server that is not ready, a failing job, and work that no node claims', () => {
      const place = { screen: 'system' };
      expect(findingsOf({ troubles: ['database'] })).toEqual([
        {
          ...{ level: 'trouble', what: 'The server is not ready: database.', place },
          todo: 'Check its log and the system page.',
        },
      ]);
      expect(findingsOf({ sendingNodes: 0, oldestWaitingAt: ago(60) })).toEqual([
        {
          ...{ level: 'trouble', todo: 'Start a node with the role "all" or "worker".', place },
          what: 'No sending node has reported itself in the last 30 seconds, so nothing is sent.',
        },
      ]);
      expect(findingsOf({ oldestWaitingAt: ago(5) })).toEqual([
        {
          ...{ level: 'attention', what: 'Messages have been waiting for a worker for 5 minutes.', place },
          todo: 'Check what the nodes are doing. More nodes share the work.',
        },
      ]);
      expect(findingsOf({ failingJobs: [{ name: 'erase-users', fault: '57014' }] })).toEqual([
        {
          ...{ level: 'attention', what: 'The server job erase-users is failing: 57014.', place },
          todo: 'It is retried automatically. The log of the server says why it fails.',
        },
      ]);
    });

    test('reports late work after two minutes', () => {
      expect(findingsOf({ oldestWaitingAt: ago(2) })).toEqual([]);
      expect(findingsOf({ oldestWaitingAt: new Date(ago(2).getTime() - 1) })).toHaveLength(1);
    });

    test('reports a provider that rejected its credential, and one that is not used', () => {
      const place = { screen: 'providers' };
      const check = { verdict: 'REFUSED', words: 'invalid_grant', at: ago(1) } as const;
      expect(findingsOf({ providers: [{ ...fcm, check, silent: { until: at, reason: 'QUOTA_EXCEEDED' } }] })).toEqual([
        {
          ...{ level: 'trouble', place },
          what: 'FCM (Android) rejected its credential when it was last checked, 1 minute ago: invalid_grant',
          todo: 'Replace the credential, or fix its account at the provider, and check again.',
        },
        {
          ...{
            level: 'attention',
            what: 'Sending through FCM (Android) is paused for a while: QUOTA_EXCEEDED.',
            place,
          },
          todo: 'It is retried automatically. Messages wait until they expire.',
        },
      ]);
      expect(findingsOf({ providers: [fcm, { ...apns, check, silent: { until: at, reason: 'X' } }] })).toEqual([]);
      for (const verdict of ['ACCEPTED', 'UNKNOWN'] as const)
        expect(findingsOf({ providers: [{ ...fcm, check: { ...check, verdict } }] })).toEqual([]);
    });

    test.each([
      [-1, '0 minutes'],
      [0, '0 minutes'],
      [1, '1 minute'],
      [119, '119 minutes'],
      [120, '2 hours'],
      [47 * 60, '47 hours'],
      [48 * 60, '2 days'],
      [60 * 60, '3 days'],
    ])('formats %s minutes ago as %s', (minutes, words) => {
      const check = { verdict: 'REFUSED', words: 'x', at: ago(minutes) } as const;
      expect(findingsOf({ providers: [{ ...fcm, check }] })[0]!.what).toContain(`last checked, ${words} ago: x`);
    });

    test('reports that there is no provider', () => {
      expect(findingsOf({ providers: [apns] })).toEqual([
        {
          ...{ level: 'attention', what: 'No provider is connected, so no message can be sent.' },
          ...{ todo: `Connect ${nameProviders()}.`, place: { screen: 'providers' } },
        },
      ]);
    });

    test('reports runs that failed or missed their time', () => {
      const run = { campaignId: 'c', campaignName: 'Spring' };
      const todo = 'Its report shows which users it reached. Duplicate it to send again.';
      const place = { screen: 'campaign', campaignId: 'c' };
      expect(
        findingsOf({
          failedRuns: [
            { ...run, status: 'MISSED', reason: '61 minutes late' },
            { ...run, status: 'FAILED', reason: 'the segment could not be filled' },
          ],
        }),
      ).toEqual([
        { level: 'attention', what: 'Spring missed an occurrence: 61 minutes late.', todo, place },
        { level: 'attention', what: 'Spring failed: the segment could not be filled.', todo, place },
      ]);
    });

    test.each([
      ['Active segments', 'segments'],
      ['Push requests', 'log'],
      ['Requests of Active segments', 'log'],
    ])('reports the limit of %s, from nine tenths of it', (name, screen) => {
      expect(findingsOf({ limits: [{ name, used: 899, most: 1_000 }] })).toEqual([]);
      expect(findingsOf({ limits: [{ name, used: 1_900, most: 2_000 }] })).toEqual([
        {
          ...{ level: 'attention', what: `${name}: 1,900 of 2,000 are used.`, place: { screen } },
          todo: 'Requests beyond the limit are rejected until usage falls.',
        },
      ]);
      expect(findingsOf({ limits: [{ name, used: 900, most: 1_000 }] })).toHaveLength(1);
    });
  });

  describe('a run that a provider paused', () => {
    const pause = { platform: 'ANDROID', provider: null, waits: 'all', runs: 1, campaignId: 'c' } as const;

    test.each<[Partial<Facts['paused'][0]>, string]>([
      [{}, 'A send is paused. FCM (Android) says: UNREGISTERED: no'],
      [{ runs: 3 }, '3 sends are paused. FCM (Android) says: UNREGISTERED: no'],
      [{ waits: 'some' }, 'A send is paused for some devices. FCM (Android) says: UNREGISTERED: no'],
      [{ waits: 'some', runs: 3 }, '3 sends are paused for some devices. FCM (Android) says: UNREGISTERED: no'],
      [{ platform: null, provider: 'apns', reason: 'X' }, 'A send is paused. APNs says: X'],
      // Nobody is connected there any more.
      [{ platform: 'WEB', reason: 'VapidPkHashMismatch: no' }, 'A send is paused. WEB says: VapidPkHashMismatch: no'],
    ])('is described for %j', (change, what) => {
      expect(findingsOf({ paused: [{ ...pause, reason: 'UNREGISTERED: no', ...change }] })).toEqual([
        {
          ...{ level: 'trouble', what, place: { screen: 'campaign', campaignId: 'c' } },
          todo: 'Connect a credential that the provider accepts, or fix its account and check the credential. Sending then resumes.',
        },
      ]);
    });

    test('names the provider, else the one that the reason starts with', () => {
      expect(pausedBy({ platform: 'IOS', provider: 'apns', reason: 'UNREGISTERED: no' })).toBe('apns');
      expect(pausedBy({ platform: 'IOS', provider: null, reason: 'UNREGISTERED: no' })).toBe('fcm');
      expect(pausedBy({ platform: 'IOS', provider: null, reason: 'BadTopic: not UNREGISTERED' })).toBe('apns');
      expect(pausedBy({ platform: null, provider: null, reason: 'paused by Olga' })).toBeNull();
    });
  });

  describe('failed messages of the last hour', () => {
    const failure = { platform: 'ANDROID', outcome: 'REJECTED', code: 'INVALID', advice: 'Look at it.' } as const;

    test('are reported with the most frequent code from twenty and 5 % on', () => {
      const failures = [
        { ...failure, outcome: 'GONE', code: 'UNREGISTERED', devices: 5_000 },
        { ...failure, devices: 1_200 },
        { ...failure, code: 'OTHER', devices: 300 },
      ];
      expect(findingsOf({ accepted: 3_500, failures })).toEqual([
        {
          ...{ level: 'attention', todo: 'Look at it.' },
          what: '30 % of the messages of the last hour failed, most (1,200) with INVALID.',
          place: { screen: 'deliveries', platform: 'ANDROID', outcome: 'REJECTED', code: 'INVALID' },
        },
      ]);
    });

    test.each([
      [19, 0, 0],
      [20, 0, 1],
      [20, 380, 0],
      [20, 379, 1],
    ])('with %s failed and %s accepted make %s findings', (devices, accepted, findings) => {
      expect(findingsOf({ accepted, failures: [{ ...failure, devices }] })).toHaveLength(findings);
    });
  });

  describe('the verdict', () => {
    const trouble = { troubles: ['database'] };
    const limit = { name: 'Push requests', used: 10, most: 10 };
    const tooManyConnections = { level: 'attention', what: 'w', todo: 't', place: { screen: 'system' } } as const;

    test.each<[Partial<Facts>, string]>([
      [{}, 'All is well'],
      [{ limits: [limit] }, '1 problem needs attention'],
      [{ limits: [limit, limit] }, '2 problems need attention'],
      [trouble, '1 problem is blocking delivery'],
      [{ troubles: ['a', 'b'], limits: [limit] }, '2 problems are blocking delivery'],
      [{ tooManyConnections }, '1 problem needs attention'],
    ])('for %j is: %s', (facts, headline) => {
      expect(verdict(facts).headline).toBe(headline);
    });

    test('names what blocks delivery first, each kind in its order', () => {
      const run = { campaignId: 'c', campaignName: 'Spring', status: 'FAILED', reason: 'x' } as const;
      const answers: ProviderAnswers[] = [
        { platform: 'ANDROID', name: 'FCM', accepted: 0, waiting: [{ code: '503', devices: 1 }], failures: [] },
      ];
      const job = { name: 'erase-users', fault: 'x' };
      const all = findingsOf({ ...trouble, answers, failedRuns: [run], failingJobs: [job], tooManyConnections });
      expect(all.map(({ level, what }) => `${level}: ${what.split(' ', 2).join(' ')}`)).toEqual([
        ...['trouble: The server', 'trouble: FCM is'],
        ...['attention: The server', 'attention: Spring failed:', 'attention: w'],
      ]);
      expect(all.at(-1)).toEqual(tooManyConnections);
    });
  });

  describe('the answers of a provider', () => {
    const none: ProviderAnswers = { platform: 'ANDROID', name: 'FCM', accepted: 0, waiting: [], failures: [] };
    const judge = (answers: Partial<ProviderAnswers>) => judgeAnswers({ ...none, ...answers });

    test('report waiting messages with the most frequent cause', () => {
      const waiting = [
        { code: 'QUIET_HOURS', devices: 900 },
        { code: 'TIMEOUT', devices: 1 },
        { code: '503', devices: 3 },
      ];
      expect(judge({ waiting })).toEqual([
        {
          ...{
            level: 'trouble',
            place: { screen: 'deliveries', platform: 'ANDROID', outcome: 'WAITING', code: '503' },
          },
          alert: { subject: 'FCM' },
          what: 'FCM is accepting no messages: 4 messages are waiting for a retry, FCM responded with 503.',
          todo: 'They are retried automatically until they expire. Check whether the provider reports an outage, and whether this machine can reach it.',
        },
      ]);
    });

    test.each([
      [20, 100, 1],
      [19, 100, 0],
      [20, 380, 0],
      [20, 379, 1],
      [20, 10_000, 0],
    ])('make with %s waiting and %s accepted %s findings', (devices, accepted, findings) => {
      expect(judge({ accepted, waiting: [{ code: '503', devices }] })).toHaveLength(findings);
    });

    test('report rejections with the first of them and its advice', () => {
      const rejected = { outcome: 'REJECTED', code: 'INVALID', devices: 1_500, advice: 'Look at it.' };
      const withheld = { outcome: 'WITHHELD', code: 'FREQUENCY_CAP', devices: 9, advice: 'No.' };
      expect(judge({ failures: [withheld, rejected] })).toEqual([
        {
          ...{ level: 'trouble', todo: 'Look at it.', alert: { subject: 'FCM' } },
          what: 'FCM accepted none of the last 1,500 messages. Most of them failed with INVALID.',
          place: { screen: 'deliveries', platform: 'ANDROID', outcome: 'REJECTED', code: 'INVALID' },
        },
      ]);
      expect(['GONE', 'WITHHELD', 'REJECTED', 'EXPIRED'].filter((outcome) => isRefusal({ outcome }))).toEqual([
        ...['REJECTED', 'EXPIRED'],
      ]);
    });
  });

  test('allows one node as many connections as exist; with equal limits the server’s is named', () => {
    const limit = { maxConnections: 103, reserved: 3, ofRole: 100, ofDatabase: null };
    const judge = (connections: number) => judgeConnectionBudget({ nodes: [{ connections }], limit });
    expect(judge(100)).toEqual({ nodes: 1, mayOpen: 100, available: 100, finding: undefined });
    expect(judge(101).finding!.what).toBe(
      'The node may open 101 connections to the database, which has 100 for them (max_connections 103, 3 of them reserved).',
    );
  });

  function verdict(changed: Partial<Facts>) {
    const facts = { ...well, ...changed };
    return verdictOf(findIssues({ at, installation: facts, workspace: facts, overview: facts }));
  }
});

describe('judge upkeep', () => {
  const place = { screen: 'system' };
  const realAt = new Date('2026-03-01T12:00:00Z');
  const hour = 3_600_000;
  const day = 24 * hour;
  const ago = (milliseconds: number): Date => new Date(realAt.getTime() - milliseconds);
  const schedule = { everyHours: 24, lookedAt: ago(60_000) };
  const well: UpkeepFacts = {
    realAt,
    backup: { madeAt: ago(30 * hour), installedAt: ago(400 * day), schedule },
    certificates: [{ host: 'a', endsAt: ago(-30 * day) }],
  };

  test.each<[string, Partial<UpkeepFacts['backup']>]>([
    ['one that is due, within half of its interval', { madeAt: ago(36 * hour) }],
    ['an installation of a day without one', { madeAt: null, installedAt: ago(day) }],
    ['an old one, where nodes make none by themselves', { madeAt: ago(90 * day), schedule: null }],
    [
      'an old one, where no node was at it for a week',
      { madeAt: ago(90 * day), schedule: { everyHours: 24, lookedAt: ago(7 * day + 1) } },
    ],
    ['a database that was never started', { madeAt: null, installedAt: null }],
  ])('does not report backups: %s', (_name, backup) => {
    expect(judgeBackup({ ...well, backup: { ...well.backup, ...backup } })).toEqual([]);
  });

  test.each<[string, Partial<UpkeepFacts['backup']>, string]>([
    [
      'one of more than one and a half intervals',
      { madeAt: ago(36 * hour + 1) },
      'The newest backup is 36 hours old; one is due every 24 hours.',
    ],
    [
      'one of another interval',
      { madeAt: ago(2 * hour), schedule: { ...schedule, everyHours: 1 } },
      'The newest backup is 2 hours old; one is due every 1 hour.',
    ],
    [
      'an installation without one',
      { madeAt: null, installedAt: ago(1000 * hour) },
      'There is no backup yet, 1,000 hours after the installation; one is due every 24 hours.',
    ],
    [
      'one whose node is gone for days',
      { madeAt: ago(6 * day), schedule: { ...schedule, lookedAt: ago(6 * day) } },
      'The newest backup is 144 hours old; one is due every 24 hours.',
    ],
  ])('reports a late backup: %s', (_name, backup, what) => {
    expect(judgeBackup({ ...well, backup: { ...well.backup, ...backup } })).toEqual([
      {
        level: 'attention',
        place,
        alert: { subject: 'backups' },
        what,
        todo: expect.stringContaining('carillon backup --out'),
      },
    ]);
  });

  test('reports certificates that expire within two weeks once per expiry, the next first, with all their hosts', () => {
    const soon = ago(-14 * day + 1);
    const certificates = [
      { host: 'b', endsAt: soon },
      { host: 'c', endsAt: ago(-23 * hour) },
      { host: 'a', endsAt: soon },
      { host: 'a', endsAt: soon },
      { host: 'd', endsAt: ago(-14 * day) },
      { host: 'e', endsAt: realAt },
    ];
    expect(judgeCertificates({ ...well, certificates }).map(({ todo: _todo, ...finding }) => finding)).toEqual([
      {
        level: 'trouble',
        place,
        alert: { subject: 'certificate until 2026-03-01' },
        what: 'The certificate of e expired on 2026-03-01, so callers and browsers reject it.',
      },
      {
        level: 'attention',
        place,
        alert: { subject: 'certificate until 2026-03-02' },
        what: 'The certificate of c expires on 2026-03-02, within a day.',
      },
      {
        level: 'attention',
        place,
        alert: { subject: 'certificate until 2026-03-15' },
        what: 'The certificate of a, b expires on 2026-03-15, in 13 days.',
      },
    ]);
    expect(judgeCertificates({ ...well, certificates })[0]!.todo).toContain('CARILLON_TLS_CERT');
  });

  test.each([
    ['used yesterday, ends in a week', { endsAt: ago(-7 * day), lastUsedAt: ago(day) }, 1],
    ['ends later', { endsAt: ago(-7 * day - 1), lastUsedAt: ago(0) }, 0],
    ['used before yesterday', { endsAt: ago(-day), lastUsedAt: ago(day + 1) }, 0],
    ['never used', { endsAt: ago(-day), lastUsedAt: null }, 0],
  ])('reports a key that is %s: %s', (_name, key, found) => {
    const workspace = { providers: [], paused: [], answers: [], endingKeys: [{ name: 'Nightly', ...key }] };
    const issues = findIssues({ at: realAt, workspace });
    expect(issues.filter(({ kind }) => kind === 'credential')).toHaveLength(found);
  });
});

describe('judge connection budget', () => {
  const limit = { maxConnections: 100, reserved: 3, ofRole: null, ofDatabase: null };
  const nodes = (count: number) => Array.from({ length: count }, () => ({ connections: 24 }));

  test('reports a finding for one node more than the database has connections for', () => {
    expect(judgeConnectionBudget({ nodes: nodes(4), limit })).toEqual({ nodes: 4, mayOpen: 96, available: 97 });
    expect(judgeConnectionBudget({ nodes: nodes(5), limit }).finding).toEqual({
      level: 'attention',
      what: 'The 5 nodes may open 120 connections to the database, which has 97 for them (max_connections 100, 3 of them reserved).',
      todo: 'Lower CARILLON_DATABASE_CONNECTIONS, raise max_connections to at least 123, or put a pooler in between.',
      place: { screen: 'system' },
    });
  });

  test.each([
    ['role', { ofRole: 40, ofDatabase: 50 }, 40],
    ['database', { ofRole: 40, ofDatabase: 30 }, 30],
  ])('applies the smallest limit, that of the %s, and names it as the one to raise', (what, given, available) => {
    const budget = judgeConnectionBudget({ nodes: nodes(2), limit: { ...limit, ...given } });
    expect(budget.available).toBe(available);
    expect(budget.finding?.what).toContain(`which has ${available} for them (the connection limit of the ${what})`);
    expect(budget.finding?.todo).toContain(`raise the connection limit of the ${what} to at least 48`);
  });
});
