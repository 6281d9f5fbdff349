import type { Subscription } from './store.ts';

/** `permission-…` is the user's choice; `service` is Carillon's; `push-service` is the browser's or its network's. */
export type SubscribeFault = 'unsupported' | 'permission-denied' | 'permission-dismissed' | 'service' | 'push-service';

const sentences: Record<SubscribeFault, string> = {
  unsupported: 'This browser, or this page (https or localhost is needed), has no web push.',
  'permission-denied': 'Notifications are blocked for this site.',
  'permission-dismissed': 'The question about notifications was closed without an answer.',
  service: 'The service gave no key to subscribe with: it cannot be reached, or has no Web Push credential.',
  'push-service': 'The browser could not reach its push service.',
};

export class SubscribeError extends Error {
  override readonly name = 'SubscribeError';
  readonly code: SubscribeFault;

  constructor(code: SubscribeFault, cause?: unknown) {
    super(sentences[code], { cause });
    this.code = code;
  }
}

export type SubscribeOptions = {
  workerUrl: string;
  /** Registers, and returns the key of the service with the subscription that it knows. */
  prepare: () => Promise<{ publicKey: string | undefined; known: Subscription | null }>;
  store: (subscription: Subscription) => Promise<void>;
};

// Some browsers try for ever to reach their push service.
const subscribeMilliseconds = 20_000;

/**
 * Asks for permission and subscribes. A subscription under another key is replaced. Browsers with declarative web push subscribe
 * without a worker (https://webkit.org/blog/16535/meet-declarative-web-push/); the worker then only reports.
 *
 * @throws SubscribeError
 */
export async function subscribeBrowser({ workerUrl, prepare, store }: SubscribeOptions): Promise<void> {
  const declarative = (window as { pushManager?: PushManager }).pushManager;
  if (!('Notification' in window) || !(declarative ?? navigator.serviceWorker)) throw new SubscribeError('unsupported');
  const permission = await Notification.requestPermission();
  if (permission !== 'granted')
    throw new SubscribeError(permission === 'denied' ? 'permission-denied' : 'permission-dismissed');
  const { publicKey, known } = await prepare();
  if (publicKey === undefined) throw new SubscribeError('service');
  const registration = await register(workerUrl, declarative !== undefined);
  const manager = declarative ?? registration?.pushManager;
  if (!manager) throw new SubscribeError('unsupported');
  const existing = await manager.getSubscription();
  // One that this installation does not know belongs to an earlier one, which still holds it.
  const isOwn = existing?.endpoint === known?.endpoint && toText(existing?.options.applicationServerKey) === publicKey;
  if (existing && !isOwn) await existing.unsubscribe();
  try {
    const subscription = await withinTime(
      manager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey }),
    );
    // Chrome and Edge return a dead endpoint if a page subscribes right after it unsubscribed.
    if (new URL(subscription.endpoint).hostname === 'permanently-removed.invalid')
      throw new Error('the subscription is dead');
    await store(subscription.toJSON() as Subscription);
  } catch (error) {
    throw new SubscribeError('push-service', error);
  }
}

/** Not `serviceWorker.ready`, which waits for ever on a page outside the worker's scope. */
async function register(workerUrl: string, isOptional: boolean): Promise<ServiceWorkerRegistration | undefined> {
  try {
    const registration = await navigator.serviceWorker.register(workerUrl);
    const worker = registration.active ?? registration.waiting ?? registration.installing;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (worker?.state === 'activated') resolve();
        else if (!worker || worker.state === 'redundant') reject(new SubscribeError('unsupported'));
      };
      worker?.addEventListener('statechange', look);
      look();
    });
    return registration;
  } catch (error) {
    if (isOptional) return undefined;
    throw error;
  }
}

async function withinTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), subscribeMilliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function toText(key: ArrayBuffer | null | undefined): string {
  const text = String.fromCharCode(...new Uint8Array(key ?? new ArrayBuffer(0)));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
