import type { ColumnSet } from '../parts/shown-columns.ts';

export type SegmentColumn = 'kind' | 'users' | 'attribute' | 'source' | 'expiry' | 'created';

/** What the list may say of a segment besides its name and state. */
export const segmentColumns: ColumnSet<SegmentColumn> = {
  names: {
    kind: 'From',
    users: 'People',
    attribute: 'Found by',
    source: 'Made by',
    expiry: 'Archived',
    created: 'Created',
  },
  usual: ['kind', 'users', 'expiry', 'created'],
};
