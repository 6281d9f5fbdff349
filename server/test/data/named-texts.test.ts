import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNames, pathWithoutNames, spellingsOf } from '../../src/domain/users/named-texts.ts';

const call = (given: object) => ({
  path: '/v1/event/W',
  errorDetail: null,
  warnings: [],
  requestBody: null,
  responseBody: null,
  ...given,
});
const find = (given: object, ...names: string[]) => [...findNames(call(given), new Set(names))];

describe('names in the API log', () => {
  test('finds a name in each text of a call', () => {
    const name = 'ada@example.com';
    for (const given of [
      { path: `/v1/customer/${encodeURIComponent(name)}/devices` },
      { path: `/v1/customer?email=${name}` },
      { errorDetail: `No user has the id ${name}.` },
      { errorDetail: `"${name}" is unknown` },
      { warnings: ['other', `elements: ${name} (2)`] },
      { requestBody: JSON.stringify({ customer_id: name }) },
      { responseBody: JSON.stringify({ users: [[{ email: name }]] }) },
      { requestBody: `customer_id=${name}&attribute=1` },
    ])
      expect([given, find(given, name)]).toEqual([given, [name]]);
  });

  test('finds a number that is sent as an id, and not one that is sent as something else', () => {
    expect(find({ requestBody: '{"customer_id": 7}' }, '7')).toEqual(['7']);
    expect(find({ requestBody: '{"identity_value":7}' }, '7')).toEqual(['7']);
    expect(find({ requestBody: '{"customer_id":"7"}' }, '7')).toEqual(['7']);
    expect(find({ requestBody: '{"badge":7,"share":0.7}' }, '7')).toEqual([]);
    expect(find({ requestBody: '{"customer_id":77}' }, '7')).toEqual([]);
    expect(find({ requestBody: '{"badge":918765432100}' }, '918765432100')).toEqual(['918765432100']);
  });

  test('does not take a part of a longer text for a name', () => {
    expect(find({ requestBody: '{"customer_id":"adam"}', path: '/v1/customer/adam' }, 'ada')).toEqual([]);
  });

  test('finds a token whose end was cut off', () => {
    expect(find({ requestBody: '{"push_id":"token:of-the-pho' }, 'token:of-the-phone')).toEqual(['token:of-the-phone']);
    expect(find({ requestBody: '{"push_id":"token:of-the-phone","x":"tok' }, 'other')).toEqual([]);
    expect(find({ requestBody: '{"a":"b","push_id":"say \\"hel\\' }, 'say "hello"')).toEqual(['say "hello"']);
  });

  test('finds a subscription by its endpoint, as object and as text', () => {
    const endpoint = 'https://push.example/abc';
    const stored = JSON.stringify({ endpoint, keys: { auth: 'x', p256dh: 'y' } });
    const names = spellingsOf(stored);
    expect(names).toEqual([stored, endpoint]);
    expect(find({ requestBody: JSON.stringify({ push_id: { keys: {}, endpoint } }) }, ...names)).toEqual([endpoint]);
    expect(find({ requestBody: JSON.stringify({ push_id: stored }) }, ...names)).toEqual([stored, endpoint]);
    expect(find({ requestBody: JSON.stringify({ push_id: JSON.stringify({ endpoint, more: 1 }) }) }, ...names)).toEqual(
      [endpoint],
    );
    expect(spellingsOf('{no json')).toEqual(['{no json']);
  });

  test('finds any text that is a value of a body', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), (name, other) => {
        expect(find({ requestBody: JSON.stringify({ other, deep: [{ name }] }) }, name)).toEqual([name]);
      }),
    );
  });

  test('replaces the parts of a path that are names', () => {
    expect(pathWithoutNames('/v1/users/a%40b.com/x?id=a%40b.com&n=%', new Set(['a@b.com']))).toBe(
      '/v1/users/[erased]/x?id=[erased]&n=%',
    );
  });
});
