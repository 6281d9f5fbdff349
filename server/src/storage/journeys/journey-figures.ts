import type { JourneyEndReason } from '../../domain/journeys/graph.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';

type Named = { workspaceId: string; journeyId: string };

export type StepCount = { step: string; users: number };

/** Counts the people who are at each step now, over all versions. Index: journey_positions_step. */
export async function countUsersBySteps(tx: Queryable, { workspaceId, journeyId }: Named): Promise<StepCount[]> {
  return tx<StepCount[]>`
    select step, count(*)::int as users from journey_positions
    where workspace_id = ${workspaceId} and journey_id = ${journeyId} and ended_at is null
    group by step order by step`;
}

export type EdgeFigure = { version: number; step: string; edge: string; users: number };

/** Sums figures by step and edge, from the first day to the last one. Index: primary key. */
export async function sumJourneyFigures(
  tx: Queryable,
  { workspaceId, journeyId, from, to }: Named & { from: string | undefined; to: string | undefined },
): Promise<EdgeFigure[]> {
  return tx<EdgeFigure[]>`
    select version, step, edge, sum(entries)::float8 as users from journey_figures
    where workspace_id = ${workspaceId} and journey_id = ${journeyId}
      and day >= ${from ?? '0001-01-01'}::date and day <= ${to ?? '9999-12-31'}::date
    group by version, step, edge order by version, step, edge`;
}

export type UserAtStep = {
  userId: string;
  customerId: string | null;
  entryId: string;
  version: number;
  enteredAt: Date;
  arrivedAt: Date;
  dueAt: Date;
};

export type StepPage = Named & { step: string; after: string | undefined; limit: number };

/** Lists the entries that are at a step, in the order of their ids. Indexes: journey_positions_step, users primary key. */
export async function listUsersAtStep(tx: Queryable, page: StepPage): Promise<UserAtStep[]> {
  const { workspaceId, journeyId, step, after, limit } = page;
  return tx<UserAtStep[]>`
    select positions.user_id as "userId", users.customer_id as "customerId", positions.entry_id as "entryId",
      positions.version, positions.entered_at as "enteredAt", positions.arrived_at as "arrivedAt",
      positions.due_at as "dueAt"
    from journey_positions as positions
    left join users on users.workspace_id = positions.workspace_id and users.bucket = positions.bucket
      and users.id = positions.user_id
    where positions.workspace_id = ${workspaceId} and positions.journey_id = ${journeyId} and positions.step = ${step}
      and positions.ended_at is null and positions.entry_id > ${after ?? ''} collate "C"
    order by positions.entry_id limit ${limit}`;
}

export type EntryOfUser = {
  entryId: string;
  version: number;
  step: string;
  enteredAt: Date;
  arrivedAt: Date;
  dueAt: Date | null;
  endedAt: Date | null;
  endReason: JourneyEndReason | null;
};

type OfUser = Named & UserKey;

/** Lists a person's entries in a journey, newest first. Index: primary key. */
export async function listEntriesOfUser(
  tx: Queryable,
  { workspaceId, journeyId, bucket, userId, limit }: OfUser & { limit: number },
): Promise<EntryOfUser[]> {
  return tx<EntryOfUser[]>`
    select entry_id as "entryId", version, step, entered_at as "enteredAt", arrived_at as "arrivedAt", due_at as "dueAt",
      ended_at as "endedAt", end_reason as "endReason"
    from journey_positions
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and journey_id = ${journeyId}
    order by entered_at desc, entry_id desc limit ${limit}`;
}

export type Passage = { entryId: string; step: string; edge: string; version: number; arrivedAt: Date; leftAt: Date };

/** Lists the steps that a person passed in these entries, in order. Index: primary key. */
export async function listPassagesOfUser(
  tx: Queryable,
  { workspaceId, journeyId, bucket, userId, entryIds }: OfUser & { entryIds: readonly string[] },
): Promise<Passage[]> {
  return tx<Passage[]>`
    select entry_id as "entryId", step, edge, version, arrived_at as "arrivedAt", left_at as "leftAt"
    from journey_passages
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and journey_id = ${journeyId}
      and entry_id = any(${[...entryIds]})
    order by entry_id, left_at, arrived_at, step`;
}
