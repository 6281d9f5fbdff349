import type { UserSelector } from '../../domain/audience/user-selector.ts';
import type { CampaignContent } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';

/** A run to all users or a segment: queued until a worker freezes its audience. */
export type QueuedRun = {
  id: string;
  workspaceId: string;
  campaignId: string;
  /** The scheduled moment it is for; undefined for a request that is sent at once. */
  moment?: Date;
  at: Date;
  sendUntil: Date;
  /** The firing of a business event that it answers. */
  businessEvent?: { event: string; attributes: Record<string, unknown>; triggeredBy: string };
};

/** A run to named users, resolved already: it goes out at once. Without users it has ended before it began. */
export type TargetedRun = QueuedRun & {
  targetUsers: [bucket: number, userId: string][];
  /** The request's own content, when it differs from the campaign's. */
  content: CampaignContent | undefined;
  audienceBound: string;
  /** A test of a campaign (facts 6.1). */
  isTest?: boolean;
};

/** A run that waits for the campaign's next moment: its request joined a scheduled campaign. */
export type WaitingRun = QueuedRun & { dueAt: Date; targetSelector: UserSelector; content: CampaignContent };

/** A scheduled moment that sent nothing. */
export type EndedRun = Omit<QueuedRun, 'sendUntil'> & { moment: Date; status: 'MISSED' | 'FAILED'; reason: string };

/** Inserts queued runs, in one statement. A moment that has a run already keeps it. Index: runs_moment. */
export async function insertQueuedRuns(tx: Queryable, runs: QueuedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    campaign_id: run.campaignId,
    moment: run.moment ?? null,
    lane: 1,
    status: 'QUEUED',
    day: utcDay(run.at),
    send_until: run.sendUntil,
    created_at: run.at,
    business_event: run.businessEvent === undefined ? null : tx.json(run.businessEvent as never),
  }));
  await tx`
    insert into runs ${tx(rows as never)} on conflict (campaign_id, moment) where moment is not null do nothing`;
}

/**
 * Inserts runs to named users with one chunk each, in two statements. A moment that has a run already keeps it. Index:
 * runs_moment.
 */
export async function insertTargetedRuns(tx: Queryable, runs: TargetedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    campaign_id: run.campaignId,
    moment: run.moment ?? null,
    lane: 0,
    status: run.targetUsers.length === 0 ? 'SENT' : 'SENDING',
    content: run.content === undefined ? null : tx.json(run.content as never),
    target_users: tx.json(run.targetUsers as never),
    audience_bound: run.audienceBound,
    audience_users: run.targetUsers.length,
    day: utcDay(run.at),
    send_until: run.sendUntil,
    created_at: run.at,
    started_at: run.at,
    ended_at: run.targetUsers.length === 0 ? run.at : null,
    is_test: run.isTest ?? false,
  }));
  const inserted = await tx<{ id: string }[]>`
    insert into runs ${tx(rows as never)} on conflict (campaign_id, moment) where moment is not null do nothing
    returning id`;
  const ids = new Set(inserted.map(({ id }) => id));
  const chunks = runs
    .filter((run) => run.targetUsers.length > 0 && ids.has(run.id))
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

/** Inserts runs that wait for their campaign's next moment, in one statement. */
export async function insertWaitingRuns(tx: Queryable, runs: WaitingRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    campaign_id: run.campaignId,
    lane: 0,
    status: 'QUEUED',
    content: tx.json(run.content as never),
    target_selector: tx.json(run.targetSelector),
    due_at: run.dueAt,
    day: utcDay(run.at),
    send_until: run.sendUntil,
    created_at: run.at,
  }));
  await tx`insert into runs ${tx(rows as never)}`;
}

/**
 * Inserts runs of moments that sent nothing, in one statement. A moment that has a run already keeps it. Index:
 * runs_moment.
 */
export async function insertEndedRuns(tx: Queryable, runs: EndedRun[]): Promise<void> {
  if (runs.length === 0) return;
  // A downtime may leave thousands: lists, because a statement takes 65,535 parameters.
  await tx`
    insert into runs (
      id, workspace_id, campaign_id, moment, lane, status, status_reason, day, send_until, created_at, ended_at
    )
    select ended.id, ended.workspace_id, ended.campaign_id, ended.moment, 1, ended.status, ended.reason,
      (ended.at at time zone 'UTC')::date, ended.at, ended.at, ended.at
    from unnest(
      ${runs.map((run) => run.id)}::text[], ${runs.map((run) => run.workspaceId)}::text[],
      ${runs.map((run) => run.campaignId)}::text[], ${runs.map((run) => run.moment.toISOString())}::timestamptz[],
      ${runs.map((run) => run.status)}::text[], ${runs.map((run) => run.reason)}::text[],
      ${runs.map((run) => run.at.toISOString())}::timestamptz[]
    ) as ended (id, workspace_id, campaign_id, moment, status, reason, at)
    on conflict (campaign_id, moment) where moment is not null do nothing`;
}

/** The day whose partition of the ledger a run writes to. @returns YYYY-MM-DD */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}
