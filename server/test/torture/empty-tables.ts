import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';

export type EmptyTables = {
  /** Nothing that stays refers to them. */
  truncated: string[];
  /** What stays refers to them, if to none of their rows; whoever refers to another comes before it. */
  deleted: string[];
};

/** Tables without a row, partitioned ones as a whole: those that a round fills. */
export async function findEmptyTables(database: Database): Promise<EmptyTables> {
  const tables = await database<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  const references = await database<{ from: string; to: string }[]>`
    select distinct conrelid::regclass::text as "from", confrelid::regclass::text as "to"
    from pg_constraint where contype = 'f' and conparentid = 0 and conrelid <> confrelid`;
  const empty = new Set<string>();
  for (const { name } of tables) {
    const rows = await database.unsafe(`select from ${name} limit 1`);
    if (rows.length === 0) empty.add(name);
  }
  const deleted: string[] = [];
  const staying = tables.map(({ name }) => name).filter((name) => !empty.has(name));
  for (const stays of staying) {
    for (const { to } of references.filter(({ from }) => from === stays)) {
      if (!empty.delete(to)) continue;
      deleted.push(to);
      staying.push(to);
    }
  }
  return { truncated: [...empty], deleted };
}

const maxTries = 100;

/**
 * Nodes that live have jobs of their own, which lock the same tables in another order: it waits for none of them for long,
 * and tries again.
 *
 * @param ownerUrl only the owner of tables may truncate them
 */
export async function emptyTables(
  { truncated, deleted }: EmptyTables,
  { database, ownerUrl }: { database: Database; ownerUrl: string },
): Promise<void> {
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'carillon torture' });
  try {
    // Below `deadlock_timeout`, which is a second.
    await owner.unsafe(`set lock_timeout = '200ms'`);
    for (let tries = 1; ; tries += 1) {
      try {
        await owner.unsafe(`truncate ${truncated.join(', ')}`);
        break;
      } catch (error) {
        if (tries === maxTries) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    for (const name of deleted) await database.unsafe(`delete from ${name}`);
  } finally {
    await owner.end();
  }
}
