// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { ConsoleWorkspace } from './accounts.ts';
import type { Platform } from './shape-parts.ts';

/** The result of the last check of a credential with its provider. */
export type CredentialCheck = {
  verdict: 'ACCEPTED' | 'REFUSED' | 'UNKNOWN';
  words: string;
  at: string;
};

export type Finding = {
  level: 'trouble' | 'attention';
  what: string;
  todo: string;
  place: FindingPlace;
};

/** The screen where a problem can be examined or fixed. */
export type FindingPlace =
  | {
      screen: 'system' | 'providers' | 'segments' | 'log' | 'keys';
    }
  | {
      screen: 'campaign';
      campaignId: string;
    }
  | {
      screen: 'deliveries';
      platform: Platform;
      outcome: string;
      code: string;
    };

/** The first steps that are done. */
export type FirstSteps = {
  hasPushed: boolean;

  /** True if a real provider is connected; simulators do not count. */
  hasProvider: boolean;

  /** True if there are users in addition to those of the sandbox. */
  hasUsers: boolean;
  hasInvited: boolean;
};

export type InboxMessage = {
  id: string;
  workspaceId: string;
  collapseId: string | null;
  messageId: string;
  platform: Platform;
  deviceToken: string;
  title: string;
  body: string;
  campaignId: string | null;
  receivedAt: string;

  /** Parameters of the request other than the message, such as its priority and time to live. */
  transport: Record<string, string>;

  /** All headers of the request, with only the scheme of credentials. Empty for messages of older versions. */
  headers: Record<string, string>;
  payload: unknown;

  /** The visible part while the app is in the background; empty for messages of older versions. */
  screen: {
    shownBy?: 'app' | 'system' | 'extension' | 'worker' | 'nobody';
    title?: string;
    body?: string;
    image?: string;
    buttons?: string[];
    reports?: ('impression' | 'click' | 'close')[];
  };
};

export type LimitUse = {
  id: string;
  name: string;
  used: number;
  most: number;

  /** Null if the limit applies at any one time. */
  windowSeconds: number | null;

  /** The setting that sets the limit; null if the interface sets it. */
  setting: string | null;
};

export type Overview = {
  workspace: ConsoleWorkspace;
  url: string;
  isSandbox: boolean;
  now: string;
  verdict: {
    level: 'well' | 'attention' | 'trouble';
    headline: string;
    findings: Finding[];
  };
  running: RunningSend[];
  paused: {
    platform: Platform | null;

    /** The provider that refused the credential; null if a user paused the campaign. */
    provider: ProviderName | null;

    /** `all` if all devices wait; `some` if only the devices of the refused credential wait. */
    waits: 'all' | 'some';
    reason: string;
    runs: number;
    campaignId: string;
    campaignName: string;
  }[];
  scheduled: {
    campaignId: string;
    campaignName: string;
    nextAt: string;
    deliveryType: string;
  }[];
  failedRuns: {
    campaignId: string;
    campaignName: string;
    status: string;
    reason: string;
    endedAt: string;
  }[];
  lastHour: {
    since: string;

    /** A count of this value means "this many or more". */
    maxCounted: number;
    counts: {
      platform: Platform;
      outcome: string;
      devices: number;
    }[];
    failures: RecentFailure[];

    /** Messages that wait for another attempt or for their time. */
    waiting: number;
  };
  providers: ProviderHealth[];
  limits: LimitUse[];

  /** The work of all nodes for all workspaces; null for users whose roles are in single workspaces. */
  work: {
    waiting: number;
    oldestAt: string | null;
    running: number;
    later: number;
    nodes: number;
    sendingNodes: number;
    seenAt: string | null;
  } | null;
  campaigns: OverviewCampaign[];
  curl?: string;
};

export type OverviewCampaign = {
  id: string;
  name: string;
  status: string;
  statusReason: string | null;
  createdAt: string;
  createdBy: string;
  counts: {
    platform: Platform;
    outcome: string;
    devices: number;
  }[];
};

export type ProviderHealth = {
  platform: Platform;
  provider: ProviderName;
  name: string;
  isConnected: boolean;
  isSimulated: boolean;
  account: string | null;
  updatedAt: string | null;
  check: CredentialCheck | null;

  /** The provider asked for a pause, or cannot be reached. */
  silent: {
    until: string;
    reason: string;
  } | null;
  noisyUntil: string | null;
};

export type ProviderName = 'fcm' | 'apns' | 'webpush' | 'hms' | 'adm';

export type RecentFailure = {
  platform: Platform;
  outcome: string;
  code: string;
  devices: number;
  lastAt: string;
  advice: string;
};

export type RunningSend = {
  runId: string;
  campaignId: string;
  campaignName: string;
  status: 'QUEUED' | 'SENDING';
  createdAt: string;
  startedAt: string | null;
  audienceDevices: number | null;
  accepted: number;
  notDelivered: number;
  waiting: number;
};

export type UserCounts = {
  users: number;

  /** Users that were added in the last seven days. */
  newUsers: number;
  devices: {
    platform: Platform;
    state: string;
    devices: number;
  }[];
};

/** What the sends of the last seven days achieved, in the zone of the workspace; the newest day is last. */
export type Week = {
  days: {
    date: string;

    /** Messages with a final outcome other than withheld. */
    tried: number;
    accepted: number;
    clicked: number;
  }[];

  /** The seven days before, up to the same time of day. */
  before: {
    /** Messages with a final outcome other than withheld. */
    tried: number;
    accepted: number;
    clicked: number;
  };

  /** True if only the newest sends are counted, because there were too many. */
  isPartial: boolean;
};
