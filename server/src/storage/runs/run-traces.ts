import type { Queryable } from '../database.ts';

/**
 * Notes of which trace runs come, those that come of one that is sampled; without any no statement is sent. Rows of the
 * caller's transaction. Index: runs primary key.
 */
export async function noteTraceparents(
  tx: Queryable,
  runs: readonly { runId: string; traceparent?: string | undefined }[],
): Promise<void> {
  const traced = runs.filter(({ traceparent }) => traceparent !== undefined);
  if (traced.length === 0) return;
  await tx`
    update runs set traceparent = given.traceparent
    from unnest(${traced.map(({ runId }) => runId)}::text[], ${traced.map(({ traceparent }) => traceparent!)}::text[])
      as given (run_id, traceparent)
    where runs.id = given.run_id`;
}
