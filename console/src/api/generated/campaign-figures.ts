// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Platform } from './shape-parts.ts';

export type Attribution = 'VIEW_THROUGH' | 'CLICK_THROUGH' | 'IN_SESSION' | 'TOTAL_CONVERSIONS' | 'CLICK_CONVERSIONS';

export type CampaignFigures = {
  name: string;
  attribution: Attribution;

  /** How long after a message an event counts as a conversion. */
  windowHours: number;

  /** Runs that have begun. */
  runs: number;
  all: ContentFigures;
  platforms: PlatformFigures[];

  /** The figures of each content, over all platforms; empty if all users get the same content. */
  contents: ContentFigures[];

  /** One comparison for each measure; empty for a campaign without variations. */
  leaders: {
    measure: 'CLICKS' | 'GOAL';
    variation: number;

    /** The probability that this variation is the best one, in percent. */
    bestPercent: number;

    /** True if the probability is high enough to name this variation as the best one. */
    isBest: boolean;
  }[];
  winner: {
    /** The variation for all users that the campaign has not been sent to; null if the shares apply. */
    variation: number | null;
    namedAt: string | null;
    namedBy: string | null;

    /** True if the campaign learns which variation is the best. */
    isLearned: boolean;
  };
};

export type ContentFigures = {
  /** Null: all variations. */
  variation: number | null;

  /** Null: all locales. */
  locale: string | null;

  /** Devices of the runs, each counted once per run, whatever the outcome of its message. */
  devices: number;
  attempted: number;
  accepted: number;
  failed: number;
  gone: number;

  /** Messages that were shown, each counted once. */
  shown: number;

  /** Messages that were clicked, each counted once. */
  clicked: number;

  /** All reports, including repeated ones. */
  impressions: number;
  clicks: number;

  /** Percent of the accepted messages. */
  shownRate: FigureRate | null;

  /** Percent of the accepted messages. */
  clickedRate: FigureRate | null;

  /** Users that the campaign was meant for, each counted once per run; null if they were not counted. */
  eligibleUsers: number | null;
  goals: {
    name: string;

    /** Events. */
    total: number;

    /** Users, each counted once per run. */
    users: number;
    revenue: number | null;
    currency: string | null;

    /** Percent of the eligible users. */
    rate: FigureRate | null;
  }[];
};

/** A rate in percent, with the bounds of its 95 % interval. */
export type FigureRate = {
  percent: number;
  low: number;
  high: number;
};

export type NamedWinner = {
  variation: number | null;
};

export type PlatformFigures = {
  platform: Platform;

  /** Users with a device that can be sent to; null if they were not counted. */
  reachableUsers: number | null;

  /** Users with a device that has the app. */
  installedUsers: number | null;
  all: ContentFigures;
  contents: ContentFigures[];
  groups: {
    /** Null for the users that the message was meant for. */
    group: 'GLOBAL_CONTROL_GROUP' | 'CAMPAIGN_CONTROL_GROUP' | null;
    users: number;
    goals: {
      name: string;
      total: number;
      users: number;

      /** Percent of the users of the group. */
      percent: number | null;
    }[];
  }[];

  /** By how many percent more often a goal was reached than in the control group, with the 95 % interval. */
  uplifts: {
    name: string;
    percent: number | null;
    low: number | null;
    high: number | null;
  }[];
};
