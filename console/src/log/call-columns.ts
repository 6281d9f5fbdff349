import type { ColumnSet } from '../parts/shown-columns.ts';

export type CallColumn = 'key' | 'took' | 'at' | 'route' | 'warnings';

/** What the log may say of a call besides its status and path. */
export const callColumns: ColumnSet<CallColumn> = {
  names: { key: 'Key', took: 'Took', at: 'When', route: 'Route', warnings: 'Warnings' },
  usual: ['key', 'took', 'at'],
};
