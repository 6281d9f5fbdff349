import type { ColumnSet } from '../parts/shown-columns.ts';

export type DeliveryColumn = 'campaign' | 'user' | 'device' | 'outcome' | 'attempts' | 'message' | 'run';

/** What a row of the log may say besides when it was. */
export const deliveryColumns: ColumnSet<DeliveryColumn> = {
  names: {
    campaign: 'Campaign',
    user: 'User id',
    device: 'Device',
    outcome: 'Outcome',
    attempts: 'Attempts',
    message: 'Provider message id',
    run: 'Run id',
  },
  usual: ['campaign', 'user', 'device', 'outcome', 'attempts'],
};
