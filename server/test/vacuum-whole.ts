import type { Database } from '../src/storage/database.ts';
import { until } from './carillon-bundle.ts';

/**
 * Vacuums and analyzes tables, all where none is named, until each of their pages is known to be visible to all. The planner
 * weighs an index that answers alone by how many are, and a vacuum beside somebody's snapshot, as autovacuum has one, leaves
 * some out: the plan would be another from time to time.
 */
export async function vacuumWhole(database: Database, tables: readonly string[] = []): Promise<void> {
  await until(async () => {
    await database.unsafe(`vacuum analyze ${tables.join(', ')}`);
    const [left] = await database`
      with named as materialized (select to_regclass(name) as id from unnest(${[...tables]}::text[]) as name),
      wanted as materialized (
        select id from named
        union select tree.relid from named, pg_partition_tree(named.id) as tree
        union select oid from pg_class
          where ${tables.length === 0}::boolean and relnamespace = 'public'::regnamespace and relkind = 'r'
      )
      select count(*) as tables from pg_class join wanted on wanted.id = pg_class.oid
      where relkind = 'r' and relallvisible < relpages`;
    return Number(left!.tables) === 0;
  });
}
