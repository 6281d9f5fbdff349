import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inSchemaTransaction, withSession } from './database.ts';
import type { Database, Queryable, Session } from './database.ts';
import { splitStatements } from './postgres/split-statements.ts';

const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations');

/** The database was migrated by a newer Carillon than this one. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError';
  readonly unknownMigration: string;

  constructor(unknownMigration: string) {
    super(`The database holds migration ${unknownMigration}, which this version of Carillon does not know.`);
    this.unknownMigration = unknownMigration;
  }
}

/** A migration that was already applied has been edited since. */
export class MigrationChangedError extends Error {
  override readonly name = 'MigrationChangedError';
}

/**
 * Applies the migrations that are missing, in order, under an advisory lock, so that nodes that start together apply each
 * once: each in its own transaction, in an empty database all in one.
 *
 * @returns the names of the migrations applied by this call
 * @throws SchemaTooNewError, MigrationChangedError
 */
export async function migrate(database: Database, at: Date): Promise<string[]> {
  const files = await readMigrations();
  return withSession(database, async (session) => {
    await session`select pg_advisory_lock(${schemaLock})`;
    try {
      return await applyMissing(session, { files, at });
    } finally {
      await session`select pg_advisory_unlock(${schemaLock})`.catch(() => {});
    }
  });
}

/** Arbitrary; it only has to be the same on every node. */
const schemaLock = 7_312_843;

/** Does work that no migration may come between. @returns `locked` when one is under way; nothing is done then */
export async function withSchemaLock<Result>(
  session: Session,
  work: () => Promise<Result>,
): Promise<Result | 'locked'> {
  const [row] = await session<{ isLocked: boolean }[]>`select pg_try_advisory_lock(${schemaLock}) as "isLocked"`;
  if (!row!.isLocked) return 'locked';
  try {
    return await work();
  } finally {
    await session`select pg_advisory_unlock(${schemaLock})`.catch(() => {});
  }
}

async function applyMissing(session: Session, { files, at }: { files: Migration[]; at: Date }): Promise<string[]> {
  await session`
    create table if not exists schema_migrations (
      name text primary key,
      digest text not null,
      applied_at timestamptz not null
    )`;
  const applied = await readApplied(session);
  refuseForeign(files, applied);
  const missing = files.filter((file) => !applied.some((row) => row.name === file.name));
  const [cluster] = await session`select from pg_extension where extname = 'citus'`;
  // A new database is made at once, which takes two thirds of the time: nobody waits for its locks.
  const isAtOnce = applied.length === 0 && !cluster;
  for (const some of isAtOnce ? [missing] : missing.map((file) => [file])) {
    await inSchemaTransaction(session, async (tx) => {
      // A cluster changes the shards of a table over several connections at a time, and after that takes no function, type or
      // role in the same transaction; one after the other it takes all.
      if (cluster) await tx`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`;
      for (const { name, text, digest } of some) {
        // One by one there: a cluster takes no change of a distributed table in a message with others.
        for (const statement of cluster ? splitStatements(text) : [text]) await tx.unsafe(statement);
        await tx`insert into schema_migrations (name, digest, applied_at) values (${name}, ${digest}, ${at})`;
      }
    });
  }
  return missing.map((file) => file.name);
}

/**
 * What is missing in a database that this role may not migrate: the names of migrations, all of them in an empty one.
 *
 * @throws SchemaTooNewError, MigrationChangedError
 */
export async function findMissingMigrations(database: Database): Promise<string[]> {
  const files = await readMigrations();
  const [table] = await database`select 1 from pg_class where relname = 'schema_migrations'`;
  const applied = table ? await readApplied(database) : [];
  refuseForeign(files, applied);
  return files.map(({ name }) => name).filter((name) => !applied.some((row) => row.name === name));
}

function readApplied(on: Queryable) {
  return on<{ name: string; digest: string }[]>`select name, digest from schema_migrations order by name`;
}

type Migration = { name: string; text: string; digest: string };

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(migrationsFolder)).filter((name) => /^\d{6}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(migrationsFolder, name), 'utf8');
      return { name, text, digest: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

function refuseForeign(files: Migration[], applied: readonly { name: string; digest: string }[]): void {
  for (const row of applied) {
    const file = files.find((candidate) => candidate.name === row.name);
    if (!file) throw new SchemaTooNewError(row.name);
    if (file.digest !== row.digest) {
      throw new MigrationChangedError(
        `Migration ${row.name} was edited after it was applied; migrations are forward only.`,
      );
    }
  }
}

/** Brings the job queue's own schema (`graphile_worker`) up to date; several nodes may do so at once. */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  // Loaded here: 80 files that a command beside a running node, which migrates nothing, has no use for.
  const { runMigrations } = await import('graphile-worker');
  await runMigrations({ connectionString: databaseUrl, maxPoolSize: 2 });
}
