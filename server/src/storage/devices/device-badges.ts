import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/buckets.ts';
import { maxBadge } from '../../domain/limits/push.ts';

/** `adds`: the value is added to the current count; otherwise it replaces the count. */
export type BadgeStep = { bucket: number; deviceId: string; adds: boolean; value: number };

// A message that waits while this many later ones change the badge is counted again; a device gets a few a day.
const rememberedRuns = 16;

/**
 * Counts the badges of the devices that a run is about to send to and stores each number next to the count, in one
 * statement. A second call for the same run returns the same number and counts nothing. Of two concurrent calls, one
 * waits for the other's row lock and then finds the number, because the row holds everything that the decision needs.
 * Callers pass devices in the same order everywhere. Requires planByValues. Index: devices primary key, one lookup per
 * device.
 *
 * @returns the numbers by device id; a device that no longer exists has none
 */
export async function countBadges(
  tx: Queryable,
  { workspaceId, runNumber, steps }: { workspaceId: string; runNumber: number; steps: readonly BadgeStep[] },
): Promise<Map<string, number>> {
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: steps.map(({ bucket }) => bucket) });
  const isCounted = tx`coalesce(devices.badge_runs @> array[${runNumber}::bigint], false)`;
  const next = tx`case when given.adds
    then least(coalesce(devices.badge_count, 0) + given.value, ${maxBadge}::integer) else given.value end`;
  const rows = await tx<{ id: string; badge: number }[]>`
    update devices
    set badge_count = case when ${isCounted} then devices.badge_count else ${next} end,
      badge_runs = case when ${isCounted} then devices.badge_runs
        else (array[${runNumber}::bigint] || devices.badge_runs)[1:${rememberedRuns}::integer] end,
      badge_values = case when ${isCounted} then devices.badge_values
        else (array[${next}] || devices.badge_values)[1:${rememberedRuns}::integer] end
    from unnest(
      ${steps.map(({ bucket }) => bucket)}::smallint[], ${steps.map(({ deviceId }) => deviceId)}::text[],
      ${steps.map(({ adds }) => adds)}::boolean[], ${steps.map(({ value }) => value)}::integer[]
    ) as given (bucket, device_id, adds, value)
    where devices.workspace_id = ${workspaceId} and ${isThere} and devices.bucket = given.bucket
      and devices.id = given.device_id collate "C"
    returning devices.id, devices.badge_values[array_position(devices.badge_runs, ${runNumber}::bigint)] as badge`;
  return new Map(rows.map(({ id, badge }) => [id, badge]));
}

/** Stores the badge number that the app reports as shown on its icon. Index: devices primary key. */
export async function setBadgeCount(
  tx: Queryable,
  { workspaceId, bucket, deviceId, count }: { workspaceId: string; bucket: number; deviceId: string; count: number },
): Promise<void> {
  await tx`
    update devices set badge_count = ${count}
    where workspace_id = ${workspaceId} and bucket = ${bucket} and id = ${deviceId}`;
}
