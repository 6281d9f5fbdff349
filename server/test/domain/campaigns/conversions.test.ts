import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  attributeEvent,
  goalOperators,
  goalValueFault,
  matchGoal,
  readTwoNumbers,
  revenueOf,
  windowHoursOf,
} from '../../../src/domain/campaigns/conversions.ts';
import type { ConversionGoal } from '../../../src/domain/campaigns/conversions.ts';
import { propertyRuns } from '../../property-runs.ts';

type Given = { name: string; sent: number; viewed?: number; clicked?: number; isAccepted?: boolean };

describe('attribute event', () => {
  const hour = 3_600_000;
  const event = new Date('2026-03-10T00:00:00Z');
  /** So many hours before the event. */
  const before = (hours: number) => new Date(event.getTime() - hours * hour);
  const message = ({ name, sent, viewed, clicked, isAccepted = true }: Given) => ({
    ...{ name, isAccepted, sentAt: before(sent) },
    viewedAt: viewed === undefined ? null : before(viewed),
    clickedAt: clicked === undefined ? null : before(clicked),
  });

  const cases: [string, Given[], Record<string, string>][] = [
    ['one that was sent a window before counts', [{ name: 'a', sent: 36 }], { TOTAL_CONVERSIONS: 'a' }],
    ['one that was sent earlier does not', [{ name: 'a', sent: 36.001 }], {}],
    [
      'one that was shown within the window counts by it, however long before it was sent',
      [{ name: 'a', sent: 100, viewed: 36 }],
      { VIEW_THROUGH: 'a' },
    ],
    ['one that was shown before the window does not', [{ name: 'a', sent: 100, viewed: 37 }], {}],
    [
      'a click counts by its own time, and with the message while that is within the window',
      [{ name: 'a', sent: 10, viewed: 9, clicked: 8 }],
      { TOTAL_CONVERSIONS: 'a', CLICK_CONVERSIONS: 'a', VIEW_THROUGH: 'a', CLICK_THROUGH: 'a' },
    ],
    [
      'a late click is no click of a message within the window',
      [{ name: 'a', sent: 40, clicked: 1 }],
      { CLICK_THROUGH: 'a' },
    ],
    [
      'what a device reports after the event is too late',
      [{ name: 'a', sent: 10, clicked: -0.001 }],
      { TOTAL_CONVERSIONS: 'a' },
    ],
    [
      'of several the newest is taken that meets the rule, by the time that the rule is about',
      [
        { name: 'newest', sent: 1 },
        { name: 'shown last', sent: 5, viewed: 2 },
        { name: 'clicked last', sent: 9, viewed: 6, clicked: 3 },
        { name: 'clicked', sent: 8, viewed: 7, clicked: 4 },
      ],
      {
        ...{ TOTAL_CONVERSIONS: 'newest', CLICK_CONVERSIONS: 'clicked last' },
        ...{ VIEW_THROUGH: 'shown last', CLICK_THROUGH: 'clicked last' },
      },
    ],
    [
      'one that was accepted goes before a newer one that was not, which counts by nothing else',
      [
        { name: 'withheld', sent: 1, clicked: 1, viewed: 1, isAccepted: false },
        { name: 'accepted', sent: 2 },
      ],
      { TOTAL_CONVERSIONS: 'accepted' },
    ],
    [
      'what a device reports at the instant of the event is in time',
      [{ name: 'a', sent: 0, viewed: 0, clicked: 0 }],
      { TOTAL_CONVERSIONS: 'a', CLICK_CONVERSIONS: 'a', VIEW_THROUGH: 'a', CLICK_THROUGH: 'a' },
    ],
    [
      'of messages that were clicked at the same time it is by the newer one',
      [
        { name: 'older', sent: 9, viewed: 5, clicked: 3 },
        { name: 'newer', sent: 8, viewed: 6, clicked: 3 },
      ],
      { TOTAL_CONVERSIONS: 'newer', CLICK_CONVERSIONS: 'newer', VIEW_THROUGH: 'older', CLICK_THROUGH: 'newer' },
    ],
    [
      'one that did not arrive counts where there is no other',
      [{ name: 'a', sent: 1, isAccepted: false }],
      { TOTAL_CONVERSIONS: 'a' },
    ],
  ];

  test.each(cases)('attributes %s (fact 7)', (_name, given, expected) => {
    const messages = given.map(message).toSorted((one, other) => other.sentAt.getTime() - one.sentAt.getTime());
    const found = attributeEvent(messages, { occurredAt: event, windowHours: 36 });
    expect(Object.fromEntries(found.map((row) => [row.attribution, row.message.name]))).toEqual(expected);
  });
});

