import { describe, expect, test } from 'vitest';
import { prefixesOf, spellAbbreviation } from '../../src/domain/abbreviation.ts';
import { sumOf } from '../../src/domain/campaigns/figures.ts';
import { ServiceError } from '../../src/domain/errors.ts';
import { parseFaults } from '../../src/domain/sandbox/faults.ts';
import { findUnstorable, isStorableText, toStorable, toStorableText } from '../../src/domain/storable-text.ts';
import { nextOccurrences } from '../../src/domain/timing/occurrences.ts';
import { unknownCase } from '../../src/domain/unknown-case.ts';
import { parseDeviceAttributes } from '../../src/domain/users/device-attributes.ts';
import { identifierOf } from '../../src/domain/users/users.ts';
import { readRepositoryFiles } from '../repository-files.ts';

describe('service error', () => {
  test('names the field and the reason in the public text, and nothing private', () => {
    const error = new ServiceError('PUSH_PARAMETER_INVALID', {
      field: 'a',
      reason: 'must be a text',
      detail: 'secret',
    });
    expect([error.name, error.code, error.message]).toEqual([
      ...['ServiceError', 'PUSH_PARAMETER_INVALID', 'Error parsing parameters: a: must be a text'],
    ]);
    expect(error.context.detail).toBe('secret');
    expect(new ServiceError('PUSH_PARAMETER_INVALID').message).toBe('Error parsing parameters: : ');
    // What a caller sent is no pattern.
    expect(new ServiceError('PUSH_VALUE_NOT_ALLOWED', { field: '$&' }).message).toBe(
      'Key not of Type List or Value not allowed: $&',
    );
  });

  test('keeps the cause for the log, if there is one', () => {
    const cause = new Error('x');
    expect(new ServiceError('INTERNAL', { cause }).cause).toBe(cause);
    expect(Object.hasOwn(new ServiceError('INTERNAL', {}), 'cause')).toBe(false);
  });
});

describe('the end of a switch over a union', () => {
  test.each([
    ['TELEGRAM', 'unknown case: TELEGRAM'],
    [{ kind: 'lunar', secret: 'x' }, 'unknown case: kind lunar'],
    [{ type: 'y'.repeat(100) }, `unknown case: type ${'y'.repeat(60)}`],
    [{ token: 'secret' }, 'unknown case: an object'],
    [undefined, 'unknown case: undefined'],
  ])('throws the discriminant of %j, and nothing else of it', (value, message) => {
    expect(() => unknownCase(value as never)).toThrow(new Error(message));
  });

  test('fails for a timing of another version instead of returning no occurrences', () => {
    const timing = { kind: 'lunar' } as never;
    expect(() => nextOccurrences(timing, { after: new Date(0), count: 1 })).toThrow('unknown case: kind lunar');
  });

  test('is unknownCase everywhere in the server', () => {
    const others = readRepositoryFiles(['.ts'])
      .filter(({ path }) => path.startsWith('server/src/'))
      .filter(({ text }) => /\bsatisfies never\b|: never = /.test(text));
    expect(others.map(({ path }) => path)).toEqual([]);
  });
});

describe('names that every object has', () => {
  // Members that every object of JavaScript has: a table that is looked up by a caller's word has them too.
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__'];

  test.each(names)('does not treat %s as a standard identifier, a platform or a provider fault', (name) => {
    expect(identifierOf(name, { isCustom: false })).toBeUndefined();
    expect(parseDeviceAttributes({ platform: name, push_id: 'a' }, [])).toMatchObject({
      fault: { attribute: 'platform' },
    });
    expect(() => parseFaults(JSON.parse(`{"fcm":{"${name}":1}}`))).toThrow();
  });
});

describe('storable text', () => {
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
});
