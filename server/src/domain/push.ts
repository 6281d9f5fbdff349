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

/** A parsed push request of either version: every member is valid. */
export type PushCommand = {
  /** Trimmed; 5 to 256 characters. */
  name: string;
  /** As sent, or a UUID generated for the request (decision D4). */
  requestId: string;
  platforms: Platform[];
  audience: PushAudience;
  content: CampaignContent;
  timing: Timing;
  tags: string[];
  conversionGoals: ConversionGoal[];
  settings: DeliverySettings;
  /** Requested features that have no effect here. */
  warnings: string[];
};

/**
 * How the body of a push is parsed. `strict`: every value as the interface shows it. `lenient`: also the values that
 * serializers write for an absent one, numbers and flags as texts, and words in any case (docs/bodies.md).
 */
export const pushBodies = ['lenient', 'strict'] as const;
export type PushBodies = (typeof pushBodies)[number];

/** The users of audience `User` (interface 2.8): those with one of these values in an attribute. */
export type UserSelector = { attribute: string; isCustom: boolean; values: string[] };

/** The rejection of decision D32, at acceptance and when a schedule fires. */
export const tooManyUsers = {
  field: 'targetUserAttributes',
  reason: `matches more than ${maxSelectedUsers} users`,
} as const;
