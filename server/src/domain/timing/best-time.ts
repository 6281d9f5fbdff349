import { minOpensOfBestTime } from './limits.ts';

/** What becomes of a user whose best time is not known, or not within the time of the campaign. */
export const bestTimePolicies = ['SEND_AT_START', 'SEND_AT_END', 'DO_NOT_SEND'] as const;
export type BestTimePolicy = (typeof bestTimePolicies)[number];

/** Within so many hours of its start a campaign is sent to each user at the hour at which that user opens messages. */
export type BestTime = { windowHours: number; ifUnknown: BestTimePolicy; ifOutside: BestTimePolicy };

/** How many messages a user opened in each hour of the day, counted from the start of the campaign: 24 numbers. */
export type OpensByHour = readonly number[];

type Question = { opens: OpensByHour; start: Date };

/**
 * When a campaign is sent to a user; undefined: not at all. The hour with the most opens, an open in the hours beside it
 * counting half, since a habit keeps to no full hour; of equal ones the earliest. The same opens give the same hour, so
 * whoever asks again after a crash sends at the same time.
 */
export function bestTimeOf(
  { windowHours, ifUnknown, ifOutside }: BestTime,
  { opens, start }: Question,
): Date | undefined {
  const after = (hours: number): Date => new Date(start.getTime() + hours * 3_600_000);
  const by = (policy: BestTimePolicy): Date | undefined =>
    policy === 'DO_NOT_SEND' ? undefined : after(policy === 'SEND_AT_START' ? 0 : windowHours);
  if (opens.reduce((sum, count) => sum + count, 0) < minOpensOfBestTime) return by(ifUnknown);
  const at = (hour: number): number => opens[(hour + opens.length) % opens.length]!;
  const weights = opens.map((count, hour) => 2 * count + at(hour - 1) + at(hour + 1));
  const best = weights.indexOf(Math.max(...weights));
  return best < windowHours ? after(best) : by(ifOutside);
}
