import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/start/config.ts';
import { inSnapshot, inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database, Fragment, Queryable, Value } from '../../src/storage/database.ts';
import {
  joinIdBytes,
  outcomeLetters,
  outcomeWord,
  platformLetters,
  platformWord,
} from '../../src/storage/ledger/ledger-encoding.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { startTlsFront } from '../start-tls-front.ts';
import type { TlsFront } from '../start-tls-front.ts';
import { startNode } from '../start/start-bundle.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe('the database client', () => {
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
    ])('is returned unchanged: %s', async (_name, value, [type, expected]) => {
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

    test('may be a time next to an interval, because its type is sent to the server', async () => {
      const [row] = await database`select ${at} - interval '1 day' as before`;
      expect(row!.before).toEqual(new Date('2026-02-28T09:30:00.123Z'));
    });

    test.each([[undefined], [{ plain: 'object' }], [() => 1]])('is rejected if it is %s', async (value) => {
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
    ])('is converted: %s', async (expression, expected) => {
      const [row] = await database.unsafe(`select ${expression} as value`);
      expect(row!.value).toEqual(expected);
    });

    test('has the same time in every zone of the session', async () => {
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
    test('is sent once, when it is awaited', async () => {
      const statement = database`insert into notes (id) values (1)`;
      expect(await database`select id from notes`).toEqual([]);
      await statement;
      await statement;
      expect((await database`select id from notes`).count).toBe(1);
      await database`delete from notes`;
    });

    test('is composed of parts, names, rows and assignments', async () => {
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

    test('reports the error of the database and its caller if it fails', async () => {
      const fault = await database`select 1 / ${0}::int`.catch((error: unknown) => error);
      expect(fault).toMatchObject({ code: '22012', message: 'division by zero' });
      expect((fault as Error).stack).toContain('database.test.ts');
      expect(await database`select 1 as one`).toEqual([{ one: 1 }]);
    });

    test('is prepared by name, or if composed when it recurs, up to a limit', async () => {
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

    test('is planned again if its plan no longer fits the tables', async () => {
      const read = () => database`select * from changing`;
      await database`create table changing (a int)`;
      for (let time = 0; time < 3; time += 1) await Promise.all([read(), read()]);
      await database`alter table changing add b int`;
      expect(await Promise.all([read(), read(), read()])).toEqual([[], [], []]);
      await database`drop table changing`;
    });
  });

  test('plans a prepared statement again when its table has grown, without waiting for new statistics', async () => {
    const one = openDatabase({ url: bundle.url, connections: 1, name: 'one connection' });
    try {
      await one`create table growing (id integer primary key, note text) with (autovacuum_enabled = false)`;
      await one`insert into growing select number, repeat('x', 100) from generate_series(1, 5) as number`;
      const ids = Array.from({ length: 20 }, (_, index) => index + 1);
      const read = () =>
        one`select note from unnest(${ids}::integer[]) as asked (id) join growing on growing.id = asked.id`;
      const countScans = async (): Promise<number> => {
        await one`select pg_stat_force_next_flush()`;
        const [row] = await one`
          select seq_scan::integer as scans from pg_stat_user_tables where relname = 'growing'`;
        return row!.scans as number;
      };
      for (let time = 0; time < 20; time += 1) await read();
      expect(await countScans()).toBeGreaterThanOrEqual(20);
      await one`insert into growing select number, repeat('x', 100) from generate_series(6, 20000) as number`;
      for (let time = 0; time < 40; time += 1) await read();
      const before = await countScans();
      for (let time = 0; time < 20; time += 1) await read();
      expect(await countScans()).toBe(before);
    } finally {
      await one.end();
    }
  });

  describe('pages of a cursor', () => {
    test('are read one after another, with other statements in between', async () => {
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

    test('are available in a transaction only', () => {
      expect(() => database`select 1`.cursor(10)).toThrow(TypeError);
    });
  });

  describe('COPY', () => {
    test('stores its input, and nothing of a failed one', async () => {
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

    test('accepts input of any size in pieces', async () => {
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
    test('is one connection, whose settings reach no other caller', async () => {
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

    test('has the settings of every connection', async () => {
      const [row] = await database`
        select current_setting('application_name') as name, current_setting('idle_in_transaction_session_timeout') as stuck`;
      expect(row).toEqual({ name: 'database test', stuck: '1min' });
    });
  });

  describe('a pool that closes', () => {
    test('rejects waiting callers, completes running work, and closes idle connections', async () => {
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
});

type Word = (tx: Queryable, column: Fragment) => Fragment;

describe('words of the ledger', () => {
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  test('require ids of one length in a joined value, so that none shifts the ones behind it', () => {
    const [one, other] = ['019ca9450a00389dc9cf0434', 'ffffffffffffffffffffffff'];
    expect(joinIdBytes([one, other]).toString('hex')).toBe(one + other);
    for (const wrong of ['', 'ff', `${one}ff`, 'g'.repeat(24)])
      expect(() => joinIdBytes([one, wrong, other])).toThrow(RangeError);
    // Together as long as two.
    expect(() => joinIdBytes([`${one}ff`, other.slice(2)])).toThrow(RangeError);
  });

  test('replace the letters in the readable ledger, by the run and workspace of the row', async () => {
    const { database } = bundle;
    const at = new Date('2026-03-01T09:00:00Z');
    const workspaceId = await insertTestWorkspace(database, at);
    const runId = '0'.repeat(24);
    await insertSentRun(database, { workspaceId, id: runId, at });
    await database`update runs set locales = '{de,fr}' where id = ${runId}`;
    await database`select make_day_partition('deliveries', ${at}::date)`;
    const rows = Object.entries(platformLetters).flatMap(([platform, platformLetter], index) =>
      Object.entries(outcomeLetters).map(([outcome, letter]) => ({
        stored: {
          platform: platformLetter,
          outcome: letter,
          bucket: index,
          retry_at: outcome === 'WAITING' ? at : null,
        },
        read: { platform, outcome, variation: 3, locale: 'fr', workspace_id: workspaceId, run_id: runId },
      })),
    );
    for (const [index, { stored }] of rows.entries())
      await database`
        insert into deliveries (sent_at, retry_at, run_number, day, workspace_number, bucket, attempts, platform, outcome, user_id,
          device_id, variation, locale)
        select ${at}::timestamptz, ${stored.retry_at}::timestamptz, runs.number, ${at}::date, workspaces.number, ${stored.bucket}::smallint, 1, ${stored.platform}::"char",
          ${stored.outcome}::"char", decode(${index.toString(16).padStart(24, '0')}, 'hex'), decode(${'ab'.repeat(12)}, 'hex'), '3', 'B'
        from runs join workspaces on workspaces.id = runs.workspace_id where runs.id = ${runId}`;
    const read = await database`
      select platform, outcome, variation, locale, workspace_id, run_id, user_id, device_id from readable_deliveries order by user_id`;
    expect(read).toEqual(
      rows.map((row, index) => ({
        ...row.read,
        user_id: index.toString(16).padStart(24, '0'),
        device_id: 'ab'.repeat(12),
      })),
    );
  });

  test.each([
    ['platform', platformLetters as Record<string, string>, platformWord as Word],
    ['outcome', outcomeLetters as Record<string, string>, outcomeWord as Word],
  ])('match the letter of each %s in the database', async (_what, letters, wordOf) => {
    const { database } = bundle;
    const read: Record<string, unknown> = {};
    for (const [word, letter] of Object.entries(letters)) {
      const [row] = await database`select ${wordOf(database, database`letter`)} as word
        from (select ${letter}::"char" as letter) as stored`;
      read[word] = row!.word;
    }
    expect(read).toEqual(Object.fromEntries(Object.keys(letters).map((word) => [word, word])));
    expect(new Set(Object.values(letters)).size).toBe(Object.keys(letters).length);
  });
});

describe('the sslmode setting', () => {
  let bundle: TestDatabase;
  let folder: string;
  /** Of each a server whose certificate is for that name, and the file of whoever vouches for it. */
  let fronts: Record<'localhost' | 'elsewhere.example', TlsFront & { authority: string }>;
  let clear: TlsFront;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'carillon-ssl-'));
    const serve = async (name: string) => {
      const pair = makeCertificate([name]);
      const authority = join(folder, `${name}.pem`);
      await writeFile(authority, pair.cert);
      return { ...(await startTlsFront(bundle.url, pair)), authority };
    };
    fronts = { localhost: await serve('localhost'), 'elsewhere.example': await serve('elsewhere.example') };
    clear = await startTlsFront(bundle.url, undefined);
  });
  afterAll(async () => {
    for (const front of [...Object.values(fronts), clear]) await front.stop();
    await bundle.drop();
    await rm(folder, { recursive: true });
  });

  describe('sslmode, as psql interprets it', () => {
    test('encrypts without verification for require, and does not encrypt for disable', async () => {
      expect(await ask(fronts['elsewhere.example'], 'sslmode=require')).toBe('encrypted');
      expect(await ask(fronts.localhost, 'sslmode=disable')).toBe('in the clear');
    });

    test('requires a certificate of the given authority for verify-ca, whatever its name', async () => {
      const { localhost, 'elsewhere.example': elsewhere } = fronts;
      expect(await ask(elsewhere, `sslmode=verify-ca&sslrootcert=${elsewhere.authority}`)).toBe('encrypted');
      expect(await ask(elsewhere, `sslmode=verify-ca&sslrootcert=${localhost.authority}`)).toMatch(/self-signed/);
      // As libpq has it for the sake of old settings.
      expect(await ask(elsewhere, `sslmode=require&sslrootcert=${localhost.authority}`)).toMatch(/self-signed/);
    });

    test('also requires a matching name for verify-full', async () => {
      const { localhost, 'elsewhere.example': elsewhere } = fronts;
      expect(await ask(localhost, `sslmode=verify-full&sslrootcert=${localhost.authority}`)).toBe('encrypted');
      expect(await ask(elsewhere, `sslmode=verify-full&sslrootcert=${elsewhere.authority}`)).toMatch(/does not match/);
      expect(await ask(localhost, 'sslmode=verify-full')).toMatch(/self-signed/);
    });

    test.each(['require', 'verify-full'])('sends nothing to a server without encryption for %s', async (mode) => {
      expect(await ask(clear, `sslmode=${mode}`)).toMatch(/does not support SSL/);
    });
  });

  test('never connects in the clear on a verifying node, including its notification listener', async () => {
    const { localhost } = fronts;
    const before = localhost.counts.plain;
    const node = startNode(['--port', '0', '--json'], {
      DATABASE_URL: `${localhost.url}?sslmode=verify-full&sslrootcert=${localhost.authority}`,
      CARILLON_DATA_DIR: folder,
    });
    const line = await node.firstLine;
    expect(line).toBeDefined();
    const doorbells = await bundle.database<{ count: number }[]>`
      select count(*)::int from pg_stat_activity
      where datname = current_database() and application_name = 'carillon doorbell'`;
    node.process.kill('SIGTERM');
    expect((await node.exited).code).toBe(0);
    expect(doorbells[0]!.count).toBeGreaterThan(0);
    expect(localhost.counts.plain).toBe(before);
  });

  describe('an invalid sslmode', () => {
    test.each(['prefer', 'allow', 'no-verify', 'verify_full', ''])(
      'is rejected with the name of its setting: sslmode=%s',
      (mode) => {
        for (const name of ['DATABASE_URL', 'CARILLON_DATABASE_OWNER_URL'])
          expect(() =>
            readConfig({
              environment: { DATABASE_URL: 'postgres://a/b', [name]: `postgres://a/b?sslmode=${mode}` },
              arguments: [],
            }),
          ).toThrow(new RegExp(`^${name} takes sslmode=disable, require, verify-ca or verify-full`));
      },
    );

    test('is rejected for verify-ca without its authority', () => {
      const environment = { DATABASE_URL: 'postgres://a/b?sslmode=verify-ca' };
      expect(() => readConfig({ environment, arguments: [] })).toThrow('needs sslrootcert');
    });
  });
});

/** Asks one statement; says how the connection came, or why there was none. */
async function ask(front: TlsFront, parameters: string): Promise<string> {
  const before = { ...front.counts };
  const database = openDatabase({ url: `${front.url}?${parameters}`, connections: 1, name: 'ssl' });
  try {
    expect(await database`select 7 as seven`).toEqual([{ seven: 7 }]);
    return front.counts.secure > before.secure ? 'encrypted' : 'in the clear';
  } catch (error) {
    const { message, cause } = error as Error;
    return `${message} ${String((cause as { code?: string } | undefined)?.code ?? (error as { code?: string }).code)}`;
  } finally {
    await database.end();
  }
}
