import { read } from './store.ts';
import type { State } from './store.ts';
import { call } from './sync.ts';

/** A message in the inbox of the signed-in user. */
export type InboxMessage = {
  /** The same on all devices of the user. */
  id: string;
  title: string;
  message: string;
  /** A web address or a deep link of an app; null: none. */
  link: string | null;
  imageUrl: string | null;
  data: Record<string, string>;
  tags: string[];
  campaignId: string;
  sentAt: Date;
  expiresAt: Date;
  isRead: boolean;
  isArchived: boolean;
};

export type InboxPage = {
  /** Newest first. */
  messages: InboxMessage[];
  unreadCount: number;
  /** For the next page; null: this is the last one. */
  nextCursor: string | null;
};

export type InboxQuery = {
  /** Messages in the page, 1 to 100; default 25. */
  limit?: number;
  cursor?: string;
  tag?: string;
  /** True: the archived messages instead of the others. */
  isArchived?: boolean;
};

/** Which messages: up to 100 ids, or all that are not archived and were sent up to a time. */
export type InboxTarget = readonly string[] | { allUntil: Date };
export type InboxMark = { isRead?: boolean; isArchived?: boolean };

/** What changed. After a sign-out, and before a sign-in, `isSignedIn` is false and nothing of the earlier user is known any more. */
export type InboxUpdate = {
  isSignedIn: boolean;
  unreadCount: number;
  /** New messages, and those that were marked; each replaces the earlier one with its id. */
  messages: InboxMessage[];
  /** False: more has changed, so read the first page again. */
  isComplete: boolean;
};

/** Why the inbox could not be read or marked; the codes mean the same as those of topics. */
export type InboxErrorCode = 'signed-out' | 'offline' | 'service';

export class InboxError extends Error {
  override readonly name = 'InboxError';
  readonly code: InboxErrorCode;

  constructor(code: InboxErrorCode) {
    super(code);
    this.code = code;
  }
}

type SentMessage = {
  id: string;
  title: string;
  message: string;
  link: string | null;
  image_url: string | null;
  data: Record<string, string>;
  tags: string[];
  campaign_id: string;
  sent_at: string;
  expires_at: string;
  read_at: string | null;
  archived_at: string | null;
};
type SentUpdate = { unread_count: number; messages: SentMessage[]; complete: boolean };

/** Reads a page. Nothing is stored on the device. @throws InboxError */
export async function readInbox({ limit, cursor, tag, isArchived }: InboxQuery): Promise<InboxPage> {
  const asked = { limit, cursor, tag, archived: isArchived ? 'true' : undefined };
  const sent = Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const body = await ask({ method: 'GET', query: `?${new URLSearchParams(sent)}` });
  const { messages, unread_count, next_cursor } = body as SentUpdate & { next_cursor: string | null };
  return { messages: messages.map(toMessage), unreadCount: unread_count, nextCursor: next_cursor };
}

/** Marks messages. @returns how many are unread then @throws InboxError; nothing is marked then, also offline */
export async function markInbox(target: InboxTarget, { isRead, isArchived }: InboxMark): Promise<number> {
  const which = 'allUntil' in target ? { all: true, until: target.allUntil.toISOString() } : { ids: target };
  const body = await ask({ method: 'PATCH', query: '', body: { ...which, read: isRead, archived: isArchived } });
  return (body as { unread_count: number }).unread_count;
}

async function ask(request: { method: string; query: string; body?: unknown }): Promise<unknown> {
  const state = await read();
  if (!isSignedIn(state)) throw new InboxError('signed-out');
  const { method, query } = request;
  const path = `/installations/${state.id}/inbox${query}`;
  const { status, code, body } = await call(
    state,
    request.body ? { method, path, body: request.body } : { method, path },
  );
  if (status === 200) return body;
  if (status === 0) throw new InboxError('offline');
  throw new InboxError(code === 'INSTALLATION_SIGNED_OUT' ? 'signed-out' : 'service');
}

