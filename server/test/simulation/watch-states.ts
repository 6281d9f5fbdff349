import { stateMachines } from '../../src/domain/state-machines.ts';
import { outcomeLetters } from '../../src/storage/ledger/ledger-encoding.ts';
import type { Database } from '../../src/storage/database.ts';

const watched = new Map(
  stateMachines
    .filter(({ table }) => ['campaigns', 'runs', 'chunks', 'deliveries'].includes(table))
    .map(({ table, column }) => [table, column]),
);

/** From now on the database notes every change of a state, once. Not on a cluster, which takes no triggers. */
export async function watchStates(database: Database): Promise<void> {
  await database`create unlogged table seen_changes (was text, became text, of_table text, primary key (of_table, was, became))`;
  await database.unsafe(`
    create function note_change() returns trigger language plpgsql as $$ begin
      insert into seen_changes values (to_jsonb(old) ->> tg_argv[0], to_jsonb(new) ->> tg_argv[0], tg_table_name)
      on conflict do nothing;
      return null;
    end $$`);
  for (const [table, column] of watched)
    await database.unsafe(`
      create trigger seen after update on ${table} for each row
      when (old.${column} is distinct from new.${column}) execute function note_change('${column}')`);
}

/** What was seen that docs/states.md does not have, and how much it has that was seen. */
export async function compareStates(database: Database): Promise<{ unknown: string[]; seen: number }> {
  const rows = await database<{ table: string; was: string; became: string }[]>`
    select distinct regexp_replace(of_table, '^deliveries_.*', 'deliveries') as "table", was, became from seen_changes`;
  const known = new Set(
    stateMachines.flatMap(({ table, changes }) => changes.map(({ from, to }) => `${table}: ${from} → ${to}`)),
  );
  const words = Object.fromEntries(Object.entries(outcomeLetters).map(([word, letter]) => [letter, word]));
  const seen = rows.map(({ table, was, became }) => `${table}: ${words[was] ?? was} → ${words[became] ?? became}`);
  return { unknown: seen.filter((change) => !known.has(change)), seen: seen.filter((one) => known.has(one)).length };
}
