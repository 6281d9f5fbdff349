import { createHash } from 'node:crypto';
import { encryptionContext } from '../domain/crypto/encryption.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { ServiceError } from '../domain/errors.ts';
import { maxIdempotencyKeyCharacters } from '../domain/limits/access.ts';
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
  if (!/^[\x20-\x7e]+$/.test(key) || key.length > maxIdempotencyKeyCharacters)
    throw new ServiceError('IDEMPOTENCY_KEY_INVALID');
  const id = { workspaceId: request.workspaceId, operation: request.operation, keyHash: sha256(key) };
  const bodyHash = sha256(request.rawBody);
  const context = encryptionContext.idempotentAnswer(id);
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

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
