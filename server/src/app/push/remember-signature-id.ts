import { createHash } from 'node:crypto';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { claimIdempotencyKey, forgetIdempotencyKey } from '../../storage/limits/idempotency-keys.ts';

export type SignatureId = { workspaceId: string; id: string };

/**
 * Remembers the id of a v2 signature for a day, far longer than its five minutes of validity (decision D35a).
 *
 * @returns whether it is new
 */
export function rememberSignatureId(
  database: Database,
  { at, ...signatureId }: SignatureId & { at: Date },
): Promise<boolean> {
  const key = toKey(signatureId);
  const claim = { ...key, bodyHash: key.keyHash, createdAt: at };
  // A transaction, because its outcome is looked up when the answer is lost: taken by this request itself is new.
  return inTransaction(database, (tx) => claimIdempotencyKey(tx, claim));
}

/** Makes the id of a request that was not counted usable again: its caller may repeat the request as it was signed. */
export function forgetSignatureId(database: Database, signatureId: SignatureId): Promise<void> {
  return forgetIdempotencyKey(database, toKey(signatureId));
}

function toKey({ workspaceId, id }: SignatureId): { workspaceId: string; operation: string; keyHash: Buffer } {
  const keyHash = createHash('sha256').update(id, 'utf8').digest();
  return { workspaceId, operation: 'push-signature-id', keyHash };
}
