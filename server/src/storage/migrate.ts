import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inSchemaTransaction, withSession } from './database.ts';
import type { Database, Queryable, Session, Transaction } from './database.ts';
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

/**
 * A version before 0.1.0 made the database or the backup. Such versions had other migrations, and there is no upgrade
 * from them.
 */
export class SchemaTooOldError extends Error {
  override readonly name = 'SchemaTooOldError';

  constructor(what: 'database' | 'backup') {
    super(`A version of Carillon before 0.1.0 made this ${what}, and this version cannot upgrade it.`);
  }
}

/** The first migration of every version before 0.1.0 (decision 0065). */
const firstBeforeRelease = '000001_foundation.sql';

/** A migration that was already applied has been edited since. */
export class MigrationChangedError extends Error {
  override readonly name = 'MigrationChangedError';
}

/**
 * Applies the missing migrations in order, under an advisory lock, so that nodes that start together apply each once.
 * Each has its own transaction; in an empty database one transaction applies all.
 *
 * @param options.folder of the migrations; tests have one with an additional migration
 * @returns the names of the migrations applied by this call
 * @throws SchemaTooNewError, SchemaTooOldError, MigrationChangedError
 */
export async function migrate(database: Database, { at, folder }: { at: Date; folder?: string }): Promise<string[]> {
  const files = await readMigrations(folder);
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

/** Runs work during which no migration may run. @returns `locked`, without running it, when one is under way */
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

/**
 * Applies the missing migrations, up to the one named `last`, within the caller's transaction: a restore creates the
 * schema that its backup had, and continues from there.
 *
 * @returns their names
 */
export async function migrateInTransaction(
  tx: Transaction,
  { last, at, folder }: { last: string | undefined; at: Date; folder?: string | undefined },
): Promise<string[]> {
  const files = (await readMigrations(folder)).filter(({ name }) => last === undefined || name <= last);
  await makeMigrationsTable(tx);
  const applied = await readApplied(tx);
  const missing = files.filter((file) => !applied.some((row) => row.name === file.name));
  for (const { name, text, digest } of missing) {
    await tx.unsafe(text);
    await noteMigration(tx, { name, digest, at });
  }
  return missing.map(({ name }) => name);
}

const makeMigrationsTable = (on: Queryable) => on`
  create table if not exists schema_migrations (
    name text primary key,
    digest text not null,
    applied_at timestamptz not null
  )`;

const noteMigration = (tx: Queryable, { name, digest, at }: { name: string; digest: string; at: Date }) =>
  tx`insert into schema_migrations (name, digest, applied_at) values (${name}, ${digest}, ${at})`;

async function applyMissing(session: Session, { files, at }: { files: Migration[]; at: Date }): Promise<string[]> {
  await makeMigrationsTable(session);
  const applied = await readApplied(session);
  refuseForeign(files, { applied, what: 'database' });
  const missing = files.filter((file) => !applied.some((row) => row.name === file.name));
  const [cluster] = await session`select from pg_extension where extname = 'citus'`;
  // A new database is created in one transaction, which takes two thirds of the time: nothing waits for its locks.
  const isAtOnce = applied.length === 0 && !cluster;
  for (const some of isAtOnce ? [missing] : missing.map((file) => [file])) {
    await withoutHoldingUp(() =>
      inSchemaTransaction(session, async (tx) => {
        await tx`select set_config('lock_timeout', ${`${lockMilliseconds}ms`}, true)`;
        // By default a cluster changes the shards of a table over several connections at once, and then accepts no
        // function, type or role in the same transaction. Sequentially it accepts everything.
        if (cluster) await tx`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`;
        for (const { name, text, digest } of some) {
          // A cluster needs them one by one: it accepts no change of a distributed table in a message with others.
          for (const statement of cluster ? splitStatements(text) : [text]) await tx.unsafe(statement);
          await noteMigration(tx, { name, digest, at });
        }
      }),
    );
  }
  return missing.map((file) => file.name);
}

// A change of a table waits for its readers, and everything that comes later waits for the change. This limit is well
// below the time after which PostgreSQL looks for deadlocks (deadlock_timeout, a second unless set), which might abort
// a push instead.
const lockMilliseconds = 250;
const betweenMilliseconds = 2_000;
/** Ten minutes: longer than an export or a backup should take of a database that is migrated while nodes serve. */
const maxTries = 200;

// SQLSTATE lock_not_available; deadlock_detected, where deadlock_timeout is set shorter.
const givesWay = ['55P03', '40P01'];

/**
 * Retries a schema change until it gets each table within a quarter of a second. A waiting change delays nodes that
 * serve by no longer than that, and they continue in between.
 */
async function withoutHoldingUp(change: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      if (!givesWay.includes(String((error as { code?: unknown }).code)) || tries === maxTries) throw error;
      await setTimeout(betweenMilliseconds);
    }
  }
}

/**
 * Returns the names of the migrations that are missing, all of them in an empty database. For a role that may not
 * migrate.
 *
 * @throws SchemaTooNewError, SchemaTooOldError, MigrationChangedError
 */
export async function findMissingMigrations(database: Database): Promise<string[]> {
  const files = await readMigrations();
  const [table] = await database`select 1 from pg_class where relname = 'schema_migrations'`;
  const applied = table ? await readApplied(database) : [];
  refuseForeign(files, { applied, what: 'database' });
  return files.map(({ name }) => name).filter((name) => !applied.some((row) => row.name === name));
}

/** Returns the applied migrations, oldest first. A table of tens of rows. */
export function readApplied(on: Queryable) {
  return on<AppliedDigest[]>`select name, digest from schema_migrations order by name`;
}

/**
 * Rejects a backup of a database that this version can neither read nor upgrade.
 *
 * @throws SchemaTooNewError, SchemaTooOldError, MigrationChangedError
 */
export async function refuseForeignBackup(
  applied: readonly AppliedDigest[],
  { folder }: { folder?: string | undefined },
): Promise<void> {
  refuseForeign(await readMigrations(folder), { applied, what: 'backup' });
}

export type AppliedDigest = { name: string; digest: string };

type Migration = { name: string; text: string; digest: string };

async function readMigrations(folder = migrationsFolder): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{6}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      return { name, text, digest: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

function refuseForeign(
  files: Migration[],
  { applied, what }: { applied: readonly AppliedDigest[]; what: 'database' | 'backup' },
): void {
  if (applied.some(({ name }) => name === firstBeforeRelease)) throw new SchemaTooOldError(what);
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

/**
 * Blocks migrations until this transaction ends, without waiting for one. Otherwise a change of a table would wait
 * behind a backup that has read it, and everything else behind that change.
 *
 * @returns false when one is under way
 */
export async function holdMigrationsOff(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ isHeld: boolean }[]>`
    select pg_try_advisory_xact_lock_shared(${schemaLock}) as "isHeld"`;
  return row!.isHeld;
}
