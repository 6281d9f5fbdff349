import { addWinnerStep } from '../../domain/experiments/winners.ts';
import type { Transaction } from '../../storage/database.ts';
import type { GroupUsers } from '../../storage/campaigns/audience-groups.ts';
import {
  listBegunBuckets,
  listOpenRunIds,
  lockOpenChunks,
  lockOpenRuns,
  markChunks,
  setGroupUsers,
} from '../../storage/campaigns/campaign-winners.ts';
import type { BegunBucket, OpenChunk, OpenRun } from '../../storage/campaigns/campaign-winners.ts';
import { ChangedMeanwhileError } from './change-campaign-state.ts';

type ToSend = {
  campaign: { id: string };
  /** Null: the shares decide again. */
  winner: number | null;
  /** Notes the winner, with the lock of the campaign. */
  note: () => Promise<void>;
};

/**
 * Gives a variation to everybody who was not sent to yet. Runs, then chunks, then the campaign, as whoever stops it locks them. A
 * window under way is written down in its chunk: what it may have sent stays as it is, and one that is opened after this knows
 * the winner. A run that waits for its start takes it from the campaign.
 */
export async function sendWinnerToRest(tx: Transaction, { campaign, winner, note }: ToSend): Promise<void> {
  const runs = await lockOpenRuns(tx, campaign.id);
  const started = runs.filter(({ hasStarted }) => hasStarted);
  const runIds = started.map(({ id }) => id);
  const chunks = await lockOpenChunks(tx, runIds);
  const begun = await listBegunBuckets(tx, runIds);
  const marked = chunks.flatMap((chunk) => {
    const after = lastBegunBucket(chunk, begun);
    if (after >= chunk.bucketTo) return [];
    const winners = addWinnerStep(chunk.winners ?? [], { after, variation: winner });
    return [{ runId: chunk.runId, number: chunk.number, winners }];
  });
  await markChunks(tx, marked);
  for (const run of started) {
    if (run.groupUsers === null || !marked.some(({ runId }) => runId === run.id)) continue;
    const hasBegun = begun.some(({ runId }) => runId === run.id) || chunks.some((chunk) => isUnderWay(chunk, run));
    await setGroupUsers(tx, { runId: run.id, groupUsers: regroup(run.groupUsers, hasBegun ? null : winner) });
  }
  await note();
  // A run that was made after they were locked, and before the campaign was, may have started without the winner.
  const known = new Set(runs.map(({ id }) => id));
  const open = await listOpenRunIds(tx, campaign.id);
  if (open.some((id) => !known.has(id))) throw new ChangedMeanwhileError(campaign.id);
}

/** The bucket before the chunk's own when none has begun: buckets are sent in their order. */
function lastBegunBucket(chunk: OpenChunk, begun: readonly BegunBucket[]): number {
  const own = begun.filter(({ runId, bucket }) => runId === chunk.runId && isWithin(chunk, bucket));
  return Math.max(chunk.bucketFrom - 1, chunk.windowBucket ?? -1, ...own.map(({ bucket }) => bucket));
}

function isWithin({ bucketFrom, bucketTo }: OpenChunk, bucket: number): boolean {
  return bucketFrom <= bucket && bucket <= bucketTo;
}

function isUnderWay({ runId, windowBucket }: OpenChunk, run: OpenRun): boolean {
  return runId === run.id && windowBucket !== null;
}

/**
 * Whom a run is for: all of them for one variation, or (null) nobody knew before it began for which, as of a run that learns.
 */
function regroup(groupUsers: readonly GroupUsers[], variation: number | null): GroupUsers[] {
  const controls = groupUsers.filter(({ group }) => group !== null);
  const treated = Map.groupBy(
    groupUsers.filter(({ group }) => group === null),
    ({ platform }) => platform,
  );
  const sums = [...treated].map(([platform, own]) => {
    const users = own.reduce((sum, row) => sum + row.users, 0);
    return { platform, group: null, variation, users };
  });
  return [...sums, ...controls];
}
