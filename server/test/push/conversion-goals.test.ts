import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goalOperators } from '../../src/domain/campaigns/conversions.ts';
import { goodBody, makePushBundle } from './push-bundle.ts';
import type { PushBundle } from './push-bundle.ts';

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

  test('store every operator with an accepted value as it was sent', async () => {
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

  test('may be five, but not six', async () => {
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

  test.each(operators)('reject every value of $type $filter that is not a $form', async ({ type, filter, form }) => {
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
  ])('reject %s', async (_name, goals, message) => {
    bundle.clock.advance(1_000);
    await expectRefusal(goals, message);
  });
});
