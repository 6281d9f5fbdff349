import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeClock } from '../../../src/clock.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { startJob } from '../../../src/engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { NoTurnError, makeFillSegments, makeFillTurns } from '../../../src/engine/segment-fill/fill-segments.ts';
import { FileUnreadableError, makeSegmentFileParser } from '../../../src/engine/segment-fill/segment-file-parser.ts';
import { makeLog } from '../../../src/log.ts';
import { makeOutgoingClient } from '../../../src/outgoing/client.ts';
import { propertyRuns } from '../../property-runs.ts';
import { awaitArrival, startReceiver, startSilentReceiver } from '../../receivers/silent-server.ts';
import type { TestReceiver } from '../../receivers/silent-server.ts';
import { createTestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

describe('the lines of a file', () => {
  test('end with any line ending, and a final one adds no line (decision D23)', () => {
    for (const file of ['a\nb\nc', 'a\nb\nc\n', 'a\r\nb\r\nc\r\n', 'a\rb\rc\r', 'a\r\nb\rc\n', '\ufeffa\nb\nc']) {
      const result = read(file);
      expect(result.values, JSON.stringify(file)).toEqual([
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ]);
      expect([result.found, result.rejects]).toEqual([3, []]);
    }
  });

  test('are none in an empty file', () => {
    expect(read('')).toEqual({ found: 0, kept: 0, values: [], rejects: [] });
    expect(read('\ufeff')).toEqual({ found: 0, kept: 0, values: [], rejects: [] });
  });

  test.each([
    ['an empty line', 'a\n\nb', [[2, 'empty']]],
    ['a trailing comma', 'a,\nb', [[1, 'comma']]],
    ['a comma within', 'a,b\nb', [[1, 'comma']]],
    ['a double quote', '"a"\nb', [[1, 'quote']]],
    ['a single quote', "o'b\nb", [[1, 'quote']]],
    ['a hash', 'a#1\nb', [[1, 'hash']]],
    ['a tab', 'a\tb\nb', [[1, 'control']]],
    ['NUL', 'a\0b\nbbbbbbbb', [[1, 'control']]],
    ['DEL', 'a\u007f\nb', [[1, 'control']]],
    ['a C1 control', 'a\u0085\nb', [[1, 'control']]],
    ['1,025 bytes', `${'x'.repeat(1025)}\nb`, [[1, 'long']]],
    ['1,025 bytes of two-byte characters', `${'é'.repeat(513)}\nb`, [[1, 'long']]],
    ['a lone continuation byte', Buffer.from([0x61, 0xbf, 0x0a, 0x62]), [[1, 'encoding']]],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80, 0x0a, 0x62]), [[1, 'encoding']]],
  ] as [string, Buffer | string, unknown][])(
    'are skipped with the reason for %s, and the other line is kept',
    (_name, file, rejects) => {
      const result = read(file);
      expect(result.rejects).toEqual(rejects);
      expect(result.kept).toBe(result.found - 1);
    },
  );

  test.each([
    'x'.repeat(1024),
    'é'.repeat(512),
    'a b',
    ' a',
    'back\\slash',
    '\\N',
    '\\.',
    'ünïcödé 🎉',
    'user@example.com',
  ])('may contain %j as value', (value) => {
    expect(read(value).values).toEqual([[1, value]]);
  });

  test('are normalized (NFC), so that two spellings of a value are one (decision D24)', () => {
    expect(read('Zu\u0308rich\nZ\u00fcrich').values.map(([, value]) => value)).toEqual(['Zürich', 'Zürich']);
  });

  test('have one form for each number, and are skipped if they are not a finite number (decision D24)', () => {
    const { values, rejects } = read('7\n7.0\n7e0\n+7\n.5\n-0\n1e400\n0x10\n 8\nNaN\nInfinity\n1_000\n९', {
      type: 'double',
    });
    expect(values).toEqual([
      [1, '7'],
      [2, '7'],
      [3, '7'],
      [4, '7'],
      [5, '0.5'],
      [6, '0'],
    ]);
    expect(rejects).toEqual([7, 8, 9, 10, 11, 12, 13].map((line) => [line, 'number']));
  });

  describe('a file that is not a column of values', () => {
    test.each([
      ['UTF-16 LE with its mark', Buffer.from('\ufeffa\nb\n', 'utf16le')],
      ['UTF-16 BE with its mark', Buffer.from('\ufeffa\nb\n', 'utf16le').swap16()],
      ['UTF-16 without a mark', Buffer.from('abc\ndef\n', 'utf16le')],
      ['an HTML page', Buffer.from('\n <!DOCTYPE html><title>Sign in</title>')],
      ['a ZIP archive', Buffer.from([0x50, 0x4b, 3, 4, 5])],
      ['gzip that the server did not name', Buffer.from([0x1f, 0x8b, 8, 0])],
    ])('is rejected as a whole: %s', (_name, file) => {
      for (const pieceBytes of [1, 3, 65_536]) expect(() => read(file, { pieceBytes })).toThrow(FileUnreadableError);
    });
  });

  test('are skipped at 60 MB, with flat memory (fault F30)', () => {
    const lines = makeSegmentFileParser('string');
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 60; index += 1) lines.push(piece);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    lines.push(Buffer.from('\nb\n'));
    lines.end();
    expect([lines.found(), lines.kept(), lines.rejects()]).toEqual([2, 1, [{ line: 1, reason: 'long' }]]);
  });

  test('are counted in full, and the first 10,000 skipped ones kept', () => {
    const result = read('\n'.repeat(12_000));
    expect([result.found, result.rejects.length, result.rejects.at(-1)]).toEqual([12_000, 10_000, [10_000, 'empty']]);
  });

  test('equal those of the simplest reader, whatever the bytes and their pieces', () => {
    const part = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          'a',
          'bc',
          '1',
          '\n',
          '\r',
          '\r\n',
          ',',
          '"',
          '#',
          '\\',
          '\t',
          'é',
          'u\u0308',
          '🎉',
          ' ',
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('x'.repeat(1023), 'y'.repeat(1024), '\u0085', "'") },
    );
    const bytes = fc.oneof(
      fc.array(part, { maxLength: 60 }).map((parts) => Buffer.from(parts.join(''))),
      fc
        .array(
          fc.oneof(
            part.map((text) => Buffer.from(text)),
            fc.uint8Array({ maxLength: 4 }).map((raw) => Buffer.from(raw)),
          ),
          { maxLength: 30 },
        )
        .map((parts) => Buffer.concat(parts)),
    );
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 40 }), (file, pieceBytes) => {
        let result;
        try {
          result = read(file, { pieceBytes });
        } catch (error) {
          expect(error).toBeInstanceOf(FileUnreadableError);
          return;
        }
        const expected = naive(file);
        expect({ found: result.found, values: result.values.map((row) => [...row]) }).toEqual(expected);
        expect(result.rejects.length).toBe(expected.found - expected.values.length);
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });
});

