import type { Transaction } from '../database.ts';

/**
 * Makes the tables of this transaction take rows in any order and from their owner: foreign keys are taken away until
 * `closeTables`, which holds every row to them, and policies are not forced on the owner, because COPY refuses a table
 * with policies. What a migration filled is emptied. The owner's, and of a transaction that made all tables itself.
 */
export async function openTables(tx: Transaction): Promise<void> {
  await tx`
    create temporary table restored_keys on commit drop as
    select conrelid::regclass::text as of_table, conname::text as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and conparentid = 0 and relnamespace = 'public'::regnamespace`;
  await tx`
    create temporary table restored_walls on commit drop as
    select pg_class.oid::regclass::text as of_table from pg_class
    where relnamespace = 'public'::regnamespace and relforcerowsecurity`;
  await tx`
    do $$
    declare
      found record;
      emptied text;
    begin
      for found in select * from pg_temp.restored_keys loop
        execute format('alter table %s drop constraint %I', found.of_table, found.name);
      end loop;
      for found in select * from pg_temp.restored_walls loop
        execute format('alter table %s no force row level security', found.of_table);
      end loop;
      select string_agg(pg_class.oid::regclass::text, ', ') into emptied from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname <> 'schema_migrations' and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e');
      execute format('truncate %s', emptied);
    end $$`;
}

/** Every row is held to the foreign keys again: a row without the one it belongs to fails the transaction. */
export async function tieRows(tx: Transaction): Promise<void> {
  await tx`
    do $$
    declare
      found record;
    begin
      for found in select * from pg_temp.restored_keys loop
        execute format('alter table %s add constraint %I %s', found.of_table, found.name, found.definition);
      end loop;
    end $$`;
}

/** The policies hold the owner again. Tables that a migration has replaced since have their own. */
export async function closeTables(tx: Transaction): Promise<void> {
  await tx`
    do $$
    declare
      found record;
    begin
      for found in select * from pg_temp.restored_walls where to_regclass(of_table) is not null loop
        execute format('alter table %s force row level security', found.of_table);
      end loop;
    end $$`;
}
