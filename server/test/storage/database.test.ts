import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inSnapshot, inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database, Value } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';

let bundle: Awaited<ReturnType<typeof createTestDatabase>>;
let database: Database;
beforeAll(async () => {
  bundle = await createTestDatabase();
  database = openDatabase({ url: bundle.url, connections: 2, name: 'database test' });
  await database`
    create table notes (id integer primary key, note text, at timestamptz, facts jsonb, bytes bytea, tags text[])`;
});
afterAll(async () => {
  await database.end();
  await bundle.drop();
});

describe('a parameter', () => {
  const at = new Date('2026-03-01T09:30:00.123Z');

  const awkward = ['a', 'b"\\', '', 'NULL', '{x,y}', null];

  test.each<[string, Value, [type: string, expected: unknown]]>([
    ['a text', 'a"b\\c', ['text', 'a"b\\c']],
    ['a number', 1.5, ['double precision', 1.5]],
    ['a large number', 2 ** 53 - 1, ['bigint', 2 ** 53 - 1]],
    ['a bigint', 12n, ['bigint', 12]],
    ['true', true, ['boolean', true]],
    ['null', null, ['text', null]],
    ['a time', at, ['timestamptz', at]],
    ['bytes', Buffer.from([0, 1, 255, 92]), ['bytea', Buffer.from([0, 1, 255, 92])]],
    ['texts', awkward, ['text[]', awkward]],
    ['no texts', [], ['text[]', []]],
    ['numbers', [1, -2, null], ['integer[]', [1, -2, null]]],
    ['times', [at, null], ['timestamptz[]', [at, null]]],
    ['flags', [true, false], ['boolean[]', [true, false]]],
    ['bytes in an array', [Buffer.from([7, 92])], ['bytea[]', [Buffer.from([7, 92])]]],
    [
      'arrays in an array',
      [
        [1, 2],
        [3, 4],
      ],
      [
        'integer[]',
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ],
  ])('comes back as it was: %s', async (_name, value, [type, expected]) => {
    const [typed] = await withSession(database, async (session) => {
      await session.unsafe(`create temporary table kept (value ${type})`);
      await session`insert into kept values (${value})`;
      return session`select value from kept`;
    });
    expect(typed!.value).toEqual(expected);
  });

  test.each([['an array'], [[1, 'two', { three: null }]], [{ a: '\u2028"' }], ['text'], [7], [null]])(
    'is stored as jsonb through json: %j',
    async (value) => {
      const [row] =
        await database`select ${database.json(value)} as value, jsonb_typeof(${database.json(value)}) as type`;
      expect(row!.value).toEqual(value);
    },
  );

  test('a time stands beside an interval, because the server is told what it is', async () => {
    const [row] = await database`select ${at} - interval '1 day' as before`;
    expect(row!.before).toEqual(new Date('2026-02-28T09:30:00.123Z'));
  });

  test.each([[undefined], [{ plain: 'object' }], [() => 1]])('is refused when it is %s', async (value) => {
    await expect(async () => database`select ${value as never}`).rejects.toThrow(TypeError);
    await expect(async () => database`select ${[value] as never}`).rejects.toThrow(TypeError);
  });
});

describe('a column', () => {
  test.each([
    ["'2026-03-01'::date", new Date('2026-03-01')],
    ["'2026-03-01 10:00:00.123456+02'::timestamptz", new Date('2026-03-01T08:00:00.123Z')],
    ["'2026-03-01 10:00:00.1'::timestamp", new Date('2026-03-01T10:00:00.1Z')],
    ["'0099-03-01 10:00:00+00'::timestamptz", new Date('0099-03-01T10:00:00Z')],
    ['9007199254740991::bigint', 9007199254740991],
    ['1.50::numeric', '1.50'],
    ['\'{"a": [1]}\'::json', { a: [1] }],
    ['array[\'{"a": "b\\""}\', null]::jsonb[]', [{ a: 'b"' }, null]],
    ['array[1.5, 2]::numeric[]', ['1.5', '2']],
    ["'[0:1]={1,2}'::int[]", [1, 2]],
    ["array['2026-03-01 10:00:00+00']::timestamptz[]", [new Date('2026-03-01T10:00:00Z')]],
    ["'carillon'::name", 'carillon'],
    ['1.25::real', 1.25],
    ['null::int', null],
  ])('%s', async (expression, expected) => {
    const [row] = await database.unsafe(`select ${expression} as value`);
    expect(row!.value).toEqual(expected);
  });

  test('a time means the same in every zone of the session', async () => {
    await withSession(database, async (session) => {
      for (const zone of ['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Africa/Monrovia']) {
        await session`select set_config('TimeZone', ${zone}, false)`;
        const [row] = await session`select ${new Date('2026-07-01T12:34:56.789Z')} as at`;
        expect(row!.at).toEqual(new Date('2026-07-01T12:34:56.789Z'));
      }
    });
  });
});

describe('a statement', () => {
  test('is sent when somebody waits for it, and once', async () => {
    const statement = database`insert into notes (id) values (1)`;
    expect(await database`select id from notes`).toEqual([]);
    await statement;
    await statement;
    expect((await database`select id from notes`).count).toBe(1);
    await database`delete from notes`;
  });

  test('is put together of parts, names, rows and assignments', async () => {
    const rows = [
      { id: 1, note: 'one', at: new Date(0), facts: database.json(['x']), tags: ['a'] },
      { id: 2, note: null, at: null, facts: null, tags: [] },
    ];
    const stored = await database`insert into ${database('notes')} ${database(rows)} returning id`;
    expect([stored.count, [...stored]]).toEqual([2, [{ id: 1 }, { id: 2 }]]);
    const isEarly = database`at <= ${new Date(1)}`;
    const parts = [database`and id < ${10}`, database`and note = ${'one'}`];
    const changed = await database`update notes set ${database({ note: 'changed', facts: database.json('y') })}
      where ${isEarly} ${parts}`;
    expect(changed.count).toBe(1);
    expect(await database`select note, facts, tags from notes order by id`).toEqual([
      { note: 'changed', facts: 'y', tags: ['a'] },
      { note: null, facts: null, tags: [] },
    ]);
    await database`delete from notes`;
  });

  test('that fails says what the database said, and who asked', async () => {
    const fault = await database`select 1 / ${0}::int`.catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: '22012', message: 'division by zero' });
    expect((fault as Error).stack).toContain('database.test.ts');
    expect(await database`select 1 as one`).toEqual([{ one: 1 }]);
  });

  test('is prepared by name, and one that is put together when it recurs; of those there is a bound', async () => {
    // In a process of its own: the bound is the process's, and other tests of this one may have come to it.
    const script = `
      import { openDatabase, withSession } from ${JSON.stringify(new URL('../../src/storage/database.ts', import.meta.url).href)};
      const fresh = openDatabase({ url: process.argv[1], connections: 1, name: 'named' });
      const counts = [];
      await withSession(fresh, async (session) => {
        const count = async () =>
          counts.push((await session.unsafe('select count(*) as named from pg_prepared_statements'))[0].named);
        const alone = () => session\`select \${1}::int as one\`;
        const composed = (rows) => session\`insert into notes \${session(
          Array.from({ length: rows }, (_, n) => ({ id: 1_000 + n })))} on conflict do nothing\`;
        await Promise.all([alone(), alone(), alone()]);
        await count();
        await composed(2);
        await composed(2);
        await count();
        await composed(2);
        await count();
        for (let rows = 1; rows <= 300; rows += 1) for (let time = 0; time < 3; time += 1) await composed(rows);
        await count();
      });
      await fresh.end();
      process.stdout.write(JSON.stringify(counts));`;
    const parameters = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, bundle.url];
    const { stdout } = await promisify(execFile)(process.execPath, parameters);
    expect(JSON.parse(stdout)).toEqual([1, 1, 2, 1 + 200]);
    await database`delete from notes`;
  });

  test('whose plan no longer fits its tables is planned again', async () => {
    const read = () => database`select * from changing`;
    await database`create table changing (a int)`;
    for (let time = 0; time < 3; time += 1) await Promise.all([read(), read()]);
    await database`alter table changing add b int`;
    expect(await Promise.all([read(), read(), read()])).toEqual([[], [], []]);
    await database`drop table changing`;
  });
});

