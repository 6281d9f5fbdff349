import type { CampaignContent } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';

/** A run of an "All Users" campaign: queued until a worker freezes its audience. */
export type QueuedRun = { id: string; workspaceId: string; campaignId: string; at: Date; sendUntil: Date };

/** A run to named users, resolved already: it goes out at once. Without users it has ended before it began. */
export type TargetedRun = QueuedRun & {
  targetUsers: [bucket: number, userId: string][];
  /** The request's own content, when it differs from the campaign's. */
  content: CampaignContent | undefined;
  audienceBound: string;
};

/** Inserts queued runs, in one statement. */
export async function insertQueuedRuns(tx: Queryable, runs: QueuedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    campaign_id: run.campaignId,
    lane: 1,
    status: 'QUEUED',
    day: utcDay(run.at),
    send_until: run.sendUntil,
    created_at: run.at,
  }));
  await tx`insert into runs ${tx(rows as never)}`;
}

/** Inserts runs to named users with one chunk each, in two statements. */
export async function insertTargetedRuns(tx: Queryable, runs: TargetedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    campaign_id: run.campaignId,
    lane: 0,
    status: run.targetUsers.length === 0 ? 'SENT' : 'SENDING',
    content: run.content === undefined ? null : tx.json(run.content as never),
    target_users: tx.json(run.targetUsers as never),
    audience_bound: run.audienceBound,
    day: utcDay(run.at),
    send_until: run.sendUntil,
    created_at: run.at,
    started_at: run.at,
    ended_at: run.targetUsers.length === 0 ? run.at : null,
  }));
  await tx`insert into runs ${tx(rows as never)}`;
  const chunks = runs
    .filter((run) => run.targetUsers.length > 0)
    .map((run) => ({
      run_id: run.id,
      number: 0,
      workspace_id: run.workspaceId,
      lane: 0,
      bucket_from: 0,
      bucket_to: 255,
      state: 'READY',
      not_before: run.at,
      created_at: run.at,
    }));
  if (chunks.length > 0) await tx`insert into chunks ${tx(chunks as never)}`;
}

/** The day whose partition of the ledger a run writes to. @returns YYYY-MM-DD */
function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}
