import { expect, test } from 'vitest';
import { findIssues } from '../../src/domain/operations/conditions.ts';
import { judgeBackup, judgeCertificates } from '../../src/domain/operations/upkeep.ts';
import type { UpkeepFacts } from '../../src/domain/operations/upkeep.ts';

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
      what: 'The certificate of e ended on 2026-03-01: callers and browsers refuse it.',
    },
    {
      level: 'attention',
      place,
      alert: { subject: 'certificate until 2026-03-02' },
      what: 'The certificate of c ends on 2026-03-02, within a day.',
    },
    {
      level: 'attention',
      place,
      alert: { subject: 'certificate until 2026-03-15' },
      what: 'The certificate of a, b ends on 2026-03-15, in 13 days.',
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
