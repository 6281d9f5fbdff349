import { describe, expect, expectTypeOf, test } from 'vitest';
import { choice, flag, list, part, plain, required, requiredText, whole } from '../../src/fields/combinators.ts';
import { readMembers, schemaOf } from '../../src/fields/field.ts';
import type { Infer } from '../../src/fields/field.ts';
import { makePushReader } from '../../src/http/push/push-reader.ts';

const fields = {
  name: requiredText({ max: 5, description: 'Shown in lists' }),
  colour: required(choice(['red', 'blue'])),
  seconds: whole(1, 9, 'Removed after this many seconds'),
  size: part({ wide: flag(), tag: plain({ maxLength: 4 }) }),
  days: list(whole(1, 31), { maxItems: 2 }),
};

function read(body: Record<string, unknown>, order: Parameters<typeof readMembers<typeof fields>>[2] = {}) {
  const reader = makePushReader(body, { mode: 'OFF', bodies: 'strict' });
  const values = readMembers(reader, fields, order);
  return { values, faults: reader.faults.map(({ field }) => field) };
}

describe('a record of fields', () => {
  test('has the type of the values it reads', () => {
    expectTypeOf<Infer<typeof fields>>().toEqualTypeOf<{
      name: string;
      colour: 'red' | 'blue';
      seconds?: number;
      size?: { wide?: boolean; tag?: string };
      days?: number[];
    }>();
  });

  test('reads its members, and leaves out those that were not sent', () => {
    const body = { colour: 'red', name: 'Sale', days: [1, 31], size: { tag: 'a' } };
    expect(read(body)).toEqual({ values: body, faults: [] });
    expect(Object.keys(read(body).values)).toEqual(['name', 'colour', 'size', 'days']);
  });

  test('has no value for a part without any of its members', () => {
    expect(read({ name: 'Sale', colour: 'red', size: {} }).values).toEqual({ name: 'Sale', colour: 'red' });
  });

  test('notes faults in the order of its members', () => {
    expect(read({ days: [0, 40], seconds: 10, size: { tag: 'large' } }).faults).toEqual([
      ...['name', 'colour', 'seconds', 'size.tag', 'days[0]', 'days[1]'],
    ]);
  });

  test('reads members that are checked together before all others', () => {
    const { faults } = read(
      { name: 'Sale', colour: 'red', seconds: 3, days: [] },
      {
        first: ['days', 'seconds'],
        check: (part, { days, seconds }) => seconds !== days?.length && part.invalid('seconds', 'differs from days'),
      },
    );
    expect(faults).toEqual(['seconds']);
  });

  test('describes an object in which only required members are required', () => {
    expect(JSON.parse(JSON.stringify(schemaOf(fields, { title: 'Sign' })))).toEqual({
      type: 'object',
      title: 'Sign',
      required: ['name', 'colour'],
      properties: {
        name: { type: 'string', description: 'Shown in lists' },
        colour: {
          anyOf: [
            { type: 'string', const: 'red' },
            { type: 'string', const: 'blue' },
          ],
        },
        seconds: { type: 'integer', minimum: 1, maximum: 9, description: 'Removed after this many seconds' },
        size: { type: 'object', properties: { wide: { type: 'boolean' }, tag: { type: 'string', maxLength: 4 } } },
        days: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 31 }, maxItems: 2 },
      },
    });
  });
});
