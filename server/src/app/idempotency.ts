import { createHash } from 'node:crypto';
import { encryptionContext } from '../domain/crypto/encryption.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { ServiceError } from '../domain/errors.ts';
import { idempotencyKeyHours, maxIdempotencyKeyCharacters } from '../domain/limits/access.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { claimIdempotencyKey, findIdempotencyKey, storeIdempotentAnswer } from '../storage/limits/idempotency-keys.ts';

export type AnswerOnceDependencies = { database: Database; encryption: Encryption };

export type OnceRequest = {
  workspaceId: string;
  /** Separates the keys of different operations. */
  operation: string;
  /** Value of the Idempotency-Key header; if undefined, the work is done each time. */
  key: string | undefined;
  rawBody: string;
  at: Date;
};

/**
 * Does the work of a request once (decision D4): the same key and body within 24 hours get the first response again; the same
 * key with another body is rejected. Work, response and key are stored in one transaction, so a crash leaves all or nothing; a
 * rejected request leaves no key. The response is stored encrypted, because it may carry a token.
 *
 * @throws ServiceError IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_CONFLICT, and everything that `work` throws
 */
export async function answerOnce<Answer>(
  { database, encryption }: AnswerOnceDependencies,
  request: OnceRequest,
  work: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  const { key } = request;
  if (key === undefined) return await inTransaction(database, (tx) => work(tx));
  const { id, bodyHash, context } = identify(request, key);
  return await inTransaction(database, async (tx) => {
    if (await claimIdempotencyKey(tx, { ...id, bodyHash, createdAt: request.at })) {
      const answer = await work(tx);
      await storeIdempotentAnswer(tx, { ...id, encryptedAnswer: encryption.encrypt(JSON.stringify(answer), context) });
      return answer;
    }
    const first = await findIdempotencyKey(tx, id);
    if (!first?.encryptedAnswer || !first.bodyHash.equals(bodyHash)) throw new ServiceError('IDEMPOTENCY_CONFLICT');
    return JSON.parse(encryption.decrypt(first.encryptedAnswer, context).toString('utf8')) as Answer;
  });
}

/**
 * Returns the first response of a request that was answered under its key and body; undefined if there is none. Call it
 * before the request is validated against data that may have changed: a repeated push succeeds even if its segment was archived since.
 *
 * @throws ServiceError IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_CONFLICT
 */
export async function findFirstAnswer<Answer>(
  { database, encryption }: AnswerOnceDependencies,
  request: OnceRequest & { key: string },
): Promise<Answer | undefined> {
  const { id, bodyHash, context } = identify(request, request.key);
  const first = await findIdempotencyKey(database, id);
  const diesAt = (first?.createdAt.getTime() ?? 0) + idempotencyKeyHours * 3_600_000;
  if (!first?.encryptedAnswer || diesAt <= request.at.getTime()) return undefined;
  if (!first.bodyHash.equals(bodyHash)) throw new ServiceError('IDEMPOTENCY_CONFLICT');
  return JSON.parse(encryption.decrypt(first.encryptedAnswer, context).toString('utf8')) as Answer;
}

function identify({ workspaceId, operation, rawBody }: OnceRequest, key: string) {
  if (!/^[\x20-\x7e]+$/.test(key) || key.length > maxIdempotencyKeyCharacters)
    throw new ServiceError('IDEMPOTENCY_KEY_INVALID');
  const id = { workspaceId, operation, keyHash: sha256(key) };
  return { id, bodyHash: sha256(rawBody), context: encryptionContext.idempotentAnswer(id) };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
