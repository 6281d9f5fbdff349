import { readFileSync, readdirSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KnownAttribute } from '../../../console/src/api/generated/segment-answers.ts';
import type { TimelineEntry } from '../../../console/src/api/generated/users.ts';
import { formatAgo, formatTime } from '../../../console/src/parts/text/format-time.ts';
import { describeCaps, formatCaps, parseCaps } from '../../../console/src/parts/text/frequency-caps.ts';
import { hasHeader, suggestAttribute } from '../../../console/src/segments/file/suggest-column.ts';
import { CsvRows, extractColumn, readTableHead } from '../../../console/src/segments/file/table-file.ts';
import { jobNames } from '../../../console/src/system/job-names.ts';
import { mergeNewest } from '../../../console/src/users/merge-newest.ts';
import { consoleTypesFolder, renderConsoleTypes } from '../../../scripts/render-console-types.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { propertyRuns } from '../property-runs.ts';
import { openSignedInClient } from './signed-in-client.ts';

/** One node for all sections, because a start takes a second of processor time. */
let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

describe('the generated types of the console', () => {
  test('match the shapes of its routes; npm run console:types writes them', async () => {
    const rendered = await renderConsoleTypes();
    expect(Object.keys(rendered).sort()).toEqual((await readdir(consoleTypesFolder)).sort());
    for (const [name, text] of Object.entries(rendered))
      expect(await readFile(join(consoleTypesFolder, name), 'utf8'), name).toBe(text);
  });
});

describe('formatted times', () => {
  const now = Date.parse('2026-03-10T12:00:00.000Z');
  const ago = (at: string) => formatAgo(at, { now, timeZone: 'Europe/Berlin' });

  test.each([
    ['2026-03-10T12:00:20.000Z', 'just now'],
    ['2026-03-10T11:59:01.000Z', 'just now'],
    ['2026-03-10T11:59:00.000Z', '1 minute ago'],
    ['2026-03-10T11:00:01.000Z', '59 minutes ago'],
    ['2026-03-10T10:00:00.000Z', '2 hours ago'],
    ['2026-03-09T11:59:59.000Z', '1 day ago'],
    ['2026-03-03T12:00:01.000Z', '6 days ago'],
    ['2026-03-03T12:00:00.000Z', '3 Mar 2026, 13:00 CET'],
    ['2026-03-11T08:30:00.000Z', '11 Mar 2026, 09:30 CET'],
  ])('show %s as "%s" at noon', (at, words) => {
    expect(ago(at)).toBe(words);
  });

  test('omit seconds for a time planned to the minute, and include them otherwise', () => {
    expect(formatTime('2026-03-10T09:30:00.000Z', 'UTC')).toBe('10 Mar 2026, 09:30 UTC');
    expect(formatTime('2026-03-10T09:30:00.400Z', 'UTC')).toBe('10 Mar 2026, 09:30:00 UTC');
  });
});

describe('frequency caps', () => {
  test('are parsed and written like those of the server, and described in words', () => {
    expect(parseCaps('none')).toEqual([]);
    expect(formatCaps([])).toBe('none');
    for (const text of ['2/1d,5/7d', '1/12h']) expect(formatCaps(parseCaps(text))).toBe(text);
    expect(describeCaps(parseCaps('2/1d,5/7d'))).toBe('2 messages a day and 5 in 7 days');
    expect(describeCaps(parseCaps('1/1h'))).toBe('1 message an hour');
    expect(describeCaps(parseCaps('3/12h,1/1d'))).toBe('3 messages in 12 hours and 1 a day');
  });
});

