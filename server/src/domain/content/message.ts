import { hash } from 'node:crypto';
import type { ReportPass } from '../events/interactions.ts';
import type { SettledPayload, Platform, BadgeChange, BadgeSetting, ContentOptions } from './content.ts';
import type { OwnContent } from './texts.ts';

export type AndroidMessage = {
  platform: 'ANDROID';
  content: OwnContent['ANDROID'];
  priority: 'HIGH' | 'NORMAL';
  payload: SettledPayload;
  /** The app runs, and nobody sees anything. */
  isSilent: boolean;
};
export type IosMessage = {
  platform: 'IOS';
  content: OwnContent['IOS'];
  priority: 1 | 5 | 10;
  /** Name of the object beside `aps` that is the app's. */
  dataPrefix: string;
  isSilent: boolean;
};
export type WebMessage = {
  platform: 'WEB';
  content: OwnContent['WEB'];
  urgency: 'low' | 'normal' | 'high';
  /** Where a browser goes that opens it without the worker: by way of this service, which counts the click. */
  link?: string;
};

/** One message for one device, rendered and ready to be planned by a provider. */
export type Message = (AndroidMessage | IosMessage | WebMessage) & {
  workspaceId: string;
  campaignId: string;
  runId: string;
  /** The tag under which its texts stand among the locales; absent: they are those for everybody else. */
  language?: string;
  /** Lives this long at the provider when the device is away; 0 = do not store. */
  ttlSeconds: number;
  /** When the app takes it out of its inbox. */
  inboxExpiresAt?: Date;
  /** The same on every attempt, so that a repeat after a crash replaces the first on the device. */
  identity: MessageIdentity;
  /**
   * With it the device reports that the message was shown, clicked or closed; the same on every attempt too. Absent if
   * there is nothing to report, as in a message that only checks a credential.
   */
  report?: ReportPass;
};

export type MessageIdentity = {
  /** UUID for `apns-id`, which Apple echoes. */
  id: string;
  /** 32 base64url characters: fits `apns-collapse-id` (64 bytes) and Web Push `Topic` (32 characters, RFC 8030 §5.4). */
  collapseId: string;
};

/**
 * The identity of (run, device): equal on every attempt of every worker. When the marketer gave a
 * `collapseReplaceKey`, that key decides what replaces what, so two campaigns can share it.
 */
export function messageIdentity(runId: string, deviceId: string, collapseReplaceKey?: string): MessageIdentity {
  // As a text: a digest in a buffer of its own costs three times as much (decision 0027).
  const hex = hash('sha256', `${runId}:${deviceId}`, 'hex');
  // Version 8 (RFC 9562 §5.8): a UUID whose bits are ours to define.
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  const collapse = collapseReplaceKey === undefined ? hex : hash('sha256', `key:${collapseReplaceKey}`, 'hex');
  return { id, collapseId: Buffer.from(collapse.slice(0, 48), 'hex').toString('base64url') };
}

type AnyOptions = Partial<ContentOptions['IOS'] & ContentOptions['WEB']>;

/** What a content does to the number on the app's icon; browsers have another name for it. */
export function badgeOf(content: OwnContent[Platform] | undefined): BadgeChange | undefined {
  const options = content?.options as AnyOptions | undefined;
  return options?.badge ?? options?.appBadge;
}

/** The content with the number that was counted for one device. */
export function withBadge<Content extends OwnContent[Platform]>(content: Content, badge: BadgeSetting): Content {
  const options = content.options as AnyOptions;
  return { ...content, options: { ...options, [options.badge === undefined ? 'appBadge' : 'badge']: badge } };
}
