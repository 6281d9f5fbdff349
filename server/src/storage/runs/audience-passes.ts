import type { GroupUsers } from '../../domain/experiments/group-users.ts';
import type { AudiencePlatform } from '../campaigns/audience-groups.ts';
import { isUncounted } from '../campaigns/campaign-stats.ts';
import type { Fragment, Queryable, Transaction } from '../database.ts';

/** The trees of a filter segment and of those it refers to, as they were when the run began. */
export type PassFilters = {
  segment: { includedFilters: unknown; excludedFilters: unknown };
  referenced: { id: string; kind: string; includedFilters: unknown; excludedFilters: unknown }[];
};

/** What the counted buckets of a run contain, and what the others are counted by. */
export type AudiencePass = {
  /** When the run began: the reference time of its filters, and no later user is counted. ISO 8601. */
  at: string;
  /** Null unless the audience is a filter segment. */
  filters: PassFilters | null;
  platforms: AudiencePlatform[];
  users: number;
  /** Null for a run without control groups and variations. */
  groupUsers: GroupUsers[] | null;
  /** How many devices the whole audience has, estimated from the counted buckets. */
  estimate: number;
};

/** A run whose audience is being counted. It is sent meanwhile, unless it is still QUEUED: then it needs the size first. */
export type OpenPass = { cut: number; pass: AudiencePass; status: 'QUEUED' | 'SENDING' | 'PAUSED' };

/**
 * A run that was paused before it began is counted when it goes on. One that was stopped is not counted any more, nor one that a node
 * of the previous version has counted.
 */
const isOpen = (tx: Queryable): Fragment => tx`
  ${isUncounted(tx)} and (status in ('QUEUED', 'SENDING') or status = 'PAUSED' and started_at is not null)`;

/**
 * Freezes the audience of a run that is about to be counted. The caller holds the row's lock. Index: primary key.
 */
export async function beginPass(
  tx: Transaction,
  run: {
    id: string;
    bound: string;
    segment: { id: string; version: number } | undefined;
    globalControlPercent: number | null;
    pass: AudiencePass;
  },
): Promise<void> {
  await tx`
    update runs
    set audience_cut = 0, audience_pass = ${tx.json(run.pass)}, audience_bound = ${run.bound},
      audience_segment_id = ${run.segment?.id ?? null}, audience_version = ${run.segment?.version ?? null},
      global_control_percent = ${run.globalControlPercent}
    where id = ${run.id} and status = 'QUEUED'`;
}

/**
 * Lists the runs whose audience is being counted, those with the fewest counted buckets first, so that a run that has just begun does
 * not wait for the count of another. Locks nothing. Index: runs_passes.
 */
