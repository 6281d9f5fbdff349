import { expect, test } from 'vitest';
import { addressFault } from '../../src/fields/request-reader.ts';

test.each([
  ['https://shop.example/17', true],
  ['https:shop.example', true],
  ['shop://17', true],
  ['Com.Example-Shop+2://order?id=1', true],
  [' shop://17', true],
  ['tel:+49301234', true],
  ['mailto:ada@example.com', true],
  ['shop.example:443', false],
  ['shop:17', false],
  ['shop://', false],
  ['order 17', false],
  ['//', false],
  ['//shop.example', false],
  ['', false],
  ['javascript:alert(1)', false],
  ['javascript://x/%0aalert(1)', false],
  ['java\nscript://x', false],
  ['JAVASCRIPT://x', false],
  ['data://text/html,x', false],
  ['file:///etc/passwd', false],
  ['content://media/1', false],
  ['intent://x#Intent;end', false],
])('a phone may be told to open %j: %s', (text, isTaken) => {
  expect(addressFault(text, 'web and apps')).toBe(
    isTaken ? undefined : 'must be a URL with https, http or the scheme of an app',
  );
});

test('what names its schemes takes no others', () => {
  expect(addressFault('https://shop.example/', ['https:'])).toBeUndefined();
  expect(addressFault('shop://17', ['https:', 'http:'])).toBe('must be a URL with https or http');
});
