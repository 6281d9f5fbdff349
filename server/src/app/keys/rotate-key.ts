import { ServiceError } from '../../domain/errors.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Transaction } from '../../storage/database.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { endApiKeyAt, findApiKey } from '../../storage/keys/api-keys.ts';
import { createKey } from './create-key.ts';

/**
 * Creates a successor of a key, with its kind, name, scopes and lifetime. The old key stays valid for the overlap, so
 * that callers can switch without a gap, and is then archived (engine/housekeeping/archive-ended-keys.ts).
 *
 * @throws ServiceError NOT_FOUND, also for an archived key; PARAMETER_INVALID for one that was rotated already
 */
export async function rotateKey(
  deps: { encryption: Encryption },
  tx: Transaction,
  command: { workspaceId: string; keyId: string; overlapHours: number; at: Date },
): Promise<{ key: ApiKey; secret: string; endsAt: Date }> {
  const { workspaceId, keyId: id, overlapHours, at } = command;
  const old = await findApiKey(tx, { workspaceId, id });
  if (!old || old.archivedAt) throw new ServiceError('NOT_FOUND');
  const endsAt = new Date(at.getTime() + overlapHours * 3_600_000);
  if (!(await endApiKeyAt(tx, { workspaceId, id, endsAt })))
    throw new ServiceError('PARAMETER_INVALID', { field: 'id', reason: 'was rotated already' });
  const { kind, name, scopes, accessTokenMinutes } = old;
  return { ...(await createKey(deps, tx, { workspaceId, kind, name, scopes, accessTokenMinutes, at })), endsAt };
}
