import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/buckets.ts';
import { maxBadge } from '../../domain/limits/content-options.ts';

/** `adds`: the value is added to what is counted; otherwise it stands in its place. */
export type BadgeStep = { bucket: number; deviceId: string; adds: boolean; value: number };

// A message that waits behind as many others that change the badge counts anew; a device gets a few a day.
const rememberedRuns = 16;

/**
 * Counts the badges of devices that a run is about to send to, and remembers the numbers beside the count, in one
 * statement: whoever asks again for the same run gets the same number and counts nothing. Of two that ask at the same
 * time one waits for the other's row and then finds the number there, as all that is decided stands in the row. Devices
 * are given in one order, as everywhere. After planByValues. Index: devices primary key, one look a device.
 *
 * @returns the numbers by the devices' ids; a device that is not there any more has none
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

/** What an app says that stands on its icon now. Index: devices primary key. */
export async function setBadgeCount(
  tx: Queryable,
  { workspaceId, bucket, deviceId, count }: { workspaceId: string; bucket: number; deviceId: string; count: number },
): Promise<void> {
  await tx`
    update devices set badge_count = ${count}
    where workspace_id = ${workspaceId} and bucket = ${bucket} and id = ${deviceId}`;
}
