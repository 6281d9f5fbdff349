import { expect, test } from 'vitest';
import { isDataPrefix, isPushFrom, settlePayload } from '../../../src/domain/content/content.ts';

const long = (count: number): string => 'a'.repeat(count);

test.each([
  ['demo', true],
  ['Shop_1.live-EU', true],
  ['7', true],
  [long(64), true],
  [long(65), false],
  ['', false],
  ['a b', false],
  [' demo', false],
  ['demo\n', false],
  ['dém', false],
  ['a/b', false],
])('accepts or rejects %j as a sender: %s', (text, is) => expect(isPushFrom(text)).toBe(is));

test.each([
  ['svc', true],
  ['a', true],
  ['acme2', true],
  [long(16), true],
  [long(17), false],
  ['', false],
  ['2acme', false],
  ['Acme', false],
  ['ac_me', false],
  [' acme', false],
  ['acme ', false],
  // Keys of FCM, and of the message itself.
  ['gcm', false],
  ['google', false],
  ['kv', false],
  ['kvs', true],
])('accepts or rejects %j as a prefix of keys: %s', (text, is) => expect(isDataPrefix(text)).toBe(is));

test('uses the defaults of the installation for missing workspace settings', () => {
  const own = { mode: 'both' as const, pushFrom: 'shop', dataPrefix: 'acme' };
  const rest = { mode: 'both', pushFrom: 'shop' };
  const defaults = { dataPrefix: 'svc', publicUrl: 'https://push.example' };
  const reportUrl = 'https://push.example/v1/interactions';
  expect(settlePayload(own, defaults)).toStrictEqual({ ...rest, dataPrefix: 'acme', reportUrl });
  expect(settlePayload({ ...own, dataPrefix: null }, defaults)).toStrictEqual({
    ...rest,
    dataPrefix: 'svc',
    reportUrl,
  });
});

test('sends no report URL to a phone if the installation does not know its own URL', () => {
  const own = { mode: 'data' as const, pushFrom: 'shop', dataPrefix: null };
  expect(settlePayload(own, { dataPrefix: 'svc', publicUrl: undefined })).toStrictEqual({ ...own, dataPrefix: 'svc' });
});
