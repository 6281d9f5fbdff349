import { inTransaction, openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';

/** What was stored over what another worker had stored, by kind. */
export type Fences = { breaches(): Promise<{ what: string; times: number }[]> };

/**
 * Triggers that write down each statement which takes back what is known: a cursor that moves back, an ended chunk that
 * changes, a device's accepted message that is overwritten. A worker that lost its lease does none of it.
 */
export async function watchFences(database: Database, ownerUrl: string): Promise<Fences> {
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'torture owner' });
  try {
    await inTransaction(owner, async (tx) => {
      // Of a round before, on the same installation.
      await tx`drop table if exists torture_breaches`;
      await tx`drop function if exists torture_watch_chunk, torture_watch_cursor, torture_watch_delivery cascade`;
      // Rounds may share the database.
      await tx`drop table if exists torture_breaches`;
      await tx`create table torture_breaches (what text not null)`;
      await tx`grant select on torture_breaches to public`;
      await tx`
        create or replace function torture_watch_chunk() returns trigger language plpgsql security definer as $body$
        begin
          if old.ended_at is not null then
            insert into torture_breaches values ('an ended chunk was changed');
          end if;
          return null;
        end $body$`;
      await tx`
        create or replace function torture_watch_cursor() returns trigger language plpgsql security definer as $body$
        begin
          insert into torture_breaches values ('a cursor moved back');
          return null;
        end $body$`;
      await tx`
        create or replace trigger torture_watch after update on run_cursors for each row
        when (new.position < old.position) execute function torture_watch_cursor()`;
      await tx`create or replace trigger torture_watch after update on chunks for each row execute function torture_watch_chunk()`;
      await tx`
        create or replace function torture_watch_delivery() returns trigger language plpgsql security definer as $body$
        begin
          insert into torture_breaches values ('an accepted message was stored again');
          return null;
        end $body$`;
      await tx`
        create or replace trigger torture_watch after update on deliveries for each row
        when (old.outcome = 'ACCEPTED') execute function torture_watch_delivery()`;
    });
  } finally {
    await owner.end();
  }
  return {
    breaches: () => database`select what, count(*) as times from torture_breaches group by what order by what`,
  };
}
