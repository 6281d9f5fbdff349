import type { Trials } from '../../domain/experiments/intervals.ts';
import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/in-buckets.ts';

/** The shares of a bucket of a run, by variation, of 10,000. */
export type BucketShares = { bucket: number; shares: number[] };

/** Those of the buckets that have been written, by bucket. Index: primary key. */
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
 * Writes the shares of buckets; those of a bucket that has some stay. Rows in the order of the key: who comes second waits
 * for the first row of a bucket and leaves all of them. Index: primary key.
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
  /** The campaign's own id, which all of its versions have. */
  canonicalCampaignId: string;
  runId: string;
  /** Newest runs. */
  limit: number;
};

/**
 * What the run and those before it with the same contents and the same measure have learned, by variation. Indexes:
 * campaigns primary key, campaigns_version_of, runs_campaign, run_variations primary key.
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
 * Adds what was learned to the rows of buckets, in the transaction that stores the outcomes, the reports or the
 * conversions; what is given of one row is added up. Rows in the order of the key, so that two transactions never wait in a
 * circle. Index: primary key.
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
