import type { Database } from '../../storage/database.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { leaseBudget } from '../governor/lease-budget.ts';

type Throttled = { run: RunToSend; at: Date };

/** How many of so many devices a run may have now. A throttled run takes them from a budget that all nodes share. */
export async function leaseQuota(
  database: Database,
  { run, at, wanted }: Throttled & { wanted: number },
): Promise<number> {
  if (run.devicesPerMinute === null) return wanted;
  return leaseBudget(database, { ...throttleOf(run, at), wanted, returned: 0 });
}

/** Gives back what was leased and not sent. */
export async function returnQuota(
  database: Database,
  { run, at, devices }: Throttled & { devices: number },
): Promise<void> {
  if (run.devicesPerMinute === null || devices === 0) return;
  await leaseBudget(database, { ...throttleOf(run, at), wanted: 0, returned: devices });
}

/** When the budget holds a device again, but not sooner than a second: windows of a few devices cost as much as large ones. */
export function nextQuota(run: RunToSend, at: Date): Date {
  return quotaFor(run, { at, devices: 1 });
}

/** When the budget has had time for so many devices. */
export function quotaFor(run: RunToSend, { at, devices }: { at: Date; devices: number }): Date {
  return new Date(at.getTime() + Math.max(1_000, Math.ceil((devices * 60_000) / run.devicesPerMinute!)));
}

function throttleOf(run: RunToSend, at: Date) {
  // A campaign that events start has a run every few seconds: they share one throttle.
  const key = run.deliveryType === 'EVENT_TRIGGERED' ? `campaign:${run.canonicalCampaignId}` : `run:${run.id}`;
  return { key, perMinute: run.devicesPerMinute!, reserve: 0, holdSeconds: 5, isRamped: false, at };
}
