import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  alwaysRead,
  anyObject,
  choice,
  choices,
  filledText,
  flag,
  list,
  membersOf,
  openPart,
  part,
  partOrEmpty,
  parts,
  plain,
  refused,
  required,
  requiredText,
  text,
  texts,
  unlessEmpty,
  whole,
  wholeFrom,
  withDescription,
  withTitle,
} from '../../src/fields/combinators.ts';
import { makeDocumentReader } from '../../src/domain/campaign-document/campaign.ts';
import { readMembers, schemaOf, schemaRequiring } from '../../src/fields/field.ts';
import { makeCampaignReader } from '../../src/http/campaigns/campaign-reader.ts';
import type { Infer } from '../../src/fields/field.ts';
import { plainRules, plainRulesOfForms } from '../../src/fields/reading-rules.ts';
import { RequestReader } from '../../src/fields/request-reader.ts';
import { makePushReader } from '../../src/http/push/push-reader.ts';

const fields = {
  name: requiredText({ max: 5, description: 'Shown in lists' }),
  colour: required(choice(['red', 'blue'])),
  seconds: whole(1, 9, 'Removed after this many seconds'),
  size: part({ wide: flag(), tag: plain({ maxLength: 4 }) }),
  days: list(whole(1, 31), { maxItems: 2 }),
};

function read(body: Record<string, unknown>, order: Parameters<typeof readMembers<typeof fields>>[2] = {}) {
  const reader = makePushReader(body, { mode: 'OFF', bodies: 'strict' });
  const values = readMembers(reader, fields, order);
  return { values, faults: reader.faults.map(({ field }) => field) };
}

describe('a record of fields', () => {
  test('has the type of the values it reads', () => {
    expectTypeOf<Infer<typeof fields>>().toEqualTypeOf<{
      name: string;
      colour: 'red' | 'blue';
      seconds?: number;
      size?: { wide?: boolean; tag?: string };
      days?: number[];
    }>();
  });

  test('reads its members, and leaves out those that were not sent', () => {
    const body = { colour: 'red', name: 'Sale', days: [1, 31], size: { tag: 'a' } };
    expect(read(body)).toEqual({ values: body, faults: [] });
    expect(Object.keys(read(body).values)).toEqual(['name', 'colour', 'size', 'days']);
  });

  test('has no value for a part without any of its members', () => {
    expect(read({ name: 'Sale', colour: 'red', size: {} }).values).toEqual({ name: 'Sale', colour: 'red' });
  });

  test('notes faults in the order of its members', () => {
    expect(read({ days: [0, 40], seconds: 10, size: { tag: 'large' } }).faults).toEqual([
      ...['name', 'colour', 'seconds', 'size.tag', 'days[0]', 'days[1]'],
    ]);
  });

  test('reads members that are checked together before all others', () => {
    const { faults } = read(
      { name: 'Sale', colour: 'red', seconds: 3, days: [] },
      {
        first: ['days', 'seconds'],
        check: (part, { days, seconds }) => seconds !== days?.length && part.invalid('seconds', 'differs from days'),
      },
    );
    expect(faults).toEqual(['seconds']);
  });

  test('describes an object in which only required members are required', () => {
    expect(JSON.parse(JSON.stringify(schemaOf(fields, { title: 'Sign' })))).toEqual({
      type: 'object',
      title: 'Sign',
      required: ['name', 'colour'],
      properties: {
        name: { type: 'string', description: 'Shown in lists' },
        colour: {
          anyOf: [
            { type: 'string', const: 'red' },
            { type: 'string', const: 'blue' },
          ],
        },
        seconds: { type: 'integer', minimum: 1, maximum: 9, description: 'Removed after this many seconds' },
        size: { type: 'object', properties: { wide: { type: 'boolean' }, tag: { type: 'string', maxLength: 4 } } },
        days: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 31 }, maxItems: 2 },
      },
    });
  });
});

const published = (schema: object): unknown => JSON.parse(JSON.stringify(schema));

