import { change, read } from './store.ts';
import type { State, Subscription } from './store.ts';
import { enqueueLogout, ensureRegistered, flush, iso } from './sync.ts';
import type { Notice } from './sync.ts';
import { followInbox, markInbox, readInbox, restartInbox } from './inbox.ts';
import type { InboxMark, InboxMessage, InboxPage, InboxQuery, InboxTarget, InboxUpdate } from './inbox.ts';
import { askSoftly } from './soft-prompt.ts';
import type { SoftPrompt } from './soft-prompt.ts';
import { askTopics } from './topics.ts';
import type { Topic } from './topics.ts';
import { subscribeBrowser } from './subscribe.ts';

export type StartOptions = {
  /** Path of the service worker on your site. Default `/carillon-service-worker.js`. */
  workerUrl?: string;
};

/** A value of an attribute: text up to 1,024 characters, number, flag, null, or a list of them. */
export type Value = string | number | boolean | null | (string | number | boolean | null)[];
export type Values = Record<string, Value>;

/** A push, as the service sent it. */
export type Message = { title?: string; message?: string; [member: string]: unknown };

const messageListeners = new Set<(message: Message) => void>();
const noticeListeners = new Set<(notice: Notice) => void>();
let workerUrl = '/carillon-service-worker.js';
let timer: ReturnType<typeof setTimeout> | undefined;
let isListening = false;

const tell = (notice: Notice): void => noticeListeners.forEach((listener) => listener(notice));

/** Sends what waits, and plans the next attempt. Never rejects: what could not be sent stays in the queue. */
async function sync(): Promise<void> {
  clearTimeout(timer);
  const wait = await flush(tell).catch(() => 60_000);
  if (wait !== undefined) timer = setTimeout(() => void sync(), wait);
}

/** Changes the state and sends it; the promise settles when the attempt is over, whether or not it succeeded. */
async function apply(work: (state: State) => void): Promise<void> {
  await change(work);
  await sync();
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  addEventListener('online', () => void apply((state) => void (state.waitUntil = 0)));
  navigator.serviceWorker?.addEventListener(
    'message',
    ({ data }: MessageEvent<{ type?: string; payload?: Message }>) => {
      if (data?.type === 'carillon-push') messageListeners.forEach((listener) => listener(data.payload ?? {}));
    },
  );
}

