import type { Queryable } from '../database.ts';

export type VersionKey = { journeyId: string; version: number };

/** A published version that events concern. */
export type ListeningVersion = VersionKey & {
  /** The events let people enter it. */
  isEntered: boolean;
  /** The events may end a wait or an entry in it. */
  isWatching: boolean;
};

/**
 * Lists the versions that events of these names concern: entries only where people enter now, and people inside also while their
 * journey is paused. Indexes: journey_versions_workspace, journeys primary key.
 */
export async function listListeningVersions(
  tx: Queryable,
  { workspaceId, eventNames }: { workspaceId: string; eventNames: readonly string[] },
): Promise<ListeningVersion[]> {
  const names = [...eventNames];
  return tx<ListeningVersion[]>`
    select * from (
      select versions.journey_id as "journeyId", versions.version,
        journeys.status = 'ACTIVE' and journeys.version = versions.version
          and versions.entry_events && ${names}::text[] as "isEntered",
        versions.watched_events && ${names}::text[] as "isWatching"
      from journey_versions as versions
      join journeys on journeys.id = versions.journey_id
      where versions.workspace_id = ${workspaceId} and journeys.status in ('ACTIVE', 'PAUSED')
    ) as found
    where "isEntered" or "isWatching"
    order by "journeyId", version`;
}

export type StoredVersion = VersionKey & { graph: Record<string, unknown>; campaigns: Record<string, string> };

/** Reads published versions. Index: primary key. */
export async function listVersions(tx: Queryable, keys: readonly VersionKey[]): Promise<StoredVersion[]> {
  if (keys.length === 0) return [];
  return tx<StoredVersion[]>`
    select versions.journey_id as "journeyId", versions.version, versions.graph, versions.campaigns
    from unnest(
      ${keys.map(({ journeyId }) => journeyId)}::text[], ${keys.map(({ version }) => version)}::integer[]
    ) as given (journey_id, version)
    join journey_versions as versions on versions.journey_id = given.journey_id collate "C"
      and versions.version = given.version`;
}

/** Returns the campaigns that a step has in any version: a person may have been moved since the step sent. Index: primary key. */
export async function listCampaignsOfStep(
  tx: Queryable,
  { journeyId, step }: { journeyId: string; step: string },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select distinct campaigns ->> ${step}::text as id from journey_versions
    where journey_id = ${journeyId} and campaigns ->> ${step}::text is not null`;
  return rows.map(({ id }) => id);
}

export type ActiveJourney = { workspaceId: string; journeyId: string };

/** Lists the journeys whose people go on. Index: journeys_active. */
export async function listActiveJourneys(tx: Queryable): Promise<ActiveJourney[]> {
  return tx<ActiveJourney[]>`
    select workspace_id as "workspaceId", id as "journeyId" from journeys where status = 'ACTIVE'
    order by workspace_id, id`;
}
