import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { eventUuid, writeEventBatch } from '../../../src/domain/events/event-streams.ts';
import type { BatchFacts, BatchToWrite, StreamedEvent } from '../../../src/domain/events/event-streams.ts';
import {
  attributesFault,
  businessAttributes,
  isOffset,
  readEventPlatform,
  readEventTime,
} from '../../../src/domain/events/events.ts';
import type { BusinessAttributeType } from '../../../src/domain/events/events.ts';
import { reportDigest, selectNewReports } from '../../../src/domain/events/interactions.ts';
import type { CountedReports } from '../../../src/domain/events/interactions.ts';
import { liveSendUntil, tokenKindOf, writeLivePayload } from '../../../src/domain/events/live-activities.ts';
import { makeCampaignReader } from '../../../src/http/campaigns/campaign-reader.ts';
import { eventBatchRetrySeconds } from '../../../src/domain/limits/delivery.ts';

describe('an attribute of a business event (fact 6.3)', () => {
  test.each<[BusinessAttributeType, taken: unknown[], refused: unknown[]]>([
    ['string', ['', 'x'.repeat(4_096)], ['x'.repeat(4_097), 'a\0', '\ud800', 7, null]],
    ['int', [0, -7, 9_007_199_254_740_991], [0.5, 9_007_199_254_740_992, '7', null]],
    ['float', [0.5, -7], [Number.POSITIVE_INFINITY, Number.NaN, '0.5', true]],
    [
      'array',
      [[], ['a', 1, true], Array.from({ length: 1_000 }, () => 1)],
      [Array.from({ length: 1_001 }, () => 1), ['a', null], [[1]], [{}], ['a\0'], 'a', { length: 0 }],
    ],
    ['date', ['2026-03-01', '2026-03-01T12:00:00Z'], ['2026-02-30', 'today', 1_772_366_400, ['2026-03-01']]],
  ])('has the type %s', (type, taken, refused) => {
    const fault = (value: unknown) => attributesFault({ a: value }, [{ name: 'a', type }]);
    expect(taken.map(fault)).toEqual(taken.map(() => undefined));
    expect(refused.map(fault)).toEqual(refused.map(() => `a must be of type ${type}`));
  });

  test('may be missing, but must not be unknown', () => {
    const known = [
      { name: 'a', type: 'int' },
      { name: 'b', type: 'string' },
    ] as const;
    expect(attributesFault({}, known)).toBeUndefined();
    expect(attributesFault({ b: 'x' }, known)).toBeUndefined();
    expect(attributesFault({ a: 1, c: 2 }, known)).toBe('c is not an attribute of the event');
  });
});

describe('the attributes of a new business event', () => {
  const one = (name: unknown, type: unknown = 'int') => ({ attribute_name: name, attribute_data_type: type });
  const read = (sent: unknown) => {
    const reader = makeCampaignReader({ event_attributes: sent });
    return { value: businessAttributes.read(reader, 'event_attributes'), faults: reader.faults };
  };

  test('are parsed as they are sent, and may be missing', () => {
    const accepted = (value: unknown) => ({ value, faults: [] });
    const [a, b] = [
      { name: 'a', type: 'int' },
      { name: 'b', type: 'date' },
    ];
    expect(read([one('a'), one('b', 'date')])).toEqual(accepted([a, b]));
    expect([undefined, null, []].map(read)).toEqual([undefined, undefined, []].map(accepted));
    expect(read(Array.from({ length: 100 }, (_, index) => one(`a${index}`))).value).toHaveLength(100);
    expect(read([one('x'.repeat(256))]).value).toHaveLength(1);
  });

  const names = 'must hold objects with attribute_name, a text of 1 to 256 characters';
  const list = 'must be a list of at most 100 attributes';
  test.each<[unknown, string]>([
    [{}, list],
    ['a', list],
    [Array.from({ length: 101 }, (_, index) => one(`a${index}`)), list],
    [[null], names],
    [['a'], names],
    [[{}], names],
    [[one('')], names],
    [[one(7)], names],
    [[one('a\0')], names],
    [[one('x'.repeat(257))], names],
    [[one('a', 'number')], 'must have attribute_data_type string, int, float, array, date'],
    [[{ attribute_name: 'a' }], 'must have attribute_data_type string, int, float, array, date'],
    [[one('a'), one('b'), one('a', 'date')], 'names a twice'],
  ])('may not be %j', (sent, reason) => {
    expect(read(sent)).toEqual({ value: undefined, faults: [{ field: 'event_attributes', reason }] });
  });
});

