import type { Queryable } from '../pool.ts';

/**
 * Takes a request id for an hour (facts 6.1), in the caller's transaction: a call that fails leaves it free. A second
 * call with the same one waits here for the first one's transaction. Index: primary key.
 *
 * @returns whether it was free
 */
export async function takeCampaignRequestId(
  tx: Queryable,
  taken: { workspaceId: string; operation: string; requestId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into campaign_request_ids (workspace_id, operation, request_id, used_at)
    values (${taken.workspaceId}, ${taken.operation}, ${taken.requestId}, ${taken.at})
    on conflict (workspace_id, operation, request_id) do update
      set used_at = excluded.used_at
      where campaign_request_ids.used_at <= excluded.used_at - interval '1 hour'
    returning 1`;
  return rows.length === 1;
}

/** Forgets what was taken before; at most 10,000 a call, so that the duty stays short. Index: used_at. */
export async function deleteOldCampaignRequestIds(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from campaign_request_ids
    where (workspace_id, operation, request_id) in (
      select workspace_id, operation, request_id from campaign_request_ids where used_at < ${before} limit 10000
    )`;
  return rows.count;
}