export async function listPasses(
  tx: Queryable,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from runs
    where ${isOpen(tx)} and status in ('QUEUED', 'SENDING', 'PAUSED') and id <> all (${[...except]})
    order by audience_cut, created_at
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Reads how far a run is counted. Undefined if there is nothing to count. Index: primary key. */
export async function findPass(tx: Queryable, runId: string): Promise<OpenPass | undefined> {
  const [row] = await tx<OpenPass[]>`
    select audience_cut as cut, audience_pass as pass, status from runs where id = ${runId} and ${isOpen(tx)}`;
  return row;
}

/**
 * Locks the row of a run after its next buckets were counted, and waits for a transaction that pauses or stops it. Removes the reason
 * that noteCountFault left.
 *
 * @returns the run's status; undefined if the run is no longer counted, or was counted further meanwhile
 */
export async function lockPass(
  tx: Transaction,
  { runId, cut }: { runId: string; cut: number },
): Promise<OpenPass['status'] | undefined> {
  const [row] = await tx<{ status: OpenPass['status']; hasFault: boolean }[]>`
    select status, status_reason is not distinct from ${countFault} as "hasFault" from runs
    where id = ${runId} and audience_cut = ${cut} and ${isOpen(tx)} for update`;
  if (row?.hasFault) await tx`update runs set status_reason = null where id = ${runId}`;
  return row?.status;
}

/** Why a run is not sent to everybody. The cause may be private, so it is in the log. */
const countFault = 'the audience cannot be counted; the log of the server says why';

/** Gives a run whose counting fails again and again a reason that its report and the overview show. Index: primary key. */
export async function noteCountFault(tx: Queryable, runId: string): Promise<void> {
  await tx`
    update runs set status_reason = ${countFault}
    where id = ${runId} and ${isOpen(tx)} and status in ('QUEUED', 'SENDING') and status_reason is null`;
}

export type UncountedRun = { campaignId: string; campaignName: string };

/** Lists the runs of a workspace whose counting fails again and again, the oldest first. Indexes: runs_passes, campaigns primary key. */
export async function listUncountedRuns(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<UncountedRun[]> {
  return tx<UncountedRun[]>`
    with uncounted as materialized (
      select campaign_id, created_at from runs
      where ${isOpen(tx)} and status in ('QUEUED', 'SENDING', 'PAUSED')
        and workspace_id = ${workspaceId} and status_reason = ${countFault}
      order by created_at limit ${limit}
    )
    select campaigns.id as "campaignId", campaigns.name as "campaignName"
    from uncounted join campaigns on campaigns.id = uncounted.campaign_id
    order by uncounted.created_at`;
}

/** Stores how far a run is counted. The caller holds the row's lock. Index: primary key. */
export async function keepPass(
  tx: Transaction,
  { runId, cut, pass }: { runId: string; cut: number; pass: AudiencePass },
): Promise<void> {
  await tx`update runs set audience_cut = ${cut}, audience_pass = ${tx.json(pass)} where id = ${runId}`;
}

/** Stores the size of the audience of a run that is being sent. The caller holds the row's lock. Index: primary key. */
export async function endPass(
  tx: Transaction,
  { runId, devices, pass }: { runId: string; devices: number; pass: AudiencePass },
): Promise<void> {
  await tx`
    update runs
    set audience_cut = null, audience_pass = null, audience_devices = ${devices}, audience_users = ${pass.users},
      audience_platforms = ${tx.json(pass.platforms)},
      group_users = ${pass.groupUsers === null ? null : tx.json(pass.groupUsers)}
    where id = ${runId}`;
}

/** The rest of a run's buckets, in a chunk that no worker claims, so that the run does not end before they are counted. */
export const restNumber = 256;
const never = new Date('9999-12-31T00:00:00Z');

/** Inserts the chunk of the buckets that are not counted yet. Index: primary key. */
export async function insertRest(
  tx: Transaction,
  { runId, workspaceId, lane, at }: { runId: string; workspaceId: string; lane: number; at: Date },
): Promise<void> {
  await tx`
    insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, not_before, created_at)
    values (${runId}, ${restNumber}, ${workspaceId}, ${lane}, 0, 255, 'READY', ${never}, ${at})`;
}

/** Takes the counted buckets out of the chunk of the rest; `from` is the first that is left. Index: primary key. */
export async function shrinkRest(tx: Transaction, { runId, from }: { runId: string; from: number }): Promise<void> {
  if (from > 255) await tx`delete from chunks where run_id = ${runId} and number = ${restNumber}`;
  else await tx`update chunks set bucket_from = ${from} where run_id = ${runId} and number = ${restNumber}`;
}

/** True if a workspace has at least this many users, or devices, in one bucket. Reads no more of them. Indexes: primary keys. */
export async function hasMany(
  tx: Queryable,
  { workspaceId, bucket, atLeast }: { workspaceId: string; bucket: number; atLeast: number },
): Promise<boolean> {
  const [devices] = await tx<{ found: number }[]>`
    select count(*)::int as found from (
      select 1 from devices where workspace_id = ${workspaceId} and bucket = ${bucket}::smallint limit ${atLeast}
    ) as device`;
  if (devices!.found >= atLeast) return true;
  const [users] = await tx<{ found: number }[]>`
    select count(*)::int as found from (
      select 1 from users where workspace_id = ${workspaceId} and bucket = ${bucket}::smallint limit ${atLeast}
    ) as person`;
  return users!.found >= atLeast;
}

/** The throttle that a workspace's runs have unless their campaign has one; null: none. Index: primary key. */
export async function findWorkspaceThrottle(tx: Queryable, workspaceId: string): Promise<number | null> {
  const [row] = await tx<{ devicesPerMinute: number | null }[]>`
    select devices_per_minute as "devicesPerMinute" from workspaces where id = ${workspaceId}`;
  return row?.devicesPerMinute ?? null;
}

/** Counts the users in some buckets that were added until an instant. Index: users primary key. */
export async function countUsersInBuckets(
  tx: Queryable,
  { workspaceId, buckets, until }: { workspaceId: string; buckets: readonly number[]; until: Date },
): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select count(*) as users from users
    where workspace_id = ${workspaceId} and bucket = any(${[...buckets]}::smallint[]) and created_at <= ${until}`;
  return row!.users;
}