type Form = Parameters<typeof goalValueFault>[0];

describe('conversion goal', () => {
  const long = (count: number): string => 'x'.repeat(count);

  const noText = 'must be a text';
  const noTexts = 'must be a list of texts';
  const noNumber = 'must be a number';
  const notTwo = 'must be two numbers separated by a comma';
  const tooLong = 'must have at most 1024 characters';

  /** What each form of a value takes, and what it refuses with which reason (interface 2.10). */
  const forms: Record<Form, { takes: unknown[]; refuses: [reason: string, values: unknown[]][] }> = {
    none: { takes: [undefined], refuses: [['must be omitted for this filter', ['', 'x', 0, false, null, []]]] },
    text: {
      takes: ['x', '', ' ', 0, -1.5, long(1_024)],
      refuses: [
        [noText, [undefined, null, true, ['x'], {}, Number.NaN, Number.POSITIVE_INFINITY]],
        [tooLong, [long(1_025)]],
        ['must be well-formed Unicode', ['\ud83c']],
        ['must not hold NUL', ['a\0b']],
      ],
    },
    'part of a text': {
      takes: ['x', ' ', 0, long(1_024)],
      refuses: [
        ['must not be empty', ['']],
        [noText, [undefined, null, true, ['x'], {}, Number.NaN]],
        [tooLong, [long(1_025)]],
      ],
    },
    texts: {
      takes: [['x'], ['x', ''], [long(1_024)], Array.from({ length: 1_000 }, String)],
      refuses: [
        [noTexts, [undefined, null, 'x', 5, {}, [], [5], ['x', null], [['x']]]],
        ['must have at most 1000 items', [Array.from({ length: 1_001 }, String)]],
        [tooLong, [['x', long(1_025)]]],
        ['must not hold NUL', [['x', '\0', 'y']]],
      ],
    },
    number: {
      takes: [0, -1.5, 1e300, '0', '-1.5', '+2', ' 7 ', '.5', '1.', '5e0', '1E-3', '2e+2', '0'.repeat(1_024)],
      refuses: [
        [noNumber, [undefined, null, true, '', ' ', 'x', '5x', 'x5', '0x1f', '1,5', '.', '1e', 'e5', '1e5.5', '1 2']],
        [noNumber, ['1e999', 'Infinity', 'NaN', Number.NaN, Number.POSITIVE_INFINITY, [5], {}, '0'.repeat(1_025)]],
      ],
    },
    'two numbers': {
      takes: ['1,5', '5,-1.5', ' 1 , 2 ', '.5,1.', '3,3'],
      refuses: [
        [notTwo, [undefined, null, 5, '', '1', '1,', ',1', ',', '1,2,3', '1;2', 'a,1', '1,a', '1,1e999', [1, 5], {}]],
      ],
    },
  };

  describe('the value of a goal', () => {
    test.each(Object.keys(forms) as Form[])('can be %s', (form) => {
      for (const value of forms[form].takes) expect(goalValueFault(form, value), String(value)).toBeUndefined();
      for (const [reason, values] of forms[form].refuses)
        for (const value of values) expect(goalValueFault(form, value), JSON.stringify(value)).toBe(reason);
    });

    test('has a form for each operator, the same for its opposite', () => {
      const { string, numeric } = goalOperators;
      const used = new Set([...Object.values(string), ...Object.values(numeric)]);
      expect([...used].sort()).toEqual(Object.keys(forms).sort());
      const denied = { 'does not exist': 'exists', 'is not equal to': 'is equal to', 'is not between': 'is between' };
      for (const [denying, operator] of Object.entries(denied)) expect(numeric[denying]).toBe(numeric[operator]);
    });
  });

  test.each([
    ['1,5', [1, 5]],
    [' -2.5 , +1e1 ', [-2.5, 10]],
    ['5,1', [5, 1]],
    ['1', undefined],
    ['1,2,3', undefined],
    ['1,x', undefined],
    ['x,1', undefined],
    [15, undefined],
  ])('parses two numbers in %j as %j', (text, numbers) => expect(readTwoNumbers(text)).toEqual(numbers));

  describe('an event', () => {
    test('counts for 36 hours, or for the time of the campaign (fact 6.2)', () => {
      expect([windowHoursOf([]), windowHoursOf([{}]), windowHoursOf([{ windowHours: 24 }, {}])]).toEqual([36, 36, 24]);
    });

    test('contributes the number that its goal names (fact 6.2)', () => {
      const goal = { revenue: { attribute: 'price', currency: 'EUR' } };
      expect([revenueOf(goal, { price: 9.99 }), revenueOf(goal, { price: 0 }), revenueOf(goal, { price: -2 })]).toEqual(
        [...[9.99, 0, -2]],
      );
      for (const price of ['9.99', Number.NaN, Number.NEGATIVE_INFINITY, null, true, [9], { value: 9 }])
        expect(revenueOf(goal, { price }), String(price)).toBeNull();
      expect([revenueOf(goal, { cost: 9.99 }), revenueOf({}, { price: 9.99 })]).toEqual([null, null]);
      expect(revenueOf({ revenue: { attribute: 'toString' } }, {})).toBeNull();
    });
  });
});

