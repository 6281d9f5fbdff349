import type { Timing } from '../timing/timing.ts';
import type { CampaignContent, Platform } from '../campaigns/content.ts';
import type { ConversionGoal } from '../campaigns/conversion-goal.ts';
import type { DeliverySettings } from '../campaigns/delivery-settings.ts';

/** The audience of a push (interface 2.8). */
export type PushAudience =
  | { kind: 'all-users' }
  | { kind: 'segment'; name: string }
  | { kind: 'user'; attribute: string; isCustom: boolean; values: string[] };

/** A push request of either version, parsed: every member is true. */
export type PushCommand = {
  /** Trimmed; 5 to 256 characters. */
  name: string;
  /** As sent, or a UUID made for it (decision D4). */
  requestId: string;
  platforms: Platform[];
  audience: PushAudience;
  content: CampaignContent;
  timing: Timing;
  tags: string[];
  conversionGoals: ConversionGoal[];
  settings: DeliverySettings;
  /** What was asked for and has no effect here. */
  warnings: string[];
};
