import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goalOperators } from '../../src/domain/campaigns/conversion-goal.ts';
import type { ConversionGoal } from '../../src/domain/campaigns/conversion-goal.ts';
import { matchGoal } from '../../src/domain/campaigns/match-goal.ts';
import { goodBody, makePushBundle } from '../push/push-bundle.ts';
import type { PushBundle } from '../push/push-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

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
  test.each(table)('%s %j', (...[operator, wanted, holds, fails, type]) => {
    const attribute = { name: 'a', type, operator, ...(wanted === undefined ? {} : { value: wanted }) };
    expect(holds.filter((value) => !meets(attribute, value))).toEqual([]);
    expect(fails.filter((value) => meets(attribute, value))).toEqual([]);
  });

  test('the table has every operator, and no other is met', () => {
    for (const type of ['string', 'numeric'] as const) {
      const tested = new Set(table.filter((row) => row[4] === type).map(([operator]) => operator));
      expect([...tested].sort()).toEqual(Object.keys(goalOperators[type]).sort());
      for (const operator of ['IS', '', 'is like', 'toString', '__proto__', 'constructor'])
        expect(meets({ name: 'a', type, operator, value: 'x' }, 'x'), operator).toBe(false);
    }
  });

  test('an operator of the other type is met by nothing', () => {
    expect(meets({ name: 'a', type: 'numeric', operator: 'contains', value: '5' }, 5)).toBe(false);
    expect(meets({ name: 'a', type: 'string', operator: 'is greater than', value: 5 }, '6')).toBe(false);
  });

  test('NaN and infinite numbers count as missing', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(meets({ name: 'a', type: 'numeric', operator: 'exists' }, value)).toBe(false);
      expect(meets({ name: 'a', type: 'numeric', operator: 'is greater than', value: 1 }, value)).toBe(false);
    }
  });
});

