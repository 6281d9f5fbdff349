import type { Queryable } from '../pool.ts';

/** A segment that a filter refers to, directly or through others. */
export type ReferencedSegment = {
  id: string;
  name: string;
  kind: 'FILE' | 'FILTER' | 'COHORT';
  state: 'FILLING' | 'READY' | 'FAILED' | 'ARCHIVED';
  includedFilters: unknown;
  excludedFilters: unknown;
};

/**
 * Every segment reachable from these ids over filter segments' references; a circle is walked once. Index: segments
 * primary key, a look-up a segment.
 */
export async function findReferencedSegments(
  tx: Queryable,
  { workspaceId, ids }: { workspaceId: string; ids: readonly string[] },
): Promise<ReferencedSegment[]> {
  if (ids.length === 0) return [];
  return tx<ReferencedSegment[]>`
    with recursive reached (id) as (
      select segments.id from segments where workspace_id = ${workspaceId} and id = any(${[...ids]})
        and segments.campaign_id is null
      union
      select used.id
      from reached
      join segments on segments.id = reached.id
      cross join lateral unnest(segments.uses_segments) as used (id)
    )
    select segments.id, segments.name, segments.kind, segments.state, segments.included_filters as "includedFilters",
      segments.excluded_filters as "excludedFilters"
    from segments where workspace_id = ${workspaceId} and id in (select id from reached)`;
}
