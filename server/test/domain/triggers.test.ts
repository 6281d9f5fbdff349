import { describe, expect, test } from 'vitest';
import { makeDocumentReader } from '../../src/domain/campaign-document/campaign.ts';
import { readEventFilters, readStoredTrigger, triggerCondition } from '../../src/domain/campaign-document/trigger.ts';
import type { EventFilterKind } from '../../src/domain/campaign-document/trigger.ts';
import {
  decideDue,
  describeTrigger,
  dropReasons,
  eventNamesOf,
  isSecondaryMet,
  matchAttributes,
  readAttributeTime,
  startsCampaign,
} from '../../src/domain/events/triggers.ts';
import type { CountFilter, TriggerCondition, TriggerDelay } from '../../src/domain/events/triggers.ts';
import type { AttributeFilter } from '../../src/domain/segments/filter.ts';

describe('decide trigger', () => {
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
});

type Json = Record<string, unknown>;

describe('trigger condition', () => {
  const action = (more: Json = {}): Json => ({ filter_type: 'actions', action_name: 'Bought', ...more });
  const tree = (...filters: unknown[]): Json => ({ filter_operator: 'or', filters });
  const isVip = { filter_type: 'user_attributes', name: 'vip', data_type: 'bool', operator: 'is', value: true };
  const vip = {
    kind: 'attribute',
    name: 'vip',
    negate: false,
    dataType: 'bool',
    test: { operator: 'is', value: true },
  };
  const group = (...filters: unknown[]): unknown => ({ kind: 'group', operator: 'and', negate: false, filters });
  const attributes = (...filters: unknown[]): Json => ({ filter_operator: 'and', filters });

  describe('filters of events (fact 2.3, 6.2)', () => {
    const faultOf = (sent: unknown, kind: EventFilterKind = 'primary'): unknown => {
      const read = readEventFilters(sent, kind);
      return 'fault' in read ? read.fault : undefined;
    };
    const nested = (depth: number): Json => (depth === 1 ? attributes(isVip) : attributes(nested(depth - 1)));

    test.each<[string, unknown, string]>([
      ['no object', [], 'the filters must be an object'],
      ['no operator', { filters: [action()] }, 'filter_operator is required'],
      ['no list', { filter_operator: 'or', filters: action() }, 'filters must be a list of at least one filter'],
      ['no filter', tree(), 'filters must be a list of at least one filter'],
      ['21 filters', tree(...Array<Json>(21).fill(action())), 'filters must hold at most 20 filters'],
      [
        'two events at once',
        { filter_operator: 'and', filters: [action(), action()] },
        'filter_operator must be or: one event is never several',
      ],
      ['no filter, but a text', tree('Bought'), 'filters[0] must be an object'],
      [
        'a filter of users',
        tree(isVip),
        'filters[0].filter_type must be actions, not "user_attributes": filters of users are in segmentation_details',
      ],
      [
        'an aggregation',
        tree(action({ aggregation_attributes: [] })),
        'filters[0].aggregation_attributes is not available in this version',
      ],
      [
        'another project',
        tree(action({ project_name: 'x' })),
        'filters[0].project_name is not available in this version',
      ],
      [
        'a time of its own',
        tree(action({ primary_time_range: {} })),
        'filters[0].primary_time_range must be absent: the time is that of the trigger',
      ],
      ['no name', tree({ filter_type: 'actions' }), 'filters[0].action_name is required'],
      ['an empty name', tree(action({ action_name: '' })), 'filters[0].action_name must have 1 to 256 characters'],
      [
        'a long name',
        tree(action({ action_name: 'a'.repeat(257) })),
        'filters[0].action_name must have 1 to 256 characters',
      ],
      [
        'a name of too many bytes',
        tree(action({ action_name: 'a'.repeat(1_025) })),
        'filters[0].action_name must have at most 1024 bytes',
      ],
      ['attributes as a text', tree(action({ attributes: 'vip' })), 'filters[0].attributes must be an object'],
      [
        'attributes without operator',
        tree(action({ attributes: { filters: [isVip] } })),
        'filters[0].attributes.filter_operator is required',
      ],
      [
        'attributes without filters',
        tree(action({ attributes: attributes() })),
        'filters[0].attributes.filters must be a list of at least one filter',
      ],
      [
        'attributes that are no list',
        tree(action({ attributes: { filter_operator: 'and', filters: isVip } })),
        'filters[0].attributes.filters must be a list of at least one filter',
      ],
      [
        'groups 11 deep',
        tree(action({ attributes: nested(11) })),
        `filters[0].attributes.${Array(10).fill('filters[0]').join('.')} is more than 10 levels deep`,
      ],
      [
        '101 filters of attributes',
        tree(
          action({ attributes: attributes(...Array<Json>(60).fill(isVip)) }),
          action({ attributes: attributes(...Array<Json>(41).fill(isVip)) }),
        ),
        'there must be at most 100 filters',
      ],
      [
        'a fault within a group',
        tree(action({ attributes: attributes(attributes({ ...isVip, value: 1 })) })),
        'filters[0].attributes.filters[0].filters[0].value must be true or false',
      ],
      [
        'text that cannot be stored',
        tree(action({ colour: 'a\0' })),
        'filters[0].colour must be well-formed Unicode without NUL, names of members too',
      ],
      [
        'a name that cannot be stored',
        { ...tree(action()), '\0': 1 },
        'the tree must be well-formed Unicode without NUL, names of members too',
      ],
      [
        'no event',
        tree(action({ executed: false })),
        'filters[0].execution must be atleast 1: an event starts the campaign each time it happens',
      ],
      [
        'the second event',
        tree(action({ execution: { type: 'atleast', count: 2 } })),
        'filters[0].execution must be atleast 1: an event starts the campaign each time it happens',
      ],
      [
        'at most one event',
        tree(action({ execution: { type: 'atmost', count: 1 } })),
        'filters[0].execution must be atleast 1: an event starts the campaign each time it happens',
      ],
      ['a count without type', tree(action({ execution: { count: 1 } })), 'filters[0].execution.type is required'],
      [
        'a type without count',
        tree(action({ execution: { type: 'atleast' } })),
        'filters[0].execution.count must be a whole number from 0 to 1000',
      ],
      ['executed as a text', tree(action({ executed: 'yes' })), 'filters[0].executed must be true or false'],
    ])('do not accept %s', (_name, sent, fault) => expect(faultOf(sent)).toBe(fault));

    test.each<[unknown, string]>([
      [1_001, 'filters[0].execution.count must be a whole number from 0 to 1000'],
      [-1, 'filters[0].execution.count must be a whole number from 0 to 1000'],
      [1.5, 'filters[0].execution.count must be a whole number from 0 to 1000'],
      ['1', 'filters[0].execution.count must be a whole number from 0 to 1000'],
    ])('do not count %j events', (count, fault) => {
      expect(faultOf(tree(action({ execution: { type: 'exactly', count } })), 'secondary')).toBe(fault);
    });

    test('count an event that did not happen only as none', () => {
      for (const execution of [
        { type: 'exactly', count: 1 },
        { type: 'atmost', count: 0 },
      ])
        expect(faultOf(tree(action({ executed: false, execution })), 'secondary')).toBe(
          'filters[0].executed must be true, or execution exactly 0',
        );
    });

    test('are accepted at the limits', () => {
      expect(faultOf(tree(...Array<Json>(20).fill(action())))).toBeUndefined();
      expect(faultOf(tree(action({ action_name: 'ä'.repeat(256) })))).toBeUndefined();
      expect(faultOf(tree(action({ attributes: nested(10) })))).toBeUndefined();
      expect(faultOf(tree(action({ attributes: attributes(...Array<Json>(100).fill(isVip)) })))).toBeUndefined();
      expect(faultOf({ filter_operator: 'and', filters: [action()] })).toBeUndefined();
      expect(faultOf({ filter_operator: 'and', filters: [action(), action()] }, 'secondary')).toBeUndefined();
    });

    test.each<[Json, object]>([
      [{}, { compared: 'atleast', count: 1 }],
      [
        { executed: true, execution: {} },
        { compared: 'atleast', count: 1 },
      ],
      [{ executed: false }, { compared: 'exactly', count: 0 }],
      [
        { executed: false, execution: { type: 'exactly', count: 0 } },
        { compared: 'exactly', count: 0 },
      ],
      [{ execution: { type: 'atleast', count: 3 } }, { compared: 'atleast', count: 3 }],
      [{ execution: { type: 'exactly', count: 1_000 } }, { compared: 'exactly', count: 1_000 }],
      [{ execution: { type: 'atmost', count: 0 } }, { compared: 'atmost', count: 0 }],
    ])('count as in %j', (more, counted) => {
      expect(readEventFilters(tree(action(more)), 'secondary')).toEqual({
        operator: 'or',
        filters: [{ eventName: 'Bought', attributes: undefined, ...counted }],
        unknownFields: [],
      });
    });

    test('read attributes like those of users, and an empty tree as none', () => {
      const of = (sent: unknown): unknown => {
        const read = readEventFilters(tree(action({ attributes: sent })), 'primary');
        return 'fault' in read ? read.fault : read.filters[0]!.attributes;
      };
      expect(of({})).toBeUndefined();
      expect(of(null)).toBeUndefined();
      expect(of(attributes(isVip, attributes(isVip)))).toEqual(group(vip, group(vip)));
      expect(of({ ...attributes(isVip), filter_operator: 'or', negate: true })).toEqual({
        kind: 'group',
        operator: 'or',
        negate: true,
        filters: [vip],
      });
    });

    test('return unknown members with their paths', () => {
      const known = { filter_type: 'nested_filters', category: 'x' };
      const sent = {
        ...tree(action({ colour: 1, attributes: { ...attributes({ ...isVip, shade: 1 }), ...known, tone: 1 } })),
        filter_type: 'nested_filters',
        hue: 1,
      };
      expect(readEventFilters(sent, 'primary')).toMatchObject({
        unknownFields: [
          'hue',
          'filters[0].colour',
          'filters[0].attributes.tone',
          'filters[0].attributes.filters[0].shade',
        ],
      });
    });
  });

  describe('a condition of a trigger (fact 6.2)', () => {
    const read = (sent: Json) => {
      const part = makeDocumentReader(sent, 'trigger_condition');
      return {
        ...triggerCondition.readIn(part),
        faults: part.faults.map(({ field, reason }) => `${field}: ${reason}`),
      };
    };
    const asap = { included_filters: tree(action()), trigger_delay_type: 'ASAP' };
    const delay = (value: unknown, unit: string): Json => ({
      ...asap,
      trigger_delay_type: 'DELAY',
      trigger_delay_value: value,
      trigger_delay_granularity: unit,
    });

    test.each<[string, Json, object]>([
      ['at once', asap, { milliseconds: 0, relation: 'AFTER', attribute: undefined }],
      [
        'at the time that an attribute says',
        { ...asap, trigger_attr: 'departs' },
        { milliseconds: 0, relation: 'AFTER', attribute: 'departs' },
      ],
      ['minutes after', delay(5, 'MINUTES'), { milliseconds: 300_000, relation: 'AFTER', attribute: undefined }],
      [
        'hours before what an attribute says',
        { ...delay(2, 'hours'), trigger_relation: 'BEFORE', trigger_attr: 'departs' },
        { milliseconds: 7_200_000, relation: 'BEFORE', attribute: 'departs' },
      ],
      ['30 days', delay(30, 'DAYS'), { milliseconds: 2_592_000_000, relation: 'AFTER', attribute: undefined }],
      ['720 hours', delay(720, 'HOURS'), { milliseconds: 2_592_000_000, relation: 'AFTER', attribute: undefined }],
      [
        '43,200 minutes',
        delay(43_200, 'MINUTES'),
        { milliseconds: 2_592_000_000, relation: 'AFTER', attribute: undefined },
      ],
    ])('is due %s', (_name, sent, due) => {
      expect(read(sent)).toEqual({
        condition: { events: [{ eventName: 'Bought', attributes: undefined }], secondary: undefined, delay: due },
        unknownFields: [],
        faults: [],
      });
    });

    test.each<[string, Json, string[]]>([
      ['nothing', {}, ['included_filters: missing', 'trigger_delay_type: missing']],
      [
        'a broken filter',
        { ...asap, included_filters: { filters: [], filter_operator: 'or' } },
        ['included_filters: is not a usable filter: filters must be a list of at least one filter'],
      ],
      [
        'INTELLIGENT_DELAY (decision 0047)',
        { ...asap, trigger_delay_type: 'INTELLIGENT_DELAY' },
        ['trigger_delay_type: must be one of ASAP, DELAY in this version, not "INTELLIGENT_DELAY"'],
      ],
      [
        'a delay that is optimised',
        { ...asap, intelligent_delay_optimization: true },
        ['intelligent_delay_optimization: is not available in this version'],
      ],
      [
        'a delay at once',
        { ...asap, trigger_delay_value: 5, trigger_delay_granularity: 'DAYS' },
        [
          'trigger_delay_value: needs trigger_delay_type DELAY',
          'trigger_delay_granularity: needs trigger_delay_type DELAY',
        ],
      ],
      ['before nothing', { ...delay(1, 'DAYS'), trigger_relation: 'BEFORE' }, ['trigger_relation: needs trigger_attr']],
      [
        'at once before',
        { ...asap, trigger_relation: 'BEFORE', trigger_attr: 'departs' },
        ['trigger_relation: needs trigger_delay_type DELAY'],
      ],
      [
        'a long name of an attribute',
        { ...asap, trigger_attr: 'a'.repeat(257) },
        ['trigger_attr: must have at most 256 characters'],
      ],
      [
        'a delay of nothing',
        { ...asap, trigger_delay_type: 'DELAY' },
        ['trigger_delay_granularity: missing', 'trigger_delay_value: missing'],
      ],
      ['no time', delay(0, 'DAYS'), ['trigger_delay_value: must be a whole number from 1 to 30']],
      ['31 days', delay(31, 'DAYS'), ['trigger_delay_value: must be a whole number from 1 to 30']],
      ['721 hours', delay(721, 'HOURS'), ['trigger_delay_value: must be a whole number from 1 to 720']],
      ['43,201 minutes', delay(43_201, 'MINUTES'), ['trigger_delay_value: must be a whole number from 1 to 43200']],
      [
        'years',
        delay(1, 'YEARS'),
        ['trigger_delay_granularity: must be one of MINUTES, HOURS, DAYS in this version, not "YEARS"'],
      ],
      [
        'a look back at no span',
        { ...asap, secondary_included_filters: tree(action()) },
        ['secondary_included_filters: needs trigger_delay_type DELAY: what happens until then is looked at'],
      ],
    ])('is rejected: %s', (_name, sent, faults) => {
      const told = read(sent);
      expect(told.faults).toEqual(faults.map((fault) => `trigger_condition.${fault}`));
      if (['nothing', 'a broken filter', 'no time', 'years', 'a delay of nothing'].includes(_name))
        expect(told.condition).toBeUndefined();
    });

    test('is counted at the due time, with the starting events once by name', () => {
      const sent = {
        ...delay(1, 'DAYS'),
        included_filters: tree(action(), action({ action_name: 'Left' }), action({ attributes: attributes(isVip) })),
        secondary_included_filters: {
          ...tree(action({ executed: false }), action({ hue: 1 })),
          filter_operator: 'and',
        },
      };
      const { condition, unknownFields, faults } = read({
        ...sent,
        included_filters: { ...sent.included_filters, hue: 1 },
      });
      expect(faults).toEqual([]);
      expect(condition).toEqual({
        events: [
          { eventName: 'Bought', attributes: undefined },
          { eventName: 'Left', attributes: undefined },
          { eventName: 'Bought', attributes: group(vip) },
        ],
        secondary: {
          operator: 'and',
          filters: [
            { eventName: 'Bought', attributes: undefined, compared: 'exactly', count: 0 },
            { eventName: 'Bought', attributes: undefined, compared: 'atleast', count: 1 },
          ],
        },
        delay: { milliseconds: 86_400_000, relation: 'AFTER', attribute: undefined },
      });
      expect(unknownFields).toEqual([
        'trigger_condition.included_filters.hue',
        'trigger_condition.secondary_included_filters.filters[1].hue',
      ]);
      expect(eventNamesOf(condition!)).toEqual(['Bought', 'Left']);
    });

    test('needs no delay for a span up to the time of an attribute', () => {
      const sent = { ...asap, trigger_attr: 'departs', secondary_included_filters: tree(action()) };
      expect(read(sent).faults).toEqual([]);
    });

    test('is parsed from storage by the reader that accepted it', () => {
      expect(readStoredTrigger(makeDocumentReader(asap)).events).toEqual([
        { eventName: 'Bought', attributes: undefined },
      ]);
      expect(() => readStoredTrigger(makeDocumentReader({}, 'trigger_condition'))).toThrow(
        'a stored trigger cannot be read: [{"field":"trigger_condition.included_filters","reason":"missing"},',
      );
    });
  });
});
