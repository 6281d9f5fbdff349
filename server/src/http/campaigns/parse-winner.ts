import type { WinnerChoice } from '../../app/campaigns/name-winner.ts';
import { maxVariations } from '../../domain/experiments/limits.ts';
import { learningMeasures, variationName } from '../../domain/experiments/variants.ts';
import { makeCampaignReader, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { readRequestId } from './parse-authoring.ts';

const names = Array.from({ length: maxVariations }, (_, index) => variationName(index + 1));

/** Which variation is the winner, or by which figures. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
export function parseWinner(body: Body, requestIdHeader: string | undefined): Exclude<WinnerChoice, { kind: 'none' }> {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  if (reader.isAbsent('metric')) {
    const name = reader.requires('variation') ? reader.choice('variation', names) : undefined;
    refuseFaults(reader);
    return { kind: 'variation', variation: names.indexOf(name!) + 1 };
  }
  if (!reader.isAbsent('variation')) reader.invalid('variation', 'cannot stand beside metric');
  const measure = reader.choice('metric', learningMeasures);
  refuseFaults(reader);
  return { kind: 'figures', measure: measure! };
}
