import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { readInboxRing } from '../../domain/inbox.ts';
import type { InboxChange } from '../../domain/inbox.ts';
import { inboxStreamOverlapSeconds, maxInboxStreams, maxInstallationStreams } from '../../domain/limits/inbox.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Doorbell } from '../../engine/doorbell.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { countUnread, findInboxChanges, listInboxToExplain } from '../../storage/inbox.ts';
import type { InboxMessage } from '../../storage/inbox.ts';
import type { Installations, NamedInstallation } from './installations.ts';

export type InboxStreamDependencies = {
  /** A stream outlives the handler of its request, so it names its workspace itself. */
  acrossWorkspaces: Database;
  clock: Clock;
  installations: Pick<Installations, 'find'>;
  doorbell: Pick<Doorbell, 'onOther'>;
  limits?: { streams: number; ofInstallation: number };
  heartbeatMilliseconds?: number;
};

/** What a stream sends: the changed messages, oldest change first, and the number of unread ones. */
export type InboxUpdate = {
  messages: InboxMessage[];
  unread: number;
  /** False: more messages have changed; the app reads the first page again. */
  isComplete: boolean;
  /** From which a client resumes. */
  at: Date;
};

export type InboxStreamRequest = NamedInstallation & {
  /** When the last update that the client has was sent; undefined: now. */
  since: Date | undefined;
  signal: AbortSignal;
};

export type InboxStreams = ReturnType<typeof makeInboxStreams>;

type Stream = {
  user: UserKey & { workspaceId: string };
  installation: string;
  /** Runs whose message this stream was woken for; one run rings for each of its windows. */
  wokenFor: Set<string>;
  wake: () => void;
};

const defaultHeartbeatMilliseconds = 20_000;
const ringMilliseconds = 50;
const maxAtOnce = 100;
const maxLookUps = 1_000;
// A campaign wakes all streams of a node; the other requests of the node need connections too.
const parallelReads = 8;
const maxWokenFor = 50;

/**
 * The open streams of this node. A ring of any node says which run kept messages, or which user's changed; the node looks up which of
 * its streams that concerns, and each reads what is new. A lost ring is repaired by the heartbeat: each reads again then.
 */
export function makeInboxStreams(deps: InboxStreamDependencies) {
  const { doorbell, limits = { streams: maxInboxStreams, ofInstallation: maxInstallationStreams } } = deps;
  const streams = new Set<Stream>();
  const byUser = new Map<string, Set<Stream>>();
  const ofInstallation = new Map<string, number>();
  const queue = makeQueue(parallelReads);
  const wakeUsers = makeWakeUsers(deps, { streams, byUser });
  doorbell.onOther((payload) => {
    const change = readInboxRing(payload);
    if (change && streams.size > 0) wakeUsers(change);
  });

  function add(stream: Stream): void {
    streams.add(stream);
    const key = keyOf(stream.user);
    byUser.set(key, (byUser.get(key) ?? new Set()).add(stream));
    ofInstallation.set(stream.installation, (ofInstallation.get(stream.installation) ?? 0) + 1);
  }

  function remove(stream: Stream): void {
    streams.delete(stream);
    const own = byUser.get(keyOf(stream.user));
    own?.delete(stream);
    if (own?.size === 0) byUser.delete(keyOf(stream.user));
    const left = ofInstallation.get(stream.installation)! - 1;
    if (left === 0) ofInstallation.delete(stream.installation);
    else ofInstallation.set(stream.installation, left);
  }

  return {
    count: () => streams.size,

    /**
     * Follows the inbox of the signed-in user of an installation. Yields the state at once, then each change, and `undefined` when
     * nothing changed for 20 seconds. Ends when the user is signed out, another signs in, or the signal is aborted.
     *
     * @throws ServiceError INSTALLATION_UNKNOWN, INSTALLATION_SIGNED_OUT; APP_RATE_LIMITED, OVERLOADED for too many streams
     */
    async open({ since, signal, ...named }: InboxStreamRequest): Promise<AsyncGenerator<InboxUpdate | undefined>> {
      const user = await findUser(deps, named);
      const installation = `${user.workspaceId} ${named.id}`;
      if (streams.size >= limits.streams) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 30 });
      if ((ofInstallation.get(installation) ?? 0) >= limits.ofInstallation)
        throw new ServiceError('APP_RATE_LIMITED', { retryAfterSeconds: 30, detail: 'streams of the installation' });
      const bell = makeBell();
      signal.addEventListener('abort', bell.ring, { once: true });
      const stream = { user, installation, wokenFor: new Set<string>(), wake: bell.ring };
      const beginning = since ?? deps.clock.now();
      const place = { onBegun: () => add(stream), onEnded: () => remove(stream) };
      return follow(deps, { named, stream, since: beginning, signal, bell, queue, ...place });
    },
  };
}

type Following = {
  named: NamedInstallation;
  stream: Stream;
  since: Date;
  signal: AbortSignal;
  bell: ReturnType<typeof makeBell>;
  queue: Queue;
  /** Called by the generator itself: one that is never read holds no place. */
  onBegun: () => void;
  onEnded: () => void;
};

