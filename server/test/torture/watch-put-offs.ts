import { isDistributed } from '../../src/storage/cluster.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';

/** A message that was due, was not tried, and was made to wait for longer than this. */
export type PutOff = { deviceId: string; code: string | null; seconds: number };

const maxHeldSeconds = 30;

export type PutOffs = { of(campaignId: string): Promise<PutOff[]> };

/**
 * A trigger that writes down each row of the ledger that is made to wait before its device was asked once. On a cluster,
 * whose tables take no triggers, nothing is watched: undefined.
 */
export async function watchPutOffs(database: Database, ownerUrl: string): Promise<PutOffs | undefined> {
  if (await isDistributed(database, 'deliveries')) return undefined;
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'torture owner' });
  try {
    await owner`
      create table torture_put_offs (run_number bigint not null, device_id bytea not null, code text, seconds float8 not null)`;
    await owner`grant select on torture_put_offs to public`;
    // By the clock that the sandbox moves, which is that of `retry_at`.
    await owner`
      create function torture_note_put_off() returns trigger language plpgsql security definer as $body$
      begin
        insert into torture_put_offs
        select new.run_number, new.device_id, new.code,
          extract(epoch from new.retry_at - clock_timestamp()) - clock_offset_ms / 1000.0
        from installation;
        return null;
      end $body$`;
    await owner`
      create trigger torture_put_offs after insert or update on deliveries for each row
      when (new.outcome = 'W' and new.attempts = 0) execute function torture_note_put_off()`;
  } finally {
    await owner.end();
  }
  return {
    of: (campaignId) => database<PutOff[]>`
      select encode(device_id, 'hex') as "deviceId", code, seconds from torture_put_offs
      where run_number in (select number from runs where campaign_id = ${campaignId}) and seconds > ${maxHeldSeconds}`,
  };
}
