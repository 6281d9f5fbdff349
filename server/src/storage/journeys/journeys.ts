import type { JourneyState } from '../../domain/journeys/graph.ts';
import type { CampaignSummary } from '../campaigns/campaigns.ts';
import type { Queryable } from '../database.ts';

export type Journey = {
  id: string;
  workspaceId: string;
  name: string;
  status: JourneyState;
  /** The graph that is being edited, as it was sent; null: nothing was changed since the live version. */
  draft: Record<string, unknown> | null;
  /** The version that people enter; null: never published. */
  version: number | null;
  createdBy: string;
  createdAt: Date;
  updatedBy: string;
  updatedAt: Date;
};

type Identified = { workspaceId: string; id: string };

const columns = (tx: Queryable) => tx`
  id, workspace_id as "workspaceId", name, status, draft, version, created_by as "createdBy", created_at as "createdAt",
  updated_by as "updatedBy", updated_at as "updatedAt"`;

export type NewJourney = Identified & {
  name: string;
  draft: Record<string, unknown>;
  by: string;
  at: Date;
};

/** Inserts a draft. Indexes: primary key, journeys_workspace_id_name_key. @returns false if the name is in use */
export async function insertJourney(tx: Queryable, journey: NewJourney): Promise<boolean> {
  const { id, workspaceId, name, draft, by, at } = journey;
  const rows = await tx`
    insert into journeys (id, workspace_id, name, status, draft, created_by, created_at, updated_by, updated_at)
    values (${id}, ${workspaceId}, ${name}, 'DRAFT', ${tx.json(draft)}, ${by}, ${at}, ${by}, ${at})
    on conflict (workspace_id, name) do nothing
    returning 1`;
  return rows.length === 1;
}

