import { describe, expect, test } from 'vitest';
import { makeDocumentReader } from '../../../src/domain/campaign-document/campaign.ts';
import {
  readEventFilters,
  readStoredTrigger,
  readTriggerCondition,
} from '../../../src/domain/campaign-document/trigger.ts';
import type { EventFilterKind } from '../../../src/domain/campaign-document/trigger.ts';
import { eventNamesOf } from '../../../src/domain/events/triggers.ts';

type Json = Record<string, unknown>;

const action = (more: Json = {}): Json => ({ filter_type: 'actions', action_name: 'Bought', ...more });
const tree = (...filters: unknown[]): Json => ({ filter_operator: 'or', filters });
const isVip = { filter_type: 'user_attributes', name: 'vip', data_type: 'bool', operator: 'is', value: true };
const vip = { kind: 'attribute', name: 'vip', negate: false, dataType: 'bool', test: { operator: 'is', value: true } };
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
    return { ...readTriggerCondition(part), faults: part.faults.map(({ field, reason }) => `${field}: ${reason}`) };
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
      ['included_filters: is no usable filter: filters must be a list of at least one filter'],
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
      secondary_included_filters: { ...tree(action({ executed: false }), action({ hue: 1 })), filter_operator: 'and' },
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
