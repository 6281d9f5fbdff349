import { fromStoredTiming } from '../../domain/timing/stored-timing.ts';
import type { StoredTiming } from '../../domain/timing/stored-timing.ts';
import { toInstant } from '../../domain/timing/local-time.ts';
import type { Timing } from '../../domain/timing/timing.ts';

/** `scheduling_details` of V1: the words of the request (facts 6.2), times in UTC. */
export function presentV1Schedule(stored: Record<string, unknown>): { scheduling_details?: object } {
  const timing = readTiming(stored);
  switch (timing?.kind) {
    case undefined:
      return {};
    case 'soon':
      return { scheduling_details: { delivery_type: 'ASAP' } };
    case 'later':
      return { scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: utc(timing.at) } };
    case 'periodic':
      return {
        scheduling_details: {
          delivery_type: 'AT_FIXED_TIME',
          start_time: utc(toInstant({ ...timing, date: timing.firstDate })),
          expiry_time: utc(toInstant({ ...timing, date: timing.endDate })),
          periodic_details: { sending_frequency: 'DAILY', repeat_frequency: timing.repeatAfterDays },
        },
      };
  }
}

/** `scheduling_details` of V5: normalised, times in their own zone (facts 4.3). */
export function presentV5Schedule(stored: Record<string, unknown>): { scheduling_details?: object } {
  const timing = readTiming(stored);
  switch (timing?.kind) {
    case undefined:
      return {};
    case 'soon':
      return { scheduling_details: { delivery_type: 'ASAP' } };
    case 'later': {
      const schedule_time = `${timing.date}T${timing.time}:00`;
      return { scheduling_details: { delivery_type: 'SCHEDULED', schedule_time, time_zone: timing.timeZone } };
    }
    case 'periodic':
      return {
        scheduling_details: {
          delivery_type: 'PERIODIC',
          schedule_time: `${timing.firstDate}T${timing.time}:00`,
          expiry_time: `${timing.endDate}T${timing.time}:00`,
          time_zone: timing.timeZone,
          frequency: { sending_frequency: 'DAILY', repeat_frequency: timing.repeatAfterDays },
        },
      };
  }
}

/** A draft may have none yet. */
function readTiming(stored: Record<string, unknown>): Timing | undefined {
  return stored.kind === undefined ? undefined : fromStoredTiming(stored as StoredTiming);
}

function utc(at: Date): string {
  return at.toISOString().slice(0, 19);
}
