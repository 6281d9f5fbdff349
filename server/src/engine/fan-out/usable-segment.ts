import { SegmentExpansionError } from '../../domain/segments/expand-segment-filter.ts';
import { expandStoredFilters } from '../../domain/segments/parse-stored-filters.ts';
import type { Queryable } from '../../storage/database.ts';
import { findReferencedSegments } from '../../storage/segments/segment-members.ts';
import type { Segment } from '../../storage/segments/segments.ts';

type ExpandedFilters = ReturnType<typeof expandStoredFilters>;

/** The trees of a filter segment, references replaced; or why it cannot be sent to. Segments may have grown since it was made. */
export async function findUsableFilters(
  tx: Queryable,
  { workspaceId, segment }: { workspaceId: string; segment: Segment },
): Promise<ExpandedFilters | { reason: string }> {
  const referenced = await findReferencedSegments(tx, { workspaceId, ids: segment.usesSegments });
  for (const other of referenced) {
    const reason = whyUnusable(other);
    if (reason !== undefined) return { reason: `${reason} (segment ${other.name}, which this one refers to)` };
  }
  try {
    return expandStoredFilters(segment, referenced);
  } catch (error) {
    if (error instanceof SegmentExpansionError) return { reason: error.message };
    throw error;
  }
}

export function whyUnusable(segment: Pick<Segment, 'state'> & { stateReason?: string | null }): string | undefined {
  if (segment.state === 'ARCHIVED') return 'the segment is archived';
  if (segment.state === 'FAILED') return `the segment could not be filled: ${segment.stateReason ?? 'see the segment'}`;
  return undefined;
}
