import type { CampaignBody } from '@carillon/client';
import { newGroup, toFilters } from '../../segments/filter/filter-tree.ts';
import type { BuiltTrees, FilterGroup } from '../../segments/filter/filter-tree.ts';
import { readAt } from '../campaign-body.ts';

const details = 'segmentation_details';

export type ChosenSegment = { id: string; name: string };
export type AudienceKind = 'all' | 'segments' | 'users' | 'filters';

type Filter = { filter_type?: string; id?: string; name?: string; negate?: boolean } & Record<string, unknown>;
type Tree = { filter_operator?: string; filters?: Filter[]; negate?: boolean };

/** The kinds of audience that the composer can edit. `filters` covers all others. */
export function audienceKind(body: CampaignBody): AudienceKind {
  if (excludedSegments(body) === undefined) return 'filters';
  const tree = treeAt(body, 'included');
  if (tree === undefined) return readAt(body, `${details}.is_all_user_campaign`) === true ? 'all' : 'segments';
  if (segmentsOf(tree) !== undefined) return 'segments';
  return usersOf(tree) === undefined ? 'filters' : 'users';
}

export function includedSegments(body: CampaignBody): ChosenSegment[] {
  return segmentsOf(treeAt(body, 'included')) ?? [];
}

/** Returns the excluded segments; undefined if other filters exclude users. */
export function excludedSegments(body: CampaignBody): ChosenSegment[] | undefined {
  const tree = treeAt(body, 'excluded');
  return tree === undefined ? [] : segmentsOf(tree, 'or');
}

/** `or`: users in any of the segments; `and`: users in all of them. */
export function includedOperator(body: CampaignBody): 'or' | 'and' {
  return treeAt(body, 'included')?.filter_operator === 'and' ? 'and' : 'or';
}

export function namedUsers(body: CampaignBody): string[] {
  return usersOf(treeAt(body, 'included')) ?? [];
}

/** Returns the changes that turn an audience into one of segments, even if none is chosen yet. */
export function ofSegments(segments: ChosenSegment[], operator: 'or' | 'and'): Record<string, unknown> {
  return {
    [`${details}.is_all_user_campaign`]: undefined,
    [`${details}.included_filters`]: treeOf(segments, operator),
  };
}

export function withoutSegments(segments: ChosenSegment[]): Record<string, unknown> {
  return { [`${details}.excluded_filters`]: treeOf(segments, 'or') };
}

export function ofEveryone(): Record<string, unknown> {
  return { [`${details}.is_all_user_campaign`]: true, [`${details}.included_filters`]: undefined };
}

/** Returns the changes that make an audience of these user ids, which are case-sensitive. */
export function ofUsers(customerIds: string[]): Record<string, unknown> {
  const filter = { filter_type: 'user_attributes', name: 'uid', data_type: 'string', operator: 'in' };
  const value = customerIds.map((id) => id.trim()).filter((id) => id !== '');
  const tree = { filter_operator: 'and', filters: [{ ...filter, case_sensitive: true, value }] };
  return {
    [`${details}.is_all_user_campaign`]: undefined,
    [`${details}.included_filters`]: value.length === 0 ? undefined : tree,
  };
}

/**
 * Returns the filters for the builder; undefined for an audience of all users except filtered ones, which the builder
 * cannot edit.
 */
export function filtersOf(body: CampaignBody): BuiltTrees | undefined {
  const included = treeAt(body, 'included');
  if (included === undefined) return undefined;
  return { included: included as FilterGroup, excluded: treeAt(body, 'excluded') as FilterGroup | undefined };
}

export function ofFilters(trees: BuiltTrees): Record<string, unknown> {
  const { included_filters: included, excluded_filters: excluded } = toFilters(trees);
  return {
    [`${details}.is_all_user_campaign`]: undefined,
    [`${details}.included_filters`]: included,
    [`${details}.excluded_filters`]: excluded,
  };
}

/** Returns the builder's initial filters. Segments that were excluded stay excluded. */
export function ofNewFilters(body: CampaignBody): Record<string, unknown> {
  return ofFilters({ included: newGroup(), excluded: treeAt(body, 'excluded') as FilterGroup | undefined });
}

function treeAt(body: CampaignBody, which: 'included' | 'excluded'): Tree | undefined {
  const tree = readAt(body, `${details}.${which}_filters`);
  return typeof tree === 'object' && tree !== null ? (tree as Tree) : undefined;
}

function treeOf(segments: ChosenSegment[], operator: 'or' | 'and') {
  if (segments.length === 0) return undefined;
  return {
    filter_operator: operator,
    filters: segments.map(({ id, name }) => ({ filter_type: 'custom_segments', id, name })),
  };
}

/** Returns the segments of a tree that contains nothing else. A single segment may be under either operator. */
function segmentsOf(tree: Tree | undefined, operator?: 'or'): ChosenSegment[] | undefined {
  if (tree === undefined || tree.negate === true || !Array.isArray(tree.filters)) return undefined;
  if (operator !== undefined && tree.filters.length > 1 && tree.filter_operator !== operator) return undefined;
  const isSegment = ({ filter_type, id, negate }: Filter) =>
    filter_type === 'custom_segments' && typeof id === 'string' && negate !== true;
  if (!tree.filters.every(isSegment)) return undefined;
  return tree.filters.map(({ id, name }) => ({ id: id!, name: name ?? id! }));
}

function usersOf(tree: Tree | undefined): string[] | undefined {
  const [filter, ...others] = tree?.filters ?? [];
  if (!filter || others.length > 0 || tree?.negate === true || filter.negate === true) return undefined;
  const { filter_type: type, name, operator, data_type: dataType, value } = filter;
  if (type !== 'user_attributes' || name !== 'uid' || dataType !== 'string') return undefined;
  if (operator !== 'in' && operator !== 'is') return undefined;
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');
}
