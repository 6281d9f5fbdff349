import { ServiceError } from '../../domain/errors.ts';
import type { KeySettings } from '../../domain/tokens/key-settings.ts';
import { assertKeySettings } from '../../domain/tokens/key-settings.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { findApiKey, setAccessTokenMinutes, setApiKeyName, setApiKeyScopes } from '../../storage/keys/api-keys.ts';

/**
 * Changes the settings that are given. A shorter lifetime applies to tokens issued from now on (decision D15); scopes
 * apply to live tokens immediately. The kind of a key cannot be changed (fact 1).
 *
 * @throws ServiceError PARAMETER_INVALID; NOT_FOUND, also for an archived key
 */
export async function editKey(
  { database }: { database: Database },
  command: { workspaceId: string; keyId: string } & Partial<KeySettings>,
): Promise<ApiKey> {
  const { name, scopes, accessTokenMinutes } = command;
  assertKeySettings(command);
  const id = { workspaceId: command.workspaceId, id: command.keyId };
  return await inTransaction(database, async (tx) => {
    if (name !== undefined) await setApiKeyName(tx, { ...id, name });
    if (scopes !== undefined) await setApiKeyScopes(tx, { ...id, scopes });
    if (accessTokenMinutes !== undefined) await setAccessTokenMinutes(tx, { ...id, accessTokenMinutes });
    const key = await findApiKey(tx, id);
    if (!key || key.archivedAt) throw new ServiceError('NOT_FOUND');
    return key;
  });
}
