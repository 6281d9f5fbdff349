import { describe, expect, test } from 'vitest';
import { makeDocumentReader } from '../../src/domain/campaign-document/document-reader.ts';
import type { RequestReader } from '../../src/domain/request-reader/request-reader.ts';
import { makeCampaignReader } from '../../src/http/campaigns/campaign-reader.ts';
import { makePushReader } from '../../src/http/push/push-reader.ts';

/** Every way to read a member, and what each family says of a value of the wrong kind. */
const ways: Record<string, (reader: RequestReader) => unknown> = {
  text: (reader) => reader.text('a', 3),
  requiredText: (reader) => reader.requiredText('a', 3),
  template: (reader) => reader.template('a'),
  requiredTemplate: (reader) => reader.requiredTemplate('a'),
  plain: (reader) => reader.plain('a'),
  requiredPlain: (reader) => reader.requiredPlain('a'),
  choice: (reader) => reader.choice('a', ['up', 'down']),
  choices: (reader) => reader.choices('a', ['up', 'down']),
  flag: (reader) => reader.flag('a'),
  integer: (reader) => reader.integer('a', { minimum: 1, maximum: 9 }),
  list: (reader) => reader.list('a', 2),
  texts: (reader) => reader.texts('a', { maxItems: 2, maxCharacters: 3 }),
  url: (reader) => reader.url('a', ['https:', 'http:']),
  templateUrl: (reader) => reader.templateUrl('a', ['https:']),
  part: (reader) => reader.part('a').names(),
  parts: (reader) => reader.parts('a', 2).length,
  refuse: (reader) => reader.refuse('a'),
  only: (reader) => reader.only(false, 'a'),
};

type Told = { push?: string; search?: string; document?: string };
const notAllowed = '(not allowed)';
const noOther = 'is not available in this version';
const same = (reason: string): Told => ({ push: reason, search: reason, document: reason });

// Absent from `Told`: the family takes the value, or counts it as not sent.
const rows: [way: string, value: unknown, told: Told][] = [
  ['text', 1, same('must be a text')],
  ['text', null, { push: 'must be a text' }],
  ['text', '', { search: 'must have 1 to 3 characters' }],
  [
    'text',
    'long',
    {
      push: 'must have at most 3 characters',
      search: 'must have 1 to 3 characters',
      document: 'must have at most 3 characters',
    },
  ],
  ['text', '\ud800', same('must be well-formed Unicode')],
  ['text', 'a\0b', { document: 'must not hold NUL' }],
  ['requiredText', undefined, { push: 'is required', search: 'missing', document: 'missing' }],
  ['requiredText', '', { push: 'is required', search: 'missing', document: 'missing' }],
  ['requiredText', null, { push: 'must be a text', search: 'missing', document: 'missing' }],
  ['requiredTemplate', undefined, { push: 'is required', search: 'missing', document: 'missing' }],
  ['requiredPlain', undefined, { push: 'is required', search: 'missing', document: 'missing' }],
  ['plain', '{{ a }}', { push: 'cannot be a template', document: 'cannot be a template' }],
  ['choice', 'UP', { push: notAllowed, search: 'must hold only up, down' }],
  [
    'choice',
    'left',
    {
      push: notAllowed,
      search: 'must hold only up, down',
      document: 'must be one of up, down in this version, not "left"',
    },
  ],
  [
    'choice',
    7,
    {
      push: notAllowed,
      search: 'must hold texts of 1 to 256 characters',
      document: 'must be one of up, down in this version, not a value of type number',
    },
  ],
  ['choices', ['up', 'left'], same('must hold only up, down')],
  ['flag', 'true', { search: 'must be true or false' }],
  ['flag', 1, same('must be true or false')],
  ['integer', 0, same('must be a whole number from 1 to 9')],
  ['integer', 1.5, same('must be a whole number from 1 to 9')],
  ['integer', '5', { push: 'must be a whole number from 1 to 9', search: 'must be a whole number from 1 to 9' }],
  ['list', {}, { push: notAllowed, search: 'must be a list of 1 to 2 texts' }],
  [
    'list',
    'a',
    { push: notAllowed, search: 'must be a list of 1 to 2 texts', document: 'must be a list of at most 2 items' },
  ],
  [
    'list',
    ['a', 'b', 'c'],
    {
      push: 'must have at most 2 items',
      search: 'must be a list of 1 to 2 texts',
      document: 'must be a list of at most 2 items',
    },
  ],
  ['list', [], { search: 'must be a list of 1 to 2 texts' }],
  ['texts', ['a', ''], same('must hold texts of 1 to 3 characters')],
  ['texts', ['a', 1], same('must hold texts of 1 to 3 characters')],
  ['url', 'ftp://a', same('must be a URL with https or http')],
  ['templateUrl', 'http://a', same('must be a URL with https')],
  ['part', 'a', same('must be an object')],
  ['part', ['a'], same('must be an object')],
  ['part', null, { push: 'must be an object' }],
  ['refuse', 'a', same(noOther)],
  [
    'only',
    true,
    {
      push: 'this value is not available in this version',
      search: `must be false: true ${noOther}`,
      document: `must be false: true ${noOther}`,
    },
  ],
];

const readers = {
  push: (body: Record<string, unknown>) => makePushReader(body, { mode: 'AUTO', bodies: 'strict' }),
  search: makeCampaignReader,
  document: (body: Record<string, unknown>) => makeDocumentReader(body),
} as const;

function tell(reader: RequestReader): string | undefined {
  const fault = reader.firstFault();
  return fault && (fault.reason ?? notAllowed);
}

describe('the request reader', () => {
  for (const family of ['push', 'search', 'document'] as const)
    test.each(rows)(`${family}: %s of %j`, (way, value, told) => {
      const reader = readers[family](value === undefined ? {} : { a: value });
      ways[way]!(reader);
      expect(tell(reader)).toBe(told[family]);
    });

  test('a fault is reported with its path, through objects and lists', () => {
    const reader = makeDocumentReader({ a: { b: [{}, { c: 1 }] } });
    for (const part of reader.part('a').parts('b', 2)) part.text('c');
    expect(reader.faults).toEqual([{ field: 'a.b[1].c', reason: 'must be a text' }]);
    const items = makePushReader({ a: ['x', 5] }, { mode: 'OFF', bodies: 'strict' }).items('a', 2);
    for (const index of items.names()) items.text(index);
    expect(items.faults).toEqual([{ field: 'a[1]', reason: 'must be a text' }]);
  });

  test('a push is refused for a value that is not allowed before any other fault, in a list that is too long as well', () => {
    const reader = makePushReader({ a: 1, b: [{}, {}, { c: 'no' }] }, { mode: 'OFF', bodies: 'strict' });
    reader.text('a');
    const items = reader.items('b', 2);
    for (const index of items.names()) items.part(index).choice('c', ['yes']);
    expect(reader.firstFault()).toEqual({ field: 'b[2].c' });
    expect(reader.faults.map(({ field }) => field)).toEqual(['a', 'b']);
  });

  test('members of the prototype are not sent', () => {
    const reader = makeCampaignReader(JSON.parse('{"a":{}}') as Record<string, unknown>);
    expect(reader.part('a').requires('toString')).toBe(false);
  });
});