describe('pages', () => {
  test('are read one after another, and other statements between them', async () => {
    const seen: number[] = [];
    await inSnapshot(database, async (tx) => {
      const pages = tx<{ n: number }[]>`select n from generate_series(1, ${25}::int) as n`.cursor(10);
      for await (const page of pages) {
        expect((await tx`select 1 as one`)[0]!.one).toBe(1);
        seen.push(page.length);
      }
    });
    expect(seen).toEqual([10, 10, 5]);
  });

  test('are read in a transaction only', () => {
    expect(() => database`select 1`.cursor(10)).toThrow(TypeError);
  });
});

describe('COPY', () => {
  test('stores what it is given, and nothing of what fails', async () => {
    await withSession(database, async (session) => {
      expect(await session`copy notes (id, note) from stdin`.copyFrom(['1\tone\n2\t', 'two\n'])).toBe(2);
      await expect(session`copy notes (id) from stdin`.copyFrom(['3\nfour\n'])).rejects.toMatchObject({
        code: '22P02',
      });
      await expect(
        session`copy notes (id) from stdin`.copyFrom(
          (async function* () {
            yield '5\n';
            throw new Error('the source ended');
          })(),
        ),
      ).rejects.toThrow('the source ended');
      expect(await session`select id, note from notes order by id`).toEqual([
        { id: 1, note: 'one' },
        { id: 2, note: 'two' },
      ]);
    });
    await database`delete from notes`;
  });

  test('takes as much as comes, piece by piece', async () => {
    const rows = await inTransaction(database, async (tx) => {
      await tx`create temporary table many (n int, filler text) on commit drop`;
      const pieces = (function* () {
        for (let piece = 0; piece < 200; piece += 1) yield `${piece}\t${'x'.repeat(100_000)}\n`;
      })();
      return tx`copy many from stdin`.copyFrom(pieces);
    });
    expect(rows).toBe(200);
  });
});

