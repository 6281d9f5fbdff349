import { isDistributed } from '../../src/storage/cluster.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';

/** What was stored over what another worker had stored, by kind. */
export type Fences = { breaches(): Promise<{ what: string; times: number }[]> };

type Watched = { table: string; what: string; when: string };

const watched: Watched[] = [
  { table: 'chunks', what: 'an ended chunk was changed', when: 'old.ended_at is not null' },
  { table: 'run_cursors', what: 'a cursor moved back', when: 'new.position < old.position' },
  { table: 'deliveries', what: 'an accepted message was stored again', when: `old.outcome = 'A'` },
];

/**
 * Triggers that write down each statement which takes back what is known: a cursor that moves back, an ended chunk that
 * changes, a device's accepted message that is overwritten. A worker that lost its lease does none of it. On a cluster
 * they are those of shards, and each node writes down what it sees.
 */
export async function watchFences(database: Database, ownerUrl: string): Promise<Fences> {
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'torture owner' });
  const isOnCluster = await isDistributed(database, 'deliveries');
  try {
    // Of a round before, on the same installation.
    await owner`drop function if exists torture_watch cascade`;
    for (const statement of [
      'drop table if exists torture_breaches',
      'create table torture_breaches (what text not null)',
      'grant select on torture_breaches to public',
    ])
      await onEveryNode(owner, statement);
    await owner`
      create function torture_watch() returns trigger language plpgsql security definer as $body$
      begin
        insert into torture_breaches values (tg_argv[0]);
        return null;
      end $body$`;
    for (const each of watched) await watch(owner, each);
  } finally {
    await owner.end();
  }

  async function onEveryNode(on: Database, statement: string): Promise<string[]> {
    if (!isOnCluster) {
      await on.unsafe(statement);
      return [];
    }
    return resultsOf(await on`select * from run_command_on_all_nodes(${statement})`);
  }

  async function watch(on: Database, { table, what, when }: Watched): Promise<void> {
    const trigger = (name: string): string =>
      `create trigger torture_watch after update on ${name} for each row when (${when})
        execute function torture_watch('${what}')`;
    if (!isOnCluster || table === 'chunks') await on.unsafe(trigger(table));
    else resultsOf(await on`select * from run_command_on_shards(${table}, ${trigger('%s')})`);
  }

  return {
    async breaches() {
      if (!isOnCluster)
        return database<{ what: string; times: number }[]>`
          select what, count(*) as times from torture_breaches group by what order by what`;
      const nodes = resultsOf(
        await database`select * from run_command_on_all_nodes(
          'select coalesce(json_agg(what), ''[]'') from torture_breaches')`,
      );
      const all = nodes.flatMap((node) => JSON.parse(node) as string[]);
      return [...Map.groupBy(all, (what) => what)].map(([what, times]) => ({ what, times: times.length }));
    },
  };
}

/** What the nodes answered, who tell what failed there as a result. */
function resultsOf(rows: Record<string, unknown>[]): string[] {
  const failed = rows.find(({ success }) => success !== true);
  if (failed) throw new Error(`a node of the cluster refused: ${String(failed['result'])}`);
  return rows.map(({ result }) => String(result));
}