describe('event fields', () => {
  test.each<[unknown, string | undefined]>([
    [0, '1970-01-01T00:00:00.000Z'],
    [1_772_366_400, '2026-03-01T12:00:00.000Z'],
    [1_772_366_400.25, '2026-03-01T12:00:00.250Z'],
    ['1772366400', '2026-03-01T12:00:00.000Z'],
    ['1772366400.5', '2026-03-01T12:00:00.500Z'],
    ['1772366400.123456789', '2026-03-01T12:00:00.123Z'],
    ['8640000000000', '+275760-09-13T00:00:00.000Z'],
    [8.64e12, '+275760-09-13T00:00:00.000Z'],
    [8.64e12 + 1, undefined],
    ['8640000000001', undefined],
    ['17723664000000', undefined],
    ['1772366400.1234567891', undefined],
    ['1772366400.', undefined],
    ['1772366400x', undefined],
    ['x1772366400', undefined],
    [-1, undefined],
    ['-1', undefined],
    [Number.NaN, undefined],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T13:00:00+01:00', '2026-03-01T12:00:00.000Z'],
    ['2026-02-30', undefined],
    ['', undefined],
    [null, undefined],
    [['1772366400'], undefined],
  ])('parses the time %j of an event as %s (fact 5)', (value, time) => {
    expect(readEventTime(value)?.toISOString()).toBe(time);
  });

  test('accepts only the documented platforms of events, in any case (fact 5, field B2)', () => {
    expect(['ANDROID', 'iOS', 'web', 'TV', 'unknown'].map(readEventPlatform)).toEqual([
      ...['ANDROID', 'IOS', 'WEB', 'TV', 'UNKNOWN'],
    ]);
    expect(['android', 'IOS', 'Web'].map(readEventPlatform)).toEqual(['ANDROID', 'IOS', 'WEB']);
    for (const other of ['andro', 'toString', '', 7, null, undefined, ['TV']])
      expect(readEventPlatform(other)).toBeUndefined();
  });

  test('accepts an offset from UTC as a whole number of seconds within 15 hours (fact 5)', () => {
    expect([0, 54_000, -54_000].map(isOffset)).toEqual([true, true, true]);
    expect([54_001, -54_001, 0.5, '0', null].map(isOffset)).toEqual([false, false, false, false, false]);
  });
});

type Written = { events: Record<string, unknown>[] } & Record<string, unknown>;

