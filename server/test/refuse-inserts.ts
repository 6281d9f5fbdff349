import { expect, inject } from 'vitest';
import type { Database } from '../src/storage/database.ts';

type Refused = { when?: string; code?: string; on?: 'insert' | 'update' };

/**
 * No row, or none for which the condition holds, can be inserted into the table any more, as where the disk is full; of a
 * cluster, those of its workers: a table that it distributes has no triggers, its shards may.
 *
 * @returns ends it
 */
export async function refuseInserts(
  database: Database,
  table: string,
  { when = 'true', code = '53100', on = 'insert' }: Refused = {},
): Promise<() => Promise<void>> {
  await database.unsafe(`
    create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '${code}'; end $$`);
  const trigger = (name: string) =>
    `create trigger refuse before ${on} on ${name} for each row when (${when}) execute function refuse()`;
  if (inject('workerUrls') === null) await database.unsafe(trigger(table));
  else {
    const shards = await database<{ success: boolean }[]>`
      select success from run_command_on_shards(${table}, ${trigger('%s')})`;
    expect(shards.filter(({ success }) => !success)).toEqual([]);
  }
  return async () => void (await database.unsafe('drop function refuse() cascade'));
}
