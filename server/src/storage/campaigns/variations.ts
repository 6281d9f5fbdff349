import type { CampaignDeliveryType, CampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversions.ts';
import type { Platform } from '../../domain/content/content.ts';
import type { WinnerStep, Trials } from '../../domain/experiments/learning.ts';
import type { GroupUsers } from '../../domain/experiments/group-users.ts';
import type { Queryable, Transaction } from '../database.ts';
import { isInBuckets } from '../users/buckets.ts';

/** The parts of a campaign that concern a winner among its variations. */
export type VariedCampaign = {
  id: string;
  name: string;
  deliveryType: CampaignDeliveryType;
  status: CampaignStatus;
  platforms: Platform[];
  goals: ConversionGoal[];
  locales: string[] | null;
  /** Percent by variation; null: all users get the same. */
  percents: number[] | null;
  isLearned: boolean;
  winner: number | null;
  namedAt: Date | null;
  namedBy: string | null;
};

/** Index: primary key. */
export async function findVariedCampaign(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<VariedCampaign | undefined> {
  const [campaign] = await tx<VariedCampaign[]>`
    select id, name, delivery_type as "deliveryType", status, platforms, conversion_goals as goals,
      variants -> 'locales' as locales, variants -> 'percents' as percents,
      coalesce(variants ? 'learning', false) as "isLearned",
      winner, winner_named_at as "namedAt", winner_named_by as "namedBy"
    from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test`;
  return campaign;
}

export type NamedWinner = {
  campaign: Pick<VariedCampaign, 'id' | 'status' | 'percents' | 'winner'>;
  /** Null: the shares apply again. */
  winner: number | null;
  by: string;
  at: Date;
};

/** Stores the winner of a campaign if the campaign has not changed since it was read. Index: primary key. */
export async function setWinner(tx: Transaction, { campaign, winner, by, at }: NamedWinner): Promise<boolean> {
  const named = winner === null ? { by: null, at: null } : { by, at };
  const rows = await tx`
    update campaigns
    set winner = ${winner}, winner_named_at = ${named.at}, winner_named_by = ${named.by}, updated_at = ${at}
    where id = ${campaign.id} and status = ${campaign.status} and winner is not distinct from ${campaign.winner}::smallint
      and variants -> 'percents' = ${tx.json(campaign.percents)} and not variants ? 'learning'
    returning 1`;
  return rows.length === 1;
}

/**
 * Returns the winner that a run about to start must use. No other winner can be named until the run has started. Index:
 * primary key.
 */
export async function holdWinner(tx: Transaction, campaignId: string): Promise<number | null> {
  const [row] = await tx<{ winner: number | null }[]>`select winner from campaigns where id = ${campaignId} for share`;
  return row!.winner;
}

/** Copies the winner to a new version, unless its shares differ. Index: primary key. */
export async function inheritWinner(tx: Transaction, { from, to }: { from: string; to: string }): Promise<void> {
  await tx`
    update campaigns as version
    set winner = former.winner, winner_named_at = former.winner_named_at, winner_named_by = former.winner_named_by
    from campaigns as former
    where version.id = ${to} and former.id = ${from} and former.winner is not null
      and former.variants -> 'percents' = version.variants -> 'percents' and not version.variants ? 'learning'`;
}

/** Removes the winner of a campaign whose shares changed. The caller holds its lock. Index: primary key. */
export async function dropWinner(
  tx: Transaction,
  { id, percents }: { id: string; percents: readonly number[] | null },
): Promise<void> {
  await tx`
    update campaigns set winner = null, winner_named_at = null, winner_named_by = null
    where id = ${id} and winner is not null
      and (${percents === null} or variants -> 'percents' is distinct from ${tx.json(percents)})`;
}

export type OpenRun = { id: string; hasStarted: boolean; groupUsers: GroupUsers[] | null };

/**
 * Locks the runs of a campaign that are in progress or queued, in id order, like the statements that pause or stop
 * them. Index: runs_campaign.
 */
export async function lockOpenRuns(tx: Transaction, campaignId: string): Promise<OpenRun[]> {
  return tx<OpenRun[]>`
    select id, started_at is not null as "hasStarted", group_users as "groupUsers" from runs
    where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING', 'PAUSED')
    order by id for update`;
}

/** Lists the ids of the same runs without locking them; they may change. Index: runs_campaign. */
export async function listOpenRunIds(tx: Transaction, campaignId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from runs where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING', 'PAUSED') order by id`;
  return rows.map(({ id }) => id);
}

export type OpenChunk = {
  runId: string;
  number: number;
  bucketFrom: number;
  bucketTo: number;
  /** The bucket in which the window in flight ends, or the last window if its worker died. */
  windowBucket: number | null;
  winners: WinnerStep[] | null;
};

/**
 * Locks the chunks of runs that have not ended, so that none of them opens or stores a window meanwhile. In the order
 * of the primary key.
 */
export async function lockOpenChunks(tx: Transaction, runIds: readonly string[]): Promise<OpenChunk[]> {
  return tx<OpenChunk[]>`
    select run_id as "runId", number, bucket_from as "bucketFrom", bucket_to as "bucketTo",
      window_bucket as "windowBucket", winners
    from chunks where run_id = any(${[...runIds]}) and state in ('READY', 'CLAIMED')
    order by run_id, number for update`;
}

export type BegunBucket = { runId: string; bucket: number };

/**
 * Lists the buckets in which a window of the runs has ended. Read under the locks of their chunks. Index: primary key.
 */
export async function listBegunBuckets(tx: Queryable, runIds: readonly string[]): Promise<BegunBucket[]> {
  return tx<BegunBucket[]>`
    select run_id as "runId", bucket from run_cursors where run_id = any(${[...runIds]}) order by run_id, bucket`;
}

export type MarkedChunk = Pick<OpenChunk, 'runId' | 'number'> & { winners: WinnerStep[] };

/** Stores from which bucket on all users get which variation. The caller holds the locks. Index: primary key. */
export async function markChunks(tx: Transaction, chunks: readonly MarkedChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  await tx`
    update chunks set winners = given.winners
    from jsonb_to_recordset(${tx.json(chunks)}) as given ("runId" text, number integer, winners jsonb)
    where chunks.run_id = given."runId" collate "C" and chunks.number = given.number`;
}

/** Stores a run's users by variation after a change. The caller holds the lock. Index: primary key. */
export async function setGroupUsers(
  tx: Transaction,
  { runId, groupUsers }: { runId: string; groupUsers: readonly GroupUsers[] },
): Promise<void> {
  await tx`update runs set group_users = ${tx.json(groupUsers)} where id = ${runId}`;
}

/** The shares of a bucket of a run, by variation, in units of 1/10,000. */
export type BucketShares = { bucket: number; shares: number[] };

/** Returns the stored shares of these buckets, by bucket. Index: primary key. */
export async function findRunShares(
  tx: Queryable,
  { runId, buckets }: { runId: string; buckets: readonly number[] },
): Promise<Map<number, number[]>> {
  const rows = await tx<{ bucket: number; share: number }[]>`
    select bucket, share from run_variations
    where run_id = ${runId} and ${isInBuckets(tx, { column: tx`bucket`, buckets })} and share is not null
    order by bucket, variation`;
  const found = Map.groupBy(rows, ({ bucket }) => bucket);
  return new Map([...found].map(([bucket, own]) => [bucket, own.map(({ share }) => share)]));
}

/**
 * Stores the shares of buckets; existing shares stay. Writes rows in key order: the second of two transactions waits
 * for the first row of a bucket and then changes none of its rows. Index: primary key.
 */
export async function insertRunShares(
  tx: Queryable,
  { runId, workspaceId, buckets }: { runId: string; workspaceId: string; buckets: readonly BucketShares[] },
): Promise<void> {
  const rows = buckets.flatMap(({ bucket, shares }) =>
    shares.map((share, index) => ({ bucket, share, variation: index + 1 })),
  );
  await tx`
    insert into run_variations (run_id, workspace_id, bucket, variation, share)
    select ${runId}, ${workspaceId}, bucket, variation, share
    from unnest(
      ${rows.map(({ bucket }) => bucket)}::smallint[], ${rows.map(({ variation }) => variation)}::smallint[],
      ${rows.map(({ share }) => share)}::smallint[]
    ) as given (bucket, variation, share)
    order by bucket, variation
    on conflict (run_id, bucket, variation) do update set share = coalesce(run_variations.share, excluded.share)`;
}

export type LearningOf = {
  /** The campaign's own id, shared by all of its versions. */
  canonicalCampaignId: string;
  runId: string;
  /** Maximum number of runs, newest first. */
  limit: number;
};

/**
 * Sums, by variation, what the run and earlier runs with the same contents and measure have learned. Indexes: campaigns
 * primary key, campaigns_version_of, runs_campaign, run_variations primary key.
 */
export async function sumLearned(
  tx: Queryable,
  { canonicalCampaignId, runId, limit }: LearningOf,
): Promise<Map<number, Trials>> {
  const runs = await tx<{ id: string }[]>`
    select runs.id from campaigns
    join runs on runs.campaign_id = campaigns.id
    join runs as own on own.id = ${runId} and own.learns_by = runs.learns_by
      and own.contents_digest = runs.contents_digest
    where campaigns.id = ${canonicalCampaignId} or campaigns.version_of = ${canonicalCampaignId}
    order by runs.created_at desc, runs.id desc
    limit ${limit}`;
  const rows = await tx<(Trials & { variation: number })[]>`
    select variation, sum(trials)::bigint as trials, sum(successes)::bigint as successes from run_variations
    where run_id = any(${runs.map(({ id }) => id)})
    group by variation`;
  return new Map(rows.map(({ variation, ...trials }) => [variation, trials]));
}

export type LearnedRow = Trials & { workspaceId: string; runId: string; bucket: number; variation: number };

/**
 * Adds learned numbers to the rows of buckets, in the transaction that stores the outcomes, the reports or the
 * conversions. Sums several values for one row. Writes rows in key order, so that two transactions never deadlock.
 * Index: primary key.
 */
export async function addLearned(tx: Queryable, learned: readonly LearnedRow[]): Promise<void> {
  if (learned.length === 0) return;
  await tx`
    insert into run_variations (run_id, workspace_id, bucket, variation, trials, successes)
    select run_id, workspace_id, bucket, variation, sum(trials), sum(successes)
    from unnest(
      ${learned.map(({ runId }) => runId)}::text[], ${learned.map(({ workspaceId }) => workspaceId)}::text[],
      ${learned.map(({ bucket }) => bucket)}::smallint[], ${learned.map(({ variation }) => variation)}::smallint[],
      ${learned.map(({ trials }) => trials)}::bigint[], ${learned.map(({ successes }) => successes)}::bigint[]
    ) as given (run_id, workspace_id, bucket, variation, trials, successes)
    group by run_id, workspace_id, bucket, variation
    order by run_id collate "C", bucket, variation
    on conflict (run_id, bucket, variation) do update
    set trials = run_variations.trials + excluded.trials, successes = run_variations.successes + excluded.successes`;
}
