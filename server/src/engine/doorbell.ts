import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { listen, notify, notifyAfterCommit } from '../storage/notifications.ts';
import type { Listener, ListenerTimes } from '../storage/notifications.ts';
import type { Database, Transaction } from '../storage/database.ts';

/** `fan-out`: runs, chunks or deliveries can be sent. `segments`: a file can be read. */
export type Bell = 'fan-out' | 'segments';

/** What looks for work when a bell is rung. Losing a ring costs a second, no work: every job also looks on its own. */
export type Wakes = Record<Bell, () => void>;

export type Doorbell = {
  /**
   * Wakes what sends: on this node at once, on all others through the database. Call it after the commit. The first ring
   * after a pause is passed on immediately, later ones at most fifty times a second.
   */
  ring(): void;
  /**
   * Wakes this node's workers by every ring from now on, its own and those of other nodes. Resolves when the first
   * connection was made or has failed; one that failed or is lost is made again.
   */
  answer(options: AnswerOptions): Promise<{ stop(): Promise<void> }>;
};

export type AnswerOptions = {
  /** The database itself: a pooler in transaction mode drops LISTEN. On a cluster the coordinator, as for all statements. */
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
 * Makes the doorbell of a node: a ring says that there is work, and nothing about it. The work is in our tables, is
 * claimed there, and would be found within a second without a ring.
 */
export function makeDoorbell({ database, pause = pauseFor, random = Math.random }: DoorbellDependencies): Doorbell {
  // A node does not wake itself a second time by its own notification.
  const own = randomBytes(9).toString('base64url');
  const answering = new Set<Wakes>();
  const makeWake = (bell: Bell) =>
    makeCoalesced(pause, async () => {
      for (const wakes of answering) wakes[bell]();
    });
  const wake: Wakes = { 'fan-out': makeWake('fan-out'), segments: makeWake('segments') };
  const notifyOthers = makeCoalesced(pause, () =>
    // While the database is away its workers have nothing to claim; they look when they are connected again.
    notify(database, writeRing('fan-out', own)).catch(() => {}),
  );
  return {
    ring() {
      wake['fan-out']();
      notifyOthers();
    },
    async answer(options) {
      answering.add(options.wakes);
      const listening = await keepListening(options, { pause, random, own, wake });
      return {
        async stop() {
          answering.delete(options.wakes);
          await listening.stop();
        },
      };
    },
  };
}

/** Rings on every node, this one included, once the transaction has committed. If it does not, nobody is woken. */
export function ringAfterCommit(tx: Transaction, bell: Bell): void {
  notifyAfterCommit(tx, writeRing(bell));
}

/** Of the 8,000 bytes that a notification may have it needs at most twenty. */
function writeRing(bell: Bell, from?: string): string {
  return from === undefined ? bell : `${bell} ${from}`;
}

/** Makes a function that does the work at once, and once more for all calls that came meanwhile; with a pause after each time. */
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

type Listening = Required<Pick<DoorbellDependencies, 'pause' | 'random'>> & { own: string; wake: Wakes };

/** Holds the connection that listens, and makes it again when it is lost, until it is stopped. */
async function keepListening(
  { url, log, wakes, times }: AnswerOptions,
  { pause, random, own, wake }: Listening,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const tried = Promise.withResolvers<void>();
  function onPayload(payload: string): void {
    const [bell, from] = payload.split(' ') as [string, string | undefined];
    if (from !== own && Object.hasOwn(wake, bell)) wake[bell as Bell]();
  }
  /** @returns whether the connection proved to be steady, when it is lost or the node stops */
  async function listenOnce(): Promise<boolean> {
    const listener: Listener = await listen({ url, onPayload, signal, times });
    tried.resolve();
    // Nobody knows what was rung while this node did not listen.
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

/** Doubles with each attempt in a row, less up to half of it, so that nodes that were cut off together come one by one. */
function backoffMilliseconds(attempt: number, draw: number): number {
  return Math.min(firstBackoffMilliseconds * 2 ** attempt, maxBackoffMilliseconds) * (1 - draw / 2);
}

async function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  // A pause keeps no process alive.
  await setTimeout(milliseconds, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
}
