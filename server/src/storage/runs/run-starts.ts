import type { AudiencePlatform, GroupUsers } from '../campaigns/audience-groups.ts';
import type { RunLearning } from '../../domain/experiments/variants.ts';
import type { Fragment, Queryable, Transaction } from '../database.ts';

/**
 * Of `runs` joined with `campaigns`, those that may start. A run to a segment that is filling, or that refers to one, waits
 * (decision D26), unless its users were chosen already by their triggers; so does one that joined a scheduled campaign, for
 * its moment.
 */
export function mayStart(tx: Queryable): Fragment {
  return tx`
    runs.status = 'QUEUED' and runs.due_at is null
      and (campaigns.segment_id is null or campaigns.delivery_type = 'EVENT_TRIGGERED' or not exists (
        with recursive reached (id) as (
          select campaigns.segment_id
          union
          select used.id
          from reached
          join segments on segments.id = reached.id
          cross join lateral unnest(segments.uses_segments) as used (id)
        )
        select 1 from reached join segments on segments.id = reached.id where segments.state = 'FILLING'
      ))`;
}

/** Queued runs, oldest of the first lane first. Locks nothing. Index: runs_open. */
export async function listQueuedRuns(
  tx: Queryable,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select runs.id
    from runs
    join campaigns on campaigns.id = runs.campaign_id
    where ${mayStart(tx)} and runs.id <> all (${[...except]})
    order by runs.lane, runs.created_at
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Makes this transaction the one that starts a run, if none is: what it counts takes seconds, and the run's row is free
 * meanwhile for who pauses or stops it. Ends with the transaction.
 */
export async function tryHoldStart(tx: Transaction, runId: string): Promise<boolean> {
  const [row] = await tx<{ isHeld: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`start-run:${runId}`}, 0)) as "isHeld"`;
  return row!.isHeld;
}

/** Locks the row of a run that is still queued; whoever paused or stopped it is waited for. Index: primary key. */
export async function lockQueuedRun(tx: Transaction, runId: string): Promise<boolean> {
  const rows = await tx`select 1 from runs where id = ${runId} and status = 'QUEUED' for update`;
  return rows.length === 1;
}

/**
 * QUEUED → SENDING, with the frozen audience and the throttle, the workspace's when the campaign names none. The
 * message's time to live begins now, because a run may have waited for its segment, and a throttled run has the time
 * that its throttle takes on top. The caller holds the row's lock.
 */
export async function startRun(
  tx: Queryable,
  run: {
    id: string;
    audienceBound: string;
    audienceDevices: number;
    audiencePlatforms: AudiencePlatform[];
    /** People, with a device or not. */
    audienceUsers: number;
    segment: { id: string; version: number } | undefined;
    globalControlPercent: number | null;
    /** Null of a campaign in one language. */
    locales: string[] | null;
    /** Null of a campaign whose shares stay as they are. */
    learning: RunLearning | null;
    /** Null of a run without control groups and variations. */
    groupUsers: GroupUsers[] | null;
    devicesPerMinute: number | null;
    at: Date;
  },
): Promise<void> {
  await tx`
    with throttle as (
      select coalesce(${run.devicesPerMinute}::int, workspaces.devices_per_minute) as devices_per_minute
      from runs join workspaces on workspaces.id = runs.workspace_id
      where runs.id = ${run.id}
    )
    update runs
    set status = 'SENDING', devices_per_minute = throttle.devices_per_minute, audience_bound = ${run.audienceBound}, audience_devices = ${run.audienceDevices},
        audience_platforms = ${tx.json(run.audiencePlatforms)},
      global_control_percent = ${run.globalControlPercent}, group_users = ${run.groupUsers === null ? null : tx.json(run.groupUsers)},
      locales = ${run.locales}, learns_by = ${run.learning?.by ?? null}, contents_digest = ${run.learning?.contentsDigest ?? null}, audience_users = ${run.audienceUsers}, audience_segment_id = ${run.segment?.id ?? null}, audience_version = ${run.segment?.version ?? null},
      send_until = send_until + (${run.at}::timestamptz - created_at)
        + make_interval(mins => coalesce(ceil(${run.audienceDevices}::float8 / throttle.devices_per_minute), 0)::int),
      started_at = ${run.at}
    from throttle
    where runs.id = ${run.id} and runs.status = 'QUEUED'`;
}

/** Notes the languages of a run to named users, which begins without being released. Index: primary key. */
export async function noteRunLocales(
  tx: Transaction,
  { runId, locales }: { runId: string; locales: readonly string[] },
): Promise<void> {
  await tx`update runs set locales = ${[...locales]} where id = ${runId}`;
}