describe('events', () => {
  const event = { name: 'Bought', attributes: { price: 5 } };

  test('a goal without an attribute is met by every event of its name, exactly', () => {
    expect(matchGoal({ name: 'g', eventName: 'Bought' }, event)).toBe(true);
    for (const eventName of ['bought', 'Bought ', 'Buy', ''])
      expect(matchGoal({ name: 'g', eventName }, event), eventName).toBe(false);
  });

  test('an event of another name fulfils no operator, not even a negative one', () => {
    const attribute: Attribute = { name: 'price', type: 'string', operator: 'does not exist' };
    expect(matchGoal({ name: 'g', eventName: 'Bought', attribute }, event)).toBe(true);
    expect(matchGoal({ name: 'g', eventName: 'Sold', attribute }, event)).toBe(false);
  });

  test('only own attributes are read, in their own case', () => {
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

test('each operator that denies is the exact opposite, whatever the event', () => {
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

describe('goals of a push (v2.1)', () => {
  let bundle: PushBundle;
  let names = 0;
  beforeAll(async () => {
    bundle = await makePushBundle();
  });
  afterAll(() => bundle.end());

  const send = (conversionGoals: unknown) =>
    bundle.send(goodBody({ campaignName: `Campaign with goals ${(names += 1)}`, conversionGoals }));
  const withAttrs = (attrs: unknown) => [{ name: 'g', eventName: 'e', attrs }];
  // No text of a request may hold it, wherever it stands.
  const undecodable = 'The request body could not be decoded.';
  const parsing = (rest: string): string => `Error parsing parameters: conversionGoals${rest}`;
  const notAllowed = (rest: string): string => `Key not of Type List or Value not allowed: conversionGoals${rest}`;

  async function expectRefusal(goals: unknown, message: string): Promise<void> {
    const before = await bundle.countRows();
    const answer = await send(goals);
    expect({ status: answer.statusCode, ...answer.json() }).toEqual({
      status: 'Fail',
      requestId: '',
      responseId: expect.any(String),
      Error_Message: message,
    });
    expect(await bundle.countRows(), 'nothing is stored').toEqual(before);
  }

  test('every operator with a value it takes is stored as it came', async () => {
    const values = {
      text: 'x',
      'part of a text': 'x',
      number: '-1.5',
      texts: ['x', ''],
      'two numbers': '5,-1.5',
      none: undefined,
    };
    const attributes = (['string', 'numeric'] as const).flatMap((type) =>
      Object.entries(goalOperators[type]).map(([filter, form]) => ({ name: 'a', type, filter, value: values[form] })),
    );
    for (const { filter, type, value } of attributes) {
      const answer = await send(withAttrs({ name: 'a', type, filter, value }));
      expect(answer.json(), filter).toMatchObject({ status: 'Success' });
      const [row] = await bundle.database`select conversion_goals from campaigns where id = ${answer.json().cid}`;
      expect(row!.conversion_goals).toEqual([
        {
          name: 'g',
          eventName: 'e',
          attribute: { name: 'a', type, operator: filter, ...(value === undefined ? {} : { value }) },
        },
      ]);
    }
  });

  test('five goals are taken, six are not', async () => {
    const goals = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `g${index}`, eventName: 'e' }));
    expect((await send(goals(5))).json()).toMatchObject({ status: 'Success' });
    await expectRefusal(goals(6), parsing(': must have at most 5 items'));
  });

  const long = 'x'.repeat(1_025);
  const wrongValues: Record<string, [reason: string, values: unknown[]]> = {
    text: ['must be a text', [undefined, null, true, ['x'], {}]],
    'part of a text': ['must be a text', [undefined, null, true, ['x'], {}]],
    number: ['must be a number', [undefined, null, true, '', ' ', 'x', '0x1f', '1,5', '1e999', 'Infinity', [5], {}]],
    texts: ['must be a list of texts', [undefined, null, 'x', 5, [], [5], ['x', null], [['x']], {}]],
    'two numbers': [
      'must be two numbers separated by a comma',
      [undefined, null, 5, '', '1', '1,', ',1', ',', '1,2,3', '1;2', 'a,b', '1,0x2', '1,1e999', '1,5,', [1, 5], {}],
    ],
    none: ['must be omitted for this filter', ['', 'x', 0, false, null, []]],
  };
  const operators = (['string', 'numeric'] as const).flatMap((type) =>
    Object.entries(goalOperators[type]).map(([filter, form]) => ({ type, filter, form })),
  );

  test.each(operators)('$type $filter refuses every value that is no $form', async ({ type, filter, form }) => {
    const [reason, values] = wrongValues[form]!;
    for (const value of values) {
      bundle.clock.advance(1_000);
      await expectRefusal(withAttrs({ name: 'a', type, filter, value }), parsing(`[0].attrs.value: ${reason}`));
    }
  });

  test.each([
    ['no object', ['x'], parsing('[0]: must be an object')],
    ['no name', [{ eventName: 'e' }], parsing('[0].name: is required')],
    ['no event', [{ name: 'g', eventName: '' }], parsing('[0].eventName: is required')],
    ['an event of no text', [{ name: 'g', eventName: 5 }], parsing('[0].eventName: must be a text')],
    [
      'a long event',
      [{ name: 'g', eventName: 'e'.repeat(257) }],
      parsing('[0].eventName: must have at most 256 characters'),
    ],
    ['a NUL in the name', [{ name: 'g\0', eventName: 'e' }], undecodable],
    ['a NUL in the event', [{ name: 'g', eventName: '\0' }], undecodable],
    ['attrs of no object', withAttrs('x'), parsing('[0].attrs: must be an object')],
    ['no attribute', withAttrs({ type: 'string', filter: 'exists' }), parsing('[0].attrs.name: is required')],
    ['no filter', withAttrs({ name: 'a', type: 'string', value: 'x' }), parsing('[0].attrs.filter: is required')],
    ['no type', withAttrs({ name: 'a', filter: 'is', value: 'x' }), parsing('[0].attrs.type: is required')],
    ['another type', withAttrs({ name: 'a', type: 'date', filter: 'is', value: 'x' }), notAllowed('[0].attrs.type')],
    [
      'another case',
      withAttrs({ name: 'a', type: 'string', filter: 'Is', value: 'x' }),
      notAllowed('[0].attrs.filter'),
    ],
    [
      'an operator of the other type',
      withAttrs({ name: 'a', type: 'numeric', filter: 'contains', value: '5' }),
      notAllowed('[0].attrs.filter'),
    ],
    [
      'an empty part',
      withAttrs({ name: 'a', type: 'string', filter: 'contains', value: '' }),
      parsing('[0].attrs.value: must not be empty'),
    ],
    [
      'a long text',
      withAttrs({ name: 'a', type: 'string', filter: 'is', value: long }),
      parsing('[0].attrs.value: must have at most 1024 characters'),
    ],
    [
      'a long text in a list',
      withAttrs({ name: 'a', type: 'string', filter: 'in the following', value: ['x', long] }),
      parsing('[0].attrs.value: must have at most 1024 characters'),
    ],
    ['a NUL in a value', withAttrs({ name: 'a', type: 'string', filter: 'is', value: 'a\0b' }), undecodable],
    [
      'half a letter',
      withAttrs({ name: 'a', type: 'string', filter: 'ends with', value: '\ud83c' }),
      parsing('[0].attrs.value: must be well-formed Unicode'),
    ],
    [
      'a list of 1,001',
      withAttrs({
        name: 'a',
        type: 'string',
        filter: 'in the following',
        value: Array.from({ length: 1_001 }, String),
      }),
      parsing('[0].attrs.value: must have at most 1000 items'),
    ],
    [
      'a fault of the second goal',
      [{ name: 'g', eventName: 'e' }, { name: 'h' }],
      parsing('[1].eventName: is required'),
    ],
  ])('%s is refused', async (_name, goals, message) => {
    bundle.clock.advance(1_000);
    await expectRefusal(goals, message);
  });
});
