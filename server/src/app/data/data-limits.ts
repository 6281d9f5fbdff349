import { deviceBlocksPerMinute, deviceUpdatesPerMinute } from '../../domain/devices/limits.ts';
import { batchEventsPerMinute, eventsPerMinute } from '../../domain/events/limits.ts';
import {
  batchUsersPerMinute,
  connectionTestsPerMinute,
  deletionsPerMinute,
  exportedUsersPerMinute,
  mergesPerMinute,
  userUpdatesPerMinute,
} from '../../domain/users/limits.ts';

/** Fact 5: how much of each kind a workspace may send in a minute; things, not requests. */
export const dataLimits = {
  'data-customer': userUpdatesPerMinute,
  'data-event': eventsPerMinute,
  'data-device': deviceUpdatesPerMinute,
  // Devices of a bulk request count as its users.
  'data-bulk-users': batchUsersPerMinute,
  'data-bulk-events': batchEventsPerMinute,
  'data-export': exportedUsersPerMinute,
  'data-merge': mergesPerMinute,
  'data-delete': deletionsPerMinute,
  'data-block': deviceBlocksPerMinute,
  'data-authentication': connectionTestsPerMinute,
} as const;

export type DataOperation = keyof typeof dataLimits;

export type DataUse = { operation: DataOperation; wanted: number };
