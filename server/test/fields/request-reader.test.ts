import { describe, expect, test } from 'vitest';
import { makeDocumentReader } from '../../src/domain/campaign-document/campaign.ts';
import type { RequestReader } from '../../src/fields/request-reader.ts';
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
  share: (reader) => reader.share('a'),
  findPart: (reader) => reader.findPart('a') !== undefined,
  pairs: (reader) => reader.pairs('a').members,
  sentMembers: (reader) => reader.part('a').sentMembers(),
};

type Told = { push?: string; lenient?: string; search?: string; document?: string };
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
  ['template', 1, same('must be a text')],
  [
    'template',
    '{{ a',
    {
      push: 'is not a valid template: "}}" is missing',
      document: 'is not a valid template: "}}" is missing',
    },
  ],
  ['requiredTemplate', '', { push: 'is required', search: 'missing', document: 'missing' }],
  ['requiredPlain', '', { push: 'is required', search: 'missing', document: 'missing' }],
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
  ['integer', 10, same('must be a whole number from 1 to 9')],
  ['integer', 1.5, same('must be a whole number from 1 to 9')],
  ['integer', '5', { push: 'must be a whole number from 1 to 9', search: 'must be a whole number from 1 to 9' }],
  ['share', -0.1, same('must be a number from 0 to 1')],
  ['share', 1.1, same('must be a number from 0 to 1')],
  ['share', true, same('must be a number from 0 to 1')],
  ['share', 'half', same('must be a number from 0 to 1')],
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
  ['texts', ['a', 'long'], same('must hold texts of 1 to 3 characters')],
  ['url', 5, same('must be a text')],
  ['url', 'ftp://a', same('must be a URL with https or http')],
  ['templateUrl', 'http://a', same('must be a URL with https')],
  [
    'templateUrl',
    '{{ a',
    {
      push: 'is not a valid template: "}}" is missing',
      search: 'must be a URL with https',
      document: 'is not a valid template: "}}" is missing',
    },
  ],
  ['templateUrl', 5, same('must be a text')],
  ['parts', ['a'], same('must be an object')],
  ['parts', [null], same('must be an object')],
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

const toAll = (value: unknown): Record<keyof typeof readers, unknown> => ({
  push: value,
  lenient: value,
  search: value,
  document: value,
});

/** What each family reads of a value that it takes. */
const taken: [way: string, value: unknown, read: Partial<ReturnType<typeof toAll>>][] = [
  ['text', undefined, toAll(undefined)],
  ['text', 'abc', toAll('abc')],
  ['requiredText', 'abc', toAll('abc')],
  ['template', 'abc', toAll('abc')],
  ['template', "{{ UserAttribute['a'] }}", { push: "{{ UserAttribute['a'] }}", document: "{{ UserAttribute['a'] }}" }],
  ['requiredTemplate', 'abc', toAll('abc')],
  ['plain', undefined, toAll(undefined)],
  ['plain', 'abc', toAll('abc')],
  ['requiredPlain', 'abc', toAll('abc')],
  ['choice', undefined, toAll(undefined)],
  ['choice', 'down', toAll('down')],
  ['choice', 'DOWN', { lenient: 'down', document: 'down' }],
  ['choices', undefined, toAll(undefined)],
  ['choices', ['down', 'up'], toAll(['up', 'down'])],
  ['choices', ['down', 'down'], toAll(['down'])],
  ['flag', undefined, toAll(undefined)],
  ['flag', false, toAll(false)],
  ['flag', 'true', { push: true, lenient: true, document: true }],
  ['flag', 'FALSE', { lenient: false }],
  ['integer', undefined, toAll(undefined)],
  ['integer', 1, toAll(1)],
  ['integer', 9, toAll(9)],
  ['integer', '5', { lenient: 5, document: 5 }],
  ['share', undefined, toAll(undefined)],
  ['share', 0, toAll(0)],
  ['share', 0.25, toAll(0.25)],
  ['share', 1, toAll(1)],
  ['share', '0.5', { lenient: 0.5, document: 0.5 }],
  ['list', undefined, toAll([])],
  ['list', [1, 'b'], toAll([1, 'b'])],
  ['texts', undefined, toAll(undefined)],
  ['texts', ['b', 'a'], toAll(['b', 'a'])],
  ['texts', ['b', 'b'], toAll(['b'])],
  ['url', undefined, toAll(undefined)],
  ['url', 'http://a/b', toAll('http://a/b')],
  ['templateUrl', undefined, toAll(undefined)],
  ['templateUrl', 'https://a', toAll('https://a')],
  [
    'templateUrl',
    "{{ UserAttribute['link'] }}",
    { push: "{{ UserAttribute['link'] }}", document: "{{ UserAttribute['link'] }}" },
  ],
  ['part', undefined, toAll([])],
  ['part', { b: 1 }, toAll(['b'])],
  ['parts', undefined, toAll(0)],
  ['parts', [{ b: 1 }], toAll(1)],
  ['findPart', undefined, toAll(false)],
  ['findPart', { b: 1 }, toAll(true)],
  ['refuse', undefined, toAll(undefined)],
  ['only', undefined, toAll(undefined)],
  ['only', false, toAll(undefined)],
  [
    'pairs',
    { b: true, c: 7, d: '', e: null, f: 1.5 },
    {
      push: { b: true, c: 7, d: '', e: null, f: 1.5 },
      lenient: { b: 'true', c: '7', d: '', f: 1.5 },
      search: { b: true, c: 7, d: '', f: 1.5 },
      document: { b: true, c: 7, d: '', f: 1.5 },
    },
  ],
  [
    'sentMembers',
    { b: 0, c: '', d: null, e: {}, f: [] },
    {
      push: { b: 0, c: '', d: null, e: {}, f: [] },
      lenient: { b: 0 },
      search: { b: 0, c: '', e: {}, f: [] },
      document: { b: 0 },
    },
  ],
];

