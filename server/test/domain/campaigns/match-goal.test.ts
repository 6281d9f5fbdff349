import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { goalOperators, matchGoal } from '../../../src/domain/campaigns/conversions.ts';
import type { ConversionGoal } from '../../../src/domain/campaigns/conversions.ts';
import { propertyRuns } from '../../property-runs.ts';

type Attribute = NonNullable<ConversionGoal['attribute']>;

const absent = Symbol('absent');
const composed = 'Z\u00fcrich';
const decomposed = 'Zu\u0308rich';

function meets(attribute: Attribute, value: unknown): boolean {
  const attributes = value === absent ? {} : { [attribute.name]: value };
  return matchGoal({ name: 'g', eventName: 'Bought', attribute }, { name: 'Bought', attributes });
}

/** What an operator is tested for: a value of the goal, those of events that meet it, and those that do not. */
type Row = [operator: string, wanted: Attribute['value'], holds: unknown[], fails: unknown[]];

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

/** The rows of the denying operators are those of the others, turned round. */
function withOpposites(type: 'string' | 'numeric', rows: Row[]): [...Row, 'string' | 'numeric'][] {
  const turned = Object.entries(opposites[type]).flatMap(([denying, denied]) =>
    rows
      .filter(([operator]) => operator === denied)
      .map(([, wanted, holds, fails]): Row => [denying, wanted, fails, holds]),
  );
  return [...rows, ...turned].map((row) => [...row, type]);
}

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
