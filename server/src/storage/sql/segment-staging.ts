import type postgres from 'postgres';
import type { Database, Queryable } from '../pool.ts';
import { allBuckets } from './segment-members.ts';

/**
 * The staging tables of one attempt at an operation: made when its file is read, dropped when it has ended. Not logged, so
 * a crash of the database empties them; the operation then starts again from the file and never trusts what it finds
 * (faults F19). An attempt has tables of its own, so one that lost its lease cannot disturb the next.
 */
const linesOf = (stagingKey: string): string => `segment_lines_${stagingKey}`;
const valuesOf = (stagingKey: string): string => `segment_values_${stagingKey}`;
const matchesOf = (stagingKey: string): string => `segment_matches_${stagingKey}`;

/** Names the staging tables of an attempt. */
export function stagingKeyOf({ id, attempts }: { id: string; attempts: number }): string {
  return `${id}_${attempts}`;
}

/** One connection for the whole fill, so that its memory settings hold. */
export type FillSession = postgres.ReservedSql<Record<string, never>>;

/** Makes the empty tables, whatever a crashed attempt left. Sorting and hashing may take 256 MB in the database. */
export async function makeSegmentStaging(session: FillSession, stagingKey: string): Promise<void> {
  await dropSegmentStaging(session, stagingKey);
  await session`set work_mem = '256MB'`;
  await session`
    create unlogged table ${session(linesOf(stagingKey))} (
      line integer not null, value text collate "C" not null
    ) with (autovacuum_enabled = off)`;
}

/** A stream for COPY in text format: line number, value. */
export function copySegmentLines(session: FillSession, stagingKey: string): Promise<NodeJS.WritableStream> {
  return session`copy ${session(linesOf(stagingKey))} (line, value) from stdin`.writable();
}

/** Reduces the lines to distinct values, each with the first line that held it. @returns how many */
export async function distinctSegmentValues(session: FillSession, stagingKey: string): Promise<number> {
  await session`analyze ${session(linesOf(stagingKey))}`;
  await session`
    create unlogged table ${session(valuesOf(stagingKey))} with (autovacuum_enabled = off) as
    select value, min(line) as line from ${session(linesOf(stagingKey))} group by value`;
  await session`analyze ${session(valuesOf(stagingKey))}`;
  const [row] = await session<{ values: number }[]>`
    select count(*) as values from ${session(valuesOf(stagingKey))}`;
  return row!.values;
}

/** Lines that repeat an earlier value, in the order of the file. Reads all lines once. */
export async function listRepeatedLines(
  session: FillSession,
  { stagingKey, limit }: { stagingKey: string; limit: number },
): Promise<number[]> {
  const rows = await session<{ line: number }[]>`
    select lines.line
    from ${session(linesOf(stagingKey))} as lines
    join ${session(valuesOf(stagingKey))} as first_of on first_of.value = lines.value
    where lines.line > first_of.line
    order by lines.line limit ${limit}`;
  return rows.map(({ line }) => line);
}

/** How a file's values name users: by customer id, or by an attribute of a type. */
export type ValueMeaning =
  { kind: 'customer-id' } | { kind: 'attribute'; attribute: string; type: 'string' | 'double' };

/**
 * Finds the user of each value. A value that names two users or more names nobody (decisions D23). Set-based: one join
 * with the identifiers (or users) of the workspace, hashed; both sides are read once.
 */
export async function matchSegmentValues(
  session: FillSession,
  { stagingKey, workspaceId, meaning }: { stagingKey: string; workspaceId: string; meaning: ValueMeaning },
): Promise<void> {
  const named =
    meaning.kind === 'customer-id'
      ? session`
          select users.bucket, users.id as user_id
          from ${session(valuesOf(stagingKey))} as wanted
          join users on users.workspace_id = ${workspaceId} and users.customer_id = wanted.value`
      : session`
          select min(identifiers.bucket) as bucket, min(identifiers.user_id) as user_id
          from ${session(valuesOf(stagingKey))} as wanted
          join identifiers on identifiers.workspace_id = ${workspaceId}
            and identifiers.attribute = ${meaning.attribute} and identifiers.type = ${meaning.type}
            and identifiers.value = wanted.value
          group by wanted.value
          having count(*) = 1`;
  await session`
    create unlogged table ${session(matchesOf(stagingKey))} (
      bucket smallint not null, user_id text collate "C" not null
    ) with (autovacuum_enabled = off)`;
  await session`insert into ${session(matchesOf(stagingKey))} (bucket, user_id) ${named}`;
  await session`analyze ${session(matchesOf(stagingKey))}`;
}

export type MemberChange = { stagingKey: string; workspaceId: string; segmentId: string; version: number };

/** Adds the matched users that are no members yet. @returns how many were added */
export async function addMatchedMembers(session: FillSession, change: MemberChange): Promise<number> {
  const rows = await session`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select ${change.workspaceId}, matched.bucket, ${change.segmentId}, matched.user_id, ${change.version}::int
    from ${session(matchesOf(change.stagingKey))} as matched
    left join segment_members as member on member.workspace_id = ${change.workspaceId}
      and member.segment_id = ${change.segmentId} and member.removed_in is null
      and member.bucket = matched.bucket and member.user_id = matched.user_id
    where member.user_id is null`;
  return rows.count;
}

/** Removes the matched users from the segment, from this version on. @returns how many were members */
export async function removeMatchedMembers(session: FillSession, change: MemberChange): Promise<number> {
  const rows = await session`
    update segment_members as member set removed_in = ${change.version}
    from ${session(matchesOf(change.stagingKey))} as matched
    where member.workspace_id = ${change.workspaceId} and member.segment_id = ${change.segmentId}
      and member.bucket = matched.bucket and member.user_id = matched.user_id and member.removed_in is null`;
  return rows.count;
}

/** Removes the members that were not matched, from this version on: the first half of a replacement. */
export async function removeUnmatchedMembers(session: FillSession, change: MemberChange): Promise<number> {
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

/** Live members of a segment. Index: segment_members primary key, one range per bucket. */
export async function countLiveMembers(
  session: FillSession | Queryable,
  { workspaceId, segmentId }: { workspaceId: string; segmentId: string },
): Promise<number> {
  const [row] = await session<{ members: number }[]>`
    select count(*) as members from segment_members
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and segment_id = ${segmentId}
      and removed_in is null`;
  return row!.members;
}

export async function dropSegmentStaging(session: FillSession | Database, stagingKey: string): Promise<void> {
  await session`drop table if exists ${session(linesOf(stagingKey))}, ${session(valuesOf(stagingKey))},
    ${session(matchesOf(stagingKey))}`;
}

/** Staging tables of attempts that are not under way: their worker died. @returns the attempts' keys */
export async function findAbandonedStaging(database: Database): Promise<string[]> {
  const rows = await database<{ key: string }[]>`
    with staged as (
      select distinct substring(relname from '[0-9a-f]{24}_[0-9]+$') as key
      from pg_class
      where relkind = 'r' and relname ~ '^segment_(lines|values|matches)_[0-9a-f]{24}_[0-9]+$'
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
