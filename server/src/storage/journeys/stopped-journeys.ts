import type { Queryable } from '../database.ts';
import type { PositionKey } from './positions.ts';

export type EndingJourney = { workspaceId: string; journeyId: string; stoppedAt: Date };

/** Lists stopped journeys in which users may still be, the first stopped first. Locks nothing. Index: journeys_ending. */
export async function listEndingJourneys(tx: Queryable, limit: number): Promise<EndingJourney[]> {
  return tx<EndingJourney[]>`
    select workspace_id as "workspaceId", id as "journeyId", updated_at as "stoppedAt" from journeys
    where is_ending order by updated_at limit ${limit}`;
}

/** Lists open entries of a journey. Locks nothing. Index: journey_positions_due. */
export async function listOpenEntries(
  tx: Queryable,
  { workspaceId, journeyId, limit }: { workspaceId: string; journeyId: string; limit: number },
): Promise<PositionKey[]> {
  return tx<PositionKey[]>`
    select workspace_id as "workspaceId", bucket, user_id as "userId", journey_id as "journeyId", entry_id as "entryId"
    from journey_positions
    where workspace_id = ${workspaceId} and journey_id = ${journeyId} and due_at is not null
    limit ${limit}`;
}

/** Notes that nobody is in a stopped journey any more. Index: primary key. */
export async function noteEnded(
  tx: Queryable,
  { workspaceId, journeyId }: { workspaceId: string; journeyId: string },
): Promise<void> {
  await tx`update journeys set is_ending = false where id = ${journeyId} and workspace_id = ${workspaceId}`;
}
