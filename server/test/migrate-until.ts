import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inSchemaTransaction, withSession } from '../src/storage/database.ts';
import type { Database } from '../src/storage/database.ts';
import { splitStatements } from '../src/storage/postgres/split-statements.ts';

const folder = join(import.meta.dirname, '..', 'migrations');

/** Brings an empty database to an older state: that of the migration named last. */
export async function migrateUntil(database: Database, { last, at }: { last: string; at: Date }): Promise<void> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql') && file <= last).sort();
  await database`create table schema_migrations (name text primary key, digest text not null, applied_at timestamptz not null)`;
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8');
    const digest = createHash('sha256').update(text).digest('hex');
    await withSession(database, (session) =>
      inSchemaTransaction(session, async (tx) => {
        for (const statement of splitStatements(text)) await tx.unsafe(statement);
        await tx`insert into schema_migrations (name, digest, applied_at) values (${file}, ${digest}, ${at})`;
      }),
    );
  }
}
