import { groupByBucket } from '../../domain/users/users.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { isDistributed } from '../cluster.ts';
import type { Queryable, Fragment } from '../database.ts';
import { isGivenBucket } from '../users/buckets.ts';
import { isGivenPosition, positionColumns } from './positions.ts';
import type { Position, PositionKey } from './positions.ts';
import type { ActiveJourney } from './versions.ts';

/**
 * Lists entries that are due in these journeys, the longest overdue of each first, at most `perJourney` of each. Locks nothing.
 * One part for each journey, because a cluster answers no sub-select once for each row. Index: journey_positions_due.
 */
export async function listDuePositions(
  tx: Queryable,
  { journeys, at, perJourney }: { journeys: readonly ActiveJourney[]; at: Date; perJourney: number },
): Promise<PositionKey[]> {
  const parts = journeys.map(
    ({ workspaceId, journeyId }): Fragment => tx`(
      select workspace_id as "workspaceId", bucket, user_id as "userId", journey_id as "journeyId", entry_id as "entryId"
      from journey_positions
      where workspace_id = ${workspaceId} and journey_id = ${journeyId} and due_at <= ${at}
      order by due_at limit ${perJourney}
    )`,
  );
  if (parts.length === 0) return [];
  return tx<PositionKey[]>`${parts.reduce((all, next) => tx`${all} union all ${next}`)}`;
}

/**
 * Locks due entries and returns them. Their users are locked before: a merge and a change of attributes lock the user first, so
 * they and this never wait for each other in a circle. Users and entries that others hold are skipped. On a cluster, one bucket
 * after the other. Indexes: primary keys.
 */
export async function claimPositions(tx: Queryable, { keys, due }: Claim): Promise<Position[]> {
  if (keys.length === 0) return [];
  if (!(await isDistributed(tx, 'journey_positions'))) return claimOf(tx, { keys, due });
  const claimed: Position[] = [];
  for (const [, ofBucket] of groupByBucket([...keys])) claimed.push(...(await claimOf(tx, { keys: ofBucket, due })));
  return claimed;
}

/** `due`: entries that are due by then, or every open one. */
type Claim = { keys: readonly PositionKey[]; due: Date | 'at any time' };

async function claimOf(tx: Queryable, { keys, due }: Claim): Promise<Position[]> {
  const held = await holdUsersOf(tx, keys);
  const kept = keys.filter((key) => held.has(`${key.workspaceId}/${key.userId}`));
  if (kept.length === 0) return [];
  return tx<Position[]>`
    select ${positionColumns(tx)}
    from unnest(
      ${kept.map(({ workspaceId }) => workspaceId)}::text[], ${kept.map(({ bucket }) => bucket)}::smallint[],
      ${kept.map(({ userId }) => userId)}::text[], ${kept.map(({ journeyId }) => journeyId)}::text[],
      ${kept.map(({ entryId }) => entryId)}::text[]
    ) as given (workspace_id, bucket, user_id, journey_id, entry_id)
    join journey_positions as positions on ${isGivenPosition(tx, kept)}
    where ${due === 'at any time' ? tx`positions.ended_at is null` : tx`positions.due_at <= ${due}`}
    order by positions.bucket, positions.user_id, positions.journey_id, positions.entry_id
    for update of positions skip locked`;
}

/** Weaker than `for update`: requests that only hold a user for its events do not wait. Index: users primary key. */
async function holdUsersOf(tx: Queryable, keys: readonly PositionKey[]): Promise<Set<string>> {
  const keysOfUsers = [...new Map(keys.map((key) => [`${key.workspaceId}/${key.userId}`, key])).values()];
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`given.bucket`, rows: keysOfUsers });
  const rows = await tx<{ workspaceId: string; userId: string }[]>`
    select users.workspace_id as "workspaceId", users.id as "userId"
    from unnest(
      ${keysOfUsers.map(({ workspaceId }) => workspaceId)}::text[], ${keysOfUsers.map(({ bucket }) => bucket)}::smallint[],
      ${keysOfUsers.map(({ userId }) => userId)}::text[]
    ) as given (workspace_id, bucket, user_id)
    join users on users.workspace_id = given.workspace_id collate "C" and ${inBucket}
      and users.id = given.user_id collate "C"
    order by users.bucket, users.id
    for no key update of users skip locked`;
  return new Set(rows.map(({ workspaceId, userId }) => `${workspaceId}/${userId}`));
}

export type StepPassage = PositionKey & { step: string; version: number; arrivedAt: Date; edge: string };

