import { expect, test } from 'vitest';
import { readBasic } from '../../src/http/route/auth.ts';

const encode = (text: string | Buffer) => Buffer.from(text as string).toString('base64');

test.each<[string, string, { username: string; password: string }]>([
  ['a pair', `Basic ${encode('WS1:key')}`, { username: 'WS1', password: 'key' }],
  ['RFC 7617 §2', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', { username: 'Aladdin', password: 'open sesame' }],
  ['RFC 7617 §2.1, UTF-8', 'Basic dGVzdDoxMjPCow==', { username: 'test', password: '123£' }],
  ['the scheme in any spelling', `bASIC ${encode('a:b')}`, { username: 'a', password: 'b' }],
  ['a colon in the password', `Basic ${encode('a:b:c')}`, { username: 'a', password: 'b:c' }],
  ['empty parts', `Basic ${encode(':')}`, { username: '', password: '' }],
])('%s is read', (_name, authorization, credentials) => {
  expect(readBasic({ authorization })).toEqual(credentials);
});

test.each<[string, string | undefined]>([
  ['no header', undefined],
  ['another scheme', `Bearer ${encode('a:b')}`],
  ['no credentials', 'Basic'],
  ['nothing after the scheme', 'Basic '],
  ['no colon', `Basic ${encode('ab')}`],
  ['base64url', `Basic ${encode('??>>:~~~').replaceAll('/', '_').replaceAll('+', '-')}`],
  ['missing padding', `Basic ${encode('a:bc').replaceAll('=', '')}`],
  ['two values', `Basic ${encode('a:b')} ${encode('a:b')}`],
  ['plain text', 'Basic WS1:key'],
  ['bytes that are not UTF-8', `Basic ${encode(Buffer.from([0x61, 0x3a, 0xff]))}`],
])('%s is no credentials', (_name, authorization) => {
  expect(readBasic(authorization === undefined ? {} : { authorization })).toBeUndefined();
});
