import { describe, expect, test } from 'vitest';
import type { AttributeFilter } from '../../../src/domain/segments/filter.ts';
import {
  decideDue,
  isSecondaryMet,
  startsCampaign,
  dropReasons,
  matchAttributes,
  readAttributeTime,
  describeTrigger,
} from '../../../src/domain/events/triggers.ts';
import type { CountFilter, TriggerCondition, TriggerDelay } from '../../../src/domain/events/triggers.ts';

const occurredAt = new Date('2026-03-10T10:00:00Z');
const bought = (attributes: Record<string, unknown> = {}) => ({ name: 'Bought', attributes, occurredAt });
const isVip: AttributeFilter = {
  kind: 'attribute',
  name: 'vip',
  negate: false,
  dataType: 'bool',
  test: { operator: 'is', value: true },
};
const vips = { kind: 'group' as const, operator: 'and' as const, negate: false, filters: [isVip] };
const condition = (more: Partial<TriggerCondition>): TriggerCondition => ({
  events: [],
  secondary: undefined,
  delay: { milliseconds: 0, relation: 'AFTER', attribute: undefined },
  ...more,
});

test('starts a campaign by an event of one of its names whose attributes match', () => {
  const of = condition({
    events: [
      { eventName: 'Left', attributes: undefined },
      { eventName: 'Bought', attributes: vips },
    ],
  });
  expect(startsCampaign(of, bought({ vip: true }), occurredAt)).toBe(true);
  expect(startsCampaign(of, bought({ vip: false }), occurredAt)).toBe(false);
  expect(startsCampaign(of, { ...bought(), name: 'Left' }, occurredAt)).toBe(true);
  expect(startsCampaign(of, { ...bought({ vip: true }), name: 'Came' }, occurredAt)).toBe(false);
  expect(startsCampaign(condition({}), bought(), occurredAt)).toBe(false);
});

describe('a message is due', () => {
  const hour = 3_600_000;
  const due = (delay: Partial<TriggerDelay>, { event = {}, user = {}, now = occurredAt } = {}): unknown =>
    decideDue(
      { milliseconds: 0, relation: 'AFTER', attribute: undefined, ...delay },
      { event: bought(event), user, now },
    );

  test('at the delay after the event', () => {
    expect(due({})).toEqual({ at: occurredAt });
    expect(due({ milliseconds: hour })).toEqual({ at: new Date('2026-03-10T11:00:00Z') });
  });

  test('before or after the time in an attribute, the event’s own before the user’s', () => {
    const user = { departs: '2026-03-12T08:00:00Z' };
    const event = { departs: '2026-03-11T08:00:00Z' };
    expect(due({ attribute: 'departs', milliseconds: hour }, { event, user })).toEqual({
      at: new Date('2026-03-11T09:00:00Z'),
    });
    expect(due({ attribute: 'departs', milliseconds: hour, relation: 'BEFORE' }, { user })).toEqual({
      at: new Date('2026-03-12T07:00:00Z'),
    });
  });

  test.each([{}, { departs: 'soon' }, { departs: true }])('never, if the attribute contains no time: %j', (event) => {
    expect(due({ attribute: 'departs' }, { event })).toEqual({ reason: 'NO_TIME' });
    expect(due({ attribute: 'toString' }, { event })).toEqual({ reason: 'NO_TIME' });
  });

  test('at most 366 days ahead', () => {
    const event = { departs: '2027-03-11T10:00:00Z' };
    expect(due({ attribute: 'departs' }, { event })).toEqual({ at: new Date('2027-03-11T10:00:00Z') });
    expect(due({ attribute: 'departs', milliseconds: 1 }, { event })).toEqual({ reason: 'TOO_FAR' });
    expect(due({ attribute: 'departs' }, { event, now: new Date(occurredAt.getTime() - 1) })).toEqual({
      reason: 'TOO_FAR',
    });
  });
});

