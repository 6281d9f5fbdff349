import type { GroupFilter, SegmentFilter } from './segment-filter.ts';

/** What a filter segment holds. */
export type FilterTrees = { included: GroupFilter; excluded: GroupFilter | undefined };

/** Segments that refer to each other in a circle hold nobody that can be named. */
export class CyclicSegmentError extends Error {
  override readonly name = 'CyclicSegmentError';
}

/**
 * Replaces every reference to a filter segment by its trees, as deep as they go; references to other segments stay.
 *
 * @param treesOf trees by segment id, of every filter segment that is referred to, directly or not
 * @throws CyclicSegmentError
 */
export function expandSegmentFilter(filter: SegmentFilter, treesOf: ReadonlyMap<string, FilterTrees>): SegmentFilter {
  return expand(filter, { treesOf, within: [] });
}

type Walk = { treesOf: ReadonlyMap<string, FilterTrees>; within: readonly string[] };

function expand(filter: SegmentFilter, walk: Walk): SegmentFilter {
  switch (filter.kind) {
    case 'attribute':
      return filter;
    case 'group':
      return { ...filter, filters: filter.filters.map((inner) => expand(inner, walk)) };
    case 'segment': {
      const trees = walk.treesOf.get(filter.id);
      if (!trees) return filter;
      if (walk.within.includes(filter.id)) throw new CyclicSegmentError('segments refer to each other in a circle');
      const inner = { ...walk, within: [...walk.within, filter.id] };
      const filters = [expand(trees.included, inner)];
      if (trees.excluded) {
        const excluded = expand(trees.excluded, inner) as GroupFilter;
        filters.push({ ...excluded, negate: !excluded.negate });
      }
      return { kind: 'group', operator: 'and', negate: filter.negate, filters };
    }
    default:
      return filter satisfies never;
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
      return filter satisfies never;
  }
}
