import { expect, test } from 'vitest';
import { findIssues, verdictOf } from '../../src/domain/operations/conditions.ts';
import type { InstallationFacts, OverviewFacts, WorkspaceFacts } from '../../src/domain/operations/conditions.ts';

type Facts = InstallationFacts & WorkspaceFacts & OverviewFacts;

const at = new Date('2026-03-01T12:00:00Z');
const fcm = { provider: 'fcm', name: 'FCM (Android)', isConnected: true, check: null, silent: null } as const;
const well: Facts = {
  troubles: [],
  sendingNodes: 1,
  providers: [fcm],
  paused: [],
  failedRuns: [],
  oldestWaitingAt: new Date(at.getTime() - 60_000),
  accepted: 1000,
  failures: [],
  answers: [],
  failingJobs: [],
  limits: [{ name: 'Push requests', used: 10, most: 100 }],
  tooManyConnections: undefined,
  endingKeys: [],
  upkeep: {
    realAt: at,
    backup: { madeAt: at, installedAt: at, schedule: { everyHours: 24, lookedAt: at } },
    certificates: [],
  },
};
const pause = { provider: null, waits: 'all', runs: 3, campaignId: 'c' } as const;
const failure = { platform: 'ANDROID', outcome: 'REJECTED', code: 'INVALID_ARGUMENT', advice: 'Look at it.' } as const;

function verdict(changed: Partial<Facts>) {
  const facts = { ...well, ...changed };
  return verdictOf(findIssues({ at, installation: facts, workspace: facts, overview: facts }));
}

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
    ['trouble', 'Devices of 3 sends wait, the others are sent to. FCM (Android) says: X: no (app shop)'],
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
  ['no provider at all', { providers: [{ ...fcm, isConnected: false }] }, ['attention', 'No provider is connected']],
  [
    'a moment that was missed',
    { failedRuns: [{ campaignId: 'c', campaignName: 'Spring', status: 'MISSED', reason: '61 minutes late' }] },
    ['attention', 'Spring missed a moment'],
  ],
  ['work that nobody takes', { oldestWaitingAt: new Date(at.getTime() - 300_000) }, ['attention', 'since 5 minutes']],
  [
    'a job that fails',
    { failingJobs: [{ name: 'erase-people', fault: '57014' }] },
    ['attention', 'erase-people (57014)'],
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
    ['attention', 'The certificate of api-1 ends on 2026-03-02, in 1 day.'],
  ],
  [
    'a certificate that has ended',
    { upkeep: { ...well.upkeep, certificates: [{ host: 'api-1', endsAt: at }] } },
    ['trouble', 'The certificate of api-1 ended'],
  ],
  [
    'a key that ends though it is used',
    { endingKeys: [{ name: 'Nightly', endsAt: new Date(at.getTime() + 86_400_000), lastUsedAt: at }] },
    ['attention', 'The API key Nightly is still used and ends on 2026-03-02.'],
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
  expect(headline).toBe('2 things keep messages from people');
  expect(findings.map(({ level }) => level)).toEqual(['trouble', 'trouble', 'attention']);
});
