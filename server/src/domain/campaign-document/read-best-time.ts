import type { RequestReader } from '../request-reader/request-reader.ts';
import { bestTimePolicies } from '../timing/best-time.ts';
import type { BestTime } from '../timing/best-time.ts';
import { maxBestTimeHours } from '../timing/limits.ts';

/**
 * `bts_details` of SEND_IN_BTS: for how long each user's best time is looked for, and what becomes of the others. Fact 6.2
 * names the object but not its members (docs/decisions/0049).
 */
export function readBestTime(schedule: RequestReader, type: string | undefined): { bestTime: BestTime } | undefined {
  if (type !== 'SEND_IN_BTS') {
    if (schedule.get('bts_details') !== undefined) schedule.invalid('bts_details', 'needs SEND_IN_BTS');
    return undefined;
  }
  const details = schedule.part('bts_details');
  const windowHours = details.integer('window_in_hours', { minimum: 1, maximum: maxBestTimeHours });
  const ifUnknown = details.choice('if_best_time_is_unknown', bestTimePolicies);
  const ifOutside = details.choice('if_best_time_is_outside', bestTimePolicies);
  const known = ['window_in_hours', 'if_best_time_is_unknown', 'if_best_time_is_outside'];
  for (const name of details.names()) if (!known.includes(name)) details.refuse(name);
  return {
    bestTime: {
      windowHours: windowHours ?? maxBestTimeHours,
      ifUnknown: ifUnknown ?? 'SEND_AT_START',
      ifOutside: ifOutside ?? 'SEND_AT_START',
    },
  };
}
