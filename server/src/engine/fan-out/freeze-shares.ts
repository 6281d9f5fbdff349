import { learnedShares } from '../../domain/experiments/learned-shares.ts';
import { maxLearnedRuns } from '../../domain/experiments/limits.ts';
import type { Learning } from '../../domain/experiments/variants.ts';
import type { Database } from '../../storage/database.ts';
import { findRunShares, insertRunShares, sumLearned } from '../../storage/runs/run-variations.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

type Freezing = {
  run: Pick<RunToSend, 'id' | 'workspaceId' | 'canonicalCampaignId'>;
  buckets: readonly number[];
  learning: Learning;
  variations: number;
};

/**
 * The shares by which these buckets of a run are sent: what was known when the first window of a bucket was about to be sent, and
 * the same for whoever sends more of it, on whatever node, after whatever crash, and when it is tried again.
 */
export async function freezeShares(
  database: Database,
  { run, buckets, learning, variations }: Freezing,
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (buckets.length === 0) return new Map();
  const asked = { runId: run.id, buckets: [...new Set(buckets)] };
  const known = await findRunShares(database, asked);
  const missing = asked.buckets.filter((bucket) => !known.has(bucket)).sort((one, other) => one - other);
  if (missing.length === 0) return known;
  const { canonicalCampaignId, workspaceId, id: runId } = run;
  const learned = await sumLearned(database, { canonicalCampaignId, runId, limit: maxLearnedRuns });
  const arms = Array.from({ length: variations }, (_, index) => learned.get(index + 1) ?? { trials: 0, successes: 0 });
  const { floorPercent } = learning;
  // Windows of few users have many buckets; what is known is the same for all of them.
  const shares = learnedShares({ arms, floorPercent, seed: `${runId} ${missing[0]}` });
  const written = missing.map((bucket) => ({ bucket, shares }));
  await insertRunShares(database, { runId, workspaceId, buckets: written });
  // Another worker may have been faster.
  return findRunShares(database, asked);
}
