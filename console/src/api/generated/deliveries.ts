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

  /** Of one that waits. */
  retryAt: string | null;
  campaignId: string;
  campaignName: string;

  /** Null: the person, the device is there no more. */
  customerId: string | null;
  deviceId: string | null;
  pushId: string | null;
  runStatus: string;

  /** Attempts end then. */
  sendUntil: string;

  /** What the campaign says to this platform, before it is made personal. */
  content: Record<string, unknown> | null;
  settings: Record<string, unknown>;
  advice?: string;
};

/** Names a row of the ledger. */
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

  /** The oldest day that the ledger has, YYYY-MM-DD. */
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

  /** Of one that waits. */
  retryAt: string | null;
  campaignId: string;
  campaignName: string;

  /** Null: the person, the device is there no more. */
  customerId: string | null;
  deviceId: string | null;
};

export type ReportedDevice = {
  deviceRowId: string;
  runId: string;
  platform: Platform;

  /** The button of a click; null: the message itself. */
  action: string | null;

  /** How often it was reported. */
  times: number;

  /** When it was reported first. */
  at: string;

  /** Null: removed since, as is its user. */
  deviceId: string | null;
  userId: string | null;
  customerId: string | null;
};

export type ReportedDevicePage = {
  devices: ReportedDevice[];

  /** The `after` of the next page. */
  next: string | null;
};
