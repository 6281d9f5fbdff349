import { ServiceError } from '../../domain/errors.ts';
import { maxSelectedUsers } from '../../domain/push/limits.ts';
import type { PushAudience } from '../../domain/push/push-command.ts';
import { tooManyUsers } from '../../domain/users/user-selector.ts';
import type { Database } from '../../storage/database.ts';
import { findSegmentByName } from '../../storage/segments/segments.ts';
import { findSelectedUsers } from '../../storage/users/users.ts';
import type { FindNamedUsers } from '../../storage/users/users.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

/** `findNamed`: looks for several callers at once; without it the users are looked for here. */
type FindUsers = { database: Database; findNamed?: FindNamedUsers };

export type FoundPushAudience = {
  /** Audience `Custom Segment`. */
  segmentId: string | undefined;
  /** Audience `User`. */
  targetUsers: [bucket: number, userId: string][] | undefined;
};

/** The segment or the users that a push names; neither: all users. @throws ServiceError PUSH_PARAMETER_INVALID */
export async function findPushAudience(
  deps: FindUsers,
  { workspaceId, audience }: { workspaceId: string; audience: PushAudience },
): Promise<FoundPushAudience> {
  switch (audience.kind) {
    case 'all-users':
      return { segmentId: undefined, targetUsers: undefined };
    case 'segment':
      return { segmentId: await requireSegment(deps.database, workspaceId, audience.name), targetUsers: undefined };
    case 'user':
      return { segmentId: undefined, targetUsers: await matchUsers(deps, workspaceId, audience) };
    default:
      return unknownCase(audience);
  }
}

/**
 * A segment still being filled is accepted; the run waits until it is ready (decision D26). @throws ServiceError
 * PUSH_PARAMETER_INVALID
 */
async function requireSegment(database: Database, workspaceId: string, name: string): Promise<string> {
  const segment = await findSegmentByName(database, { workspaceId, name });
  const refuse = (reason: string) => new ServiceError('PUSH_PARAMETER_INVALID', { field: 'customSegmentName', reason });
  if (!segment) throw refuse('not found');
  if (segment.state === 'ARCHIVED') throw refuse('the segment is archived');
  if (segment.state === 'FAILED') throw refuse(`the segment could not be filled: ${segment.stateReason}`);
  return segment.id;
}

type UserAudience = Extract<PushAudience, { kind: 'user' }>;

/** Customer ids, as most users are named, in one look-up with others that come at the same time. */
async function matchUsers(
  { database, ...asked }: FindUsers,
  workspaceId: string,
  selector: UserAudience,
): Promise<[number, string][]> {
  // One more than allowed tells "too many" from "just enough" (decision D32).
  const limit = maxSelectedUsers + 1;
  const users = await findSelectedUsers(database, { workspaceId, selector, limit, ...asked });
  if (!users) {
    throw new ServiceError('PUSH_PARAMETER_INVALID', {
      field: 'targetUserAttributes.attribute',
      reason: 'is unknown; a custom attribute needs isCustom',
    });
  }
  if (users.length > maxSelectedUsers) throw new ServiceError('PUSH_PARAMETER_INVALID', tooManyUsers);
  return users.map(({ bucket, userId }) => [bucket, userId]);
}
