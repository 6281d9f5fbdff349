import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { reportDigest, selectNewReports } from '../../../src/domain/events/interactions.ts';
import type { CountedReports } from '../../../src/domain/events/interactions.ts';

type Report = Omit<CountedReports, 'digests'> & { variation: number; locale: string; digest: Buffer };

const message: Omit<CountedReports, 'digests'> = {
  ...{ workspaceId: 'w', bucket: 7, campaignId: 'c', deviceId: 'd', runId: 'r' },
  ...{ kind: 'CLICK', platform: 'WEB' },
};
const report = (name: string, more: Partial<Report> = {}): Report => ({
  ...{ ...message, variation: 0, locale: '', digest: Buffer.from(name), ...more },
});
const counted = (names: string[], more: Partial<CountedReports> = {}): CountedReports => ({
  ...{ ...message, digests: names.map((name) => Buffer.from(name)), ...more },
});
const select = (reports: Report[], { before = [] as CountedReports[], most = 100 } = {}) =>
  selectNewReports({ reports, counted: before, most });

const figure = {
  workspaceId: 'w',
  bucket: 7,
  campaignId: 'c',
  platform: 'WEB',
  kind: 'CLICK',
  variation: 0,
  locale: '',
};
const { campaignId: _campaignId, ...ofRun } = { ...figure, runId: 'r' };

describe('a report counts', () => {
  test('once, in the figures of its campaign and of its run', () => {
    const one = report('a');
    expect(select([one, report('a')])).toEqual({
      ...{ fresh: [one], firsts: [one] },
      gains: [{ ...figure, reports: 1, devices: 1, messages: 1 }],
      runGains: [{ ...ofRun, reports: 1, messages: 1 }],
    });
  });

  test('again under another name, for the same message', () => {
    const [one, other] = [report('a'), report('b')];
    expect(select([one, other])).toEqual({
      ...{ fresh: [one, other], firsts: [one] },
      gains: [{ ...figure, reports: 2, devices: 1, messages: 1 }],
      runGains: [{ ...ofRun, reports: 2, messages: 1 }],
    });
  });

  test('not if it was counted before', () => {
    expect(select([report('a')], { before: [counted(['x', 'a'])] })).toEqual({
      ...{ fresh: [], firsts: [], gains: [], runGains: [] },
    });
    const other = report('b');
    expect(select([other], { before: [counted(['a'])] })).toEqual({
      ...{ fresh: [other], firsts: [] },
      gains: [{ ...figure, reports: 1, devices: 0, messages: 0 }],
      runGains: [{ ...ofRun, reports: 1, messages: 0 }],
    });
  });

  test('as the first of its message in another run, even for a known device', () => {
    const other = report('a', { runId: 'r2' });
    expect(select([other], { before: [counted(['a'])] })).toEqual({
      ...{ fresh: [other], firsts: [other] },
      gains: [{ ...figure, reports: 1, devices: 0, messages: 1 }],
      runGains: [{ ...ofRun, runId: 'r2', reports: 1, messages: 1 }],
    });
  });

  test('up to a limit per device, run and kind', () => {
    const names = ['a', 'b', 'c', 'd'];
    const reports = names.map((name) => report(name));
    expect(select(reports, { most: 3 }).fresh).toEqual(reports.slice(0, 3));
    expect(select(reports, { most: 3, before: [counted(['x', 'y'])] }).fresh).toEqual(reports.slice(0, 1));
    expect(select(reports, { most: 3, before: [counted(['x', 'y', 'z'])] }).gains).toEqual([]);
  });
});

describe('the identity of reports', () => {
  test.each<[string, Partial<Report>]>([
    ['by their workspace', { workspaceId: 'w2' }],
    ['by their bucket', { bucket: 8 }],
    ['by their campaign', { campaignId: 'c2' }],
    ['by their device', { deviceId: 'd2' }],
    ['by their kind', { kind: 'IMPRESSION' }],
  ])('differs %s, so each is the first of its message and device', (_what, more) => {
    const reports = [report('a'), report('a', more)];
    const { fresh, firsts, gains } = select(reports);
    expect([fresh, firsts]).toEqual([reports, reports]);
    expect(gains.reduce((sum, { devices }) => sum + devices, 0)).toBe(2);
    expect(gains.reduce((sum, { messages }) => sum + messages, 0)).toBe(2);
    expect(gains).toHaveLength('deviceId' in more ? 1 : 2);
  });

  test('differs even if their concatenated names are equal', () => {
    const reports = [report('a', { bucket: 1, campaignId: '1c' }), report('a', { bucket: 11, campaignId: 'c' })];
    const { fresh, firsts, gains, runGains } = select(reports);
    expect([fresh, firsts]).toEqual([reports, reports]);
    expect(gains.map(({ bucket, devices }) => [bucket, devices])).toEqual([
      [1, 1],
      [11, 1],
    ]);
    expect(runGains).toHaveLength(2);
    const runs = [report('a', { runId: 'r', bucket: 17 }), report('a', { runId: 'r1', bucket: 7 })];
    expect(select(runs).runGains.map(({ runId, bucket }) => [runId, bucket])).toEqual([
      ['r', 17],
      ['r1', 7],
    ]);
  });

  test('includes platform and content: separate figures', () => {
    const reports = [
      report('a'),
      ...([{ platform: 'IOS' }, { variation: 2 }, { locale: 'de' }] as const).map((more, place) =>
        report(`${place}`, { runId: `r${place}`, ...more }),
      ),
    ];
    const { gains, runGains } = select(reports);
    expect(gains).toEqual([
      { ...figure, reports: 1, devices: 1, messages: 1 },
      { ...figure, platform: 'IOS', reports: 1, devices: 1, messages: 1 },
      { ...figure, variation: 2, reports: 1, devices: 0, messages: 1 },
      { ...figure, locale: 'de', reports: 1, devices: 0, messages: 1 },
    ]);
    expect(runGains.map(({ runId, platform, variation, locale }) => [runId, platform, variation, locale])).toEqual([
      ['r', 'WEB', 0, ''],
      ['r0', 'IOS', 0, ''],
      ['r1', 'WEB', 2, ''],
      ['r2', 'WEB', 0, 'de'],
    ]);
  });

  test('includes the run: figures of the run', () => {
    const { gains, runGains } = select([report('a'), report('a', { runId: 'r2' }), report('b')]);
    expect(gains).toEqual([{ ...figure, reports: 3, devices: 1, messages: 2 }]);
    expect(runGains).toEqual([
      { ...ofRun, reports: 2, messages: 1 },
      { ...ofRun, runId: 'r2', reports: 1, messages: 1 },
    ]);
  });
});

test('recognizes a repeated report by its name; reports without one are equal', () => {
  const digest = (text: string) => createHash('sha256').update(text).digest().subarray(0, 12);
  expect(reportDigest('a')).toEqual(digest('a'));
  expect(reportDigest(undefined)).toEqual(digest(''));
  expect(reportDigest('')).toEqual(reportDigest(undefined));
});