function isSignedIn(state: State | undefined): state is State {
  return state?.isRegistered === true && state.user !== undefined && state.serviceUser === state.user;
}

function toMessage(sent: SentMessage): InboxMessage {
  const { id, title, message, link, data, tags } = sent;
  return {
    ...{ id, title, message, link, data, tags, imageUrl: sent.image_url, campaignId: sent.campaign_id },
    ...{ sentAt: new Date(sent.sent_at), expiresAt: new Date(sent.expires_at) },
    ...{ isRead: sent.read_at !== null, isArchived: sent.archived_at !== null },
  };
}

const listeners = new Set<(update: InboxUpdate) => void>();
const nobody: InboxUpdate = { isSignedIn: false, unreadCount: 0, messages: [], isComplete: true };
const firstWait = 1_000;
const maxWait = 60_000;
let isFollowing = false;
let restart: () => void = () => undefined;

/** Calls the listener with what changes, while the page is visible. @returns a function that ends it */
export function followInbox(listener: (update: InboxUpdate) => void): () => void {
  listeners.add(listener);
  if (isFollowing) restart();
  else void follow();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) restart();
  };
}

/** Somebody signed in or out: what is known of the earlier user is withdrawn at once, also offline. */
export function restartInbox({ isOver }: { isOver: boolean }): void {
  if (isOver) tell(nobody);
  restart();
}

function tell(update: InboxUpdate): void {
  for (const listener of listeners) listener(update);
}

/** Holds one stream while there are listeners. A stream that breaks is opened again, later each time. */
async function follow(): Promise<void> {
  isFollowing = true;
  let failures = 0;
  while (listeners.size > 0) {
    const ended = new AbortController();
    restart = () => {
      failures = 0;
      ended.abort();
    };
    const state = await read().catch(() => undefined);
    if (ended.signal.aborted) continue;
    if (!isSignedIn(state) || document.hidden) await untilWoken(ended.signal, maxWait);
    else {
      const wasOpen = await readStream(state, ended.signal);
      failures = wasOpen ? 0 : failures + 1;
      if (!ended.signal.aborted) await untilWoken(ended.signal, Math.min(maxWait, firstWait * 2 ** failures));
    }
  }
  isFollowing = false;
}

/** Resolves when the wait is over, the page becomes visible, or the stream is to begin again. */
function untilWoken(signal: AbortSignal, wait: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', end);
      resolve();
    };
    // Browsers that lost the same service do not come back at the same instant.
    const timer = setTimeout(end, wait * (1 - Math.random() / 2));
    document.addEventListener('visibilitychange', end);
    signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * Reads one stream until it ends. The first event of each has the number of unread messages but not what changed before it, so the
 * first update asks to read the page again.
 *
 * @returns true if it was opened
 */
async function readStream(state: State, signal: AbortSignal): Promise<boolean> {
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  const hide = (): void => void (document.hidden && stop());
  signal.addEventListener('abort', stop, { once: true });
  document.addEventListener('visibilitychange', hide);
  let isOpen = false;
  try {
    const response = await fetch(`${state.host}/v1/app/installations/${state.id}/inbox/events`, {
      headers: { authorization: `Bearer ${state.appKey}`, 'carillon-installation-secret': state.secret },
      ...{ credentials: 'omit', cache: 'no-store', signal: ended.signal },
    });
    if (!response.ok || !response.body) return false;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return isOpen;
      const blocks = (text + value).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const data = block.split('\n').find((line) => line.startsWith('data: '));
        // An event that was on its way when the user signed out is of the user who left.
        if (!data || ended.signal.aborted) continue;
        const { unread_count, messages, complete } = JSON.parse(data.slice(6)) as SentUpdate;
        const isComplete = complete && isOpen;
        tell({ isSignedIn: true, unreadCount: unread_count, messages: messages.map(toMessage), isComplete });
        isOpen = true;
      }
    }
  } catch {
    return isOpen;
  } finally {
    stop();
    document.removeEventListener('visibilitychange', hide);
  }
}