type Attribute = NonNullable<ConversionGoal['attribute']>;

/** What an operator is tested for: a value of the goal, those of events that meet it, and those that do not. */
type Row = [operator: string, wanted: Attribute['value'], holds: unknown[], fails: unknown[]];

describe('events that match a goal', () => {
  const absent = Symbol('absent');
  const composed = 'Z\u00fcrich';
  const decomposed = 'Zu\u0308rich';

  const otherThanText = [absent, null, 7, true, ['red'], { red: 'red' }];
  const otherThanNumber = [absent, null, '5', '', true, [5], { five: 5 }];

  const textRows: Row[] = [
    ['is', 'red', ['red'], ['Red', 'RED', 'red ', ' red', 're', '', ...otherThanText]],
    ['is', '', [''], [' ', 'red', ...otherThanText]],
    ['is', composed, [composed, decomposed], ['Zurich', 'zürich']],
    ['is', decomposed, [composed, decomposed], ['Zurich']],
    // A number stands for its text, as the contract lets the value be one.
    ['is', 7, ['7'], ['7.0', '07', 7]],
    ['contains', 'ed', ['red', 'ed', 'edge', 'wedding'], ['RED', 'e d', 'de', '', ...otherThanText]],
    ['contains', 'u\u0308r', [composed, decomposed], ['Zurich']],
    // What is one letter in NFC does not contain its base letter.
    ['contains', 'u', ['Zurich'], [composed, decomposed]],
    ['contains', '%', ['100%'], ['100', '_']],
    ['contains', '.*', ['a.*b'], ['ab', 'axxb']],
    ['starts with', 're', ['re', 'red'], ['Red', 'are', ' re', '', ...otherThanText]],
    ['starts with', 'Zu\u0308', [composed, decomposed], ['Zurich']],
    ['ends with', 'ed', ['ed', 'red'], ['rED', 'edge', 'red ', '', ...otherThanText]],
    ['ends with', '🌷', ['Frühling 🌷'], ['🌷 Frühling']],
    ['in the following', ['red', 'blue'], ['red', 'blue'], ['Red', 'red,blue', 'green', '', ...otherThanText]],
    ['in the following', [decomposed, ''], [composed, decomposed, ''], ['Zurich', ' ']],
    ['exists', undefined, ['red', '', ' '], otherThanText],
  ];

  const numberRows: Row[] = [
    ['is equal to', 5, [5, 5.0], [5.000001, -5, 0, ...otherThanNumber]],
    ['is equal to', '5', [5], [4, ...otherThanNumber]],
    ['is equal to', '5e0', [5], [50]],
    ['is equal to', -2.5, [-2.5], [2.5, -2.4]],
    ['is equal to', 0, [0, -0], [1, Number.MIN_VALUE]],
    ['is between', '1,5', [1, 3, 4.999, 5], [0.999, 5.001, -3, ...otherThanNumber]],
    ['is between', '5,1', [1, 3, 5], [0, 6]],
    ['is between', ' -2.5 , +1.5 ', [-2.5, -2, 0, 1.5], [-2.51, 1.51]],
    ['is between', '3,3', [3], [2.9, 3.1]],
    ['is between', '.5,1.', [0.5, 1], [0.4, 1.1]],
    ['is greater than', 5, [5.001, 6, 1e300], [5, 4.999, -6, ...otherThanNumber]],
    ['is greater than', '-1.5', [-1.4, 0], [-1.5, -2]],
    ['is less than', 5, [4.999, 0, -6], [5, 5.001, ...otherThanNumber]],
    ['is less than', '-1.5', [-1.6, -1e300], [-1.5, 0]],
    ['exists', undefined, [5, 0, -0.5], otherThanNumber],
  ];

  /** Those that deny, with those they are the opposite of (interface 2.10). */
  const opposites = {
    string: {
      'is not': 'is',
      'does not contain': 'contains',
      'does not start with': 'starts with',
      'does not end with': 'ends with',
      'not in the following': 'in the following',
      'does not exist': 'exists',
    },
    numeric: { 'is not equal to': 'is equal to', 'is not between': 'is between', 'does not exist': 'exists' },
  } as const;

  const table = [...withOpposites('string', textRows), ...withOpposites('numeric', numberRows)];

  describe('operators (interface 2.10)', () => {
    test.each(table)('evaluate %s %j', (...[operator, wanted, holds, fails, type]) => {
      const attribute = { name: 'a', type, operator, ...(wanted === undefined ? {} : { value: wanted }) };
      expect(holds.filter((value) => !meets(attribute, value))).toEqual([]);
      expect(fails.filter((value) => meets(attribute, value))).toEqual([]);
    });

    test('are all in the table, and any other never matches', () => {
      for (const type of ['string', 'numeric'] as const) {
        const tested = new Set(table.filter((row) => row[4] === type).map(([operator]) => operator));
        expect([...tested].sort()).toEqual(Object.keys(goalOperators[type]).sort());
        for (const operator of ['IS', '', 'is like', 'toString', '__proto__', 'constructor'])
          expect(meets({ name: 'a', type, operator, value: 'x' }, 'x'), operator).toBe(false);
      }
    });

    test('never match for the other type', () => {
      expect(meets({ name: 'a', type: 'numeric', operator: 'contains', value: '5' }, 5)).toBe(false);
      expect(meets({ name: 'a', type: 'string', operator: 'is greater than', value: 5 }, '6')).toBe(false);
    });

    test('match nothing with unreadable bounds (a row of another version)', () => {
      expect(meets({ name: 'a', type: 'numeric', operator: 'is between', value: '5' }, 5)).toBe(false);
      expect(meets({ name: 'a', type: 'numeric', operator: 'is not between', value: '5' }, 5)).toBe(true);
    });

    test('treat NaN and infinite numbers as missing', () => {
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(meets({ name: 'a', type: 'numeric', operator: 'exists' }, value)).toBe(false);
        expect(meets({ name: 'a', type: 'numeric', operator: 'is greater than', value: 1 }, value)).toBe(false);
      }
    });
  });

  describe('events', () => {
    const event = { name: 'Bought', attributes: { price: 5 } };

    test('match a goal without an attribute exactly by name', () => {
      expect(matchGoal({ name: 'g', eventName: 'Bought' }, event)).toBe(true);
      for (const eventName of ['bought', 'Bought ', 'Buy', ''])
        expect(matchGoal({ name: 'g', eventName }, event), eventName).toBe(false);
    });

    test('match no operator of a goal with another name, not even a negative one', () => {
      const attribute: Attribute = { name: 'price', type: 'string', operator: 'does not exist' };
      expect(matchGoal({ name: 'g', eventName: 'Bought', attribute }, event)).toBe(true);
      expect(matchGoal({ name: 'g', eventName: 'Sold', attribute }, event)).toBe(false);
    });

    test('are compared by own attributes only, case-sensitively', () => {
      for (const name of ['toString', 'constructor', '__proto__', 'Price'])
        expect(
          matchGoal(
            { name: 'g', eventName: 'Bought', attribute: { name, type: 'numeric', operator: 'does not exist' } },
            event,
          ),
        ).toBe(true);
      const own = { name: 'Bought', attributes: JSON.parse('{"__proto__":"x"}') as Record<string, unknown> };
      const attribute: Attribute = { name: '__proto__', type: 'string', operator: 'is', value: 'x' };
      expect(matchGoal({ name: 'g', eventName: 'Bought', attribute }, own)).toBe(true);
    });
  });

  test('makes each negative operator the exact opposite, whatever the event', () => {
    const text = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('a', 'A', 'ü', 'u\u0308', '', '5'));
    const number = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    const wanted = {
      text,
      'part of a text': text.filter((value) => value !== ''),
      number: fc.oneof(number, number.map(String)),
      texts: fc.array(text, { minLength: 1, maxLength: 3 }),
      'two numbers': fc.tuple(number, number).map((bounds) => bounds.join(',')),
      none: fc.constant(undefined),
    };
    const value = fc.oneof(text, number, fc.constant(absent), fc.anything({ maxDepth: 1 }));
    const pairs = (['string', 'numeric'] as const).flatMap((type) =>
      Object.entries(opposites[type]).map(([denying, denied]) => ({ type, denying, denied })),
    );
    for (const { type, denying, denied } of pairs) {
      const form = goalOperators[type][denying]!;
      expect(goalOperators[type][denied], denying).toBe(form);
      fc.assert(
        fc.property(wanted[form] as fc.Arbitrary<Attribute['value']>, value, (goalValue, found) => {
          const attribute = { name: 'a', type, ...(goalValue === undefined ? {} : { value: goalValue }) };
          expect(meets({ ...attribute, operator: denying }, found)).toBe(
            !meets({ ...attribute, operator: denied }, found),
          );
        }),
        { numRuns: propertyRuns(100) },
      );
    }
  });

  function meets(attribute: Attribute, value: unknown): boolean {
    const attributes = value === absent ? {} : { [attribute.name]: value };
    return matchGoal({ name: 'g', eventName: 'Bought', attribute }, { name: 'Bought', attributes });
  }

  /** The rows of the denying operators are those of the others, turned round. */
  function withOpposites(type: 'string' | 'numeric', rows: Row[]): [...Row, 'string' | 'numeric'][] {
    const turned = Object.entries(opposites[type]).flatMap(([denying, denied]) =>
      rows
        .filter(([operator]) => operator === denied)
        .map(([, wanted, holds, fails]): Row => [denying, wanted, fails, holds]),
    );
    return [...rows, ...turned].map((row) => [...row, type]);
  }
});
