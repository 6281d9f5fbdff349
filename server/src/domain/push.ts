import type { ConversionGoal } from './campaigns/conversions.ts';
import type { DeliverySettings } from './campaigns/delivery-settings.ts';
import type { CampaignContent, Platform } from './content/content.ts';
import { maxSelectedUsers } from './limits/push.ts';
import type { Timing } from './timing/timing.ts';

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

/**
 * How the body of a push is read. `strict`: every value as the interface shows it. `lenient`: also what serializers make of
 * an absent value, numbers and flags as texts, words in any case (docs/bodies.md).
 */
export const pushBodies = ['lenient', 'strict'] as const;
export type PushBodies = (typeof pushBodies)[number];

/** The users of audience `User` (interface 2.8): those with one of these values in an attribute. */
export type UserSelector = { attribute: string; isCustom: boolean; values: string[] };

/** The refusal of decision D32, at acceptance and when a schedule fires. */
export const tooManyUsers = {
  field: 'targetUserAttributes',
  reason: `matches more than ${maxSelectedUsers} users`,
} as const;
