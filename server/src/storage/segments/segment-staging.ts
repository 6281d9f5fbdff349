import { isDistributed } from '../cluster.ts';
import { isOfDevices } from '../../domain/users/users.ts';
import type { ValueMeaning } from '../../domain/segments/file-operations.ts';
import { inTransaction } from '../database.ts';
import type { Database, Fragment, Queryable, Session, Transaction } from '../database.ts';
import { allBuckets } from './segment-members.ts';

/**
 * The staging tables of one attempt at an operation: created when its file is read, dropped when it has ended. They are
 * not logged, so a crash of the database empties them; the operation then starts again from the file and never trusts
 * existing rows (fault F19). Each attempt has separate tables, so one that lost its lease cannot disturb the next.
 */
const linesOf = (stagingKey: string): string => `segment_lines_${stagingKey}`;
const matchesOf = (stagingKey: string): string => `segment_matches_${stagingKey}`;

/** Returns the suffix of an attempt's staging tables. */
export function stagingKeyOf({ id, attempts }: { id: string; attempts: number }): string {
  return `${id}_${attempts}`;
}

/**
 * Copies lines in PostgreSQL's text format (line number, value) into a new table, replacing one that a crashed attempt
 * left. Runs in the one session of the whole fill, whose memory settings apply. Sorting and hashing may use 256 MB in
 * the database.
 *
 * The table is created and filled in one transaction, so that its rows can be written as visible to all at once
 * (`freeze`): otherwise the first reader would write every page again to record that.
 */
export async function stageSegmentLines(
  session: Session,
  { stagingKey, lines }: { stagingKey: string; lines: AsyncIterable<Buffer> },
): Promise<void> {
  await dropSegmentStaging(session, stagingKey);
  await session`set work_mem = '256MB'`;
  await inTransaction(session, async (tx) => {
    await tx`select make_segment_staging(${linesOf(stagingKey)})`;
    await tx`copy ${tx(linesOf(stagingKey))} (line, value) from stdin (freeze)`.copyFrom(lines);
  });
}

/**
 * Updates the statistics once the lines are complete: without them the join that follows would be planned for a table
 * of a few rows.
 */
export async function analyzeSegmentLines(session: Queryable, stagingKey: string): Promise<void> {
  await session`select analyze_table(${linesOf(stagingKey)})`;
}

/** Counts the distinct values of the lines. Reads them once, hashed. */
export async function countDistinctValues(tx: Transaction, stagingKey: string): Promise<number> {
  await tx`set local work_mem = '256MB'`;
  const [row] = await tx<{ values: number }[]>`
    select count(*) as values from (select 1 from ${tx(linesOf(stagingKey))} group by value) as distinct_values`;
  return row!.values;
}

/** Lists lines that repeat an earlier value, in the order of the file. Reads all lines twice. */
export async function listRepeatedLines(
  tx: Transaction,
  { stagingKey, limit }: { stagingKey: string; limit: number },
): Promise<number[]> {
  const rows = await tx<{ line: number }[]>`
    select lines.line
    from ${tx(linesOf(stagingKey))} as lines
    join (
      select value, min(line) as line from ${tx(linesOf(stagingKey))} group by value having count(*) > 1
    ) as first_of on first_of.value = lines.value
    where lines.line > first_of.line
    order by lines.line limit ${limit}`;
  return rows.map(({ line }) => line);
}

export type StagedValues = { stagingKey: string; workspaceId: string; meaning: ValueMeaning };

/**
 * Selects the users that the lines identify, each once. A value of two or more users identifies none (decision D23).
 * One hash join with the identifiers (or users) of the workspace, both sides read once; the values need not be distinct
 * before, because only those that matched are grouped.
 */
function namedUsers(session: Queryable, staged: StagedValues): Fragment {
  const { meaning } = staged;
  const hasSeveralValues = meaning.kind === 'attribute' && isOfDevices(meaning.attribute);
  // A user has one value of an attribute, but one value per device of a device attribute.
  return hasSeveralValues
    ? session`select distinct bucket, user_id from (${usersOfValues(session, staged)}) as of_value`
    : usersOfValues(session, staged);
}

function usersOfValues(session: Queryable, { stagingKey, workspaceId, meaning }: StagedValues): Fragment {
  if (meaning.kind === 'customer-id') {
    return session`
      select users.bucket, users.id as user_id
      from ${session(linesOf(stagingKey))} as lines
      join users on users.workspace_id = ${workspaceId} and users.customer_id = lines.value
      group by users.bucket, users.id
      union
      select merged_users.retained_bucket, merged_users.retained_user_id
      from ${session(linesOf(stagingKey))} as lines
      join merged_users on merged_users.workspace_id = ${workspaceId} and merged_users.customer_id = lines.value`;
  }
  return session`
    select min(identifiers.bucket) as bucket, min(identifiers.user_id) as user_id
    from ${session(linesOf(stagingKey))} as lines
    join identifiers on identifiers.workspace_id = ${workspaceId}
      and identifiers.attribute = ${meaning.attribute} and identifiers.type = ${meaning.type}
      and identifiers.value = lines.value
    group by lines.value
    having min(identifiers.user_id) = max(identifiers.user_id)`;
}

