/** Fact 5: how much of each kind a workspace may send in a minute; things, not requests. */
export const dataLimits = {
  'data-customer': 10_000,
  'data-event': 30_000,
  'data-device': 10_000,
  // Devices of a bulk request count as its users.
  'data-bulk-users': 60_000,
  'data-bulk-events': 60_000,
  'data-export': 1_000,
  'data-merge': 1_000,
  'data-delete': 5_000,
  'data-block': 1_000,
  // Not documented; a test of the connection is made by hand or by a monitor.
  'data-authentication': 1_000,
} as const;

export type DataOperation = keyof typeof dataLimits;

export type DataUse = { operation: DataOperation; wanted: number };
