import { describe, expect, test } from 'vitest';
import { prefixesOf, spellAbbreviation } from '../../src/domain/abbreviation.ts';
import { findUnstorable, isStorableText, toStorable, toStorableText } from '../../src/domain/storable-text.ts';
import { sumOf } from '../../src/domain/campaigns/figures.ts';

describe('text that PostgreSQL accepts', () => {
  test.each([
    ['plain é 😀', 'plain é 😀', true],
    ['a\0b\0', 'a\ufffdb\ufffd', false],
    ['a\ud800', 'a\ufffd', false],
    ['', '', true],
  ])('is stored for %j as %j', (text, kept, isStorable) => {
    expect(toStorableText(text)).toBe(kept);
    expect(isStorableText(text)).toBe(isStorable);
  });

  test('is made at every depth, including names; anything but a plain object stays unchanged', () => {
    const at = new Date(0);
    expect(toStorable({ 'a\0': ['\0', { b: 'x\ud800' }], n: null, i: 7, at })).toEqual({
      ...{ 'a\ufffd': ['\ufffd', { b: 'x\ufffd' }], n: null, i: 7, at },
    });
    expect(toStorable(at)).toBe(at);
    expect(toStorable(null)).toBeNull();
    expect(toStorable('\0')).toBe('\ufffd');
  });

  test.each<[unknown, string | undefined]>([
    ['ok', undefined],
    ['\0', ''],
    [{ a: { b: ['ok', '\0'] } }, 'a.b[1]'],
    [{ a: [{ b: '\ud800' }] }, 'a[0].b'],
    [[['\0']], '[0][0]'],
    [{ a: { 'b\0': 1 } }, 'a'],
    [{ 'b\0': 1 }, ''],
    [{ a: 1, b: null, c: true, d: { e: 'ok' } }, undefined],
    [null, undefined],
    [7, undefined],
  ])('reports for %j the first invalid path %j', (value, path) => {
    expect(findUnstorable(value)).toBe(path);
  });
});

test('spells names of headers and attributes with the installation’s abbreviation', () => {
  const words =
    'X-SVC-APPKEY, svc_push_opted, NOTIFICATION_CLICKED_SVC, SVC_GAID; SVC alone, svc, mysvc_x, XSVC-Y, x_SVCY';
  expect(spellAbbreviation(words, 'Acme')).toBe(
    'X-ACME-APPKEY, acme_push_opted, NOTIFICATION_CLICKED_ACME, ACME_GAID; SVC alone, svc, mysvc_x, XSVC-Y, x_SVCY',
  );
  expect(prefixesOf('Acme')).toEqual(['acme', 'svc']);
  expect(prefixesOf('SVC')).toEqual(['svc']);
});

test('returns 0 as the sum of no rows', () => {
  const rows = [1, 2.5].map((a) => ({ a, b: 9 }));
  expect(sumOf(rows, 'a')).toBe(3.5);
  expect(sumOf([], 'a')).toBe(0);
});
