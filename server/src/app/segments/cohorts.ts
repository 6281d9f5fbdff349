import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { addMembersByCustomerId, removeMembersByCustomerId } from '../../storage/segments/segment-members.ts';
import { settleSegment } from '../../storage/segments/segment-operations.ts';
import { countLiveMembers } from '../../storage/segments/segment-staging.ts';
import { findCohort, insertSegment, lockSegment } from '../../storage/segments/segments.ts';
import { findUsersByCustomerIds } from '../../storage/users/users.ts';
import { countCall, requireSegmentQuota } from './segment-limits.ts';
import type { SegmentCaller, SegmentDependencies } from './segment-limits.ts';

export type SyncCohortCommand = SegmentCaller & {
  action: 'add_members' | 'remove_members';
  partner: string;
  cohortId: string;
  cohortName: string;
  /** Customer ids; unknown ones are skipped, never created. */
  members: string[];
};

/**
 * Adds or removes members of a partner's segment, which is created if missing (fact 2.4). One transaction; segments of
 * other kinds cannot be changed this way.
 *
 * @throws ServiceError DATA_RATE_LIMITED, SEGMENT_NAME_TAKEN, SEGMENT_ARCHIVED, SEGMENT_ACTIVE_LIMITED
 */
export async function syncCohort(deps: SegmentDependencies, command: SyncCohortCommand): Promise<void> {
  const { database, clock, limits } = deps;
  const windows = [{ events: limits.cohortRequestsPerMinute, seconds: 60 }];
  const { workspaceId } = command;
  const refusal = await countCall(database, { operation: 'cohort-sync', workspaceId, windows, at: clock.now() });
  if (refusal) throw new ServiceError('DATA_RATE_LIMITED', refusal);
  await inTransaction(database, async (tx) => {
    const segment = await takeCohort(deps, tx, command);
    const users = await findUsersByCustomerIds(tx, {
      workspaceId,
      customerIds: command.members,
      limit: command.members.length,
    });
    const change = { workspaceId, segmentId: segment.id, version: segment.version + 1, users };
    if (command.action === 'add_members') await addMembersByCustomerId(tx, change);
    else await removeMembersByCustomerId(tx, change);
    const userCount = await countLiveMembers(tx, change);
    await settleSegment(tx, {
      segmentId: segment.id,
      version: change.version,
      userCount,
      reason: null,
      at: clock.now(),
    });
  });
}

async function takeCohort(
  { clock, limits }: SegmentDependencies,
  tx: Transaction,
  command: SyncCohortCommand,
): Promise<{ id: string; version: number }> {
  const { workspaceId, partner, cohortId } = command;
  const found =
    (await findCohort(tx, { workspaceId, partner, cohortId })) ??
    // Two concurrent first requests: the second waits here and finds what the first has created.
    (await requireSegmentQuota(tx, { workspaceId, limits }).then(() =>
      findCohort(tx, { workspaceId, partner, cohortId }),
    ));
  if (found) {
    const segment = (await lockSegment(tx, { workspaceId, id: found.id }))!;
    if (segment.state === 'ARCHIVED') throw new ServiceError('SEGMENT_ARCHIVED', { field: segment.name });
    return segment;
  }
  const at = clock.now();
  const id = makeId(at);
  const isNew = await insertSegment(tx, {
    id,
    workspaceId,
    name: command.cohortName,
    kind: 'COHORT',
    state: 'READY',
    source: 'PARTNER',
    attributeName: null,
    attributeType: null,
    includedFilters: null,
    excludedFilters: null,
    description: null,
    filtersDigest: null,
    usesSegments: [],
    partner,
    cohortId,
    userCount: 0,
    expiryDays: null,
    expiresAt: null,
    createdBy: command.actor.name,
    at,
  });
  if (!isNew) throw new ServiceError('SEGMENT_NAME_TAKEN', { field: command.cohortName });
  return { id, version: 0 };
}
