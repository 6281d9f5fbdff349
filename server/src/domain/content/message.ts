import { hash } from 'node:crypto';
import type { ReportPass } from '../events/interactions.ts';
import type { SettledPayload, Platform, BadgeChange, BadgeSetting, ContentOptions } from './content.ts';
import type { OwnContent } from './texts.ts';

export type AndroidMessage = {
  platform: 'ANDROID';
  content: OwnContent['ANDROID'];
  priority: 'HIGH' | 'NORMAL';
  payload: SettledPayload;
  /** True if the app runs and shows nothing. */
  isSilent: boolean;
};
export type IosMessage = {
  platform: 'IOS';
  content: OwnContent['IOS'];
  priority: 1 | 5 | 10;
  /** Name of the app's object next to `aps`. */
  dataPrefix: string;
  isSilent: boolean;
};
export type WebMessage = {
  platform: 'WEB';
  content: OwnContent['WEB'];
  urgency: 'low' | 'normal' | 'high';
  /** The link for a browser that opens it without the worker. It leads through this service, which counts the click. */
  link?: string;
};

/** One message for one device, rendered and ready to be planned by a provider. */
export type Message = (AndroidMessage | IosMessage | WebMessage) & {
  workspaceId: string;
  campaignId: string;
  runId: string;
  /** The language tag of its texts; absent: it has the texts for all other languages. */
  language?: string;
  /** How long the provider stores it while the device is unreachable; 0 = do not store. */
  ttlSeconds: number;
  /** When the app removes it from its inbox. */
  inboxExpiresAt?: Date;
  /** The same on every attempt, so that a repeat after a crash replaces the first message on the device. */
  identity: MessageIdentity;
  /**
   * Lets the device report that the message was shown, clicked or closed; also the same on every attempt. Absent if there is
   * nothing to report, as in a message that only checks a credential.
   */
  report?: ReportPass;
  /** The message carries only this code to an app, which shows nothing (decision 0079). */
  challenge?: TokenChallenge;
};

/** Proves that the device of an installation has a push token: the app sends the code back. */
export type TokenChallenge = { installationId: string; code: string };

export type MessageIdentity = {
  /** UUID for `apns-id`, which Apple echoes. */
  id: string;
  /** 32 base64url characters: fits `apns-collapse-id` (64 bytes) and Web Push `Topic` (32 characters, RFC 8030 §5.4). */
  collapseId: string;
};

/**
 * Returns the identity of (run, device), which is equal on every attempt of every worker. If the marketer gave a
 * `collapseReplaceKey`, that key decides which message replaces which, so two campaigns can share it.
 */
export function messageIdentity(runId: string, deviceId: string, collapseReplaceKey?: string): MessageIdentity {
  // As a text: a digest in a separate buffer costs three times as much (decision 0027).
  const hex = hash('sha256', `${runId}:${deviceId}`, 'hex');
  // Version 8 (RFC 9562 §5.8): a UUID with bits that we may define.
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  const collapse = collapseReplaceKey === undefined ? hex : hash('sha256', `key:${collapseReplaceKey}`, 'hex');
  return { id, collapseId: Buffer.from(collapse.slice(0, 48), 'hex').toString('base64url') };
}

type AnyOptions = Partial<ContentOptions['IOS'] & ContentOptions['WEB']>;

/** Returns how a content changes the number on the app's icon. Browsers use another name for it. */
export function badgeOf(content: OwnContent[Platform] | undefined): BadgeChange | undefined {
  const options = content?.options as AnyOptions | undefined;
  return options?.badge ?? options?.appBadge;
}

/** Returns the content with the number that was counted for one device. */
export function withBadge<Content extends OwnContent[Platform]>(content: Content, badge: BadgeSetting): Content {
  const options = content.options as AnyOptions;
  return { ...content, options: { ...options, [options.badge === undefined ? 'appBadge' : 'badge']: badge } };
}
