import { describe, expect, test } from 'vitest';
import {
  goalOperators,
  goalValueFault,
  readTwoNumbers,
  revenueOf,
  windowHoursOf,
} from '../../../src/domain/campaigns/conversions.ts';

type Form = Parameters<typeof goalValueFault>[0];
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
    expect([revenueOf(goal, { price: 9.99 }), revenueOf(goal, { price: 0 }), revenueOf(goal, { price: -2 })]).toEqual([
      ...[9.99, 0, -2],
    ]);
    for (const price of ['9.99', Number.NaN, Number.NEGATIVE_INFINITY, null, true, [9], { value: 9 }])
      expect(revenueOf(goal, { price }), String(price)).toBeNull();
    expect([revenueOf(goal, { cost: 9.99 }), revenueOf({}, { price: 9.99 })]).toEqual([null, null]);
    expect(revenueOf({ revenue: { attribute: 'toString' } }, {})).toBeNull();
  });
});