describe('event batch', () => {
  const device = {
    ...{ userId: 'u2', platform: 'ANDROID', device_id: 'd', app_id: null, model: 'M', app_version: '1' },
    ...{ os_version: '14', locale: null, push_id: 'token' },
  };
  const facts: BatchFacts = {
    campaignOfRun: new Map([['run', { id: 'c', name: 'Spring', type: 'ONE_TIME', channel: 'PUSH' }]]),
    users: new Map([
      ['u1', { customerId: 'ada', attributes: { plan: 'gold', none: null } }],
      ['u2', { customerId: 'olga', attributes: {} }],
    ]),
    devices: new Map([['d1', device]]),
  };
  const event: StreamedEvent = {
    ...{ kind: 'clicked', uuid: 'e1', runId: 'run', bucket: 7, userId: 'u1', deviceId: 'd1', platform: 'ANDROID' },
    at: '2026-03-01T12:00:00.900Z',
  };
  const batch: BatchToWrite = {
    ...{ id: 'b1', appName: 'Shop', userAttributes: [], deviceAttributes: [], events: [], abbreviation: 'Svc' },
  };
  const write = (change: Partial<BatchToWrite>) =>
    JSON.parse(writeEventBatch({ ...batch, ...change }, facts)) as Written;
  const written = (change: Partial<StreamedEvent>, more: Partial<BatchToWrite> = {}) =>
    write({ ...more, events: [{ ...event, ...change }] }).events[0]!;

  describe('a batch of events (fact 7)', () => {
    test('names its app, and contains each event with its campaign and user', () => {
      expect(write({ events: [event, event] })).toMatchObject({
        ...{ app_name: 'Shop', source: 'CARILLON', svc_request_id: 'b1', events: { length: 2 } },
      });
      expect(written({})).toEqual({
        ...{ event_name: 'NOTIFICATION_CLICKED_SVC', event_code: 'NOTIFICATION_CLICKED_SVC', event_uuid: 'e1' },
        ...{ event_time: 1_772_366_400, event_type: 'USER_ACTION_EVENT', event_source: 'CARILLON' },
        ...{ push_id: null, uid: 'ada', user_attributes: {}, device_attributes: {} },
        event_attributes: {
          ...{ campaign_id: 'c', campaign_name: 'Spring', campaign_type: 'ONE_TIME', campaign_channel: 'PUSH' },
          execution_id: 'run',
        },
      });
    });

    test.each<[StreamedEvent['kind'], StreamedEvent['platform'], string]>([
      ['delivered', 'ANDROID', 'NOTIFICATION_RECEIVED_SVC'],
      ['delivered', 'IOS', 'n_i_s'],
      ['delivered', 'WEB', 'NOTIFICATION_RECEIVED_WEB_SVC'],
      ['clicked', 'ANDROID', 'NOTIFICATION_CLICKED_SVC'],
      ['clicked', 'IOS', 'NOTIFICATION_CLICKED_IOS_SVC'],
      ['clicked', 'WEB', 'NOTIFICATION_CLICKED_WEB_SVC'],
      ['cleared', 'ANDROID', 'NOTIFICATION_CLEARED_SVC'],
      ['cleared', 'IOS', 'NOTIFICATION_CLEARED_IOS_SVC'],
      ['control_group', null, 'SVC_CAMPAIGN_CONTROL_GROUP'],
    ])('names %s on %s %s', (kind, platform, code) => {
      const byUser = kind === 'clicked' || kind === 'cleared';
      expect(written({ kind, platform })).toMatchObject({
        ...{ event_name: code, event_code: code, event_type: byUser ? 'USER_ACTION_EVENT' : 'CAMPAIGN_EVENT' },
      });
    });

    test('spells the installation’s abbreviation', () => {
      const own = write({ abbreviation: 'Acme', events: [event] });
      expect(own.acme_request_id).toBe('b1');
      expect(own.events[0]!.event_name).toBe('NOTIFICATION_CLICKED_ACME');
    });

    test('names the content if there were several', () => {
      const told = { variation: 'B', locale: 'de', action: 'track', controlGroup: 'CAMPAIGN_CONTROL_GROUP' } as const;
      expect(written(told).event_attributes).toMatchObject({
        ...{ variation: 'B', locale: 'de', action: 'track', control_group: 'CAMPAIGN_CONTROL_GROUP' },
      });
      expect(Object.keys(written({}).event_attributes as object)).toHaveLength(5);
    });

    test('contains the requested attributes, as far as they exist', () => {
      const asked = { userAttributes: ['plan', 'none', 'gone', 'toString'] };
      expect(written({}, asked).user_attributes).toEqual({ plan: 'gold', none: null });
      const names = ['model', 'locale', 'push_id', 'device_id'] as const;
      expect(written({}, { deviceAttributes: names })).toMatchObject({
        ...{ push_id: 'token', device_attributes: { model: 'M', device_id: 'd' } },
      });
      expect(written({}, { deviceAttributes: names }).device_attributes).not.toHaveProperty('push_id');
      expect(written({}, { deviceAttributes: ['model'] }).push_id).toBeNull();
    });

    test('names no erased user, and the user of the device if the event has none', () => {
      expect(written({ userId: null }).uid).toBe('olga');
      const erased = { userId: 'gone', deviceId: 'gone', runId: 'gone' };
      expect(written(erased, { userAttributes: ['plan'], deviceAttributes: ['push_id', 'model'] })).toMatchObject({
        ...{ uid: null, push_id: null, user_attributes: {}, device_attributes: {} },
        event_attributes: {
          ...{ campaign_id: null, campaign_name: null, campaign_type: null, campaign_channel: null },
          execution_id: 'gone',
        },
      });
      expect(written({ userId: null, deviceId: null }).uid).toBeNull();
    });
  });

  test('retries a rejected batch three times, after 30, 60 and 120 seconds (fact 7)', () => {
    expect([...eventBatchRetrySeconds]).toEqual([30, 60, 120]);
  });

  test('gives an event the same id everywhere, a UUID of version 8 derived from its content (RFC 9562 §5.8)', () => {
    const hex = createHash('sha256').update('["clicked","r","d"]').digest('hex');
    const uuid = eventUuid(['clicked', 'r', 'd']);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const plain = uuid.replaceAll('-', '');
    // Beside the six bits of version and variant, the first 128 of the digest.
    expect([0, 13, 17].map((place) => plain.slice(place, place === 0 ? 12 : place === 13 ? 16 : 32))).toEqual([
      ...[hex.slice(0, 12), hex.slice(13, 16), hex.slice(17, 32)],
    ]);
    const variant = Number.parseInt(hex[16]!, 16);
    expect(Number.parseInt(plain[16]!, 16)).toBe((variant % 4) + 8);
    expect(eventUuid(['clicked', 'rd'])).not.toBe(eventUuid(['clickedr', 'd']));
  });
});

