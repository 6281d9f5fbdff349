/** A browser's subscription as JSON: the `push_id` of a device of platform `web`. */
export type BrowserSubscription = { endpoint: string; keys: { p256dh: string; auth: string } };

export type SubscribeBrowserOptions = {
  /** URL of carillon-service-worker.js on your site; its folder is the scope. */
  workerUrl: string;
  /** URL of the Carillon service that the worker reports to; default: your own origin. */
  serviceUrl?: string;
  /** The workspace's VAPID public key, base64url. */
  publicKey: string;
  /** Time limit for the browser to reach its push service; some browsers try forever. Default 20 s. */
  timeoutMilliseconds?: number;
};

/**
 * The reason why there is no subscription. `permission-…` is the user's choice; `push-service` is the browser or its network.
 */
export type SubscribeBrowserFault = 'unsupported' | 'permission-denied' | 'permission-dismissed' | 'push-service';

export class SubscribeBrowserError extends Error {
  override readonly name = 'SubscribeBrowserError';
  readonly code: SubscribeBrowserFault;

  constructor(code: SubscribeBrowserFault, cause?: unknown) {
    super(sentences[code], cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/**
 * Subscribes this browser to pushes: registers the service worker, asks for permission and subscribes. Call it from a click
 * handler, since browsers reject the permission request otherwise. A subscription with another key is replaced.
 *
 * @throws SubscribeBrowserError, and the browser's own error when the worker's file cannot be loaded
 */
export async function subscribeBrowser(options: SubscribeBrowserOptions): Promise<BrowserSubscription> {
  const { navigator, Notification, location } = globalThis as unknown as BrowserGlobals;
  if (!navigator?.serviceWorker || !Notification) throw new SubscribeBrowserError('unsupported');
  const workerUrl = new URL(options.workerUrl, location.href);
  if (options.serviceUrl !== undefined) workerUrl.searchParams.set('service', options.serviceUrl);
  const registration = await navigator.serviceWorker.register(workerUrl.href);
  await untilActive(registration);
  if (!registration.pushManager) throw new SubscribeBrowserError('unsupported');
  const permission = await Notification.requestPermission();
  if (permission !== 'granted')
    throw new SubscribeBrowserError(permission === 'denied' ? 'permission-denied' : 'permission-dismissed');
  const applicationServerKey = decodeBase64url(options.publicKey);
  const existing = await registration.pushManager.getSubscription();
  if (existing && !isSameKey(existing.options?.applicationServerKey, applicationServerKey))
    await existing.unsubscribe();
  try {
    // `userVisibleOnly`: every push shows a notification; browsers accept nothing else.
    const subscribing = registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
    return (await withinTime(subscribing, options.timeoutMilliseconds ?? 20_000)).toJSON();
  } catch (error) {
    throw new SubscribeBrowserError('push-service', error);
  }
}

/**
 * Ends this browser's subscription: it no longer receives pushes. The worker stays, since it may be your site's own.
 *
 * @returns the previous subscription, so that your server can opt out its device; undefined if there was none
 */
export async function unsubscribeBrowser({
  workerUrl,
}: Pick<SubscribeBrowserOptions, 'workerUrl'>): Promise<BrowserSubscription | undefined> {
  const { navigator, location } = globalThis as unknown as BrowserGlobals;
  const registration = await navigator?.serviceWorker?.getRegistration(new URL(workerUrl, location?.href).href);
  const subscription = await registration?.pushManager?.getSubscription();
  if (!subscription) return undefined;
  const ended = subscription.toJSON();
  return (await subscription.unsubscribe()) ? ended : undefined;
}

const sentences: Record<SubscribeBrowserFault, string> = {
  unsupported: 'This browser, or this page (https or localhost is needed), has no web push.',
  'permission-denied': 'Notifications are blocked for this site.',
  'permission-dismissed': 'The question about notifications was closed without an answer.',
  'push-service': 'The browser could not reach its push service.',
};

/** The few members of the DOM that this file uses, so that it compiles without DOM types. */
type BrowserGlobals = {
  location: { href: string };
  navigator?: {
    serviceWorker?: {
      register(url: string): Promise<Registration>;
      getRegistration(url: string): Promise<Registration | undefined>;
    };
  };
  Notification?: { requestPermission(): Promise<'granted' | 'denied' | 'default'> };
};

type ServiceWorker = EventTarget & { state: string };

type Registration = {
  active: ServiceWorker | null;
  waiting: ServiceWorker | null;
  installing: ServiceWorker | null;
  pushManager?: {
    getSubscription(): Promise<Subscription | null>;
    subscribe(options: { userVisibleOnly: true; applicationServerKey: Uint8Array }): Promise<Subscription>;
  };
};

type Subscription = {
  options?: { applicationServerKey?: ArrayBuffer | null };
  unsubscribe(): Promise<boolean>;
  toJSON(): BrowserSubscription;
};

/** Not `serviceWorker.ready`, which waits forever on a page outside the worker's scope. */
function untilActive({ active, waiting, installing }: Registration): Promise<void> {
  const worker = active ?? waiting ?? installing;
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (worker?.state === 'activated') resolve();
      else if (!worker || worker.state === 'redundant') reject(new SubscribeBrowserError('unsupported'));
    };
    worker?.addEventListener('statechange', look);
    look();
  });
}

async function withinTime<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  let timer: unknown;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds / 1000} s`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer as number));
}

function decodeBase64url(text: string): Uint8Array {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function isSameKey(existing: ArrayBuffer | null | undefined, wanted: Uint8Array): boolean {
  if (!existing) return false;
  const bytes = new Uint8Array(existing);
  return bytes.length === wanted.length && bytes.every((byte, index) => byte === wanted[index]);
}
