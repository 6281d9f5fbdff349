import type * as experiments from '../experiments/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** Campaigns that are compared: control groups and variations. */
export const experimentLimitTexts: { experiments: LimitTexts<typeof experiments> } = {
  experiments: {
    maxGlobalControlPercent: {
      what: 'Users of the control group of a workspace',
      unit: 'percent',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxLearnedRuns: {
      what: 'Newest runs that variations are learned from',
      unit: 'runs',
      per: 'campaign',
      whenReached: 'Older ones are not looked at.',
      source: 'ours',
    },
    maxVariations: {
      what: 'Variations',
      unit: 'variations',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
  },
};
