import type { Platform } from '../campaigns/content.ts';

/** Something that the overview says about an installation. */
export type Finding = {
  /** `trouble`: something is not sent. `attention`: something will not be, or is worse than usual. */
  level: 'trouble' | 'attention';
  what: string;
  /** What a person does about it. */
  todo: string;
  place: FindingPlace;
};

/** Where something is looked at or mended, for a link. */
export type FindingPlace =
  | { screen: 'system' | 'providers' | 'segments' | 'log' | 'keys' }
  | { screen: 'campaign'; campaignId: string }
  | { screen: 'deliveries'; platform: Platform; outcome: string; code: string };
