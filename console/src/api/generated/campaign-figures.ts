// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Platform } from './shape-parts.ts';

export type Attribution = 'VIEW_THROUGH' | 'CLICK_THROUGH' | 'IN_SESSION' | 'TOTAL_CONVERSIONS' | 'CLICK_CONVERSIONS';

export type CampaignFigures = {
  name: string;
  attribution: Attribution;

  /** How long after a message an event counts. */
  windowHours: number;

  /** Runs that have begun. */
  runs: number;
  all: ContentFigures;
  platforms: PlatformFigures[];

  /** Of each content over all platforms; empty where there is one for all. */
  contents: ContentFigures[];

  /** By each measure; empty without variations. */
  leaders: {
    measure: 'CLICKS' | 'GOAL';
    variation: number;

    /** How likely it is the best of them. */
    bestPercent: number;

    /** So likely that the figures name it. */
    isBest: boolean;
  }[];
  winner: {
    /** What everybody gets who was not sent to yet; null: by the shares. */
    variation: number | null;
    namedAt: string | null;
    namedBy: string | null;

    /** The campaign finds the best by itself. */
    isLearned: boolean;
  };
};

export type ContentFigures = {
  /** Null: all variations. */
  variation: number | null;

  /** Null: all locales. */
  locale: string | null;

  /** Devices of the runs, each once a run, whatever became of their messages. */
  devices: number;
  attempted: number;
  accepted: number;
  failed: number;
  gone: number;

  /** Messages that were shown, each once. */
  shown: number;

  /** Messages that were clicked, each once. */
  clicked: number;

  /** Every report. */
  impressions: number;
  clicks: number;

  /** Of the accepted messages. */
  shownRate: FigureRate | null;

  /** Of the accepted messages. */
  clickedRate: FigureRate | null;

  /** Whom it was meant for, each once a run; null: not counted. */
  eligibleUsers: number | null;
  goals: {
    name: string;

    /** Events. */
    total: number;

    /** Each once a run. */
    users: number;
    revenue: number | null;
    currency: string | null;

    /** Of the eligible users. */
    rate: FigureRate | null;
  }[];
};

/** Percent, with the bounds of its 95 % interval. */
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

  /** With a device that is sent to; null: not counted. */
  reachableUsers: number | null;

  /** With a device that has the app. */
  installedUsers: number | null;
  all: ContentFigures;
  contents: ContentFigures[];
  groups: {
    /** Null: those whom the message was meant for. */
    group: 'GLOBAL_CONTROL_GROUP' | 'CAMPAIGN_CONTROL_GROUP' | null;
    users: number;
    goals: {
      name: string;
      total: number;
      users: number;

      /** Of its users. */
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