describe('parts of a document', () => {
  const size = partOrEmpty(
    { width: required(whole(1, 9)), tall: flag() },
    {
      title: 'Size',
      read: (_size, readMember) => ({ width: readMember('width') ?? 1, tall: readMember('tall') ?? false }),
    },
  );
  const document = { size, rows: parts(size, { max: 2 }), words: texts({ maxCharacters: 3 }), old: refused(anyObject) };

  function readDocument(body: Record<string, unknown>) {
    const reader = makeDocumentReader(body);
    const values = readMembers(reader, document);
    return { values, faults: reader.faults.map(({ field, reason }) => `${field} ${reason}`) };
  }

  test('have a value if they are absent, and report the members that are missing', () => {
    expectTypeOf(size.read).returns.toEqualTypeOf<{ width: number; tall: boolean }>();
    expect(readDocument({})).toEqual({ values: { size: { width: 1, tall: false } }, faults: ['size.width missing'] });
  });

  test('report items that are not objects before all other faults', () => {
    const { values, faults } = readDocument({ size: { width: 2 }, rows: [{ width: 0 }, 'no object'] });
    expect(values.rows).toEqual([
      { width: 1, tall: false },
      { width: 1, tall: false },
    ]);
    expect(faults).toEqual([
      ...['rows[1] must be an object', 'rows[0].width must be a whole number from 1 to 9', 'rows[1].width missing'],
    ]);
  });

  test('reject by name what has no effect here', () => {
    expect(readDocument({ size: { width: 2 }, old: { x: 1 } }).faults).toEqual([
      'old is not available in this version',
    ]);
  });

  test('list texts without duplicates', () => {
    expect(readDocument({ size: { width: 2 }, words: ['a', 'b', 'a'] }).values.words).toEqual(['a', 'b']);
    expect(readDocument({ size: { width: 2 }, words: ['long'] }).faults).toEqual([
      'words must hold texts of 1 to 3 characters',
    ]);
  });

  test('are described with the members that the caller names as required', () => {
    expect(published(schemaRequiring(document, { title: 'Document', names: ['words'] }))).toEqual({
      type: 'object',
      title: 'Document',
      required: ['words'],
      properties: {
        size: published(size.schema),
        rows: { type: 'array', items: published(size.schema) },
        words: { type: 'array', items: { type: 'string' } },
        old: { type: 'object', description: 'Refused' },
      },
    });
  });
});

describe('fields that others are made of', () => {
  test('read an empty text as an absent member where one is given for it', () => {
    const members = { name: unlessEmpty(text()), other: text() };
    const reader = makeCampaignReader({ name: '', other: '' });
    expect(readMembers(reader, members)).toEqual({});
    expect(reader.faults.map(({ field }) => field)).toEqual(['other']);
  });

  test('read a list of words in the order of the words', () => {
    expect(readMembers(makeCampaignReader({ a: ['y', 'x'] }), { a: choices(['x', 'y', 'z']) })).toEqual({
      a: ['x', 'y'],
    });
  });

  test('always have a value where the reader always returns one', () => {
    const count = alwaysRead(texts({ description: 'Words' }), (found, name) => found.list(name, 9).length);
    expect(count.read(makeDocumentReader({}), 'words')).toBe(0);
    expect(published(count.schema)).toEqual({ type: 'array', items: { type: 'string' }, description: 'Words' });
  });

  test('are described in words, by a title, with members of any name, and without a maximum', () => {
    const page = wholeFrom(1, { max: 5, description: 'From 1' });
    const reader = makeDocumentReader({ page: 6 });
    expect([page.read(reader, 'page'), reader.faults.length]).toEqual([undefined, 1]);
    const titled = withTitle(withDescription(flag(), 'On or off'), 'Switch');
    expect(published(openPart({ page }, { others: titled, description: 'By name' }).schema)).toEqual({
      type: 'object',
      properties: { page: { type: 'integer', minimum: 1, description: 'From 1' } },
      additionalProperties: { type: 'boolean', description: 'On or off', title: 'Switch' },
      description: 'By name',
    });
  });
});

describe('a family that reports one fault', () => {
  const members = { name: filledText({ max: 3 }), sizes: membersOf, tags: list(requiredText(), { max: 2 }) };
  function readPlain(body: Record<string, unknown>, rules = plainRules) {
    const reader = new RequestReader(body, { rules });
    const values = readMembers(reader, members);
    return { values, faults: reader.faults };
  }

  test('reads null as not sent, and an empty text as missing where a text must not be empty', () => {
    expect(readPlain({ name: null, sizes: { a: null } })).toEqual({ values: { sizes: { a: null } }, faults: [] });
    expect(readPlain({ name: '' }).faults).toEqual([{ field: 'name', reason: 'missing' }]);
  });

  test('reads an empty text as not sent if its bodies come from forms', () => {
    expect(readPlain({ name: '', sizes: '' }, plainRulesOfForms)).toEqual({ values: {}, faults: [] });
  });

  test('checks the kind, the length and the items of a value', () => {
    expect(readPlain({ name: 'long', sizes: [], tags: 'a' }).faults).toEqual([
      { field: 'name', reason: 'must have at most 3 characters' },
      { field: 'sizes', reason: 'must be an object' },
      { field: 'tags', reason: 'must be a list' },
    ]);
    expect(readPlain({ name: '\ud800', tags: ['a', 'b', ''] }).faults).toEqual([
      { field: 'name', reason: 'must be well-formed Unicode' },
      { field: 'tags', reason: 'must have at most 2 entries' },
      { field: 'tags[2]', reason: 'missing' },
    ]);
  });

  test('keeps an error of its own in the order of the faults', () => {
    const reader = new RequestReader({ name: 1 }, { rules: plainRules });
    const error = new Error('too many sizes');
    reader.reject(error);
    members.name.read(reader, 'name');
    expect(reader.faults).toEqual([
      { field: '', reason: 'too many sizes', error },
      { field: 'name', reason: 'must be a text' },
    ]);
  });
});
