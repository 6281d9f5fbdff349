import fc from 'fast-check';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { splitStatements } from '../../src/storage/postgres/split-statements.ts';
import { propertyRuns } from '../property-runs.ts';

const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations');

describe('a text of several statements', () => {
  test.each([
    ['a semicolon separates, and the last one may lack it', 'a; b;\nc', ['a', 'b', 'c']],
    ['nothing but comments and space is no statement', ' ; -- a;\n /* b; */ ;', []],
    ['a comment stays with the statement it stands before', '-- why; because\na;', ['-- why; because\na']],
    ['a string', "select ';', 'it''s; so'; b", ["select ';', 'it''s; so'", 'b']],
    ['a string with backslashes', "select e'\\';', E'\\\\'; b", ["select e'\\';', E'\\\\'", 'b']],
    ['a backslash in a plain string is a character', "select '\\'; b", ["select '\\'", 'b']],
    ['a quoted name', 'alter table "a;""b" add c; d', ['alter table "a;""b" add c', 'd']],
    ['dollar quotes', 'do $$ begin a; b; end $$; c', ['do $$ begin a; b; end $$', 'c']],
    ['dollar quotes with a name, and others in them', 'do $é1$ $$;$$ $2 ; $é1$; b', ['do $é1$ $$;$$ $2 ; $é1$', 'b']],
    ['a dollar in a name opens nothing', 'select a$b$; c$b$', ['select a$b$', 'c$b$']],
    ['a parameter opens nothing', 'select $1; select $2', ['select $1', 'select $2']],
    ['a quote in a comment opens nothing', "a -- it's\n; b /* it's; */; c", ["a -- it's", "b /* it's; */", 'c']],
    ['a comment in a string is none', "select '--'; b", ["select '--'", 'b']],
  ])('%s', (_fact, text, statements) => {
    expect(splitStatements(text)).toEqual(statements);
  });

  test.each([["select 'a"], ["select e'a\\'"], ['alter table "a'], ['a /* b'], ['do $x$ begin $y$ end']])(
    '%s: what is not closed is refused',
    (text) => {
      expect(() => splitStatements(`${text}; b`)).toThrow(SyntaxError);
    },
  );

  test('a comment in a comment is refused, because PostgreSQL would end it later', () => {
    expect(() => splitStatements('/* a /* b */ ; */ c')).toThrow('a comment in a comment');
  });

  test('whatever statements are made of, put together they are found again', () => {
    const part = fc.oneof(
      fc.constantFrom('select', 'a$b$', 'e', '$1', '+', '(', ')', '::text', '12e3', 'é'),
      fc.string().map((text) => `'${text.replaceAll("'", "''")}'`),
      fc.string().map((text) => `"${text.replaceAll('"', '""')}"`),
      fc.string().map((text) => `$tag$${text.replaceAll('$', '')}$tag$`),
      fc.string().map((text) => `$$${text.replaceAll('$', '')}$$`),
      fc.string().map((text) => `e'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`),
      fc.string().map((text) => `/*${text.replaceAll('*', '').replaceAll('/', '')}*/`),
      fc.string().map((text) => `--${text.replaceAll('\n', '').replaceAll('\r', '')}\n`),
    );
    const statement = fc.array(part, { maxLength: 8 }).map((parts) => `x ${parts.join(' ')} y`);
    fc.assert(
      fc.property(fc.array(statement), (statements) => {
        expect(splitStatements(statements.join(';'))).toEqual(statements);
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });
});

test('each migration is put together again from its statements', () => {
  const squeeze = (text: string): string => text.replace(/--.*|[\s;]/g, '');
  for (const name of readdirSync(migrationsFolder)) {
    const text = readFileSync(join(migrationsFolder, name), 'utf8');
    const statements = splitStatements(text);
    expect({ name, text: squeeze(statements.join(';')) }).toEqual({ name, text: squeeze(text) });
    expect({ name, count: statements.length }).not.toEqual({ name, count: 0 });
  }
});
