import { makeVariationOf } from '../../domain/experiments/variants.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

/** The number of the variation that a user was drawn for. */
export type VariationOf = (user: Pick<AudienceDevice, 'bucket' | 'userId'>) => number;

/** Undefined of a run that says the same to everybody. */
export function makeRunVariationOf({ variants, canonicalCampaignId }: RunToSend): VariationOf | undefined {
  if (!variants || variants.percents.length < 2) return undefined;
  const variationOf = makeVariationOf(variants.percents, canonicalCampaignId);
  return ({ userId }) => variationOf(userId);
}