const limits = { total: 3, perWorkspace: 2, maxWaitMilliseconds: 60_000 };
const never = new AbortController().signal;

describe('the turns of segment fills', () => {
  test('are free for a workspace up to its limit, and for another up to the total', async () => {
    const turns = makeFillTurns(limits);
    await turns.take('a', never);
    expect(turns.isFree('a', [])).toBe(true);
    expect(turns.isFree('a', ['a'])).toBe(false);
    await turns.take('a', never);
    expect(turns.isFree('a', [])).toBe(false);
    expect(turns.isFree('b', [])).toBe(true);
    await turns.take('b', never);
    expect(turns.isFree('c', [])).toBe(false);
  });

  test('go to the first waiting fill whose workspace is below its limit', async () => {
    const turns = makeFillTurns(limits);
    const ends = [await turns.take('a', never), await turns.take('a', never), await turns.take('b', never)];
    const order: string[] = [];
    const third = turns.take('a', never).then((end) => (order.push('a'), end));
    const other = turns.take('b', never).then((end) => (order.push('b'), end));
    ends[2]!();
    const endOther = await other;
    expect(order).toEqual(['b']);
    expect(turns.isFree('c', [])).toBe(false);
    ends[0]!();
    await third;
    expect(order).toEqual(['b', 'a']);
    endOther();
    expect(turns.isFree('c', [])).toBe(true);
  });

  test('are not waited for beyond the time limit, or after a stop', async () => {
    const turns = makeFillTurns({ ...limits, total: 1, maxWaitMilliseconds: 1 });
    const end = await turns.take('a', never);
    await expect(turns.take('b', never)).rejects.toBeInstanceOf(NoTurnError);
    const stopping = new AbortController();
    const waiting = makeFillTurns({ ...limits, total: 0 }).take('a', stopping.signal);
    stopping.abort(new Error('stopping'));
    await expect(waiting).rejects.toThrow('stopping');
    end();
    expect(turns.isFree('b', [])).toBe(true);
  });
});

