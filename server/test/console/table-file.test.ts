import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KnownAttribute } from '../../../console/src/api/generated/segment-answers.ts';
import { CsvRows, extractColumn, readTableHead } from '../../../console/src/segments/file/table-file.ts';
import { hasHeader, suggestAttribute } from '../../../console/src/segments/file/suggest-column.ts';
import { propertyRuns } from '../property-runs.ts';

const rowsOf = (text: string, delimiter = ',') => {
  const reader = new CsvRows(delimiter);
  return [...reader.push(text), ...reader.end()];
};

test('rows are those of RFC 4180: quotes hold delimiters, line ends and doubled quotes', () => {
  expect(rowsOf('a,b\r\n1,"x, ""y""\r\nz"\n3,')).toEqual([
    ['a', 'b'],
    ['1', 'x, "y"\r\nz'],
    ['3', ''],
  ]);
  expect(rowsOf('a;b\rc;d', ';')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(rowsOf('a\n\nb\n')).toEqual([['a'], [''], ['b']]);
  expect(rowsOf('""')).toEqual([['']]);
  expect(rowsOf('')).toEqual([]);
});

test('rows are the same however the text is cut into pieces, and as they were written', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é') });
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(table, fc.array(fc.nat(40)), fc.constantFrom('\n', '\r\n', '\r'), (rows, cuts, lineEnd) => {
      const text = rows.map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(',') + lineEnd).join('');
      const reader = new CsvRows(',');
      const found: string[][] = [];
      let rest = text;
      for (const cut of cuts) {
        found.push(...reader.push(rest.slice(0, cut)));
        rest = rest.slice(cut);
      }
      expect([...found, ...reader.push(rest), ...reader.end()]).toEqual(rows);
      // Without quotes the quick way is taken.
      const plain = text.replaceAll('"', '');
      const pieces = new CsvRows(',');
      expect([...[...plain].flatMap((one) => pieces.push(one)), ...pieces.end()]).toEqual(rowsOf(plain));
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('a file is read as it was written: its delimiter, its encoding, the mark before it', async () => {
  expect(await readTableHead(new Blob(['\ufeffid;name\n1;Ada, of London\n2;Tim\n']))).toEqual({
    encoding: 'utf-8',
    delimiter: ';',
    rows: [
      ['id', 'name'],
      ['1', 'Ada, of London'],
      ['2', 'Tim'],
    ],
    columns: 2,
  });
  const old = new Blob([Uint8Array.from([0x4a, 0xf6, 0x72, 0x67, 0x0a])]);
  expect(await readTableHead(old)).toMatchObject({ encoding: 'windows-1252', rows: [['Jörg']], columns: 1 });
  const wide = new Blob([Buffer.from('\ufeffa\tb\n', 'utf16le')]);
  expect(await readTableHead(wide)).toMatchObject({ encoding: 'utf-16le', delimiter: '\t', rows: [['a', 'b']] });
  for (const [bytes, why] of [
    [Buffer.from('PK\u0003\u0004'), 'Save it as CSV'],
    [Buffer.from('a\u0000b'), 'not a text file'],
    [Buffer.alloc(0), 'empty'],
  ] as const)
    await expect(readTableHead(new Blob([bytes]))).rejects.toThrow(why);
});

test('one column becomes a file of one value a line; rows keep their places, and those at the end that are empty are left out', async () => {
  const file = new Blob(['name,mail\nAda, ada@example.com \n,\n"Tim\nB",tim@example.com\n"x"\n,\n']);
  const shares: number[] = [];
  const { values, lines, remembered } = await extractColumn({
    file,
    head: { encoding: 'utf-8', delimiter: ',' },
    column: 1,
    hasHeader: true,
    onProgress: (share) => shares.push(share),
  });
  expect(await values.text()).toBe('ada@example.com\n\ntim@example.com\n');
  expect([lines, remembered]).toEqual([3, ['ada@example.com', 'tim@example.com']]);
  expect(shares.at(-1)).toBe(1);
});

test('a header is one that names what is known, or that is unlike what stands below it', () => {
  const known: KnownAttribute[] = [{ name: 'Loyalty card', type: 'double', values: [] }];
  expect(hasHeader([['email'], ['ada@example.com']], [])).toBe(true);
  expect(hasHeader([['loyalty card'], ['ada']], known)).toBe(true);
  expect(hasHeader([['contact'], ['ada@example.com'], ['tim@example.com']], [])).toBe(true);
  expect(hasHeader([['ada@example.com'], ['tim@example.com']], [])).toBe(false);
  expect(hasHeader([['ada'], ['tim']], [])).toBe(false);
  expect(hasHeader([['+351 912 345 678'], ['+351 912 345 679']], [])).toBe(false);
  expect(hasHeader([], [])).toBe(false);
});

test('a column is taken for what its name or its values say', () => {
  const known: KnownAttribute[] = [{ name: 'loyalty_card', type: 'double', values: [] }];
  const suggest = (name: string | undefined, ...values: string[]) =>
    suggestAttribute({ name, values }, known)?.attribute;
  expect(
    ['E-Mail', 'Email address', 'Mobile no.', 'customer_id', 'ID', 'Client number'].map((name) => suggest(name)),
  ).toEqual(['u_em', 'u_em', 'u_mb', 'uid', 'uid', 'uid']);
  expect(suggest('contact', 'ada@example.com', '', 'tim@example.com')).toBe('u_em');
  expect(suggest('name', 'Ada', 'Tim')).toBeUndefined();
  expect(suggest(undefined, 'a@example.com', 'Ada')).toBeUndefined();
  expect(suggestAttribute({ name: 'Loyalty_Card', values: [] }, known)).toEqual({
    attribute: 'loyalty_card',
    type: 'double',
  });
});