describe('impossible times', () => {
  let cookie: string;
  beforeAll(async () => {
    ({ cookie } = await openSignedInClient(bundle));
  });

  const id = 'a'.repeat(24);
  // A month, days and a time of day that no calendar has, and a year that no database has.
  const days = ['2026-13-01', '2026-02-31', '2026-04-31', '2025-02-29', '0000-01-01'];
  const instants = [...days.map((day) => `${day}T00:00:00`), '2026-01-01T24:00:00', '2026-01-01T00:60:00'];

  test.each([
    ...['audit?from=', 'audit?until=', 'audit.csv?from=', 'calls?from=', 'calls?before='].map((path) => [
      path,
      '.000Z',
    ]),
    ['calls?after=', `.000Z~${id}`],
    ['deliveries?after=2026-01-01~', `.000Z~1~${id}`],
    ['callbacks?after=', `.000Z~${id}`],
    ['mails?after=', `.000Z~${id}`],
    ['people/suspected-devices?after=', `.000Z~${id}`],
    [`people/${id}/timeline?after=`, '.000000Z~x'],
  ])('are rejected as an instant: %s…%s', async (before, behind) => {
    for (const instant of instants) expect(await statusOf(`${before}${instant}${behind}`), instant).toBe(400);
    expect(await statusOf(`${before}2028-02-29T23:59:59${behind}`)).not.toBe(400);
  });

  test.each([
    ['deliveries?after=', ''],
    ['deliveries/', `/7/${id}/${id}/${id}`],
  ])('are rejected as a day: %s…%s', async (before, behind) => {
    for (const day of days) expect(await statusOf(`${before}${day}${behind}`), day).toBe(400);
    expect(await statusOf(`${before}2028-02-29${behind}`)).not.toBe(400);
  });

  test('become the last day of the month on the calendar', async () => {
    expect(await statusOf('calendar?view=month&date=2026-02-31')).toBe(200);
  });

  async function statusOf(path: string): Promise<number> {
    const query = `${path.includes('?') ? '&' : '?'}workspaceId=${bundle.workspaceId}`;
    return (await bundle.call('GET', `/console/api/${path}${query}`, { headers: { cookie } })).status;
  }
});

