// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Platform } from './shape-parts.ts';

export type CampaignAction = 'pause' | 'resume' | 'stop';

export type CampaignList = {
  campaigns: ListedCampaign[];
  limit: number;
};

export type CampaignProgress = {
  status: string;
  statusReason: string | null;
  nextAt: string | null;
  actions: CampaignAction[];
  runs: number;
  openRuns: number;

  /** Users in the audience; null for campaigns of versions that did not count them. */
  audienceUsers: number | null;

  /** Devices that the campaign is sent to; null while they are counted. */
  reachableDevices: number | null;
  startedAt: string | null;
  endedAt: string | null;
  outcomes: {
    platform: Platform;
    outcome: DeliveryOutcome;
    devices: number;
  }[];
  interactions: {
    platform: Platform;
    kind: 'IMPRESSION' | 'CLICK' | 'CLOSE';
    total: number;
    uniqueDevices: number;

    /** Each counted once. */
    messages: number;
  }[];
  at: string;
};

export type CampaignReport = {
  campaign: {
    id: string;

    /** The id that all versions share; for an execution, the id of its parent. */
    campaignId: string;

    /** True for an execution of a recurring campaign that is listed separately. */
    isExecution: boolean;
    name: string;
    status: string;
    channel: string;
    deliveryType: string;
    platforms: Platform[];
    tags: string[];
    versionNumber: number | null;
    createdBy: string;
    createdAt: string;
    sentAt: string | null;
    audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
    segmentId: string | null;
    segmentName: string | null;
    updatedAt: string;

    /** True if the campaign was created with the campaign API and has not ended. */
    mayEdit: boolean;
  };

  /** The record that V5 returns. */
  record: Record<string, unknown>;

  /** A body with which `POST /v5/campaigns` creates a copy as a draft. */
  request: Record<string, unknown>;

  /** Newest first; empty when there is one alone. */
  versions: {
    id: string;
    versionNumber: number | null;
    status: string;
    createdAt: string;
    createdBy: string;
  }[];
};

export type CampaignResults = {
  /** Runs that were sent and for which only counters are still stored. */
  runsWithoutLedger: number;
  accepted: number;

  /** Messages that wait for another attempt, grouped by the reason. */
  waiting: {
    platform: Platform;
    code: string;
    devices: number;

    /** The highest number of attempts for one message. */
    attempts: number;
    nextAt: string;

    /** As in "FCM responded with 503". */
    cause: string;
  }[];

  /** The most frequent reason first. */
  failures: {
    platform: Platform;
    outcome: DeliveryOutcome;
    code: string;
    devices: number;

    /** Null if the ledger of that day has been deleted. */
    sampleDeviceId: string | null;
    lastAt: string;
    advice: string;
  }[];
  goals: {
    name: string;
    conversions: number;
    users: number;
  }[];
};

export type CampaignRuns = {
  runs: {
    id: string;
    status: string;
    statusReason: string | null;
    dueAt: string | null;
    startedAt: string | null;
    endedAt: string | null;
    createdAt: string;
    accepted: number;
    waiting: number;
    notDelivered: number;

    /** Messages, each counted once. */
    shown: number;
    clicked: number;
  }[];
  total: number;
  perPage: number;
};

export type CampaignTimeline = {
  stepSeconds: number;
  steps: {
    at: string;
    accepted: number;
    notDelivered: number;
  }[];
};

export type ChangedCampaign = {
  id: string;
};

export type DeliveryOutcome = 'ACCEPTED' | 'GONE' | 'REJECTED' | 'EXPIRED' | 'FAILED' | 'WITHHELD' | 'WAITING';

export type ListedCampaign = {
  id: string;

  /** The id that all versions share; for an execution, the id of its parent. */
  campaignId: string;

  /** True for an execution of a recurring campaign that is listed separately. */
  isExecution: boolean;
  name: string;
  status: string;
  channel: string;
  deliveryType: string;
  platforms: Platform[];
  tags: string[];
  versionNumber: number | null;
  createdBy: string;
  createdAt: string;
  sentAt: string | null;
  reachableDevices: number | null;
  runs: number;

  /** Null until the first attempt. */
  figures: {
    /** Devices, each counted once per run. */
    attempted: number;
    accepted: number;

    /** Messages, each counted once. */
    shown: number;
    clicked: number;

    /** Percent of the attempted devices. */
    acceptedPercent: number | null;

    /** Percent of the accepted messages. */
    shownPercent: number | null;

    /** Percent of the accepted messages. */
    clickedPercent: number | null;

    /** True if the numbers cover only the newest runs. */
    hasMoreRuns: boolean;
  } | null;
};
