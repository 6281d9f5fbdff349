import { change, makeIdentity, read } from './store.ts';
import type { Item, State } from './store.ts';

/** What the page is told. `identity-needed`: call login again, with a new token. `subscription-lost`: call subscribe again. */
export type Notice = 'identity-needed' | 'subscription-lost';

type Answer = { status: number; code?: string; body?: Record<string, unknown>; retryAfterSeconds?: number };

const maxBatch = 50;
const maxItemAge = 7 * 86_400_000;
const maxWait = 3_600_000;
/** A code for a held subscription that is not here by then is not expected any more. */
const maxChallengeWait = 60_000;

/**
 * Sends what waits, in order, until nothing more can be sent now. One tab or the worker does it at a time.
 *
 * @returns milliseconds until the next attempt; undefined if none is needed
 */
export function flush(onNotice: (notice: Notice) => void = () => undefined): Promise<number | undefined> {
  return navigator.locks.request('carillon', async () => {
    for (;;) {
      const state = await read();
      if (!state || state.appKey === '') return undefined;
      const now = Date.now();
      const challengeWait = state.held && maxChallengeWait - Math.abs(now - state.held.at);
      if (challengeWait !== undefined && challengeWait <= 0) {
        await change((current) => void (current.held = undefined));
        onNotice('subscription-lost');
        continue;
      }
      // A clock that was set back must not delay this for more than the longest wait.
      if (state.waitUntil > now && state.waitUntil - now <= maxWait) return state.waitUntil - now;
      const items = nextItems(state);
      if (items.length === 0) return challengeWait;
      const notice = await settle(items, await send(state, items), state);
      if (notice) onNotice(notice);
    }
  });
}

/** Returns the first items that can be sent together. Behind a sign-in that waits, only what needs no user can be sent. */
function nextItems({ queue, serviceUser, isRegistered }: State): Item[] {
  let isHeld = false;
  for (const [index, item] of queue.entries()) {
    if (!isRegistered && item.kind !== 'register') continue;
    const isOfUser = item.kind === 'identify' || item.kind === 'report' || item.kind === 'logout';
    if (isHeld && isOfUser) continue;
    if (item.kind === 'identify' && item.isWaiting) isHeld = true;
    // The service knows another user: the sign-in is on its way, or was lost.
    else if (item.kind === 'report' && item.user !== serviceUser) isHeld = true;
    else if (item.kind !== 'report' && item.kind !== 'receipt') return [item];
    else return takeSame(queue.slice(index, index + maxBatch));
  }
  return [];
}

/** Returns the first items that belong into one request: of one kind and one user. */
function takeSame(items: Item[]): Item[] {
  const groupOf = (item: Item): string => JSON.stringify([item.kind, (item as { user?: string }).user]);
  const end = items.findIndex((item) => groupOf(item) !== groupOf(items[0]!));
  return end < 0 ? items : items.slice(0, end);
}

async function send(state: State, items: Item[]): Promise<Answer> {
  const { id } = state;
  const [item] = items as [Item];
  const own = `/installations/${id}`;
  const [method, path, body] = ((): [string, string, unknown] => {
    switch (item.kind) {
      case 'register':
        return ['POST', '/installations', registrationOf(state)];
      case 'change':
        return ['PATCH', own, item.body];
      case 'identify':
        return ['POST', `${own}/identify`, { user_id: item.user, identity_token: item.token }];
      case 'logout':
        return ['POST', `${own}/logout`, undefined];
      case 'report':
        return ['POST', '/events', { installation_id: id, sent_at: iso(Date.now()), events: items.map(bodyOf) }];
      case 'receipt':
        return ['POST', '/receipts', { installation_id: id, receipts: items.map(bodyOf) }];
    }
  })();
  return call(state, { method, path, body });
}

type Request = { method: string; path: string; body?: unknown };