describe('job names', () => {
  test('exist on the system page for every job of the server, and for no other', () => {
    const engine = join(import.meta.dirname, '..', '..', 'src', 'engine');
    const files = readdirSync(engine, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const jobs = files
      .map((name) => readFileSync(join(engine, name), 'utf8'))
      .filter((text) => /intervalMilliseconds|make(?:Leased|Receiver)Job\(/.test(text))
      .flatMap((text) => [...text.matchAll(/\bname: '([a-z]+(?:-[a-z]+)+)'/g)].map(([, name]) => name!));
    expect(jobs.length).toBeGreaterThan(20);
    expect([...new Set(jobs)].sort()).toEqual(Object.keys(jobNames).sort());
  });
});

describe('merged newest entries', () => {
  const entry = (key: string, code: string | null = null): TimelineEntry => ({
    ...{ key, at: '2026-03-01T10:00:00.000Z', kind: 'EVENT', name: null, campaignId: null, deviceId: null },
    ...{ platform: null, outcome: null, code, detail: {} },
  });
  /** "cba" is a page of three entries, the newest first, after which there are more; after "cba|" there are none. */
  const pageOf = (text: string) => {
    const keys = [...text.replace('|', '')];
    return { entries: keys.map((key) => entry(key)), next: text.endsWith('|') ? null : keys.at(-1)! };
  };
  /** A page is asked for by the end of the one before it. */
  const pagesOf = (text: string) => {
    const pages = text.split(' ').map(pageOf);
    return { pages, pageParams: [null, ...pages.slice(0, -1).map(({ next }) => next)] };
  };

  test.each([
    ['nothing new', 'fed cba|', 'fed', 'fed cba|'],
    ['one new entry, which pushes the last of the page into the next', 'fed', 'gfe', 'gfe d'],
    ['the same with older pages', 'fed cba|', 'gfe', 'gfe d cba|'],
    ['what was pushed on before', 'gfe d cba|', 'hgf', 'hgf e d cba|'],
    ['a whole page that is new, at whose end the old ones begin', 'fed cba', 'hgf', 'hgf ed cba'],
    ['more than a page that is new: the older ones are asked for again', 'fed cba', 'jih', 'jih'],
    ['all that there is on the newest page', 'fed cba|', 'd|', 'd|'],
    ['an entry that came to the top again is there once', 'fed cba|', 'bfe', 'bfe d ca|'],
    ['an entry that was removed', 'fed cba|', 'fdc', 'fdc ba|'],
  ])('are correct for %s', (_name, ...[loaded, newest, merged]) => {
    expect(shown(mergeNewest(pagesOf(loaded), pageOf(newest)))).toBe(merged);
  });

  test('have an empty page for a user without any', () => {
    const newest = { entries: [], next: null };
    expect(mergeNewest(pagesOf('fed cba'), newest)).toEqual({ pages: [newest], pageParams: [null] });
  });

  test('show a changed entry in its current form', () => {
    const newest = { entries: [entry('b', 'UNREGISTERED')], next: 'b' };
    expect(mergeNewest(pagesOf('ba|'), newest).pages).toEqual([newest, pageOf('a|')]);
  });
});

describe('table files', () => {
  const rowsOf = (text: string, delimiter = ',') => {
    const reader = new CsvRows(delimiter);
    return [...reader.push(text), ...reader.end()];
  };

  test('have rows of RFC 4180: quotes contain delimiters, line breaks and doubled quotes', () => {
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

  test('have the same rows in any pieces, equal to those that were written', () => {
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

  test('are read with their delimiter, encoding and byte order mark', async () => {
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

  test('yield one column as a file with one value per line, keep row positions, and drop empty rows at the end', async () => {
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

  test('have a header if it names a known attribute, or differs from the rows below', () => {
    const known: KnownAttribute[] = [{ name: 'Loyalty card', type: 'double', values: [] }];
    expect(hasHeader([['email'], ['ada@example.com']], [])).toBe(true);
    expect(hasHeader([['loyalty card'], ['ada']], known)).toBe(true);
    expect(hasHeader([['contact'], ['ada@example.com'], ['tim@example.com']], [])).toBe(true);
    expect(hasHeader([['ada@example.com'], ['tim@example.com']], [])).toBe(false);
    expect(hasHeader([['ada'], ['tim']], [])).toBe(false);
    expect(hasHeader([['+351 912 345 678'], ['+351 912 345 679']], [])).toBe(false);
    expect(hasHeader([], [])).toBe(false);
  });

  test('get an attribute suggested from the name or the values of a column', () => {
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
});

describe('virtual device behaviours', () => {
  let cookie: string;
  beforeAll(async () => {
    ({ cookie } = await openSignedInClient(bundle));
  });

  const add = (body: object) =>
    bundle.call('POST', `/console/api/sandbox/devices?workspaceId=${bundle.workspaceId}`, {
      headers: { cookie },
      body: { customerId: 'bea', ...body },
    });

  test('allow throttling only if the provider throttles that way, and reject it with the reason otherwise', async () => {
    const phone = await add({ platform: 'ANDROID', behaviour: 'throttled' });
    expect([phone.status, phone.text]).toEqual([
      400,
      expect.stringContaining('must not be throttled for a device that fcm reaches'),
    ]);
    const browser = await add({ platform: 'WEB', behaviour: 'throttled' });
    expect(browser.status).toBeLessThan(300);
    expect(browser.text).toContain('"behaviour":"throttled"');
  });
});

/** The same way back. */
function shown(merged: ReturnType<typeof mergeNewest>): string {
  const { pages, pageParams } = merged;
  expect(pageParams).toEqual([null, ...pages.slice(0, -1).map(({ next }) => next)]);
  const keys = pages.map(({ entries }) => entries.map(({ key }) => key).join(''));
  return `${keys.join(' ')}${pages.at(-1)!.next === null ? '|' : ''}`;
}
