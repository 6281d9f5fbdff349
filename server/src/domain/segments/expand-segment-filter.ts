import type { GroupFilter, SegmentFilter } from './segment-filter.ts';
import { maxExpandedFilters } from './limits.ts';
import { unknownCase } from '../unknown-case.ts';

/** What a filter segment holds. */
export type FilterTrees = { included: GroupFilter; excluded: GroupFilter | undefined };

/** Filters that cannot be put in place of their references; `reason` is public. */
export class SegmentExpansionError extends Error {
  override readonly name = 'SegmentExpansionError';
  readonly code: 'cyclic' | 'too-large';
  constructor(code: 'cyclic' | 'too-large', reason: string) {
    super(reason);
    this.code = code;
  }
}

/**
 * Replaces every reference to a filter segment by its trees, as deep as they go; references to other segments stay.
 *
 * @param treesOf trees by segment id, of every filter segment that is referred to, directly or not
 * @throws SegmentExpansionError when references lead in a circle or to more than 1,000 filters
 */
export function expandSegmentFilter(filter: SegmentFilter, treesOf: ReadonlyMap<string, FilterTrees>): SegmentFilter {
  return expand(filter, { treesOf, within: [], count: { filters: 0 } });
}

type Walk = {
  treesOf: ReadonlyMap<string, FilterTrees>;
  within: readonly string[];
  count: { filters: number };
};

function expand(filter: SegmentFilter, walk: Walk): SegmentFilter {
  walk.count.filters += 1;
  if (walk.count.filters > maxExpandedFilters)
    throw new SegmentExpansionError(
      'too-large',
      `the segments referred to hold more than ${maxExpandedFilters} filters`,
    );
  switch (filter.kind) {
    case 'attribute':
      return filter;
    case 'group':
      return { ...filter, filters: filter.filters.map((inner) => expand(inner, walk)) };
    case 'segment': {
      const trees = walk.treesOf.get(filter.id);
      if (!trees) return filter;
      if (walk.within.includes(filter.id))
        throw new SegmentExpansionError('cyclic', 'segments refer to each other in a circle');
      const inner = { ...walk, within: [...walk.within, filter.id] };
      const filters = [expand(trees.included, inner)];
      if (trees.excluded) {
        const excluded = expand(trees.excluded, inner) as GroupFilter;
        filters.push({ ...excluded, negate: !excluded.negate });
      }
      return { kind: 'group', operator: 'and', negate: filter.negate, filters };
    }
    default:
      return unknownCase(filter);
  }
}

/** Ids of the segments a filter refers to itself, each once. */
export function segmentsUsedBy(filter: SegmentFilter): string[] {
  switch (filter.kind) {
    case 'attribute':
      return [];
    case 'segment':
      return [filter.id];
    case 'group':
      return [...new Set(filter.filters.flatMap(segmentsUsedBy))];
    default:
      return unknownCase(filter);
  }
}
