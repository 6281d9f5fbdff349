// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Platform } from './shape-parts.ts';

export type AudienceCount =
  | {
      state: 'COUNTED';
      users: {
        reach: Reach;
        users: number;
      }[];
      devices: {
        platform: Platform;
        state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
        devices: number;
      }[];

      /** Segments that are still filled, or cannot be sent to. */
      pending: string[];
    }
  | {
      state: 'TOO_SLOW';
      afterSeconds: number;
    }
  | {
      state: 'UNREADABLE';
      faults: CampaignFault[];
    };

export type CampaignCheck = {
  faults: CampaignFault[];

  /** Null while it cannot be read. `soon`, `later`, `periodic`, `calendar` or `triggered`. */
  schedule: {
    kind: string;
    occurrences: CampaignOccurrence[];
  } | null;

  /** Filters in words. */
  audienceText: string | null;

  /** Empty while something is wrong. */
  warnings: CampaignWarning[];
};

/** A field of the body, as `basic_details.name`, and what is wrong with it. */
export type CampaignFault = {
  field: string;
  issue: string;
};

export type CampaignOccurrence = {
  at: string;

  /** YYYY-MM-DD and hh:mm in `timeZone`. */
  local: {
    date: string;
    time: string;
  };
  timeZone: string;

  /** As in `+05:30`. */
  offset: string;
  clockChange:
    | {
        kind: 'skipped';
        asked: string;
      }
    | {
        kind: 'twice';
      }
    | {
        kind: 'shifted';
        before: string;
        after: string;
      }
    | null;
};

export type CampaignPreview = {
  /** Empty for nobody in particular. */
  customer_id: string;
  platforms: {
    android?: PlatformPreview;
    ios?: PlatformPreview;
    web?: PlatformPreview;
  };
};

export type CampaignWarning = {
  code: string;
  tone: 'warning' | 'note';
  part: 'audience' | 'content' | 'schedule';
  message: string;
};

/** What a workspace has that a campaign may use. */
export type ComposerResources = {
  /** Names of its people's attributes. */
  attributes: string[];
  businessEvents: {
    id: string;
    name: string;
    attributes: {
      name: string;
      type: string;
    }[];
  }[];

  /** Absent: the workspace has no credential of that platform's provider. */
  credentials: {
    ANDROID?: 'real' | 'simulated';
    IOS?: 'real' | 'simulated';
    WEB?: 'real' | 'simulated';
  };
  controls: {
    /** As in `2/1d`. */
    frequencyCaps: string[];
    quietHours: {
      from: string;
      to: string;
      mode: 'HOLD' | 'DROP';
    } | null;
    minimumDelayMinutes: number | null;
    timeZone: string;
  };
  now: string;
};

export type PlatformPreview = {
  outcome: 'RENDERED' | 'FALLBACK' | 'FAILED';

  /** As in `campaign_content`. */
  content?: {
    basic_details: Record<string, unknown>;
  } & Record<string, unknown>;
  failure?: {
    field: string;
    cause: string;
    reason: string;
  };

  /** What its provider counts, the most it accepts, and the most that every browser accepts. */
  payload?: {
    bytes: number;
    most: number;
    maxEverywhere: number;
  };
};

/** As V5 answers. */
export type PreviewAnswer = {
  response_id: string;
  type: 'campaign';
  data: CampaignPreview;
};

/** The best of a person's devices: reached, or what is in the way. */
export type Reach = 'REACHED' | 'OTHER_PLATFORM' | 'OPTED_OUT' | 'BLOCKED' | 'GONE' | 'NO_DEVICE';

/** By the value that was asked for. */
export type TestResults = Record<
  string,
  {
    status: 'success' | 'failed';
    failure_reason?: string;
  }
>;