describe('a file on a responsive server', () => {
  let node: Awaited<ReturnType<typeof makeNodeBundle>>;
  beforeEach(async () => {
    node = await makeNodeBundle();
  });
  afterEach(() => node.end());

  const times = (count: number, of: (number: number) => string): string[] =>
    Array.from({ length: count }, (_, number) => of(number));

  test.each([1, 10])('does not wait for 200 files of another workspace at %i silent hosts', async (hosts) => {
    const [noisy, quiet] = [await node.addWorkspace(), await node.addWorkspace()];
    const silent = await Promise.all(times(hosts, String).map(() => node.silent()));
    const healthy = await node.server();
    await node.addDue(
      noisy,
      times(200, (number) => `${silent[number % hosts]!.origin}/${number}.csv`),
    );
    node.start();
    await Promise.race(silent.map((server) => server.arrived(1)));
    await node.addDue(quiet, [`${healthy.origin}/file.csv`]);
    node.wake();
    await awaitArrival(healthy, '/file.csv');
    await expect
      .poll(() => node.database`select state from segment_operations where workspace_id = ${quiet}`, {
        timeout: 10_000,
      })
      .toEqual([{ state: 'SUCCEEDED' }]);
  });

  test('does not wait for 20 files of its own workspace at a silent host', async () => {
    const workspaceId = await node.addWorkspace();
    const silent = await node.silent();
    const healthy = await node.server();
    const late = times(1, () => `${healthy.origin}/file.csv`);
    await node.addDue(workspaceId, [...times(20, (number) => `${silent.origin}/${number}.csv`), ...late]);
    node.start();
    await awaitArrival(healthy, '/file.csv');
  });
});

/** Feeds a file in pieces of the given sizes and undoes COPY's text format. */
function read(file: Buffer | string, options: { type?: 'string' | 'double'; pieceBytes?: number } = {}) {
  const bytes = Buffer.from(file as string);
  const lines = makeSegmentFileParser(options.type ?? 'string');
  const out: Buffer[] = [];
  const size = options.pieceBytes ?? 65_536;
  for (let at = 0; at < bytes.length; at += size)
    out.push(lines.push(bytes.subarray(at, at + size)) ?? Buffer.alloc(0));
  out.push(lines.end() ?? Buffer.alloc(0));
  const text = Buffer.concat(out).toString('utf8');
  const rows = text
    .split('\n')
    .slice(0, -1)
    .map((row) => row.split('\t') as [string, string]);
  return {
    found: lines.found(),
    kept: lines.kept(),
    values: rows.map(([line, value]) => [Number(line), value.replaceAll('\\\\', '\\')] as const),
    rejects: lines.rejects().map(({ line, reason }) => [line, reason] as const),
  };
}

/** The rules of decision D23 and D24 in the plainest form, on a whole file at once. */
function naive(file: Buffer) {
  const bytes = file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf ? file.subarray(3) : file;
  const lines: Buffer[] = [];
  let start = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes[index] !== 10 && bytes[index] !== 13) continue;
    lines.push(bytes.subarray(start, index));
    if (bytes[index] === 13 && bytes[index + 1] === 10) index += 1;
    start = index + 1;
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  const isValue = (line: Buffer): boolean => {
    if (line.length === 0 || line.length > 1024) return false;
    const text = line.toString('utf8');

    return Buffer.from(text).equals(line) && !/[,"'#\u0000-\u001f\u007f-\u009f]/.test(text);
  };
  const values = lines.flatMap((line, index) =>
    isValue(line) ? [[index + 1, line.toString('utf8').normalize('NFC')]] : [],
  );
  return { found: lines.length, values };
}

/** One node with real time and real sockets. */
async function makeNodeBundle() {
  const { database, drop } = await createTestDatabase();
  const clock = makeClock();
  const log = makeLog({ level: 'silent', pretty: false });
  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const servers: TestReceiver[] = [];
  let running: ReturnType<typeof startJob> | undefined;
  const job = makeFillSegments({
    ...{ database, clock, log, outgoing, owner: 'node', usersPerDay: 1_000_000, emailState: 'KEPT' },
    outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
    onEnded() {},
    onFreed: () => running?.wake(),
  });
  let made = 0;
  const keep = (server: TestReceiver): TestReceiver => {
    servers.push(server);
    return server;
  };
  return {
    database,
    addWorkspace: () => insertTestWorkspace(database, new Date(Date.UTC(2026, 2, 1, 12, 0, (made += 1)))),
    silent: async () => keep(await startSilentReceiver()),
    server: async () => keep(await startReceiver()),
    /** Files that have been due for an hour, each of a segment of its own. */
    async addDue(workspaceId: string, urls: readonly string[]): Promise<void> {
      const at = new Date(clock.now().getTime() - 3_600_000);
      const rows = urls.map((url, number) => ({ id: makeId(at), url, name: `Segment ${number}` }));
      await database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
          created_at, updated_at)
        select id, ${workspaceId}, name, 'FILE', 'FILLING', 'API', 'uid', 'string', 'test', ${at}, ${at}
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as row (id text, name text)`;
      await database`
        insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, file_url, state,
          not_before, requested_by, created_at)
        select id, ${workspaceId}, id, 1, 'CREATE', md5(id), url, 'QUEUED', ${at}, 'test', ${at}
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as row (id text, url text)`;
    },
    start() {
      running = startJob(job, { clock, log });
    },
    wake: () => running?.wake(),
    async end(): Promise<void> {
      job.abort();
      await running?.stop();
      for (const server of servers) server.close();
      await job.settled();
      await outgoing.close();
      await drop();
    },
  };
}
