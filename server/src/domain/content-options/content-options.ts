import type { PayloadMode } from '../campaigns/android-payload.ts';

/** What a content may say beyond the interface, under the names of the wire: `options` of each platform. */
export type ContentOptions = { ANDROID: AndroidOptions; IOS: IosOptions; WEB: WebOptions };

/** What a phone can be told. */
export type BadgeSetting = { operation: 'set'; value: number } | { operation: 'clear' };

/** `increment` counts for each device by itself; where no device is known it counts from zero. */
export type BadgeChange = BadgeSetting | { operation: 'increment'; value: number };

/** Texts that the app looks up in its own language; the literal ones travel beside them. */
export type LocKeys = {
  titleLocKey?: string;
  titleLocArgs?: string[];
  /** iPhones only. */
  subtitleLocKey?: string;
  subtitleLocArgs?: string[];
  bodyLocKey?: string;
  bodyLocArgs?: string[];
};

export type AndroidOptions = {
  deliveryMode?: PayloadMode;
  visibility?: 'private' | 'public' | 'secret';
  color?: string;
  /** Name of a drawable of the app. */
  icon?: string;
  sticky?: boolean;
  timeoutSeconds?: number;
  badge?: BadgeChange;
  locKeys?: LocKeys;
  directBootOk?: boolean;
  bandwidthConstrainedOk?: boolean;
  restrictedSatelliteOk?: boolean;
  analyticsLabel?: string;
};

/** A button; `action` is its name in reports. */
export type OfferedAction = { action: string; title: string; url: string; iconURL?: string };

/** A critical one sounds although the phone is muted, as loud as it says; Apple grants it to few apps. */
export type IosSound = { name: string } | { name: string; critical: true; volume?: number };

export type IosOptions = {
  interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
  relevanceScore?: number;
  targetContentId?: string;
  filterCriteria?: string;
  sound?: IosSound;
  badge?: BadgeChange;
  contentAvailable?: boolean;
  launchImage?: string;
  locKeys?: LocKeys;
  additionalActions?: OfferedAction[];
};

export type WebOptions = {
  additionalActions?: OfferedAction[];
  badgeURL?: string;
  tag?: string;
  renotify?: boolean;
  silent?: boolean;
  requireInteraction?: boolean;
  lang?: string;
  dir?: 'auto' | 'ltr' | 'rtl';
  /** Milliseconds of vibration and pause in turn. */
  vibrate?: number[];
  /** Milliseconds since 1970. */
  timestamp?: number;
  declarative?: 'auto' | 'always' | 'never';
  appBadge?: BadgeChange;
};
