import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { listen, notify, notifyAfterCommit } from '../storage/notifications.ts';
import type { Listener, ListenerTimes } from '../storage/notifications.ts';
import type { Database, Transaction } from '../storage/database.ts';

/**
 * `fan-out`: runs, chunks or deliveries can be sent. `named-runs`: runs to named users can be sent; they come by the thousand, and the
 * other senders need not look for them. `segments`: a file can be read. `journeys`: people in journeys go on.
 */
export type Bell = 'fan-out' | 'named-runs' | 'segments' | 'journeys';

/**
 * Callbacks that look for work when a bell rings. A lost ring delays work by a second but loses none, because every job also
 * polls.
 */
export type Wakes = Record<Bell, () => void>;

export type Doorbell = {
  /**
   * Wakes the senders, or only those of `named-runs`: immediately on this node, and through the database on all others. Call it
   * after the commit. The first ring after a pause is passed on immediately, later ones at most fifty times a second.
   */
  ring(bell?: 'fan-out' | 'named-runs'): void;
  /**
   * From now on, wakes this node's workers for every ring, from this node and from others. Resolves when the first connection
   * attempt has succeeded or failed. Failed and lost connections are re-established.
   */
  answer(options: AnswerOptions): Promise<{ stop(): Promise<void> }>;
  /** Calls the listener for every notification that is not of a bell, of this node and of others, while the node answers. */
  onOther(listener: (payload: string) => void): void;
};

export type AnswerOptions = {
  /**
   * The database itself, because a pooler in transaction mode drops LISTEN. On a cluster the coordinator, as for all
   * statements.
   */
  url: string;
  log: Logger;
  wakes: Wakes;
  times?: ListenerTimes | undefined;
};

export type DoorbellDependencies = {
  database: Database;
  /** Resolves after that time, or when the signal is aborted. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  random?: () => number;
};

// Fifty times a second.
const ringMilliseconds = 20;

/**
 * Makes the doorbell of a node. A ring only says that there is work. The work itself is in our tables, is claimed there, and
 * would be found within a second without a ring.
 */
export function makeDoorbell({ database, pause = pauseFor, random = Math.random }: DoorbellDependencies): Doorbell {
  // Prevents a node from waking itself a second time by its own notification.
  const own = randomBytes(9).toString('base64url');
  const answering = new Set<Wakes>();
  const others: ((payload: string) => void)[] = [];
  const makeWake = (bell: Bell) =>
    makeCoalesced(pause, async () => {
      for (const wakes of answering) wakes[bell]();
    });
  const wake: Wakes = {
    'fan-out': makeWake('fan-out'),
    'named-runs': makeWake('named-runs'),
    segments: makeWake('segments'),
    journeys: makeWake('journeys'),
  };
  const makeNotifyOthers = (bell: Bell) =>
    makeCoalesced(pause, () =>
      // While the database is unavailable its workers have nothing to claim. They look for work when they are connected again.
      notify(database, writeRing(bell, own)).catch(() => {}),
    );
  const notifyOthers = { 'fan-out': makeNotifyOthers('fan-out'), 'named-runs': makeNotifyOthers('named-runs') };
  return {
    ring(bell = 'fan-out') {
      wake[bell]();
      notifyOthers[bell]();
    },
    onOther(listener) {
      others.push(listener);
    },
    async answer(options) {
      answering.add(options.wakes);
      const onOther = (payload: string): void => others.forEach((listener) => listener(payload));
      const listening = await keepListening(options, { pause, random, own, wake, onOther });
      return {
        async stop() {
          answering.delete(options.wakes);
          await listening.stop();
        },
      };
    },
  };
}

/** Rings on every node, including this one, once the transaction has committed. If it rolls back, no node is woken. */
export function ringAfterCommit(tx: Transaction, bell: Bell): void {
  notifyAfterCommit(tx, writeRing(bell));
}

/** Uses at most twenty of the 8,000 bytes that a notification may have. */
function writeRing(bell: Bell, from?: string): string {
  return from === undefined ? bell : `${bell} ${from}`;
}

/**
 * Returns a function that runs the work immediately, and once more for all calls in the meantime, with a pause after each run.
 */
function makeCoalesced(pause: NonNullable<DoorbellDependencies['pause']>, work: () => Promise<void>): () => void {
  let isWorking = false;
  let isAskedAgain = false;
  async function workWhileAsked(): Promise<void> {
    isWorking = true;
    do {
      isAskedAgain = false;
      await work();
      await pause(ringMilliseconds);
    } while (isAskedAgain);
    isWorking = false;
  }
  return () => {
    isAskedAgain = true;
    if (!isWorking) void workWhileAsked();
  };
}

type Listening = Required<Pick<DoorbellDependencies, 'pause' | 'random'>> & {
  own: string;
  wake: Wakes;
  onOther: (payload: string) => void;
};

/** Keeps a listening connection open until stopped, and re-establishes it when it is lost. */
async function keepListening(
  { url, log, wakes, times }: AnswerOptions,
  { pause, random, own, wake, onOther }: Listening,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const tried = Promise.withResolvers<void>();
  function onPayload(payload: string): void {
    const [bell, from] = payload.split(' ') as [string, string | undefined];
    if (!Object.hasOwn(wake, bell)) onOther(payload);
    else if (from !== own) wake[bell as Bell]();
  }
  /** Resolves when the connection is lost or the node stops. @returns true if the connection was steady */
  async function listenOnce(): Promise<boolean> {
    const listener: Listener = await listen({ url, onPayload, signal, times });
    tried.resolve();
    // Rings may have been missed while this node did not listen.
    for (const look of Object.values(wakes)) look();
    const lost = await Promise.race([listener.lost, stopped]);
    if (lost) log.warn({ err: lost.fault }, 'doorbell lost');
    await listener.close();
    return lost?.wasSteady === true;
  }
  async function listenUntilStopped(): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        if (await listenOnce()) attempt = 0;
      } catch (error) {
        tried.resolve();
        if (!signal.aborted) log.warn({ err: error }, 'doorbell not connected');
      }
      if (!signal.aborted) await pause(backoffMilliseconds(attempt, random()), signal);
    }
  }
  const ended = listenUntilStopped();
  await tried.promise;
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

const firstBackoffMilliseconds = 500;
const maxBackoffMilliseconds = 10_000;

/**
 * Doubles with each consecutive attempt, minus up to half, so that nodes that were cut off together do not reconnect together.
 */
function backoffMilliseconds(attempt: number, draw: number): number {
  return Math.min(firstBackoffMilliseconds * 2 ** attempt, maxBackoffMilliseconds) * (1 - draw / 2);
}

async function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  // A pause does not keep the process alive.
  await setTimeout(milliseconds, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
}