/** Calls the service as this installation. Status 0: it could not be reached. */
export async function call(state: State, { method, path, body }: Request): Promise<Answer> {
  try {
    const response = await fetch(`${state.host}/v1/app${path}`, {
      ...{ method, credentials: 'omit', keepalive: true },
      headers: {
        authorization: `Bearer ${state.appKey}`,
        'carillon-installation-secret': state.secret,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    return {
      ...{ status: response.status, code: String(answer['code'] ?? ''), body: answer },
      retryAfterSeconds: Number(response.headers.get('retry-after') ?? 0),
    };
  } catch {
    return { status: 0 };
  }
}

const bodyOf = (item: Item): unknown => (item as { body?: unknown }).body;

export const iso = (at: number): string => new Date(at).toISOString();

function registrationOf({ id, subscription, isOptedIn, challenge }: State): Record<string, unknown> {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    ...{ installation_id: id, platform: 'WEB', push_token: subscription, opted_in: isOptedIn },
    ...(challenge ? { push_token_challenge: challenge } : {}),
    ...{ locale: navigator.language, ...(timeZone ? { time_zone: timeZone } : {}) },
  };
}

/** Applies an answer to the state as it is now: logins and logouts may have happened meanwhile. */
function settle(items: Item[], answer: Answer, sent: State): Promise<Notice | undefined> {
  return change((state): Notice | undefined => {
    const [item] = items as [Item];
    const { status, code } = answer;
    const isSent = (queued: Item): boolean => items.some((one) => JSON.stringify(one) === JSON.stringify(queued));
    const remove = (): undefined => {
      state.queue = state.queue.filter((queued) => !isSent(queued));
    };
    if (status === 200) {
      [state.failures, state.waitUntil] = [0, 0];
      // An installation that was replaced meanwhile owns nothing of this answer.
      if (state.id === sent.id) applySuccess(state, item, answer.body ?? {});
      return remove();
    }
    if (code === 'INSTALLATION_UNKNOWN') return forgetInstallation(state, item, remove);
    if (code === 'IDENTITY_TOKEN_INVALID') {
      // A logout or another login has removed it.
      const queued = state.queue.find(isSent);
      if (queued?.kind !== 'identify') return undefined;
      delete queued.token;
      queued.isWaiting = true;
      return 'identity-needed';
    }
    if (code === 'PUSH_TOKEN_HELD') {
      if (state.subscription) state.held = { subscription: state.subscription, at: Date.now() };
      [state.subscription, state.challenge] = [null, undefined];
      return undefined;
    }
    if (status === 400 || status === 413 || Date.now() - item.at > maxItemAge) return remove();
    state.failures += 1;
    const wait = Math.max(2 ** Math.min(state.failures, 12) * 500, (answer.retryAfterSeconds ?? 0) * 1_000);
    state.waitUntil = Date.now() + Math.min(wait, maxWait);
    return undefined;
  });
}

function applySuccess(state: State, item: Item, body: Record<string, unknown>): void {
  if (item.kind === 'register') {
    state.isRegistered = true;
    state.challenge = undefined;
    state.publicKey = (body['web_push_public_key'] as string | undefined) ?? state.publicKey;
  }
  if (item.kind === 'identify') {
    state.serviceUser = item.user;
    // The user signed out while the request was on its way.
    if (state.user === undefined) enqueueLogout(state);
  }
  if (item.kind === 'logout') {
    state.serviceUser = undefined;
    state.isHushed = false;
  }
}

/** The service has lost the installation, or another one has its id. It registers again; the user has to be proved again. */
function forgetInstallation(state: State, item: Item, remove: () => undefined): Notice | undefined {
  if (item.kind === 'register') Object.assign(state, makeIdentity());
  state.isRegistered = false;
  state.serviceUser = undefined;
  state.isHushed = false;
  // Nobody is signed in there any more.
  if (item.kind === 'logout') remove();
  state.queue = state.queue.filter(({ kind }) => kind !== 'logout');
  ensureRegistered(state);
  if (state.user === undefined || state.queue.some(({ kind }) => kind === 'identify')) return undefined;
  state.queue.splice(1, 0, { kind: 'identify', user: state.user, isWaiting: true, at: Date.now() });
  return 'identity-needed';
}

/** Registers with the code that arrived for a held subscription. A code for another installation is not for this browser to use. */
export function answerChallenge(state: State, { id, code }: { id: string | undefined; code: string }): void {
  if (!state.held || id !== state.id) return;
  [state.subscription, state.held, state.challenge] = [state.held.subscription, undefined, code];
  state.waitUntil = 0;
  state.queue.push({ kind: 'register', at: Date.now() });
}

/** Registers before anything else is sent. */
export function ensureRegistered(state: State): void {
  if (!state.isRegistered && !state.queue.some(({ kind }) => kind === 'register'))
    state.queue.unshift({ kind: 'register', at: Date.now() });
}

export function enqueueLogout(state: State): void {
  state.isHushed = true;
  if (!state.queue.some(({ kind }) => kind === 'logout')) state.queue.push({ kind: 'logout', at: Date.now() });
}