/** Stores passed steps. A step that is passed twice in an entry fails here, and with it everything else. Index: primary key. */
export async function insertPassages(
  tx: Queryable,
  { passages, at }: { passages: readonly StepPassage[]; at: Date },
): Promise<void> {
  if (passages.length === 0) return;
  await tx`
    insert into journey_passages (
      workspace_id, bucket, user_id, journey_id, entry_id, step, version, arrived_at, left_at, edge
    )
    select given.workspace_id, given.bucket, given.user_id, given.journey_id, given.entry_id, given.step, given.version,
      given.arrived_at, ${at}::timestamptz, given.edge
    from unnest(
      ${passages.map(({ workspaceId }) => workspaceId)}::text[], ${passages.map(({ bucket }) => bucket)}::smallint[],
      ${passages.map(({ userId }) => userId)}::text[], ${passages.map(({ journeyId }) => journeyId)}::text[],
      ${passages.map(({ entryId }) => entryId)}::text[], ${passages.map(({ step }) => step)}::text[],
      ${passages.map(({ version }) => version)}::integer[],
      ${passages.map(({ arrivedAt }) => arrivedAt.toISOString())}::timestamptz[], ${passages.map(({ edge }) => edge)}::text[]
    ) as given (workspace_id, bucket, user_id, journey_id, entry_id, step, version, arrived_at, edge)
    returning 1`;
}

export type WaitingPosition = PositionKey & { step: string; arrivedAt: Date; until: Date };

/** Stores where people wait now. The caller holds the entries. Index: primary key. */
export async function moveWaiting(tx: Queryable, waiting: readonly WaitingPosition[]): Promise<void> {
  if (waiting.length === 0) return;
  await tx`
    update journey_positions as positions
    set step = given.step, arrived_at = given.arrived_at, due_at = given.due_at, planned_at = null, event_at = null,
      attempts = 0
    from unnest(
      ${waiting.map(({ workspaceId }) => workspaceId)}::text[], ${waiting.map(({ bucket }) => bucket)}::smallint[],
      ${waiting.map(({ userId }) => userId)}::text[], ${waiting.map(({ journeyId }) => journeyId)}::text[],
      ${waiting.map(({ entryId }) => entryId)}::text[], ${waiting.map(({ step }) => step)}::text[],
      ${waiting.map(({ arrivedAt }) => arrivedAt.toISOString())}::timestamptz[],
      ${waiting.map(({ until }) => until.toISOString())}::timestamptz[]
    ) as given (workspace_id, bucket, user_id, journey_id, entry_id, step, arrived_at, due_at)
    where ${isGivenPosition(tx, waiting)}`;
}

const firstSeconds = 2;
const maxSeconds = 3_600;

/** When an entry is tried again after its first failure, its second, and so on: the delay doubles up to an hour. */
function retryTimes(at: Date): string[] {
  return Array.from({ length: 12 }, (_, failures) =>
    new Date(at.getTime() + Math.min(maxSeconds, firstSeconds * 2 ** failures) * 1_000).toISOString(),
  );
}

/** Puts off an entry that failed, twice as long each time. Its planned time stays. Index: primary key. */
export async function putOffPosition(tx: Queryable, { key, at }: { key: PositionKey; at: Date }): Promise<void> {
  const times = retryTimes(at);
  await tx`
    update journey_positions
    set attempts = least(attempts + 1, 1000), planned_at = coalesce(planned_at, due_at),
      due_at = (${times}::timestamptz[])[least(attempts + 1, ${times.length}::integer)]
    where workspace_id = ${key.workspaceId} and bucket = ${key.bucket} and user_id = ${key.userId}
      and journey_id = ${key.journeyId} and entry_id = ${key.entryId} and ended_at is null and due_at <= ${at}`;
}

type NewAttributes = UserKey & { attributes: Record<string, unknown> };

/** Stores attributes of users whom the caller holds. Index: users primary key. */
export async function setAttributesOfUsers(
  tx: Queryable,
  { workspaceId, users, at }: { workspaceId: string; users: readonly NewAttributes[]; at: Date },
): Promise<void> {
  if (users.length === 0) return;
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`given.bucket`, rows: users });
  await tx`
    update users set attributes = given.attributes::jsonb, updated_at = ${at}
    from unnest(
      ${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[],
      ${users.map(({ attributes }) => JSON.stringify(attributes))}::text[]
    ) as given (bucket, user_id, attributes)
    where users.workspace_id = ${workspaceId} and ${inBucket} and users.id = given.user_id collate "C"`;
}
