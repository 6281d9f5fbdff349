import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  checked,
  enumeration,
  list,
  mapped,
  passing,
  sentObject,
  text,
  wholeFrom,
} from '../../src/fields/combinators.ts';
import type { Field } from '../../src/fields/field.ts';
import { RequestReader } from '../../src/fields/request-reader.ts';
import type { ReadingRules } from '../../src/fields/reading-rules.ts';
import { makeOwnReader } from '../../src/http/route/own-dialect.ts';

type Rules = Partial<ReadingRules>;

/** Reads a member `m` with this value by the rules of routes outside the contract. */
function read(field: Field<unknown>, value: unknown, rules: Rules = {}) {
  const { rules: own } = makeOwnReader({});
  const reader = new RequestReader({ m: value }, { rules: { ...own, ...rules } });
  const found = field.read(reader, 'm');
  return { value: found, faults: reader.faults.map(({ field: name, reason }) => `${name} ${reason}`) };
}

const accepted = (value: unknown) => ({ value, faults: [] });
const rejected = (...reasons: string[]) => ({ value: undefined, faults: reasons.map((reason) => `m ${reason}`) });
const documented = ({ schema }: Field<unknown>): unknown => JSON.parse(JSON.stringify(schema));

describe('wholeFrom', () => {
  const seconds = wholeFrom(1, { max: 9, description: 'Seconds' });

  test('enforces a maximum that it does not document', () => {
    expect(documented(seconds)).toEqual({ type: 'integer', minimum: 1, description: 'Seconds' });
    expect(read(seconds, 9)).toEqual(accepted(9));
    expect(read(seconds, 10)).toEqual(rejected('must be a whole number from 1 to 9'));
  });
});

describe('enumeration', () => {
  test('is documented as an enum of one type', () => {
    expect(documented(enumeration(['red', 'blue'], 'Colour'))).toEqual({
      ...{ type: 'string', enum: ['red', 'blue'], description: 'Colour' },
    });
    expect(documented(enumeration([5, 10]))).toEqual({ type: 'integer', enum: [5, 10] });
  });

  test('accepts its values alone', () => {
    expect(read(enumeration([5, 10]), 10)).toEqual(accepted(10));
    for (const value of ['10', 7, true]) expect(read(enumeration([5, 10]), value)).toEqual(rejected('must be 5 or 10'));
  });
});

describe('passing', () => {
  const even = passing(text({ description: 'A word' }), {
    is: (value): value is string => typeof value === 'string' && value.length % 2 === 0,
    reason: 'must be an even word',
  });

  test('has one fault for all values that fail the check, whatever their kind', () => {
    for (const value of ['odd', 7, [], {}]) expect(read(even, value)).toEqual(rejected('must be an even word'));
    expect(read(even, 'even')).toEqual(accepted('even'));
  });

  test('has no fault for an absent member', () => {
    expect(read(even, undefined)).toEqual(accepted(undefined));
  });

  test('is documented as the field it is given', () => {
    expect(documented(even)).toEqual({ type: 'string', description: 'A word' });
  });
});

describe('checked', () => {
  const short = checked(text({ max: 4 }), { is: (value) => value !== 'no', reason: 'must not be no' });

  test('checks what the field has read, and keeps the faults of the field', () => {
    expect(read(short, 'yes')).toEqual(accepted('yes'));
    expect(read(short, 'no')).toEqual(rejected('must not be no'));
    expect(read(short, 'nobody')).toEqual(rejected('must have at most 4 characters'));
    expect(read(short, undefined)).toEqual(accepted(undefined));
  });
});

describe('mapped', () => {
  const count = mapped(list(text(), { maxItems: 2 }), (items) => items.length);

  test('converts a valid value alone', () => {
    expect(read(count, ['a', 'b'])).toEqual(accepted(2));
    expect(read(count, undefined)).toEqual(accepted(undefined));
    expect(documented(count)).toEqual({ type: 'array', items: { type: 'string' }, maxItems: 2 });
  });
});

describe('sentObject', () => {
  const state = sentObject(Type.Object({}, { additionalProperties: true }));

  test('keeps an object as it was sent', () => {
    expect(read(state, { a: { b: [null, ''] } })).toEqual(accepted({ a: { b: [null, ''] } }));
    for (const value of [[], 'text', 7]) expect(read(state, value)).toEqual(rejected('must be an object'));
  });
});

describe('notTextFault', () => {
  test('words the fault of a value that is not a text', () => {
    const rules: Rules = { notTextFault: (max) => `must be one of at most ${max}` };
    expect(read(text({ max: 3 }), 7, rules)).toEqual(rejected('must be one of at most 3'));
    expect(read(text({ max: 3 }), 7)).toEqual(rejected('must be a text'));
  });
});