export const Carillon = {
  /**
   * Starts. Call it once on every page. Sends what an earlier page could not send.
   *
   * @param appKey a key of kind app; it is public
   * @param host the address of the service, such as `https://push.example.com`
   */
  async start(appKey: string, host: string, options: StartOptions = {}): Promise<void> {
    workerUrl = options.workerUrl ?? workerUrl;
    listen();
    const address = new URL(host).origin;
    await apply((state) => {
      // Another service knows nothing of this installation.
      if (state.host !== '' && state.host !== address) [state.isRegistered, state.serviceUser] = [false, undefined];
      [state.appKey, state.host] = [appKey, address];
      if (state.queue.length > 0) ensureRegistered(state);
    });
  },

  /**
   * Asks the browser for permission and subscribes. Call it from a click: browsers refuse it otherwise.
   *
   * @throws SubscribeError
   */
  async subscribe(): Promise<void> {
    await subscribeBrowser({
      workerUrl,
      async prepare() {
        await apply(ensureRegistered);
        const state = await read();
        return { publicKey: state?.publicKey, known: state?.subscription ?? null };
      },
      store: (subscription: Subscription) =>
        apply((state) => {
          [state.subscription, state.held, state.challenge] = [subscription, undefined, undefined];
          state.queue.push({ kind: 'register', at: Date.now() });
        }),
    });
  },

  /**
   * Shows your own question first, so that a "no" costs nothing: after a "no" to the browser's question it is never shown
   * again. A declined question is not repeated for 30 days.
   *
   * @returns true if the user subscribed
   */
  softPrompt(prompt: SoftPrompt): Promise<boolean> {
    return askSoftly(prompt, () => Carillon.subscribe());
  },

  /**
   * Signs a user in. The token comes from your server and is sent once; it is forgotten when it was used, and at logout. Only
   * a sandbox accepts a user without a token.
   */
  async login(userId: string, identityToken?: string): Promise<void> {
    await apply((state) => {
      if (state.user !== undefined && state.user !== userId) restartInbox({ isOver: true });
      const isPending = state.queue.some(({ kind }) => kind === 'identify' || kind === 'logout');
      if (state.user === userId && state.serviceUser === userId && !isPending) return;
      state.user = userId;
      state.queue = state.queue.filter(({ kind }) => kind !== 'identify');
      const before = state.queue.findIndex(
        (item) => item.kind === 'report' && item.user === userId && state.serviceUser !== userId,
      );
      const item = { kind: 'identify' as const, user: userId, token: identityToken, at: Date.now() };
      state.queue.splice(before < 0 ? state.queue.length : before, 0, item);
      state.waitUntil = 0;
      ensureRegistered(state);
    });
    restartInbox({ isOver: false });
  },

  /**
   * Signs the user out, at once and offline too: pushes for the user are not shown any more, and a token that was not used is
   * forgotten with what only it could have sent.
   */
  logout(): Promise<void> {
    restartInbox({ isOver: true });
    return apply((state) => {
      const { serviceUser } = state;
      state.user = undefined;
      state.queue = state.queue.filter(
        (item) =>
          item.kind !== 'identify' && !(item.kind === 'report' && item.user !== undefined && item.user !== serviceUser),
      );
      if (serviceUser !== undefined) enqueueLogout(state);
      state.waitUntil = 0;
    });
  },

  /** Reports an event of the current user. It is kept for seven days while the service cannot be reached. */
  track(name: string, attributes: Values = {}): Promise<void> {
    return report({ type: 'event', name, attributes });
  },

  /** Sets attributes of the current user; null removes one. The workspace lists the attributes that apps may set. */
  setAttributes(attributes: Values): Promise<void> {
    return report({ type: 'set', attributes });
  },

  optIn: (): Promise<void> => setOptIn(true),

  /** Stops messages to this browser, whoever is signed in, until optIn. */
  optOut: (): Promise<void> => setOptIn(false),

  /** Returns the topics of the workspace, each as the signed-in user has it, after what waits was sent. @throws TopicError */
  async getTopics(): Promise<Topic[]> {
    await sync();
    return askTopics();
  },

  /**
   * Puts the signed-in user into a topic, or takes the user out of it, on all of the user's devices.
   *
   * @returns all topics
   * @throws TopicError; nothing is stored then, also offline
   */
  async setTopic(topic: string, isIn: boolean): Promise<Topic[]> {
    await sync();
    return askTopics({ [topic]: isIn });
  },

  /**
   * Reads a page of the signed-in user's inbox, newest first, after what waits was sent. Nothing of it is stored on the device.
   *
   * @throws InboxError
   */
  async getInbox(query: InboxQuery = {}): Promise<InboxPage> {
    await sync();
    return readInbox(query);
  },

  /**
   * Marks messages as read, unread, archived or not archived, on all of the user's devices.
   *
   * @returns how many are unread then
   * @throws InboxError; nothing is stored then, also offline
   */
  async markInbox(target: InboxTarget, mark: InboxMark): Promise<number> {
    await sync();
    return markInbox(target, mark);
  },

  /**
   * Calls the listener when messages arrive or are marked on any device, and with `isSignedIn: false` when the user signs out. The page
   * holds a connection while it is visible and has a listener. @returns a function that ends it
   */
  onInbox: (listener: (update: InboxUpdate) => void): (() => void) => followInbox(listener),

  /** Calls the listener for each push that arrives while a page of the site is open. @returns a function that ends it */
  onMessage: (listener: (message: Message) => void): (() => void) => addTo(messageListeners, listener),

  /** `identity-needed`: the service needs a new token, so call login again. @returns a function that ends it */
  onNotice: (listener: (notice: Notice) => void): (() => void) => addTo(noticeListeners, listener),
};

function report(body: Record<string, unknown>): Promise<void> {
  return apply((state) => {
    const at = Date.now();
    const item = { ...body, id: crypto.randomUUID(), ...(body['type'] === 'event' ? { time: iso(at) } : {}) };
    state.queue.push({ kind: 'report', user: state.user, body: item, at });
    ensureRegistered(state);
  });
}

function setOptIn(isOptedIn: boolean): Promise<void> {
  return apply((state) => {
    state.isOptedIn = isOptedIn;
    state.queue = state.queue.filter(({ kind }) => kind !== 'change');
    state.queue.push({ kind: 'change', body: { opted_in: isOptedIn }, at: Date.now() });
    ensureRegistered(state);
  });
}

function addTo<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export type { InboxMark, InboxMessage, InboxPage, InboxQuery, InboxTarget, InboxUpdate, Notice, SoftPrompt, Topic };
export { InboxError } from './inbox.ts';
export type { InboxErrorCode } from './inbox.ts';
export { SubscribeError } from './subscribe.ts';
export { TopicError } from './topics.ts';
export type { TopicErrorCode } from './topics.ts';
