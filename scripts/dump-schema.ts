/** Writes server/schema.sql: the tables that the migrations make, read back from a migrated database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dumpSchema } from '../server/test/dump-schema.ts';
import { startEmbeddedPostgres } from '../server/src/start/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../server/src/storage/migrate.ts';
import { openDatabase } from '../server/src/storage/database.ts';

const folder = await mkdtemp(join(tmpdir(), 'carillon-schema-'));
const server = await startEmbeddedPostgres({ folder, settings: { fsync: 'off' } });
const database = openDatabase({ url: server.ownerUrl, connections: 2, name: 'dump' });
try {
  await migrate(database, new Date(0));
  await writeFile(join(import.meta.dirname, '..', 'server', 'schema.sql'), await dumpSchema(database));
} finally {
  await database.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
