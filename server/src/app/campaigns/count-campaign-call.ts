import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { campaignCallsPerMinute, campaignCallWindows } from '../../domain/campaigns/limits.ts';
import { findLimitWindows } from '../../storage/limits/limit-windows.ts';
import type { Queryable } from '../../storage/database.ts';
import { countCall } from '../segments/limit-segments.ts';

const operation = 'campaign';

export type CountedCall = {
  outcome: 'counted' | 'refused';
  /** How many more the minute has room for. */
  remaining: number;
  /** Until the oldest counted call leaves the minute; when refused, until a call would pass. */
  resetSeconds: number;
};

/** Counts a call of either version against the limits of its workspace, and says how much of the minute is left. */
export async function countCampaignCall(
  { database, clock }: { database: Queryable; clock: Clock },
  workspaceId: string,
): Promise<CountedCall> {
  const at = clock.now();
  const refusal = await countCall(database, { operation, workspaceId, windows: campaignCallWindows, at });
  const subject = createHash('sha256').update(workspaceId).digest();
  const [events] = await findLimitWindows(database, [{ operation, subject }]);
  const inMinute = events!.filter((event) => event.getTime() > at.getTime() - 60_000);
  const oldest = Math.min(at.getTime(), ...inMinute.map((event) => event.getTime()));
  return {
    outcome: refusal ? 'refused' : 'counted',
    remaining: Math.max(0, campaignCallsPerMinute - inMinute.length),
    resetSeconds: refusal?.retryAfterSeconds ?? Math.ceil((oldest + 60_000 - at.getTime()) / 1000),
  };
}
