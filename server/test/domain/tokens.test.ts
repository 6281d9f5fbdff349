import { expect, test } from 'vitest';
import { dataCenterOfHost } from '../../src/domain/access/data-centers.ts';
import {
  stateOfToken,
  hashesEqual,
  hashSecret,
  isSecret,
  makeSecret,
  secretPrefixes,
  limitSubject,
} from '../../src/domain/access/keys.ts';
import type { SecretKind } from '../../src/domain/access/keys.ts';

const kinds = Object.keys(secretPrefixes) as SecretKind[];

test('assigns a secret to exactly one kind', () => {
  for (const kind of kinds) {
    const secret = makeSecret(kind);
    expect(secret).toHaveLength(47);
    expect(kinds.filter((candidate) => isSecret(candidate, secret))).toEqual([kind]);
    expect(isSecret(kind, `${secret}A`)).toBe(false);
    expect(isSecret(kind, `${secret.slice(0, -1)}\n`)).toBe(false);
  }
  expect(new Set(Object.values(secretPrefixes)).size).toBe(kinds.length);
});

test('never matches a missing hash, not even with the zeros it is compared with', () => {
  const hash = hashSecret('x');
  expect(hashesEqual(hash, hashSecret('x'))).toBe(true);
  expect(hashesEqual(hash, hashSecret('y'))).toBe(false);
  expect(hashesEqual(undefined, Buffer.alloc(32))).toBe(false);
});

test('separates the parts of a limit subject', () => {
  expect(limitSubject(['a', 'bc'])).not.toEqual(limitSubject(['ab', 'c']));
  expect(limitSubject(['a,b'])).not.toEqual(limitSubject(['a', 'b']));
  expect(limitSubject(['\ud800'])).toHaveLength(32);
});

test.each([
  ['oauth2-01.push.example', '01'],
  ['API-101.Push.Example', '101'],
  ['pushapi-06.push.example', '06'],
  ['oauth2-07.push.example', undefined],
  ['oauth2-1.push.example', undefined],
  ['sdk-01.push.example', undefined],
  ['oauth2-01.push.example.evil.test', undefined],
  ['oauth2-01.pushxexample', undefined],
  ['oauth2-01.a.push.example', undefined],
  ['localhost', undefined],
])('maps the host %s to the data center %s (decision D1)', (host, dataCenter) => {
  expect(dataCenterOfHost(host, 'push.example')).toBe(dataCenter);
  expect(dataCenterOfHost(host, undefined)).toBeUndefined();
});

const expiresAt = new Date('2026-03-01T12:00:00Z');
const token = { expiresAt, revokedAt: null, keyGeneration: 2 };
const key = { archivedAt: null, generation: 2 };
const day = 24 * 60 * 60 * 1000;

type Row = { name: string; token?: object; key?: object; milliseconds: number; state: string };

test.each<Row>([
  { name: 'before its expiry', milliseconds: -1, state: 'live' },
  { name: 'at its expiry', milliseconds: 0, state: 'expired' },
  { name: 'within 24 hours', milliseconds: day - 1, state: 'expired' },
  { name: 'after 24 hours', milliseconds: day, state: 'invalid' },
  { name: 'revoked', token: { revokedAt: expiresAt }, milliseconds: -1, state: 'invalid' },
  { name: 'revoked and expired', token: { revokedAt: expiresAt }, milliseconds: 1, state: 'invalid' },
  { name: 'of an archived key', key: { archivedAt: expiresAt }, milliseconds: -1, state: 'invalid' },
  { name: 'of an older secret', key: { generation: 3 }, milliseconds: -1, state: 'invalid' },
])('reports a token $name as $state (decision D13, D14)', (row) => {
  const at = new Date(expiresAt.getTime() + row.milliseconds);
  expect(stateOfToken({ ...token, ...row.token }, { ...key, ...row.key }, at)).toBe(row.state);
});
