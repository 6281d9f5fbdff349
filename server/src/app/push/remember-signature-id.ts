import { createHash } from 'node:crypto';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { claimIdempotencyKey } from '../../storage/limits/idempotency-keys.ts';

/**
 * Remembers the id of a v2 signature for a day, far longer than its five minutes of validity (decision D35a).
 *
 * @returns whether it is new
 */
export function rememberSignatureId(
  database: Database,
  { workspaceId, id, at }: { workspaceId: string; id: string; at: Date },
): Promise<boolean> {
  const keyHash = createHash('sha256').update(id, 'utf8').digest();
  const claim = { workspaceId, operation: 'push-signature-id', keyHash, bodyHash: keyHash, createdAt: at };
  // A transaction, because its outcome is looked up when the answer is lost: taken by this request itself is new.
  return inTransaction(database, (tx) => claimIdempotencyKey(tx, claim));
}
