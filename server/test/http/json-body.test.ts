import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServiceError } from '../../src/domain/errors.ts';
import { maxJsonLevels, maxJsonMembers } from '../../src/domain/limits/access.ts';
import { parseJson } from '../../src/http/route/json-body.ts';
import { propertyRuns } from '../property-runs.ts';

test('parses harmless JSON like JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value, null, 1);
      if (/\\u0000|"(__proto__|constructor)"\s*:/.test(text)) return;
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: propertyRuns(500) },
  );
});

const levels = (count: number): string => `${'['.repeat(count)}${']'.repeat(count)}`;
/** In two objects. */
const members = (count: number): string =>
  `[{"k":1},{${Array.from({ length: count - 1 }, (_, n) => `"k${n}":1`).join()}}]`;

test.each([
  ['nothing', '', 'BODY_EMPTY'],
  ['blanks', ' \n ', 'BODY_EMPTY'],
  ['half an object', '{"a":', 'BODY_MALFORMED'],
  ['two values', '{} {}', 'BODY_MALFORMED'],
  ['a single quote', "{'a':1}", 'BODY_MALFORMED'],
  ['a comment', '{/**/}', 'BODY_MALFORMED'],
  ['NaN', '{"a":NaN}', 'BODY_MALFORMED'],
  ['a trailing comma', '[1,]', 'BODY_MALFORMED'],
  ['a member twice', '{"a":1,"a":2}', 'BODY_MALFORMED'],
  ['a member twice, written differently', '{"a":1,"\\u0061":2}', 'BODY_MALFORMED'],
  ['__proto__', '{"__proto__":{"x":1}}', 'BODY_MALFORMED'],
  ['__proto__ escaped', '{"__pr\\u006fto__":{"x":1}}', 'BODY_MALFORMED'],
  ['constructor, deep', '[[{"constructor":1}]]', 'BODY_MALFORMED'],
  ['NUL', '{"a":"\\u0000"}', 'BODY_MALFORMED'],
  ['a level too many', levels(maxJsonLevels + 1), 'BODY_MALFORMED'],
  ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'BODY_MALFORMED'],
  ['a member too many', members(maxJsonMembers + 1), 'BODY_MALFORMED'],
])('rejects %s (fault 3.5)', (_name, text, code) => {
  expect(() => parseJson(text)).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['as many levels as the documented limit', levels(maxJsonLevels)],
  ['as many members as the documented limit', members(maxJsonMembers)],
  ['one name in two objects', '{"a":{"a":1},"b":[{"a":2},{"a":3}]}'],
  ['braces and colons in texts', '{"a":"{\\"b\\": [","c":"\\\\"}'],
])('accepts %s', (_name, text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each([
  '{"password":hunter2}',
  `{"note":"${'x'.repeat(200)}","password":"a" hunter2}`,
  'hunter2',
  '{"password":"hunter2',
])('reports a JSON error without quoting the text: %s', (text) => {
  const parse = () => parseJson(text);
  expect(parse).toThrow(ServiceError);
  try {
    parse();
  } catch (error) {
    const { detail } = (error as ServiceError).context;
    expect(detail).toMatch(/JSON|token|position/);
    expect(detail).not.toContain('unter');
  }
});

test('reports a duplicate member by the beginning of its name', () => {
  const name = 'n'.repeat(5_000);
  expect(() => parseJson(`{"${name}":1,"${name}":2}`)).toThrow(
    expect.objectContaining({
      context: expect.objectContaining({ reason: `member ${'n'.repeat(100)} appears twice` }),
    }),
  );
});
