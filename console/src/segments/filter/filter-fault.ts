/** What the server says is wrong with filters, and where. */
export type FilterFault = {
  field: 'included_filters' | 'excluded_filters' | null;
  /** The condition, by the server's path; empty: the whole tree. */
  path: string;
  words: string;
};

/** `filters[0].filters[2]` → "Condition 1.3: ", as the fields are called. */
export function placeText({ field, path }: FilterFault): string {
  if (path === '') return '';
  const number = [...path.matchAll(/\[(\d+)\]/g)].map(([, index]) => Number(index) + 1).join('.');
  return `${field === 'excluded_filters' ? 'Exception' : 'Condition'} ${number}: `;
}

/** Which node of the tree a server's sentence is about: `filters[0].filters[2].value is required`. */
export function placeOf(reason: string): { path: string; words: string } {
  const [place = '', path = ''] = /^((?:filters\[\d+\]\.?)*)[a-z_0-9]*(?=\s)/.exec(reason) ?? [];
  const member = place.slice(path.length);
  return { path: path.replace(/\.$/, ''), words: `${nameOf(member)}${reason.slice(place.length)}`.trim() };
}

const memberNames: Record<string, string> = {
  value: 'The value',
  value1: 'The second value',
  name: 'The attribute',
  id: 'The segment',
  filters: 'A group',
};

function nameOf(member: string): string {
  return memberNames[member] ?? member;
}