describe('a session', () => {
  test('is one connection, and what it leaves behind reaches nobody', async () => {
    await withSession(database, async (session) => {
      await session`set work_mem = '77MB'`;
      await session`create temporary table left_behind (a int)`;
      expect((await session`show work_mem`)[0]!.work_mem).toBe('77MB');
      await inTransaction(session, async (tx) => {
        expect((await tx`show work_mem`)[0]!.work_mem).toBe('77MB');
        await expect(inTransaction(session, async () => {})).rejects.toThrow('in a transaction already');
      });
    });
    for (let time = 0; time < 4; time += 1) expect((await database`show work_mem`)[0]!.work_mem).not.toBe('77MB');
  });

  test('has the settings every connection has', async () => {
    const [row] = await database`
      select current_setting('application_name') as name, current_setting('idle_in_transaction_session_timeout') as stuck`;
    expect(row).toEqual({ name: 'database test', stuck: '1min' });
  });
});

describe('a pool that ends', () => {
  test('refuses who waits, lets who works end, and closes who does not', async () => {
    const ending = openDatabase({ url: bundle.url, connections: 1, name: 'ending' });
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const working = inTransaction(ending, async (tx) => {
      await tx`select 1`;
      await held;
      await tx`select 1`;
    });
    await expect.poll(() => ending.reach.pool.countHeld()).toBe(1);
    const waiting = ending`select 1`.catch((error: { code: string }) => error.code);
    await new Promise((resolve) => setImmediate(resolve));
    const ended = ending.end({ timeoutSeconds: 0.05 });
    expect(await waiting).toBe('CONNECTION_ENDED');
    await ended;
    release();
    await expect(working).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    await expect(async () => ending`select 1`).rejects.toMatchObject({ code: 'CONNECTION_ENDED' });
  });
});
