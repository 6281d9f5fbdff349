import { createHash } from 'node:crypto';
import type { Platform } from './content/content.ts';
import type { OwnContent } from './content/texts.ts';
import { isId } from './ids.ts';
import type { UserKey } from './users/users.ts';
import { unknownCase } from './unknown-case.ts';

/**
 * Where the messages of a campaign go besides phones and browsers. `INBOX`: to the inbox only. `BOTH`: a push, and the inbox of
 * every user. `EITHER`: a push, and the inbox of users whom no push reaches.
 */
export const inboxTargets = ['INBOX', 'BOTH', 'EITHER'] as const;
export type InboxTarget = (typeof inboxTargets)[number];

/** The inbox of a campaign, stored with its settings. */
export type InboxSettings = { sendTo: InboxTarget; expiryHours: number; tags?: readonly string[] };

/** What a user reads. */
export type InboxContent = {
  title: string;
  message: string;
  /** A web address or a deep link of the app; null: the message leads nowhere. */
  link: string | null;
  imageUrl: string | null;
  /** Key-value pairs for the app. */
  data: Record<string, string>;
};

/** The platforms in the order in which the inbox takes the content of a campaign for several of them. */
const contentOrder: readonly Platform[] = ['ANDROID', 'IOS', 'WEB'];

/** Returns the platform whose content the inbox shows. Undefined if the campaign has no content. */
export function platformOfInbox(content: Partial<Record<Platform, unknown>>): Platform | undefined {
  return contentOrder.find((platform) => content[platform] !== undefined);
}

/** Returns what the inbox shows of a message. */
export function toInboxContent<P extends Platform>(platform: P, content: OwnContent[P]): InboxContent {
  const { title, message } = content;
  switch (platform) {
    case 'ANDROID':
    case 'IOS': {
      const { defaultAction, richContent } = content as OwnContent['ANDROID' | 'IOS'];
      const image = richContent.find(({ type }) => type === 'image');
      return {
        ...{ title, message, link: defaultAction?.value || null, imageUrl: image?.value ?? null },
        data: defaultAction?.keyValuePairs ?? {},
      };
    }
    case 'WEB': {
      const { redirectUrl, imageUrl } = content as OwnContent['WEB'];
      return { title, message, link: redirectUrl || null, imageUrl: imageUrl ?? null, data: {} };
    }
    default:
      return unknownCase(platform);
  }
}

/** Returns the id of a content that many users get. Equal contents have equal ids, so that a crash adds none. */
export function inboxContentId(content: InboxContent): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);
}

/** Where a page of an inbox continues: after this message, in the order from new to old. */
export type InboxPosition = { at: Date; runId: string };

export function writeInboxCursor({ at, runId }: InboxPosition): string {
  return `${at.getTime().toString(36)}.${runId}`;
}

/** Returns undefined for a text that is not a cursor. */
export function readInboxCursor(text: string): InboxPosition | undefined {
  const [time, runId] = text.split('.') as [string, string | undefined];
  if (!/^[0-9a-z]{1,9}$/.test(time) || runId === undefined || !isId(runId)) return undefined;
  return { at: new Date(Number.parseInt(time, 36)), runId };
}

/** What nodes are notified of: a run kept messages, or messages of a user changed. */
export type InboxChange = { runId: string } | UserKey;

const ringPrefix = 'inbox ';

/** Writes a notification of at most fifty characters. */
export function inboxRing(change: InboxChange): string {
  return 'runId' in change ? `${ringPrefix}${change.runId}` : `${ringPrefix}${change.bucket}/${change.userId}`;
}

/** Returns undefined for a notification about something else. */
export function readInboxRing(payload: string): InboxChange | undefined {
  if (!payload.startsWith(ringPrefix)) return undefined;
  const text = payload.slice(ringPrefix.length);
  if (isId(text)) return { runId: text };
  const [bucket, userId] = text.split('/') as [string, string | undefined];
  return userId === undefined || !isId(userId) ? undefined : { bucket: Number(bucket), userId };
}
