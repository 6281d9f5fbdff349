import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  bucketCount,
  bucketOf,
  groupByBucket,
  canonicalNumber,
  identifierOf,
  identifiersOf,
  isOfDevices,
  neutralName,
  toIdentifierValue,
  identityKindOf,
} from '../../../src/domain/users/users.ts';
import { tooManyUsers } from '../../../src/domain/push.ts';
import { storedNames, userSource } from '../../../src/domain/template/personalise.ts';

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
