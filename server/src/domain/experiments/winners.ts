/** From the bucket behind `after` on everybody gets this variation; null: the shares decide again. */
export type WinnerStep = { after: number; variation: number | null };

/** What was decided about the buckets of a chunk of a run: each step holds until the next. */
export type ChunkWinners = { bucketFrom: number; bucketTo: number; steps: WinnerStep[] };

/** The variation that everybody in a bucket gets; null: the shares decide. */
export function winnerInBucket(chunks: readonly ChunkWinners[], bucket: number): number | null {
  const chunk = chunks.find(({ bucketFrom, bucketTo }) => bucketFrom <= bucket && bucket <= bucketTo);
  return chunk?.steps.findLast(({ after }) => after < bucket)?.variation ?? null;
}

/** The steps with one more; of what was decided before, that stays which has begun. */
export function addWinnerStep(steps: readonly WinnerStep[], step: WinnerStep): WinnerStep[] {
  return [...steps.filter(({ after }) => after < step.after), step];
}

/** The shares of a campaign, in percent by variation, of which a winner was named: everything is its. */
export function sharesOfWinner(percents: readonly number[], winner: number | null): number[] {
  return winner === null ? [...percents] : percents.map((_percent, index) => (index + 1 === winner ? 100 : 0));
}