const readers = {
  push: (body: Record<string, unknown>) => makePushReader(body, { mode: 'AUTO', bodies: 'strict' }),
  lenient: (body: Record<string, unknown>) => makePushReader(body, { mode: 'AUTO', bodies: 'lenient' }),
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

  for (const family of ['push', 'lenient', 'search', 'document'] as const)
    test.each(taken.filter(([, , read]) => Object.hasOwn(read, family)))(
      `${family}: %s of %j is taken`,
      (way, value, read) => {
        const reader = readers[family](value === undefined ? {} : { a: value });
        expect(ways[way]!(reader)).toStrictEqual(read[family]);
        expect(reader.faults).toEqual([]);
        expect(reader.firstFault()).toBeUndefined();
        expect(reader.warnings).toEqual([]);
      },
    );

  test.each(['requiredText', 'requiredTemplate', 'requiredPlain'])(
    '%s reads as an empty text where it is refused',
    (way) => {
      for (const value of [undefined, '', 5]) {
        const reader = readers.search(value === undefined ? {} : { a: value });
        expect(ways[way]!(reader)).toBe('');
        expect(reader.faults).toHaveLength(1);
      }
    },
  );

  test('where one fault is told a list that is too long is read on, where all are told it is not', () => {
    expect(readers.push({ a: ['b', 'c', 'd'] }).list('a', 2)).toEqual(['b', 'c', 'd']);
    expect(readers.document({ a: ['b', 'c', 'd'] }).list('a', 2)).toEqual([]);
    expect(readers.push({ a: { length: 3 } }).list('a', 2)).toEqual([]);
  });

  test('a lenient push takes a flag that has no effect, with a warning that names its path', () => {
    const reader = readers.lenient({ a: { b: true, c: false } });
    reader.part('a').only(false, 'b', 'c');
    expect(reader.faults).toEqual([]);
    expect(reader.warnings).toEqual(['a.b has no effect here']);
  });

  test('members that are filled in stand at the same place', () => {
    const reader = readers.search({ a: { b: 1 } });
    reader.part('a').over({ c: 5 }).text('c');
    expect(reader.faults).toEqual([{ field: 'a.c', reason: 'must be a text' }]);
  });

  test('a value that business events alone bring is refused where no business event starts the campaign', () => {
    const reader = readers.push({ a: "{{ BusinessEventAttribute['city'] }}" });
    reader.template('a');
    expect(reader.faults).toEqual([
      {
        field: 'a',
        reason: 'is not a valid template: BusinessEventAttribute has values in campaigns that a business event starts',
      },
    ]);
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
