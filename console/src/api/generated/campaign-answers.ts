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

  /** People; null for campaigns sent before this was counted. */
  audienceUsers: number | null;
  reachableDevices: number;
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

    /** Each once. */
    messages: number;
  }[];
  at: string;
};

export type CampaignReport = {
  campaign: {
    id: string;

    /** What all versions share; of a child its parent. */
    campaignId: string;

    /** A sending of a recurring campaign, asked for as a row of its own. */
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

    /** Made by the campaign API, and not over. */
    mayEdit: boolean;
  };

  /** As V5 answers it. */
  record: Record<string, unknown>;

  /** The body with which `POST /v5/campaigns` makes the same as a draft. */
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
  /** Runs that were sent, and of which only counters are kept. */
  runsWithoutLedger: number;
  accepted: number;

  /** What waits for another attempt, by why. */
  waiting: {
    platform: Platform;
    code: string;
    devices: number;

    /** The most that were made for one of them. */
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

    /** Null when the ledger of that day is not kept any more. */
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

    /** Messages, each once. */
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

  /** What all versions share; of a child its parent. */
  campaignId: string;

  /** A sending of a recurring campaign, asked for as a row of its own. */
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

  /** Null: nothing was tried yet. */
  figures: {
    /** Devices, each once a run. */
    attempted: number;
    accepted: number;

    /** Messages, each once. */
    shown: number;
    clicked: number;

    /** Of the attempted. */
    acceptedPercent: number | null;

    /** Of the accepted. */
    shownPercent: number | null;

    /** Of the accepted. */
    clickedPercent: number | null;

    /** These are of the newest runs alone. */
    hasMoreRuns: boolean;
  } | null;
};
