// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Installation } from './app-access.ts';
import type { ProviderName } from './overview.ts';
import type { Platform } from './shape-parts.ts';

export type AddedUser = {
  id: string;
};

/** Responses that usually mean a dead address. */
export type DeviceSuspicion = {
  /** The provider's code in the last send. */
  code: string;

  /** The number of sends with such a response. */
  sends: number;
  leavesAfterSends: number;

  /** The minimum hours between the first and the last of these sends. */
  leavesAfterHours: number;
  since: string;
  lastAt: string;

  /** True if the device has left the audience because of these sends. */
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

  /** The kind of identifier that the search text matched. */
  foundBy: 'USER_ID' | 'CARILLON_ID' | 'DEVICE_TOKEN' | 'ATTRIBUTE';

  /** The name of the attribute that has the value. */
  attribute: string | null;
};

export type ListedUser = {
  id: string;
  customerId: string;
  name: string | null;
  email: string | null;
  createdAt: string;

  /** Devices that messages can be sent to. */
  devices: number;

  /** Platforms of the devices, whatever their state. */
  platforms: Platform[];

  /** The newest registration of a device or an app, or event of the last 30 days. */
  lastSeenAt: string | null;
};

export type SuspectedDevice = {
  id: string;
  userId: string;
  customerId: string;

  /** The app's name for the device. */
  deviceId: string;
  platform: Platform;

  /** Null for the default provider of the platform. */
  provider: ProviderName | null;
  state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
  suspicion: DeviceSuspicion;
};

export type SuspectedDevicePage = {
  /** The latest strike first, at most 50. */
  devices: SuspectedDevice[];

  /** The value of `after` for the next page. */
  next: string | null;
};

export type TestUser = {
  id: string;
  customerId: string;
  updatedAt: string;
  devices: number;
};

export type TimelineEntry = {
  /** Identifies the entry in the user's timeline. */
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

  /** The name of an event, a campaign or a console action, or the customer id that was merged. */
  name: string | null;
  campaignId: string | null;

  /** The app's name for the device; null if no device is concerned or it was removed. */
  deviceId: string | null;
  platform: Platform | null;
  outcome: string | null;
  code: string | null;

  /** Attributes of an event, the button of a click, or the subject of a change. */
  detail: Record<string, unknown>;
};

export type TimelinePage = {
  entries: TimelineEntry[];
  next: string | null;
};

export type User = {
  id: string;
  customerId: string;

  /** Customer ids that were merged into this user. */
  mergedCustomerIds: string[];
  attributes: Record<string, unknown>;

  /** True if the user is marked for tests of campaigns. */
  isTest: boolean;
  createdAt: string;
  updatedAt: string;
  devices: UserDevice[];

  /** Apps and sites that registered themselves, newest first. */
  installations: Installation[];

  /** Segments from files and partners. Members of filter segments are determined when a campaign starts. */
  segments: {
    id: string;
    name: string;
    kind: 'FILE' | 'COHORT';
  }[];

  /** Newest first, at most 50. */
  messages: UserMessage[];

  /** The pending erasure of the user, if any. */
  erasure: Erasure | null;
};

export type UserDevice = {
  id: string;

  /** The app's name for the device. */
  deviceId: string;
  platform: Platform;

  /** Null for the default provider of the platform. */
  provider: ProviderName | null;
  pushId: string;

  /** `fid` for the id of a Firebase installation; null for the provider's own token. */
  pushIdType: 'fid' | null;
  state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  registeredAt: string;
  goneAt: string | null;

  /** The provider's code. */
  goneReason: string | null;
  blockedAt: string | null;
  blockReason: string | null;
  suspicion: DeviceSuspicion | null;
};

export type UserMessage = {
  runId: string;
  campaignId: string;
  campaignName: string;

  /** Null if the device was removed. */
  deviceId: string | null;
  platform: Platform;
  outcome: string;
  code: string | null;
  attempts: number;
  at: string;
};

export type UserPage = {
  /** Newest first, at most 50. */
  users: ListedUser[];

  /** The value of `after` for the next page. */
  next: string | null;

  /** The search was ended after this time; null: it was not. */
  tooSlowAfterSeconds: number | null;
};
