import { describe, expect, test } from 'vitest';
import {
  attributesFault,
  customerIdFault,
  isListEdit,
  mergeAttributes,
  textFault,
  zoneAttributeFault,
} from '../../../src/domain/users/user-attributes.ts';

describe('customer ids', () => {
  // The list of fact 5, word by word.
  test.each([
    ...['unknown', 'guest', 'null', '0', '1', '2', '-1', '-2', 'true', 'false', '(empty)', 'na', 'n/a', 'none'],
    ...['user_id', 'id', 'uid', 'userid', 'customer_id', 'user_attribute_unique_id', 'dummy_seller_code', ''],
    ...['Guest', ' NULL ', '  '],
  ])('may not be %j, which stands for no user', (id) => {
    expect(customerIdFault(id)).toBe('is a reserved value');
  });

  test('are otherwise accepted as written, up to 512 bytes', () => {
    for (const id of ['3', '00', 'guest1', 'Zoë', 'é'.repeat(256)]) expect(customerIdFault(id)).toBeUndefined();
    expect(customerIdFault(`${'é'.repeat(256)}x`)).toBe('must have at most 512 bytes');
    expect(customerIdFault('a\0b')).toBe('must not hold NUL');
    expect(customerIdFault('\ud800')).toBe('must be well-formed Unicode');
  });
});

describe('attributes', () => {
  const fault = (attributes: Record<string, unknown>) => attributesFault(attributes, ['acme', 'svc']);

  test.each(['', 'id', '_id', 'device:push_id', 'svc_sum', 'acme_x', 'svc_', 'svc_gaid_x', 'svc_push_opted'])(
    'may not have the reserved name %j (fact 5)',
    (attribute) => {
      expect(fault({ good: 1, [attribute]: 'x' })).toEqual({ attribute, reason: 'is a reserved name' });
    },
  );

  test('may have any other name, including the vendor’s standard ones', () => {
    const names = [
      'uid',
      'ids',
      'device',
      'a device:',
      'svc',
      'svcx',
      'my_svc_x',
      'svc_gaid',
      'acme_gaid',
      'svc_sub_w',
    ];
    expect(fault(Object.fromEntries(names.map((name) => [name, 'x'])))).toBeUndefined();
    expect(fault({ ['x'.repeat(256)]: 1 })).toBeUndefined();
  });

  test('are reported by the beginning of a name of more than 256 characters', () => {
    expect(fault({ ['x'.repeat(257)]: 1 })).toEqual({
      ...{ attribute: 'x'.repeat(50), reason: 'must have at most 256 characters' },
    });
  });

  test.each<[unknown, string | undefined]>([
    ['text', undefined],
    [true, undefined],
    [null, undefined],
    [-1.5e300, undefined],
    [{ a: [1, { b: 'x' }], c: null }, undefined],
    ['a\0', 'must not hold NUL'],
    ['\udc00', 'must be well-formed Unicode'],
    [Number.POSITIVE_INFINITY, 'must be a number that a double can hold'],
    [[1, { a: ['x', Number.NEGATIVE_INFINITY] }], 'must be a number that a double can hold'],
    [{ a: { 'b\0': 1 } }, 'must not hold NUL'],
    [{ a: 'x', b: ['\ud800'] }, 'must be well-formed Unicode'],
  ])('accept or reject the value %j: %s', (value, reason) => {
    expect(fault({ first: 1, value })).toEqual(reason === undefined ? undefined : { attribute: 'value', reason });
  });

  test('may not have a name that cannot be stored as a value', () => {
    expect(fault({ 'a\0': 1 })).toEqual({ attribute: 'a\0', reason: 'must not hold NUL' });
    expect(textFault('a')).toBeUndefined();
  });

  test.each<[Record<string, unknown>, string | undefined]>([
    [{}, undefined],
    [{ other: 'Mars' }, undefined],
    [{ zone: null }, undefined],
    [{ zone: ' ' }, undefined],
    [{ zone: 'Europe/Zurich' }, undefined],
    [{ zone: 'Asia/Calcutta' }, undefined],
    [{ zone: 'Mars/Base' }, 'is not a time-zone name: Mars/Base'],
    [{ zone: 'x'.repeat(60) }, `is not a time-zone name: ${'x'.repeat(50)}`],
    [{ zone: 7 }, 'is not a time-zone name'],
    [{ zone: ['Europe/Zurich'] }, 'is not a time-zone name'],
  ])('accept a time zone by name, or blank: %j', (attributes, reason) => {
    expect(zoneAttributeFault(attributes, 'zone')).toEqual(
      reason === undefined ? undefined : { attribute: 'zone', reason },
    );
  });
});

describe('a change of attributes (fact 5)', () => {
  const add = (value: unknown) => ({ addValueToArrayField: value });
  const remove = (value: unknown) => ({ removeValueFromArrayField: value });

  test('replaces a value, removes null, and keeps the rest', () => {
    const current = { a: 1, b: [1], c: 'x' };
    expect(mergeAttributes(current, { a: null, b: 2, d: { e: 1 } })).toEqual({ b: 2, c: 'x', d: { e: 1 } });
    expect(mergeAttributes({}, { gone: null })).toEqual({});
    expect(current).toEqual({ a: 1, b: [1], c: 'x' });
  });

  test.each<[current: unknown, change: unknown, edited: unknown]>([
    [['a'], add(['b', 'a', 'b']), ['a', 'b']],
    [['a', 'a'], add('b'), ['a', 'a', 'b']],
    [undefined, add(['a', 'a']), ['a']],
    ['a', add('b'), ['a', 'b']],
    [['a', 'b', 'a'], remove(['a', 'c']), ['b']],
    [undefined, remove('a'), []],
    [['a', 'b'], { ...remove('a'), ...add('c') }, ['b', 'c']],
    [['a'], { ...remove('a'), ...add('a') }, ['a']],
    [['1'], add([1, null]), ['1', 1, null]],
    [[{ a: 1, b: [1, 2] }], add({ b: [1, 2], a: 1 }), [{ a: 1, b: [1, 2] }]],
    [
      [{ a: 1, b: [1, 2] }],
      add({ b: [2, 1], a: 1 }),
      [
        { a: 1, b: [1, 2] },
        { b: [2, 1], a: 1 },
      ],
    ],
    [[{ a: 1, b: { d: 1, c: 2 } }], remove({ b: { c: 2, d: 1 }, a: 1 }), []],
    [[null, 'x'], remove([null]), ['x']],
  ])('changes the list %j with %j to %j', (current, change, edited) => {
    expect(mergeAttributes(current === undefined ? {} : { list: current }, { list: change })).toEqual({ list: edited });
  });

  test.each<[unknown, boolean]>([
    [add('a'), true],
    [remove('a'), true],
    [{ ...add('a'), ...remove('b') }, true],
    [{ ...add('a'), other: 1 }, false],
    [{}, false],
    [[], false],
    [null, false],
    ['addValueToArrayField', false],
    [undefined, false],
  ])('treats %j as a list edit: %s; an object with another member is a value', (change, isEdit) => {
    expect(isListEdit(change)).toBe(isEdit);
    if (!isEdit && change !== null) expect(mergeAttributes({ a: ['x'] }, { a: change })).toEqual({ a: change });
  });
});