describe('the condition at the due time', () => {
  const filter = (compared: CountFilter['compared'], count: number, eventName = 'Bought'): CountFilter => ({
    eventName,
    attributes: undefined,
    compared,
    count,
  });
  const isMet = (filters: CountFilter[], { operator = 'and' as 'and' | 'or', times = 2 } = {}): boolean =>
    isSecondaryMet(condition({ secondary: { operator, filters } }), {
      events: Array.from({ length: times }, () => bought()),
      at: occurredAt,
    });

  test.each([
    ['atleast', [true, true, false]],
    ['exactly', [false, true, false]],
    ['atmost', [false, true, true]],
  ] as const)('counts %s 1, 2 or 3 of two events: %j', (compared, met) => {
    expect([1, 2, 3].map((count) => isMet([filter(compared, count)]))).toEqual(met);
  });

  test('requires every filter, or any', () => {
    const both = [filter('exactly', 2), filter('exactly', 1, 'Left')];
    expect(isMet(both)).toBe(false);
    expect(isMet(both, { operator: 'or' })).toBe(true);
    expect(isMet([filter('exactly', 2), filter('exactly', 0, 'Left')])).toBe(true);
    expect(isMet([filter('exactly', 1), filter('exactly', 1, 'Left')], { operator: 'or' })).toBe(false);
  });

  test('is true if there are no filters, and counts only events whose attributes match', () => {
    expect(isSecondaryMet(condition({}), { events: [], at: occurredAt })).toBe(true);
    const asked = condition({
      secondary: { operator: 'and', filters: [{ ...filter('exactly', 1), attributes: vips }] },
    });
    const events = [bought({ vip: true }), bought({ vip: false })];
    expect(isSecondaryMet(asked, { events, at: occurredAt })).toBe(true);
  });
});

describe('an attribute condition of an event', () => {
  const at = new Date('2026-03-10T10:00:00.000Z');
  const passes = (filter: object, x: unknown): boolean =>
    matchAttributes({ kind: 'attribute', name: 'x', negate: false, ...filter } as AttributeFilter, { x }, at);
  const text = (operator: string, values: string[], isCaseSensitive = false) => ({
    dataType: 'string',
    test: { operator, values, isCaseSensitive },
  });
  const number = (test: object) => ({ dataType: 'double', test });
  const time = (test: object) => ({ dataType: 'datetime', test });
  const list = (quantifier: string, filter: object) => ({ ...filter, dataType: 'array_string', quantifier });

  test.each<[string, object, unknown, boolean]>([
    ['a text', text('in', ['a']), 'a', true],
    ['a text that begins alike', text('in', ['a']), 'ab', false],
    ['one of several', text('in', ['b', 'a']), 'A', true],
    ['none of several', text('in', ['b', 'c']), 'a', false],
    ['no text', text('in', ['1']), 1, false],
    ['case where it matters', text('in', ['a'], true), 'A', false],
    ['the same case', text('in', ['A'], true), 'A', true],
    ['composed characters', text('in', ['ä'], true), 'a\u0308', true],
    ['composed, folded', text('in', ['Ä']), 'a\u0308', true],
    ['a part', text('contains', ['b']), 'abc', true],
    ['no part', text('contains', ['d']), 'abc', false],
    ['a beginning', text('startsWith', ['a']), 'abc', true],
    ['no beginning', text('startsWith', ['b']), 'abc', false],
    ['an end that is no beginning', text('startsWith', ['c']), 'abc', false],
    ['an end', text('endsWith', ['c']), 'abc', true],
    ['a beginning that is no end', text('endsWith', ['a']), 'abc', false],
    ['a text that exists', { dataType: 'string', test: { operator: 'exists' } }, '', true],
    ['a text that does not', { dataType: 'string', test: { operator: 'exists' } }, undefined, false],
    ['a number', number({ operator: 'in', values: [1, 2] }), 2, true],
    ['another number', number({ operator: 'in', values: [1, 2] }), 3, false],
    ['a number as a text', number({ operator: 'in', values: [1] }), '1', false],
    ['less', number({ operator: 'lessThan', value: 2 }), 1, true],
    ['not less', number({ operator: 'lessThan', value: 2 }), 2, false],
    ['more', number({ operator: 'greaterThan', value: 2 }), 3, true],
    ['not more', number({ operator: 'greaterThan', value: 2 }), 2, false],
    ['the lower bound', number({ operator: 'between', lower: 1, upper: 2 }), 1, true],
    ['the upper bound', number({ operator: 'between', lower: 1, upper: 2 }), 2, true],
    ['below both', number({ operator: 'between', lower: 1, upper: 2 }), 0.9, false],
    ['above both', number({ operator: 'between', lower: 1, upper: 2 }), 2.1, false],
    ['a number that exists', number({ operator: 'exists' }), 0, true],
    ['yes', { dataType: 'bool', test: { operator: 'is', value: true } }, true, true],
    ['no', { dataType: 'bool', test: { operator: 'is', value: true } }, false, false],
    ['no as it was asked', { dataType: 'bool', test: { operator: 'is', value: false } }, false, true],
    ['yes or no that exists', { dataType: 'bool', test: { operator: 'exists' } }, false, true],
    ['a text for yes', { dataType: 'bool', test: { operator: 'exists' } }, 'true', false],
    ['today', time({ operator: 'today' }), '2026-03-10T00:00:00Z', true],
    ['just before today', time({ operator: 'today' }), '2026-03-09T23:59:59.999Z', false],
    ['tomorrow', time({ operator: 'today' }), '2026-03-11T00:00:00Z', false],
    [
      'one of two days',
      time({
        operator: 'in',
        values: [
          { kind: 'relative', days: -1 },
          { kind: 'relative', days: 0 },
        ],
      }),
      '2026-03-10',
      true,
    ],
    ['a time that exists', time({ operator: 'exists' }), 0, true],
    ['no time', time({ operator: 'exists' }), 'soon', false],
    ['any of a list', list('any_of', text('in', ['a'])), ['b', 'a'], true],
    ['none of a list', list('any_of', text('in', ['a'])), ['b'], false],
    ['not each of a list', list('all_of', text('in', ['a'])), ['b', 'a'], false],
    ['each of a list', list('all_of', text('in', ['a'])), ['a', 'A'], true],
    ['each of no list', list('all_of', text('in', ['a'])), [], false],
    ['a text for a list', list('any_of', text('in', ['a'])), 'a', false],
    [
      'any number of a list',
      { ...number({ operator: 'in', values: [1] }), dataType: 'array_double', quantifier: 'any_of' },
      [2, 1],
      true,
    ],
  ])('matches %s', (...[, filter, value, isPassed]) => {
    expect(passes(filter, value)).toBe(isPassed);
    expect(passes({ ...filter, negate: true }, value)).toBe(!isPassed);
  });

  test('requires all of a group, or any, of its own members', () => {
    const filters = [isVip, { ...isVip, name: 'new' }];
    const of = (operator: 'and' | 'or', attributes: Record<string, unknown>): boolean =>
      matchAttributes({ kind: 'group', operator, negate: false, filters }, attributes, at);
    expect(of('and', { vip: true, new: true })).toBe(true);
    expect(of('and', { vip: true })).toBe(false);
    expect(of('or', { new: true })).toBe(true);
    expect(of('or', {})).toBe(false);
    const exists = {
      kind: 'attribute',
      name: 'constructor',
      negate: false,
      dataType: 'string',
      test: { operator: 'exists' },
    };
    expect(matchAttributes(exists as AttributeFilter, Object.create({ constructor: 'a' }) as never, at)).toBe(false);
  });

  test('never matches a segment', () => {
    expect(() => matchAttributes({ kind: 'segment', id: 's', negate: false }, {}, at)).toThrow(
      'events are in no segment',
    );
  });

  test.each<[unknown, string | undefined]>([
    [1.0005, '1970-01-01T00:00:01.001Z'],
    [-62_135_596_800, '0001-01-01T00:00:00.000Z'],
    [-62_135_596_801, undefined],
    [253_402_300_799, '9999-12-31T23:59:59.000Z'],
    [253_402_300_800, undefined],
    ['2026-03-10', '2026-03-10T00:00:00.000Z'],
    ['2026-03-10T01:00+01:00', '2026-03-10T00:00:00.000Z'],
    ['1700000000', undefined],
    [null, undefined],
  ])('reads %j as the time %s', (value, time) => expect(readAttributeTime(value)?.toISOString()).toBe(time));
});

