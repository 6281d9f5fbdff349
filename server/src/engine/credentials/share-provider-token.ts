import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findProviderToken, lockProviderToken, upsertProviderToken } from '../../storage/keys/provider-credentials.ts';
import type { ProviderToken, ShareProviderToken } from '../delivery/apns/apns-provider-token.ts';

export type ShareProviderTokenDependencies = { database: Database; encryption: Encryption; log: Logger };

/**
 * Keeps one provider token for all nodes, encrypted in the database. If it is unavailable, or was encrypted under
 * another master key, a node signs its own instead of holding the messages back.
 */
export function makeShareProviderToken({
  database,
  encryption,
  log,
}: ShareProviderTokenDependencies): ShareProviderToken {
  return async ({ key, isUsable, make }) => {
    let made: ProviderToken | undefined;
    try {
      return await inTransaction(database, async (tx) => {
        await lockProviderToken(tx, key);
        const stored = await findProviderToken(tx, key);
        const kept = stored && {
          token: encryption.decrypt(stored.encrypted, encryptionContext.providerToken({ key })).toString('utf8'),
          issuedAt: stored.issuedAt,
        };
        if (kept && isUsable(kept)) return kept;
        made = make();
        await upsertProviderToken(tx, {
          key,
          encrypted: encryption.encrypt(made.token, encryptionContext.providerToken({ key })),
          issuedAt: made.issuedAt,
        });
        return made;
      });
    } catch (error) {
      log.warn({ err: error, key }, 'provider token is not shared');
      return made ?? make();
    }
  };
}
