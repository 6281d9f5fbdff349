import type { Queryable } from '../database.ts';

/**
 * Events that wait for a receiver stay, of nobody. Indexes: event_stream_marks_device; the workspace's batches are read, by
 * event_stream_batches_newest.
 *
 * @returns how many batches named them
 */
export async function eraseStreamedEvents(
  tx: Queryable,
  erased: { workspaceId: string; userIds: readonly string[]; deviceIds: readonly string[] },
): Promise<number> {
  const { workspaceId } = erased;
  const [userIds, deviceIds] = [[...erased.userIds], [...erased.deviceIds]];
  await tx`
    update event_stream_marks set device_id = null
    where workspace_id = ${workspaceId} and device_id = any(${deviceIds}::text[])`;
  const isTheirs = tx`(
    event ->> 'userId' = any(${userIds}::text[]) or event ->> 'deviceId' = any(${deviceIds}::text[])
  )`;
  const rows = await tx`
    update event_stream_batches
    set events = (
      select jsonb_agg(
        case when ${isTheirs} then event || '{"userId": null, "deviceId": null}'::jsonb else event end order by place
      )
      from jsonb_array_elements(events) with ordinality as element (event, place)
    )
    where workspace_id = ${workspaceId}
      and exists (select 1 from jsonb_array_elements(events) as element (event) where ${isTheirs})`;
  return rows.count;
}