describe('the description of a trigger', () => {
  const told = {
    eventName: 'Bought',
    occurredAt,
    receivedAt: occurredAt,
    dueAt: new Date('2026-03-10T11:00:00Z'),
    reason: null,
    runId: 'r-1',
  };
  const event = '"Bought" at 2026-03-10T10:00:00.000Z';
  test.each([
    ['WAITING', `${event} is due at 2026-03-10T11:00:00.000Z.`],
    ['HELD', `${event} was due at 2026-03-10T11:00:00.000Z and waits for the end of the pause.`],
    ['SENT', `${event} is in run r-1.`],
  ] as const)('is that of %s', (state, sentence) => expect(describeTrigger({ ...told, state })).toBe(sentence));

  test('has the reason why nothing was sent', () => {
    expect(dropReasons.map((reason) => describeTrigger({ ...told, state: 'DROPPED', reason, dueAt: null }))).toEqual([
      `${event} was found too late to be sent.`,
      `${event} was not sent: what had to be true by then was not.`,
      `${event} was not sent: the person was not in the audience by then.`,
      `${event} was not sent: the campaign was over by then.`,
      `${event} was not sent: the attribute that is to say when says no time.`,
      `${event} was not sent: the attribute that is to say when names a time too far ahead.`,
    ]);
  });
});
