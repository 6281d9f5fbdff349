import type { PushBodies } from '../../domain/push/push-bodies.ts';
import { ServiceError } from '../../domain/errors.ts';
import { minPushNameCharacters } from '../../domain/push/limits.ts';
import type { StoredCampaign } from '../../storage/campaigns/campaigns.ts';

/** The name, trimmed. @throws ServiceError PUSH_NAME_MISSING, PUSH_NAME_TOO_SHORT */
export function checkPushName(sent: string | undefined): string {
  const name = sent?.trim();
  if (name === undefined || name === '') throw new ServiceError('PUSH_NAME_MISSING');
  // Characters, not UTF-16 units: an emoji is one.
  if ([...name].length < minPushNameCharacters) throw new ServiceError('PUSH_NAME_TOO_SHORT');
  return name;
}

/** The campaign that a push joins: audience `User` joins one of its name that is for users, too. */
export function findJoined(
  existing: StoredCampaign | undefined,
  { audience, bodies }: { audience: unknown; bodies: PushBodies },
): StoredCampaign | undefined {
  return existing?.audience === 'USER' && isUserAudience(audience, bodies) ? existing : undefined;
}

export function isUserAudience(sent: unknown, bodies: PushBodies): boolean {
  return sent === 'User' || (bodies === 'lenient' && typeof sent === 'string' && sent.toLowerCase() === 'user');
}
