// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { ProviderName } from './overview.ts';
import type { Platform } from './shape-parts.ts';

export type AddedUser = {
  id: string;
};

/** Answers that usually mean a dead address. */
export type DeviceSuspicion = {
  /** The provider's word in the last send. */
  code: string;

  /** In how many sends it gave such an answer. */
  sends: number;
  leavesAfterSends: number;

  /** Between the first and the last of them, at least. */
  leavesAfterHours: number;
  since: string;
  lastAt: string;

  /** It left the audience because of it. */
  hasLeft: boolean;
};

export type Erasure = {
  id: string;
  requestedAt: string;
  dueAt: string;
};

export type FoundUser = {
  id: string;
  customerId: string;
  updatedAt: string;
  devices: number;

  /** What the word turned out to be. */
  foundBy: 'USER_ID' | 'CARILLON_ID' | 'DEVICE_TOKEN' | 'ATTRIBUTE';

  /** The name of the attribute that has the value. */
  attribute: string | null;
};

export type SuspectedDevice = {
  id: string;
  userId: string;
  customerId: string;

  /** The app's name of it. */
  deviceId: string;
  platform: Platform;

  /** Null: the usual one of the platform. */
  provider: ProviderName | null;
  state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
  suspicion: DeviceSuspicion;
};

export type SuspectedDevicePage = {
  /** The latest strike first, at most 50. */
  devices: SuspectedDevice[];

  /** The `after` of the next page. */
  next: string | null;
};

export type TestUser = {
  id: string;
  customerId: string;
  updatedAt: string;
  devices: number;
};

export type TimelineEntry = {
  /** Names it among the moments of the person. */
  key: string;
  at: string;
  kind:
    | 'EVENT'
    | 'MESSAGE'
    | 'IMPRESSION'
    | 'CLICK'
    | 'CLOSE'
    | 'DEVICE_REGISTERED'
    | 'DEVICE_BLOCKED'
    | 'DEVICE_GONE'
    | 'CHANGED'
    | 'MERGED'
    | 'CREATED';

  /** Of an event, a campaign, an action of the console, or the customer id that was merged. */
  name: string | null;
  campaignId: string | null;

  /** The app's name of it; null when none is concerned or it is there no more. */
  deviceId: string | null;
  platform: Platform | null;
  outcome: string | null;
  code: string | null;

  /** Attributes of an event, the button of a click, what a change was about. */
  detail: Record<string, unknown>;
};

export type TimelinePage = {
  entries: TimelineEntry[];
  next: string | null;
};

export type User = {
  id: string;
  customerId: string;

  /** Customer ids that mean this person since they were merged. */
  mergedCustomerIds: string[];
  attributes: Record<string, unknown>;

  /** Marked for tests of campaigns. */
  isTest: boolean;
  createdAt: string;
  updatedAt: string;
  devices: UserDevice[];

  /** Of files and of partners; those of filters are worked out when a campaign starts. */
  segments: {
    id: string;
    name: string;
    kind: 'FILE' | 'COHORT';
  }[];

  /** Newest first, at most 50. */
  messages: UserMessage[];

  /** The person is to be erased. */
  erasure: Erasure | null;
};

export type UserDevice = {
  id: string;

  /** The app's name of it. */
  deviceId: string;
  platform: Platform;

  /** Null: the usual one of the platform. */
  provider: ProviderName | null;
  pushId: string;

  /** The id of a Firebase installation; null: the provider's own address. */
  pushIdType: 'fid' | null;
  state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  registeredAt: string;
  goneAt: string | null;

  /** The provider's word. */
  goneReason: string | null;
  blockedAt: string | null;
  blockReason: string | null;
  suspicion: DeviceSuspicion | null;
};

export type UserMessage = {
  runId: string;
  campaignId: string;
  campaignName: string;

  /** Null: it is there no more. */
  deviceId: string | null;
  platform: Platform;
  outcome: string;
  code: string | null;
  attempts: number;
  at: string;
};
