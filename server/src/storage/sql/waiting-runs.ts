import type { UserSelector } from '../../domain/audience/user-selector.ts';
import type { Queryable } from '../pool.ts';
import { insertChunks } from './chunks.ts';
import { utcDay } from './runs.ts';

/** A run whose request joined a scheduled campaign, and whose moment has come. */
export type DueRun = {
  id: string;
  workspaceId: string;
  campaignId: string;
  targetSelector: UserSelector;
  dueAt: Date;
  settings: Record<string, unknown>;
};

/**
 * Locks waiting runs that are due, longest first, at most `limit`; those another node is starting are skipped, and
 * those of a paused campaign wait on. Index: runs_due.
 */
export async function lockDueRuns(tx: Queryable, { at, limit }: { at: Date; limit: number }): Promise<DueRun[]> {
  return tx<DueRun[]>`
    select runs.id, runs.workspace_id as "workspaceId", runs.campaign_id as "campaignId",
      runs.target_selector as "targetSelector", runs.due_at as "dueAt", campaigns.settings
    from runs
    join campaigns on campaigns.id = runs.campaign_id
    where runs.status = 'QUEUED' and runs.due_at <= ${at} and campaigns.status <> 'PAUSED'
    order by runs.due_at
    limit ${limit}
    for update of runs skip locked`;
}

export type StartedRun = {
  id: string;
  workspaceId: string;
  targetUsers: [bucket: number, userId: string][];
  audienceBound: string;
  sendUntil: Date;
  at: Date;
};

/** QUEUED → SENDING with one chunk; without users → SENT. The caller holds the row's lock. */
export async function startWaitingRun(tx: Queryable, run: StartedRun): Promise<void> {
  const isEmpty = run.targetUsers.length === 0;
  await tx`
    update runs
    set status = ${isEmpty ? 'SENT' : 'SENDING'}, target_users = ${tx.json(run.targetUsers)},
      audience_bound = ${run.audienceBound}, day = ${utcDay(run.at)}, send_until = ${run.sendUntil},
      started_at = ${run.at}, ended_at = ${isEmpty ? run.at : null}
    where id = ${run.id}`;
  if (isEmpty) return;
  const ranges = [{ from: 0, to: 255 }];
  await insertChunks(tx, { runId: run.id, workspaceId: run.workspaceId, lane: 0, at: run.at, ranges });
}

/** QUEUED → MISSED or FAILED. The caller holds the row's lock. */
export async function endWaitingRun(
  tx: Queryable,
  run: { id: string; status: 'MISSED' | 'FAILED'; reason: string; at: Date },
): Promise<void> {
  await tx`
    update runs set status = ${run.status}, status_reason = ${run.reason}, ended_at = ${run.at} where id = ${run.id}`;
}
