import type { FilterTrees } from '../../api/segments.ts';

/** An incomplete filter tree of the API (`included_filters`), as the builder edits it. */
export type FilterGroup = {
  filter_type?: 'nested_filters';
  filter_operator: 'and' | 'or';
  filters: FilterNode[];
  negate?: boolean;
};

export type AttributeNode = {
  filter_type: 'user_attributes';
  name: string;
  data_type: string;
  operator: string;
  value?: unknown;
  value1?: unknown;
  value_type?: string;
  negate?: boolean;
  case_sensitive?: boolean;
  array_filter_type?: string;
};

export type SegmentNode = { filter_type: 'custom_segments'; id: string; name?: string; negate?: boolean };

/** Users who did something, or did not. */
export type ActionNode = {
  filter_type: 'actions';
  action_name: string;
  executed: boolean;
  execution?: { type: string; count?: number | undefined };
  primary_time_range?: TimeRange;
  attributes?: FilterGroup;
  negate?: boolean;
};

/** When an event happened: in the last hours, days, weeks or months, or at a date. */
export type TimeRange = {
  type: string;
  value?: unknown;
  value1?: unknown;
  value_type?: string;
  period_unit?: string;
};

export type FilterNode = FilterGroup | AttributeNode | SegmentNode | ActionNode;

/** The filters that include users, and those that exclude some of them. */
export type BuiltTrees = { included: FilterGroup; excluded: FilterGroup | undefined };

export const newCondition = (): AttributeNode => ({
  filter_type: 'user_attributes',
  name: '',
  data_type: 'string',
  operator: 'in',
});

export const newAction = (): ActionNode => ({
  filter_type: 'actions',
  action_name: '',
  executed: true,
  execution: { type: 'atleast', count: 1 },
  primary_time_range: { type: 'inTheLast', value: 7, period_unit: 'days' },
});

export const newGroup = (): FilterGroup => ({ filter_operator: 'and', filters: [newCondition()] });

export const newTrees = (): BuiltTrees => ({ included: newGroup(), excluded: undefined });

export function isGroup(node: FilterNode): node is FilterGroup {
  return 'filters' in node;
}

/** Converts the trees to the API's form. The type of nested groups is written out. */
export function toFilters({ included, excluded }: BuiltTrees): FilterTrees {
  return { included_filters: sent(included), ...(excluded === undefined ? {} : { excluded_filters: sent(excluded) }) };
}

/** Converts stored trees for the editor. Unknown members are kept. */
export function fromFilters({ included, excluded }: { included: unknown; excluded?: unknown }): BuiltTrees {
  return {
    included: included as FilterGroup,
    excluded: excluded === null || excluded === undefined ? undefined : (excluded as FilterGroup),
  };
}

function sent(group: FilterGroup): FilterGroup {
  return {
    ...group,
    filters: group.filters.map((node) => (isGroup(node) ? { ...sent(node), filter_type: 'nested_filters' } : node)),
  };
}

/** Returns true if the tree has no condition yet. */
export function isBlank({ included, excluded }: BuiltTrees): boolean {
  const [first, ...others] = included.filters;
  return excluded === undefined && others.length === 0 && first !== undefined && !isGroup(first) && isUnasked(first);
}

function isUnasked(node: AttributeNode | SegmentNode | ActionNode): boolean {
  switch (node.filter_type) {
    case 'custom_segments':
      return node.id === '';
    case 'actions':
      return node.action_name === '';
    default:
      return node.name === '';
  }
}

/** Lists the conditions on texts and numbers of a tree. */
export function attributesOf(group: FilterGroup): AttributeNode[] {
  return group.filters.flatMap((node) => {
    if (isGroup(node)) return attributesOf(node);
    return node.filter_type === 'user_attributes' && ['string', 'double'].includes(node.data_type) ? [node] : [];
  });
}

/** The server's faults of filters, with their place. */
export type FilterFault = {
  field: 'included_filters' | 'excluded_filters' | null;
  /** The server's path of the condition; empty for the whole tree. */
  path: string;
  words: string;
};

/** Formats `filters[0].filters[2]` as "Condition 1.3: ", like the labels of the fields. */
export function placeText({ field, path }: FilterFault): string {
  if (path === '') return '';
  const number = [...path.matchAll(/\[(\d+)\]/g)].map(([, index]) => Number(index) + 1).join('.');
  return `${field === 'excluded_filters' ? 'Exception' : 'Condition'} ${number}: `;
}

/** Finds the node that a message of the server is about: `filters[0].filters[2].value is required`. */
export function placeOf(reason: string): { path: string; words: string } {
  const [place = '', path = ''] = /^((?:filters\[\d+\]\.?)*)[a-z_0-9.[\]]*(?=\s)/.exec(reason) ?? [];
  const member = place.slice(path.length);
  return { path: path.replace(/\.$/, ''), words: `${nameOf(member)}${reason.slice(place.length)}`.trim() };
}

const memberNames: Record<string, string> = {
  value: 'The value',
  value1: 'The second value',
  name: 'The attribute',
  id: 'The segment',
  filters: 'A group',
  action_name: 'The event',
  'execution.count': 'The number of times',
  'primary_time_range.value': 'The time',
  'primary_time_range.value1': 'The end of the time',
};

function nameOf(member: string): string {
  const [, ofEvent] = /^attributes(?:\.filters\[\d+\])*\.([a-z_0-9]+)$/.exec(member) ?? [];
  return memberNames[ofEvent ?? member] ?? member;
}
