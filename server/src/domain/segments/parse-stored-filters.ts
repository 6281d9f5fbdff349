import { expandSegmentFilter } from './expand-segment-filter.ts';
import type { FilterTrees } from './expand-segment-filter.ts';
import { parseSegmentFilter } from './parse-segment-filter.ts';
import type { GroupFilter, SegmentFilter } from './segment-filter.ts';

export type StoredFilters = { includedFilters: unknown; excludedFilters: unknown };

/** The trees of a stored filter segment. They were accepted by the same parser, so a fault is a surprise. */
export function parseStoredFilters({ includedFilters, excludedFilters }: StoredFilters): FilterTrees {
  return {
    included: parseStored(includedFilters),
    excluded: excludedFilters === null ? undefined : parseStored(excludedFilters),
  };
}

/**
 * A stored filter segment as the database evaluates it: references to filter segments replaced by their trees.
 *
 * @param referenced every segment it refers to, directly or not
 * @throws SegmentExpansionError
 */
export function expandStoredFilters(
  segment: StoredFilters,
  referenced: readonly (StoredFilters & { id: string; kind: string })[],
): { included: SegmentFilter; excluded: SegmentFilter | undefined } {
  const treesOf = new Map(
    referenced.filter(({ kind }) => kind === 'FILTER').map((other) => [other.id, parseStoredFilters(other)]),
  );
  const { included, excluded } = parseStoredFilters(segment);
  return {
    included: expandSegmentFilter(included, treesOf),
    excluded: excluded && expandSegmentFilter(excluded, treesOf),
  };
}

function parseStored(tree: unknown): GroupFilter {
  const parsed = parseSegmentFilter(tree);
  if ('fault' in parsed) throw new Error(`a stored filter cannot be read: ${parsed.fault.reason}`);
  return parsed.filter;
}