async function* follow(
  deps: InboxStreamDependencies,
  { named, stream: { user }, since, signal, bell, queue, onBegun, onEnded }: Following,
): AsyncGenerator<InboxUpdate | undefined> {
  const { heartbeatMilliseconds = defaultHeartbeatMilliseconds } = deps;
  // What was sent of the messages that are read again: their state, and when they changed.
  const sent = new Map<string, { state: string; at: Date }>();
  let last = since;
  let unread: number | undefined;
  onBegun();
  try {
    while (!signal.aborted) {
      const read = await queue(() => readChanges(deps, { named, user, since: last }));
      if (!read) return;
      const messages = read.messages.filter((message) => sent.get(message.runId)?.state !== stateOf(message));
      for (const message of messages) {
        sent.set(message.runId, { state: stateOf(message), at: message.changedAt });
        if (message.changedAt > last) last = message.changedAt;
      }
      for (const [runId, { at }] of sent) if (at < overlap(last)) sent.delete(runId);
      const isNew = messages.length > 0 || read.unread !== unread;
      unread = read.unread;
      yield isNew ? { messages, unread, isComplete: read.messages.length < maxAtOnce, at: last } : undefined;
      await bell.wait(heartbeatMilliseconds);
    }
  } finally {
    onEnded();
  }
}

/** Two changes may have one time. */
function stateOf({ changedAt, readAt, archivedAt }: InboxMessage): string {
  return [changedAt, readAt, archivedAt].map((at) => at?.getTime()).join(' ');
}

type Reading = { named: NamedInstallation; user: Stream['user']; since: Date };

/** Reads what changed. Undefined once the installation has no user, or another one: nothing is read for it any more. */
async function readChanges(
  deps: InboxStreamDependencies,
  { named, user, since }: Reading,
): Promise<{ messages: InboxMessage[]; unread: number } | undefined> {
  const now = await findUser(deps, named).catch((error: unknown) => {
    if (error instanceof ServiceError) return undefined;
    throw error;
  });
  if (!now || keyOf(now) !== keyOf(user)) return undefined;
  const database = deps.acrossWorkspaces.forWorkspace(user.workspaceId);
  const at = deps.clock.now();
  // Of one instant, so that the number fits the messages.
  return inSnapshot(database, async (tx) => ({
    messages: await findInboxChanges(tx, { ...user, since: overlap(since), at, limit: maxAtOnce }),
    unread: await countUnread(tx, { ...user, at }),
  }));
}

/** A transaction may commit after one that is younger, and clocks of nodes differ. */
function overlap(since: Date): Date {
  return new Date(since.getTime() - inboxStreamOverlapSeconds * 1000);
}

/** @throws ServiceError INSTALLATION_UNKNOWN, INSTALLATION_SIGNED_OUT */
async function findUser(
  { acrossWorkspaces, installations }: InboxStreamDependencies,
  named: NamedInstallation,
): Promise<Stream['user']> {
  const { workspaceId } = named.app;
  const { user, isIdentified } = await installations.find(acrossWorkspaces.forWorkspace(workspaceId), named);
  if (!user || !isIdentified) throw new ServiceError('INSTALLATION_SIGNED_OUT');
  return { workspaceId, ...user };
}

type Open = { streams: ReadonlySet<Stream>; byUser: ReadonlyMap<string, ReadonlySet<Stream>> };

/** Returns a function that wakes the streams that a change concerns. Runs are looked up together, twenty times a second. */
function makeWakeUsers({ acrossWorkspaces }: InboxStreamDependencies, { streams, byUser }: Open) {
  const runIds = new Set<string>();
  let isLooking = false;

  async function look(): Promise<void> {
    const asked = [...runIds];
    runIds.clear();
    for (const runId of asked) {
      const waiting = [...streams].filter(({ wokenFor }) => !wokenFor.has(runId));
      for (const [workspaceId, own] of Map.groupBy(waiting, ({ user }) => user.workspaceId))
        for (let from = 0; from < own.length; from += maxLookUps) {
          const users = own.slice(from, from + maxLookUps).map(({ user }) => user);
          const database = acrossWorkspaces.forWorkspace(workspaceId);
          const found = await listInboxToExplain(database, { workspaceId, runId, users });
          for (const user of found) for (const stream of byUser.get(keyOf(user)) ?? []) wakeFor(stream, runId);
        }
    }
  }

  async function lookWhileAsked(): Promise<void> {
    isLooking = true;
    try {
      while (runIds.size > 0) {
        await look();
        await new Promise((resolve) => setTimeout(resolve, ringMilliseconds));
      }
    } catch {
      // The database is unavailable: each stream reads again at its next heartbeat.
    } finally {
      isLooking = false;
    }
  }

  return (change: InboxChange): void => {
    if (!('runId' in change)) {
      for (const stream of byUser.get(keyOf(change)) ?? []) stream.wake();
      return;
    }
    runIds.add(change.runId);
    if (!isLooking) void lookWhileAsked();
  };
}

function wakeFor(stream: Stream, runId: string): void {
  stream.wokenFor.add(runId);
  if (stream.wokenFor.size > maxWokenFor) stream.wokenFor.delete(stream.wokenFor.values().next().value!);
  stream.wake();
}

/** A bell that remembers a ring until somebody waits. */
function makeBell() {
  let isRung = false;
  let waiting: (() => void) | undefined;
  return {
    ring(): void {
      isRung = true;
      waiting?.();
    },
    /** Resolves with the next ring, or after that time. */
    wait: (milliseconds: number) =>
      new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          isRung = false;
          waiting = undefined;
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        waiting = end;
        if (isRung) end();
      }),
  };
}

type Queue = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Lets so many run at a time, in the order in which they came. */
function makeQueue(parallel: number): Queue {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= parallel) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next one.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

function keyOf({ bucket, userId }: UserKey): string {
  return `${bucket}/${userId}`;
}
