import { isId } from '../ids.ts';
import { findUnstorable, unstorable } from '../storable-text.ts';
import { FilterFault, FilterMembers, quote } from './filter-members.ts';
import type { FilterFaultCode } from './filter-members.ts';
import { attributeMembers, readAttributeFilter } from './read-attribute-filter.ts';
import type { GroupFilter, SegmentFilter, SegmentReference } from './segment-filter.ts';
import { maxFilterDepth, maxFilters, maxFilterSegments, maxFilterTextBytes } from './limits.ts';
import { unknownCase } from '../unknown-case.ts';

export type SegmentFilterFault = { code: FilterFaultCode; reason: string };

export type ParsedSegmentFilter = { filter: GroupFilter; unknownFields: string[] } | { fault: SegmentFilterFault };

type Walk = { filters: number; segments: number; unknownFields: string[] };

const groupMembers = ['filter_type', 'filter_operator', 'filters', 'negate'];
const referenceMembers = ['filter_type', 'id', 'name', 'negate'];
const filterTypes = ['user_attributes', 'custom_segments', 'nested_filters'] as const;
const unavailableTypes: readonly unknown[] = ['actions', 'psychographic_event'];
const maxUnknownFields = 20;

/**
 * Reads `included_filters` or `excluded_filters` (fact 2.3). At most 10 groups deep, the tree itself being the first;
 * 100 filters, groups among them; 20 references to segments. What cannot be honoured is refused by name, never ignored;
 * fields nobody knows are handed back, at most 20, for the warning (decision D5).
 */
export function parseSegmentFilter(tree: unknown): ParsedSegmentFilter {
  const walk: Walk = { filters: 0, segments: 0, unknownFields: [] };
  try {
    const members = new FilterMembers(tree, '');
    if (members.get('filter_type') !== undefined) members.choice('filter_type', ['nested_filters']);
    const filter = readGroup(members, { walk, depth: 1 });
    // The tree is stored as it came, with what nobody knows.
    const place = findUnstorable(tree);
    if (place !== undefined) throw new FilterFault('invalid', `${place || 'the tree'} ${unstorable}`);
    return { filter, unknownFields: walk.unknownFields };
  } catch (error) {
    if (error instanceof FilterFault) return { fault: { code: error.code, reason: error.message } };
    throw error;
  }
}

type Place = { walk: Walk; depth: number };

function readGroup(members: FilterMembers, { walk, depth }: Place): GroupFilter {
  // Before anything else: a tree that refers to itself ends here.
  if (depth > maxFilterDepth)
    throw new FilterFault('too-deep', `${members.path} is more than ${maxFilterDepth} levels deep`);
  noteUnknown(members, { walk, known: groupMembers });
  const operator = members.choice('filter_operator', ['and', 'or']);
  const filters = members.get('filters');
  // "All of nothing" would match every user.
  if (!Array.isArray(filters) || filters.length === 0)
    throw members.fault('filters', 'must be a list of at least one filter');
  walk.filters += filters.length;
  if (walk.filters > maxFilters) throw new FilterFault('too-long', `there must be at most ${maxFilters} filters`);
  return {
    kind: 'group',
    operator,
    negate: members.flag('negate'),
    filters: Array.from(filters as unknown[], (filter, index) =>
      readFilter(new FilterMembers(filter, `${members.pathOf('filters')}[${index}]`), { walk, depth: depth + 1 }),
    ),
  };
}

function readFilter(members: FilterMembers, place: Place): SegmentFilter {
  const type = members.get('filter_type');
  if (unavailableTypes.includes(type))
    throw new FilterFault(
      'unavailable',
      `${members.pathOf('filter_type')} ${quote(type)} is not available in this service`,
    );
  const known = members.choice('filter_type', filterTypes);
  switch (known) {
    case 'nested_filters':
      return readGroup(members, place);
    case 'custom_segments':
      return readReference(members, place.walk);
    case 'user_attributes':
      noteUnknown(members, { walk: place.walk, known: attributeMembers });
      return readAttributeFilter(members);
    default:
      return unknownCase(known);
  }
}

/** The id decides; the name beside it is a label (fact 2.3). */
function readReference(members: FilterMembers, walk: Walk): SegmentReference {
  noteUnknown(members, { walk, known: referenceMembers });
  walk.segments += 1;
  if (walk.segments > maxFilterSegments)
    throw new FilterFault('too-many-segments', `there must be at most ${maxFilterSegments} segments`);
  if (members.get('name') !== undefined) members.text('name', maxFilterTextBytes);
  const id = members.text('id', maxFilterTextBytes);
  if (!isId(id)) throw members.fault('id', 'must be the id of a segment');
  return { kind: 'segment', id, negate: members.flag('negate') };
}

function noteUnknown(members: FilterMembers, { walk, known }: { walk: Walk; known: readonly string[] }): void {
  walk.unknownFields.push(...members.unknown(known).slice(0, maxUnknownFields - walk.unknownFields.length));
}
