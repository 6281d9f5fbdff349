import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { tooManyUsers } from '../../../src/domain/push.ts';
import { storedNames, userSource } from '../../../src/domain/template/personalise.ts';
import {
  attributesFault,
  customerIdFault,
  isListEdit,
  mergeAttributes,
  textFault,
  zoneAttributeFault,
} from '../../../src/domain/users/user-attributes.ts';
import {
  bucketCount,
  bucketOf,
  canonicalNumber,
  groupByBucket,
  identifierOf,
  identifiersOf,
  identityKindOf,
  isOfDevices,
  neutralName,
  toIdentifierValue,
} from '../../../src/domain/users/users.ts';

describe('identifiers', () => {
  describe('the names by which a push names its users (fact 3.2)', () => {
    test.each<[string, boolean, unknown]>([
      ['USER_ATTRIBUTE_UNIQUE_ID', false, { kind: 'customer-id' }],
      ['USER_ATTRIBUTE_USER_EMAIL', false, { kind: 'attribute', attribute: 'u_em' }],
      ['USER_ATTRIBUTE_USER_MOBILE', false, { kind: 'attribute', attribute: 'u_mb' }],
      ['SVC_GAID', false, { kind: 'attribute', attribute: 'device:gaid' }],
      ['ADVERTISING_IDENTIFIER', false, { kind: 'attribute', attribute: 'device:idfv' }],
      ['PUSH_ID', false, { kind: 'attribute', attribute: 'device:push_id' }],
      ['plan', false, undefined],
      ['plan', true, { kind: 'attribute', attribute: 'plan' }],
      ['PUSH_ID', true, { kind: 'attribute', attribute: 'PUSH_ID' }],
      ['uid', true, { kind: 'customer-id' }],
      ['uid', false, undefined],
    ])('%s (custom: %s) look up %j', (name, isCustom, found) => {
      expect(identifierOf(name, { isCustom })).toEqual(found);
    });

    test('store the advertising id under its neutral name, whatever the abbreviation', () => {
      const prefixes = ['acme', 'svc'];
      expect(
        ['ACME_GAID', 'SVC_GAID', 'acme_GAID', 'OTHER_GAID', 'plan'].map((name) => neutralName(name, prefixes)),
      ).toEqual(['SVC_GAID', 'SVC_GAID', 'acme_GAID', 'OTHER_GAID', 'plan']);
    });

    test('distinguish values of devices from a user’s own', () => {
      expect(['device:gaid', 'a device:', 'u_em'].map(isOfDevices)).toEqual([true, false, false]);
    });
  });

  describe('the values that identify a user (decision D24)', () => {
    test.each<[unknown, unknown]>([
      ['a', { type: 'string', value: 'a' }],
      ['e\u0301', { type: 'string', value: '\u00e9' }],
      ['x'.repeat(1_024), { type: 'string', value: 'x'.repeat(1_024) }],
      [`${'x'.repeat(1_023)}\u00e9`, undefined],
      // Shorter once it is normalised.
      [`${'x'.repeat(1_022)}e\u0301`, { type: 'string', value: `${'x'.repeat(1_022)}\u00e9` }],
      ['', undefined],
      [7, { type: 'double', value: '7' }],
      [-0, { type: 'double', value: '0' }],
      [1e21, { type: 'double', value: '1e+21' }],
      [Number.NaN, undefined],
      [Number.POSITIVE_INFINITY, undefined],
      [true, undefined],
      [null, undefined],
      [['a'], undefined],
    ])('store %j as %j', (value, stored) => {
      expect(toIdentifierValue(value)).toEqual(stored);
    });

    test('treat 7, 7.0 and 7e0 as one value', () => {
      expect(['7', '7.0', '7e0', '-0', '0.5'].map((text) => canonicalNumber(Number(text)))).toEqual([
        ...['7', '7', '7', '0', '0.5'],
      ]);
    });

    test('are texts and numbers among the attributes, no other types', () => {
      expect(identifiersOf({ email: 'a@b.example', age: 7, isMember: true, tags: ['a'], none: null })).toEqual([
        { attribute: 'email', type: 'string', value: 'a@b.example' },
        { attribute: 'age', type: 'double', value: '7' },
      ]);
    });
  });

  test('finds a user by customer id or by our own id, under both of its names (fact 5)', () => {
    const prefixes = ['acme', 'svc'];
    const kinds = ['customer_id', 'id', 'acme_id', 'svc_id', 'other_id', '_id', 'ID', ''];
    expect(kinds.map((type) => identityKindOf(type, prefixes))).toEqual([
      ...['customer-id', 'id', 'id', 'id', undefined, undefined, undefined, undefined],
    ]);
  });

  test('rejects a push to more than 100 named users (decision D32)', () => {
    expect(tooManyUsers).toEqual({ field: 'targetUserAttributes', reason: 'matches more than 100 users' });
  });

  test('reads only the attributes of the given name and its meaning in a lookup', () => {
    expect(storedNames(['First Name', 'plan', 'USER_ATTRIBUTE_USER_FIRST_NAME', 'plan'])).toEqual([
      ...['First Name', 'u_fn', 'plan', 'USER_ATTRIBUTE_USER_FIRST_NAME'],
    ]);
    expect(storedNames('all')).toBe('all');
  });

  test('uses the customer id of the user, whatever the attributes contain', () => {
    const { find } = userSource({ customerId: 'c-1', attributes: { uid: 'other', customer_id: 'other', ID: 'own' } });
    expect(['uid', 'customer_id', 'ID', 'USER_ATTRIBUTE_UNIQUE_ID'].map(find)).toEqual(['c-1', 'c-1', 'own', 'c-1']);
  });

  test('puts a user into the bucket of the first byte of the SHA-256 of the customer id', () => {
    for (const id of ['c-1', 'Zoë', '']) expect(bucketOf(id)).toBe(createHash('sha256').update(id).digest()[0]);
    expect(bucketCount).toBe(256);
  });

  test('locks rows of several buckets from the lowest bucket on, in their order within it', () => {
    const rows = [
      { bucket: 10, name: 'a' },
      { bucket: 9, name: 'b' },
      { bucket: 10, name: 'c' },
      { bucket: 100, name: 'd' },
    ];
    expect(groupByBucket(rows).map(([bucket, own]) => [bucket, own.map(({ name }) => name).join('')])).toEqual([
      [9, 'b'],
      [10, 'ac'],
      [100, 'd'],
    ]);
  });
});

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
