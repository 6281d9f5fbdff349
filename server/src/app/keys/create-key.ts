import { randomBytes } from 'node:crypto';
import { makeId } from '../../domain/ids.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { KeyKind } from '../../domain/tokens/key-kinds.ts';
import { assertKeySettings } from '../../domain/tokens/key-settings.ts';
import { defaultScopes } from '../../domain/tokens/scopes.ts';
import type { Random } from '../../domain/tokens/secret.ts';
import { makeSecret } from '../../domain/tokens/secret.ts';
import type { Queryable } from '../../storage/database.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { insertApiKey } from '../../storage/keys/api-keys.ts';
import { storedSecret } from './stored-secret.ts';
import { defaultAccessTokenMinutes } from '../../domain/tokens/limits.ts';

export type CreateKeyCommand = {
  workspaceId: string;
  kind: KeyKind;
  /** 1 to 100 characters. */
  name: string;
  /** Default: those of the kind. */
  scopes?: readonly string[];
  /** Minutes, 5 to 60; default 15. */
  accessTokenMinutes?: number;
  at: Date;
  random?: Random;
};

/**
 * Creates an API key. The secret is returned here and nowhere else: only its hash is stored, and, for push keys, a
 * encrypted copy.
 *
 * @throws ServiceError PARAMETER_INVALID
 */
export async function createKey(
  { encryption }: { encryption: Encryption },
  tx: Queryable,
  command: CreateKeyCommand,
): Promise<{ key: ApiKey; secret: string }> {
  const { workspaceId, kind, name, random = randomBytes } = command;
  const scopes = command.scopes ?? defaultScopes[kind];
  const accessTokenMinutes = command.accessTokenMinutes ?? defaultAccessTokenMinutes;
  assertKeySettings({ name, scopes, accessTokenMinutes });
  const id = makeId(command.at, random(6));
  const secret = makeSecret(kind, random);
  const key = await insertApiKey(tx, {
    id,
    workspaceId,
    kind,
    name,
    scopes,
    accessTokenMinutes,
    createdAt: command.at,
    ...storedSecret(encryption, secret, { id, workspaceId, kind }),
  });
  return { key, secret };
}
