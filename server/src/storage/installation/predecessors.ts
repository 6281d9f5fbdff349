import { inTransaction } from '../database.ts';
import type { Database } from '../database.ts';

export type FreedLeases = { chunks: number; retries: number; files: number; callbacks: number; emails: number };

/**
 * Ends every lease and forgets every node, for a caller who knows that no other process works on this database. What was
 * held is taken up at once, as if its leases had run out: a worker that died in the middle still counts as one that did.
 * Rows in the order of the index that finds them; nobody else is there to wait for. Indexes: chunks_open,
 * deliveries_waiting, segment_operations_open, callbacks_due, mails_due.
 */
export async function endLeasesOfPredecessors(database: Database, at: Date): Promise<FreedLeases> {
  return inTransaction(database, async (tx) => {
    const chunks = await tx`update chunks set lease_until = ${at} where state = 'CLAIMED' and lease_until > ${at}`;
    const retries = await tx`
      update deliveries set lease_until = ${at} where outcome = 'WAITING' and lease_until > ${at}`;
    const files = await tx`
      update segment_operations set lease_until = ${at} where state = 'FILLING' and lease_until > ${at}`;
    const callbacks =
      await tx`update callbacks set lease_until = ${at} where state = 'PENDING' and lease_until > ${at}`;
    const emails = await tx`update mails set lease_until = ${at} where state = 'PENDING' and lease_until > ${at}`;
    await tx`delete from nodes`;
    return {
      chunks: chunks.count,
      retries: retries.count,
      files: files.count,
      callbacks: callbacks.count,
      emails: emails.count,
    };
  });
}