/**
 * True if the members are in the shards of a cluster. The identified users are then staged there first, next to the
 * members they are compared with: from the lines, each comparison would fetch the members of the whole segment.
 */
export async function areMembersDistributed(session: Queryable): Promise<boolean> {
  return isDistributed(session, 'segment_members');
}

/** Stages the identified users as a set: for a removal, and where the members are in shards. */
export async function stageMatches(session: Queryable, staged: StagedValues): Promise<void> {
  await session`select make_segment_staging(${matchesOf(staged.stagingKey)})`;
  await session`
    insert into ${session(matchesOf(staged.stagingKey))} (bucket, user_id) ${namedUsers(session, staged)}`;
  await session`select analyze_table(${matchesOf(staged.stagingKey)})`;
}

export type MemberChange = { stagingKey: string; workspaceId: string; segmentId: string; version: number };

/** Adds the users that the lines identify. @returns how many were added */
export async function addNamedMembers(
  session: Queryable,
  change: MemberChange & { meaning: ValueMeaning },
): Promise<number> {
  return addMembers(session, change, session`(${namedUsers(session, change)})`);
}

/** Adds the users that were staged as matches. @returns how many were added */
export async function addMatchedMembers(session: Queryable, change: MemberChange): Promise<number> {
  return addMembers(session, change, session`${session(matchesOf(change.stagingKey))}`);
}

/**
 * Adds users that are not members yet, in the order of the primary key: its pages are then filled one after the other,
 * not all at once.
 */
async function addMembers(session: Queryable, change: MemberChange, named: Fragment): Promise<number> {
  const rows = await session`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select ${change.workspaceId}, named.bucket, ${change.segmentId}, named.user_id, ${change.version}::int
    from ${named} as named
    left join segment_members as member on member.workspace_id = ${change.workspaceId}
      and member.segment_id = ${change.segmentId} and member.removed_in is null
      and member.bucket = named.bucket and member.user_id = named.user_id
    where member.user_id is null
    order by named.bucket, named.user_id`;
  return rows.count;
}

/** Removes the matched users from the segment, from this version on. @returns how many were members */
export async function removeMatchedMembers(session: Queryable, change: MemberChange): Promise<number> {
  const rows = await session`
    update segment_members as member set removed_in = ${change.version}
    from ${session(matchesOf(change.stagingKey))} as matched
    where member.workspace_id = ${change.workspaceId} and member.segment_id = ${change.segmentId}
      and member.bucket = matched.bucket and member.user_id = matched.user_id and member.removed_in is null`;
  return rows.count;
}

/** Removes the members that were not matched, from this version on: the first half of a replacement. */
export async function removeUnmatchedMembers(session: Queryable, change: MemberChange): Promise<number> {
  const rows = await session`
    update segment_members as member set removed_in = ${change.version}
    where member.workspace_id = ${change.workspaceId} and member.bucket = any(${allBuckets})
      and member.segment_id = ${change.segmentId} and member.removed_in is null
      and not exists (
        select 1 from ${session(matchesOf(change.stagingKey))} as matched
        where matched.bucket = member.bucket and matched.user_id = member.user_id
      )`;
  return rows.count;
}

/** Counts the current members of a segment. Index: segment_members primary key, one range per bucket. */
export async function countLiveMembers(
  session: Queryable,
  { workspaceId, segmentId }: { workspaceId: string; segmentId: string },
): Promise<number> {
  const [row] = await session<{ members: number }[]>`
    select count(*) as members from segment_members
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and segment_id = ${segmentId}
      and removed_in is null`;
  return row!.members;
}

export async function dropSegmentStaging(session: Queryable, stagingKey: string): Promise<void> {
  await session`
    select drop_segment_staging(${linesOf(stagingKey)}), drop_segment_staging(${matchesOf(stagingKey)})`;
}

/** Finds staging tables of attempts that are not under way: their worker died. @returns the attempts' keys */
export async function findAbandonedStaging(database: Database): Promise<string[]> {
  const rows = await database<{ key: string }[]>`
    with staged as (
      select distinct substring(relname from '[0-9a-f]{24}_[0-9]+$') as key
      from pg_class
      where relkind = 'r' and relname ~ '^segment_(lines|matches)_[0-9a-f]{24}_[0-9]+$'
    )
    select key from staged
    where not exists (
      select 1 from segment_operations as operation
      where operation.id = left(staged.key, 24) and operation.state = 'FILLING'
        and operation.attempts = substring(staged.key from 26)::int
    )
    limit 100`;
  return rows.map(({ key }) => key);
}