type Report = Omit<CountedReports, 'digests'> & { variation: number; locale: string; digest: Buffer };

describe('new reports of interactions', () => {
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
});

describe('live event', () => {
  const contentState = { eta: 12 };

  test('sends Apple the members that the app’s types decode, and no unset ones', () => {
    expect(JSON.parse(writeLivePayload({ kind: 'update', contentState, priority: 5 }, 1_772_366_400))).toEqual({
      aps: { timestamp: 1_772_366_400, event: 'update', 'content-state': contentState },
    });
    const alert = { title: 'T', body: 'B' };
    const start = {
      kind: 'start',
      contentState,
      priority: 10,
      attributesType: 'Order',
      attributes: { id: 1 },
      alert,
    } as const;
    expect(JSON.parse(writeLivePayload(start, 1))).toEqual({
      aps: {
        ...{ timestamp: 1, event: 'start', 'content-state': contentState },
        ...{ 'attributes-type': 'Order', attributes: { id: 1 }, alert },
      },
    });
    const end = { kind: 'end', contentState, priority: 10, staleDate: 2, dismissalDate: 0 } as const;
    expect(JSON.parse(writeLivePayload(end, 1))).toEqual({
      aps: { timestamp: 1, event: 'end', 'content-state': contentState, 'stale-date': 2, 'dismissal-date': 0 },
    });
  });

  test('sends a start event to the start tokens, and every other event to those of the activity', () => {
    expect((['start', 'update', 'end'] as const).map(tokenKindOf)).toEqual(['START', 'UPDATE', 'UPDATE']);
  });

  test('sends an event for eight hours, or until it is stale; a past date has no effect', () => {
    const at = new Date('2026-03-01T12:00:00Z');
    const seconds = at.getTime() / 1_000;
    const hour = 3_600;
    const until = (staleDate?: number) =>
      (liveSendUntil(staleDate === undefined ? {} : { staleDate }, at).getTime() - at.getTime()) / 1_000;
    expect(until()).toBe(8 * hour);
    expect(until(seconds + hour)).toBe(hour);
    expect(until(seconds + 9 * hour)).toBe(8 * hour);
    expect(until(seconds)).toBe(8 * hour);
    expect(until(seconds + 1)).toBe(1);
    expect(until(1)).toBe(8 * hour);
  });
});
