import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/start/config.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';
import { startNode } from '../start/start-bundle.ts';
import { startTlsFront } from '../start-tls-front.ts';
import type { TlsFront } from '../start-tls-front.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

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

describe('words of sslmode mean what they mean to psql', () => {
  test('require encrypts and asks nobody who the server is; disable does not encrypt', async () => {
    expect(await ask(fronts['elsewhere.example'], 'sslmode=require')).toBe('encrypted');
    expect(await ask(fronts.localhost, 'sslmode=disable')).toBe('in the clear');
  });

  test('verify-ca wants a certificate of that authority, of whatever name', async () => {
    const { localhost, 'elsewhere.example': elsewhere } = fronts;
    expect(await ask(elsewhere, `sslmode=verify-ca&sslrootcert=${elsewhere.authority}`)).toBe('encrypted');
    expect(await ask(elsewhere, `sslmode=verify-ca&sslrootcert=${localhost.authority}`)).toMatch(/self-signed/);
    // As libpq has it for the sake of old settings.
    expect(await ask(elsewhere, `sslmode=require&sslrootcert=${localhost.authority}`)).toMatch(/self-signed/);
  });

  test('verify-full wants its name too', async () => {
    const { localhost, 'elsewhere.example': elsewhere } = fronts;
    expect(await ask(localhost, `sslmode=verify-full&sslrootcert=${localhost.authority}`)).toBe('encrypted');
    expect(await ask(elsewhere, `sslmode=verify-full&sslrootcert=${elsewhere.authority}`)).toMatch(/does not match/);
    expect(await ask(localhost, 'sslmode=verify-full')).toMatch(/self-signed/);
  });

  test.each(['require', 'verify-full'])('%s sends nothing to a server that does not encrypt', async (mode) => {
    expect(await ask(clear, `sslmode=${mode}`)).toMatch(/does not support SSL/);
  });
});

test('a node that is to verify opens no connection in the clear, that of its doorbell included', async () => {
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

describe('is refused with the name of its setting', () => {
  test.each(['prefer', 'allow', 'no-verify', 'verify_full', ''])('sslmode=%s', (mode) => {
    for (const name of ['DATABASE_URL', 'CARILLON_DATABASE_OWNER_URL'])
      expect(() =>
        readConfig({
          environment: { DATABASE_URL: 'postgres://a/b', [name]: `postgres://a/b?sslmode=${mode}` },
          arguments: [],
        }),
      ).toThrow(new RegExp(`^${name} takes sslmode=disable, require, verify-ca or verify-full`));
  });

  test('verify-ca without its authority', () => {
    const environment = { DATABASE_URL: 'postgres://a/b?sslmode=verify-ca' };
    expect(() => readConfig({ environment, arguments: [] })).toThrow('needs sslrootcert');
  });
});
