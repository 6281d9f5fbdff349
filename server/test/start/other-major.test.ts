import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OtherMajorVersionError } from '../../src/start/embedded-postgres/cluster.ts';
import { startEmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import { exitCodes, toStartError } from '../../src/start/start-errors.ts';
import { makeFolder } from './start-bundle.ts';

test('files of another major version of PostgreSQL are refused before anything of them is touched', async () => {
  const folder = await makeFolder();
  try {
    const cluster = join(folder.path, 'cluster');
    await mkdir(cluster);
    await writeFile(join(cluster, 'PG_VERSION'), '17\n');
    // Of a server of the other version that may still run: it is not ended, and its lock stays.
    await writeFile(join(cluster, 'postmaster.pid'), `${process.pid}\n`);
    const refusal = await startEmbeddedPostgres({ folder: folder.path }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OtherMajorVersionError);
    const { code, message } = toStartError(refusal);
    expect(exitCodes[code].code).toBe(25);
    expect(message).toContain('was made by PostgreSQL 17, and this Carillon brings 18. Nothing was changed.');
    expect((await readdir(cluster)).toSorted()).toEqual(['PG_VERSION', 'postmaster.pid']);
  } finally {
    await folder.remove();
  }
});