/** Index: journeys_newest. */
export async function countJourneys(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from journeys where workspace_id = ${workspaceId}`;
  return row!.count;
}

/** Index: primary key. */
export async function findJourney(tx: Queryable, { workspaceId, id }: Identified): Promise<Journey | undefined> {
  const [journey] = await tx<Journey[]>`
    select ${columns(tx)} from journeys where id = ${id} and workspace_id = ${workspaceId}`;
  return journey;
}

/** Locks a journey until the transaction ends. Index: primary key. */
export async function lockJourney(tx: Queryable, { workspaceId, id }: Identified): Promise<Journey | undefined> {
  const [journey] = await tx<Journey[]>`
    select ${columns(tx)} from journeys where id = ${id} and workspace_id = ${workspaceId} for update`;
  return journey;
}

/** Locks a journey for sharing, so that it is not stopped before the caller's transaction has stored entries. Index: primary key. */
export async function holdJourney(tx: Queryable, { workspaceId, id }: Identified): Promise<Journey | undefined> {
  const [journey] = await tx<Journey[]>`
    select ${columns(tx)} from journeys where id = ${id} and workspace_id = ${workspaceId} for share`;
  return journey;
}

export type JourneySearch = {
  workspaceId: string;
  statuses: readonly JourneyState[] | undefined;
  /** A part of the name, in any case. */
  name: string | undefined;
  createdFrom: Date | undefined;
  createdBefore: Date | undefined;
  /** The last journey of the page before. */
  after: { createdAt: Date; id: string } | undefined;
  limit: number;
};

/** Lists journeys, newest first. A workspace has at most 200. Index: journeys_newest. */
export async function listJourneys(tx: Queryable, search: JourneySearch): Promise<Journey[]> {
  const { workspaceId, statuses, name, createdFrom, createdBefore, after, limit } = search;
  const conditions = [tx`workspace_id = ${workspaceId}`];
  if (statuses) conditions.push(tx`status = any(${[...statuses]})`);
  if (name !== undefined) conditions.push(tx`strpos(lower(name), lower(${name})) > 0`);
  if (createdFrom) conditions.push(tx`created_at >= ${createdFrom}`);
  if (createdBefore) conditions.push(tx`created_at < ${createdBefore}`);
  if (after) conditions.push(tx`(created_at, id) < (${after.createdAt}::timestamptz, ${after.id} collate "C")`);
  return tx<Journey[]>`
    select ${columns(tx)} from journeys
    where ${conditions.reduce((all, next) => tx`${all} and ${next}`)}
    order by created_at desc, id desc limit ${limit}`;
}

export type DraftChange = Identified & {
  name: string;
  draft: Record<string, unknown> | null;
  by: string;
  at: Date;
};

/** Changes name and draft; the caller holds the lock. @returns false if the name is in use. Index: primary key. */
export async function updateJourneyDraft(tx: Queryable, change: DraftChange): Promise<boolean> {
  const { workspaceId, id, name, draft, by, at } = change;
  const rows = await tx`
    update journeys
    set name = ${name}, draft = ${draft === null ? null : tx.json(draft)}, updated_by = ${by}, updated_at = ${at}
    where id = ${id} and workspace_id = ${workspaceId} and not exists (
      select 1 from journeys as other
      where other.workspace_id = ${workspaceId} and other.name = ${name} and other.id <> ${id}
    )
    returning 1`;
  return rows.length === 1;
}

export type JourneyMove = Identified & { status: JourneyState; by: string; at: Date };

/** Changes the status; the caller holds the lock. From a stop on, the engine lets users leave. Index: primary key. */
export async function moveJourney(tx: Queryable, { workspaceId, id, status, by, at }: JourneyMove): Promise<void> {
  await tx`
    update journeys
    set status = ${status}, is_ending = ${status === 'STOPPED'}, updated_by = ${by}, updated_at = ${at}
    where id = ${id} and workspace_id = ${workspaceId}`;
}

/** Deletes a journey that was never published. Index: primary key. @returns false if there is none */
export async function deleteDraftJourney(tx: Queryable, { workspaceId, id }: Identified): Promise<boolean> {
  const rows = await tx`
    delete from journeys where id = ${id} and workspace_id = ${workspaceId} and status = 'DRAFT' returning 1`;
  return rows.length === 1;
}

export type JourneyVersion = {
  journeyId: string;
  version: number;
  graph: Record<string, unknown>;
  /** The campaign of each send step. */
  campaigns: Record<string, string>;
  entryEvents: string[];
  watchedEvents: string[];
  publishedAt: Date;
  publishedBy: string;
};

/** Stores a version and makes it the one that people enter. Index: primary keys. */
export async function publishJourneyVersion(
  tx: Queryable,
  { workspaceId, status, ...version }: JourneyVersion & { workspaceId: string; status: JourneyState },
): Promise<void> {
  const { journeyId, publishedAt: at, publishedBy: by } = version;
  await tx`
    insert into journey_versions (
      journey_id, version, workspace_id, graph, campaigns, entry_events, watched_events, published_at, published_by
    ) values (
      ${journeyId}, ${version.version}, ${workspaceId}, ${tx.json(version.graph)}, ${tx.json(version.campaigns)},
      ${version.entryEvents}, ${version.watchedEvents}, ${at}, ${by}
    )`;
  await tx`
    update journeys
    set version = ${version.version}, draft = null, status = ${status}, updated_by = ${by}, updated_at = ${at}
    where id = ${journeyId} and workspace_id = ${workspaceId}`;
}

type Versioned = { workspaceId: string; journeyId: string };

/** Index: primary key. */
export async function findJourneyVersion(
  tx: Queryable,
  { workspaceId, journeyId, version }: Versioned & { version: number },
): Promise<JourneyVersion | undefined> {
  const [found] = await tx<JourneyVersion[]>`
    select journey_id as "journeyId", version, graph, campaigns, entry_events as "entryEvents",
      watched_events as "watchedEvents", published_at as "publishedAt", published_by as "publishedBy"
    from journey_versions
    where journey_id = ${journeyId} and version = ${version} and workspace_id = ${workspaceId}`;
  return found;
}

/** Lists the hidden campaigns of a journey's messages, of all versions. Index: campaigns_journey. */
export async function listJourneyCampaigns(
  tx: Queryable,
  { workspaceId, journeyId }: Versioned,
): Promise<CampaignSummary[]> {
  return tx<CampaignSummary[]>`
    select id, name, delivery_type as "deliveryType", audience, status, status_reason as "statusReason", timing,
      next_at as "nextAt", created_at as "createdAt", created_by as "createdBy"
    from campaigns where workspace_id = ${workspaceId} and journey_id = ${journeyId} order by id`;
}
