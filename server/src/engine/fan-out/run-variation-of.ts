import { makeVariationOf } from '../../domain/experiments/variants.ts';
import { winnerInBucket } from '../../domain/experiments/winners.ts';
import type { Database } from '../../storage/database.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { freezeShares } from './freeze-shares.ts';

type User = Pick<AudienceDevice, 'bucket' | 'userId'>;

/** The number of the variation that a user was drawn for. */
export type VariationOf = (user: User) => number;

type Drawing = { run: RunToSend; users: readonly User[] };

/** Of these users; undefined of a run that says the same to everybody. A run whose shares are given makes no query. */
export async function makeRunVariationOf(
  database: Database,
  { run, users }: Drawing,
): Promise<VariationOf | undefined> {
  const { variants, canonicalCampaignId } = run;
  if (!variants || variants.percents.length < 2) return undefined;
  const { percents, learning } = variants;
  if (!learning) {
    const variationOf = makeVariationOf(percents, canonicalCampaignId);
    if (run.winners.length === 0) return ({ userId }) => variationOf(userId);
    return ({ bucket, userId }) => winnerInBucket(run.winners, bucket) ?? variationOf(userId);
  }
  const buckets = users.map(({ bucket }) => bucket);
  const shares = await freezeShares(database, { run, buckets, learning, variations: percents.length });
  const drawsOf = new Map([...shares].map(([bucket, own]) => [bucket, makeVariationOf(own, canonicalCampaignId)]));
  return ({ bucket, userId }) => drawsOf.get(bucket)!(userId);
}
