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

      /** Segments that are still being filled, or that cannot be sent to. */
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

  /** Null while the schedule is invalid, otherwise `soon`, `later`, `periodic`, `calendar` or `triggered`. */
  schedule: {
    kind: string;
    occurrences: CampaignOccurrence[];
  } | null;

  /** A description of the filters. */
  audienceText: string | null;

  /** Empty while the campaign has errors. */
  warnings: CampaignWarning[];
};

/** A field of the body, such as `basic_details.name`, and the reason why it is invalid. */
export type CampaignFault = {
  field: string;
  issue: string;
};

export type CampaignOccurrence = {
  at: string;

  /** The date and time in `timeZone`, as YYYY-MM-DD and hh:mm. */
  local: {
    date: string;
    time: string;
  };
  timeZone: string;

  /** The offset from UTC, as in `+05:30`. */
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

  /** For a send at the local time of each user: the instants of the first and the last inhabited zone. */
  everyZone: {
    first: {
      place: string;
      at: string;
    };
    last: {
      place: string;
      at: string;
    };

    /** The time of the campaign's zone, for users without a time zone. */
    usualAt: string;
    ifPassed: 'SKIP' | 'SEND';

    /** True if the first zones have already passed the local time. */
    hasPassed: boolean;
  } | null;
};

export type CampaignPreview = {
  /** Empty if no user is named. */
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
  /** The names of the users' attributes. */
  attributes: string[];
  businessEvents: {
    id: string;
    name: string;
    attributes: {
      name: string;
      type: string;
    }[];
  }[];

  /** In the order in which users see them. */
  topics: {
    key: string;
    name: string;
    isInByDefault: boolean;
  }[];

  /** Absent: the workspace has no credential of that platform's provider. */
  credentials: {
    ANDROID?: 'real' | 'simulated';
    IOS?: 'real' | 'simulated';
    WEB?: 'real' | 'simulated';
  };
  controls: {
    /** Caps as in `2/1d`: 2 messages in 1 day. */
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

/** The users whom a send at the local time of each user reaches, if it begins now. */
export type LocalTimeCount =
  | {
      state: 'COUNTED';
      waiting: number;

      /** Their local time passed within the allowed lateness. */
      atOnce: number;
      passed: number;

      /** Their stored time zone is not one, so their messages fail. */
      unknownZone: number;
    }
  | {
      state: 'TOO_SLOW';
      afterSeconds: number;
    }
  | {
      state: 'NOT_LOCAL';
    };

/** The messages that were opened in each hour of the week. */
export type OpenHours =
  | {
      state: 'COUNTED';
      timeZone: string;

      /** The days that were counted, up to now. */
      days: number;

      /** Without the hours in which nothing was opened. */
      hours: {
        /** 1 Monday to 7 Sunday. */
        weekday: number;
        hour: number;
        opens: number;
      }[];
    }
  | {
      state: 'TOO_SLOW';
      afterSeconds: number;
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

  /** The size as the provider counts it, the maximum of the provider, and the maximum that all browsers accept. */
  payload?: {
    bytes: number;
    most: number;
    maxEverywhere: number;
  };
};

/** The response of V5. */
export type PreviewAnswer = {
  response_id: string;
  type: 'campaign';
  data: CampaignPreview;
};

/** The best result of a user's devices: reached, or the reason why not. */
export type Reach =
  | 'REACHED'
  | 'TOPIC_OPTED_OUT'
  | 'TOPIC_NOT_OPTED_IN'
  | 'OTHER_PLATFORM'
  | 'OPTED_OUT'
  | 'BLOCKED'
  | 'GONE'
  | 'NO_DEVICE';

/** By the value that was asked for. */
export type TestResults = Record<
  string,
  {
    status: 'success' | 'failed';
    failure_reason?: string;
  }
>;
