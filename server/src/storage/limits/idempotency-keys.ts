import type { Queryable } from '../database.ts';
import { idempotencyKeyHours } from '../../domain/limits/access.ts';

export type IdempotencyRow = { bodyHash: Buffer; encryptedAnswer: Buffer | null; createdAt: Date };
export type IdempotencyKey = { workspaceId: string; operation: string; keyHash: Buffer };

/**
 * Claims the key. A second request with the same key waits until the transaction of the first ends, then finds its row.
 * Index: primary key.
 *
 * @returns true if this request is the first
 */
export async function claimIdempotencyKey(
  tx: Queryable,
  claim: IdempotencyKey & { bodyHash: Buffer; createdAt: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into idempotency_keys (workspace_id, operation, key_hash, body_hash, created_at)
    values (${claim.workspaceId}, ${claim.operation}, ${claim.keyHash}, ${claim.bodyHash}, ${claim.createdAt})
    on conflict (workspace_id, operation, key_hash) do update
      set body_hash = excluded.body_hash, answer_sealed = null, created_at = excluded.created_at
      -- A key is stored for 24 hours (decision D4); an older key may be used again.
      where idempotency_keys.created_at <= excluded.created_at - ${idempotencyKeyHours}::int * interval '1 hour'
    returning 1`;
  return rows.length === 1;
}

/** Returns the stored first request. Index: primary key. */
export async function findIdempotencyKey(tx: Queryable, key: IdempotencyKey): Promise<IdempotencyRow | undefined> {
  const [row] = await tx<IdempotencyRow[]>`
    select body_hash as "bodyHash", answer_sealed as "encryptedAnswer", created_at as "createdAt"
    from idempotency_keys
    where workspace_id = ${key.workspaceId} and operation = ${key.operation} and key_hash = ${key.keyHash}`;
  return row;
}

/** Stores the response to the first request, in that request's transaction. Index: primary key. */
export async function storeIdempotentAnswer(
  tx: Queryable,
  key: IdempotencyKey & { encryptedAnswer: Buffer },
): Promise<void> {
  await tx`
    update idempotency_keys set answer_sealed = ${key.encryptedAnswer}
    where workspace_id = ${key.workspaceId} and operation = ${key.operation} and key_hash = ${key.keyHash}`;
}

/** Deletes a key that this request claimed but did not use. Index: primary key. */
export async function forgetIdempotencyKey(tx: Queryable, key: IdempotencyKey): Promise<void> {
  await tx`
    delete from idempotency_keys
    where workspace_id = ${key.workspaceId} and operation = ${key.operation} and key_hash = ${key.keyHash}`;
}

/** Deletes keys older than 24 hours, at most 10,000 per call, so that the job stays short. Index: created_at. */
export async function deleteOldIdempotencyKeys(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from idempotency_keys
    where (workspace_id, operation, key_hash) in (
      select workspace_id, operation, key_hash from idempotency_keys where created_at < ${before} limit 10000
    )`;
  return rows.count;
}
