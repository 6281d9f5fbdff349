// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Platform } from './shape-parts.ts';

export type DeliveryDetail = {
  day: string;
  bucket: number;
  userId: string;
  runId: string;
  deviceRowId: string;
  platform: Platform;
  outcome: string;
  code: string | null;
  providerMessageId: string | null;
  attempts: number;
  at: string;

  /** The time of the next attempt, if the message waits for one. */
  retryAt: string | null;
  campaignId: string;
  campaignName: string;

  /** Null if the user was erased. `deviceId` is null if the device was removed. */
  customerId: string | null;
  deviceId: string | null;
  pushId: string | null;
  runStatus: string;

  /** The time after which no attempt is made. */
  sendUntil: string;

  /** The content of the campaign for this platform, before it is personalised. */
  content: Record<string, unknown> | null;
  settings: Record<string, unknown>;
  advice?: string;
};

/** The key of a row in the ledger. */
export type DeliveryKey = {
  day: string;
  bucket: number;
  userId: string;
  runId: string;
  deviceRowId: string;
};

export type DeliveryPage = {
  deliveries: LoggedDelivery[];
  next: string | null;

  /** The oldest day in the ledger, as YYYY-MM-DD. */
  keptSince: string | null;
};

export type LoggedDelivery = {
  day: string;
  bucket: number;
  userId: string;
  runId: string;
  deviceRowId: string;
  platform: Platform;
  outcome: string;
  code: string | null;
  providerMessageId: string | null;
  attempts: number;
  at: string;

  /** The time of the next attempt, if the message waits for one. */
  retryAt: string | null;
  campaignId: string;
  campaignName: string;

  /** Null if the user was erased. `deviceId` is null if the device was removed. */
  customerId: string | null;
  deviceId: string | null;
};

export type ReportedDevice = {
  deviceRowId: string;
  runId: string;
  platform: Platform;

  /** The button that was clicked; null for the message itself. */
  action: string | null;

  /** The number of reports. */
  times: number;

  /** The time of the first report. */
  at: string;

  /** Null if the device has been removed, or its user erased, since then. */
  deviceId: string | null;
  userId: string | null;
  customerId: string | null;
};

export type ReportedDevicePage = {
  devices: ReportedDevice[];

  /** The value of `after` for the next page. */
  next: string | null;
};
