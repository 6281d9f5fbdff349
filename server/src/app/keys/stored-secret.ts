import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { KeyKind } from '../../domain/tokens/key-kinds.ts';
import { hashSecret, hintOfSecret } from '../../domain/tokens/secret.ts';

export type StoredSecret = { secretHash: Buffer; encryptedSecret: Buffer | null; secretHint: string };

/** What is stored of a key's secret. Push keys sign (interface 5), so they are encrypted as well. */
export function storedSecret(
  encryption: Encryption,
  secret: string,
  key: { id: string; workspaceId: string; kind: KeyKind },
): StoredSecret {
  return {
    secretHash: hashSecret(secret),
    encryptedSecret: key.kind === 'push' ? encryption.encrypt(secret, encryptionContext.pushKey(key)) : null,
    secretHint: hintOfSecret(secret),
  };
}
