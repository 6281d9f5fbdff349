import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../clock.ts';
import type { Lease } from '../../storage/database.ts';
import { probeSeconds, failuresBeforePause } from '../../domain/limits/delivery.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { Logger } from '../../log.ts';
import type { DueReceiver, Turn, Silence } from '../../storage/outbox/receivers.ts';
import { makeLease, waitAtMost } from '../jobs/leased-job.ts';
import type { LeasedJob } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { makeReceiverSlots } from './receiver-slots.ts';
import type { ContactKind, Receiver, Slot } from './receiver-slots.ts';

type Page = { at: Date; leasedAt: Date; after: DueReceiver | undefined; limit: number };

export type ReceiverJob<Due extends { id: string; workspaceId: string }> = {
  name: string;
  /** The kind of message that is posted, as named in the log. */
  what: string;
  clock: Clock;
  log: Logger;
  outcomes: OutcomeBuffer;
  /** The next receivers with due messages, in a stable order. */
  listDue: (page: Page) => Promise<DueReceiver[]>;
  claim: (claim: { turns: Turn[]; at: Date; probeUntil: Date } & Lease) => Promise<Due[]>;
  keyOf: (due: Due) => string;
  /** @returns how the attempt ended, for the receiver's share of slots */
  deliver: (due: Due) => Promise<ContactKind>;
  /** Called when a request has ended: more messages may be due for its receiver. */
  onFreed?: (() => void) | undefined;
};

/** At least twice the maximum duration of a request: an expired lease means that the worker died. */
const leaseMilliseconds = 60_000;
/** Quick receivers respond within this time, and are claimed for together again. Slower requests continue in the background. */
const quickMilliseconds = 50;
const receiversPerPage = 500;
/** Per run of the job: 10,000 receivers. The next run continues after them. */
const maxPages = 20;

/**
 * A job that posts due messages to third-party receivers, many at a time, each under a lease. It claims by receiver instead of
 * by age, and shares its slots among workspaces, hosts and receivers (decision 0058).
 */
export function makeReceiverJob<Due extends { id: string; workspaceId: string }>(job: ReceiverJob<Due>): LeasedJob {
  const { clock, log, outcomes } = job;
  const slots = makeReceiverSlots();
  const underWay = new Set<Promise<void>>();
  /** Where the next run of the job begins, so that every receiver gets its turn. */
  let after: DueReceiver | undefined;

  const start = (due: Due, slot: Slot): Promise<void> => {
    const startedAt = performance.now();
    const ended = job
      .deliver(due)
      .catch((error: unknown): ContactKind => {
        // The database or the decryption failed, not the receiver. The lease expires and the message is retried.
        log.error({ id: due.id, err: error }, `${job.what} not settled`);
        return 'none';
      })
      .then((kind) => {
        slots.giveBack(slot, { kind, milliseconds: performance.now() - startedAt });
        underWay.delete(ended);
        job.onFreed?.();
      });
    underWay.add(ended);
    return ended;
  };

  async function claimFor(due: DueReceiver[], { now, lease }: { now: Date; lease: Lease }): Promise<Promise<void>[]> {
    const taken = slots.take(due.filter(({ isPaused }) => !isPaused).map(toReceiver));
    if (taken.length === 0) return [];
    const bySlot = Map.groupBy(taken, ({ receiver }) => slotKey(receiver));
    const turns = [...bySlot.values()].map((own) => ({ ...toTurn(own[0]!.receiver), count: own.length }));
    const probeUntil = new Date(lease.leasedAt.getTime() + probeSeconds * 1000);
    try {
      const claimed = await job.claim({ turns, at: now, probeUntil, ...lease });
      return claimed.map((message) => {
        const key = slotKey({ workspaceId: message.workspaceId, key: job.keyOf(message) });
        return start(message, bySlot.get(key)!.pop()!);
      });
    } finally {
      for (const slot of [...bySlot.values()].flat()) slots.giveBack(slot, { kind: 'none', milliseconds: 0 });
    }
  }

  return {
    name: job.name,
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const started: Promise<void>[] = [];
      let mayWrap = after !== undefined;
      for (let pages = 0; pages < maxPages && slots.free() > 0 && outcomes.waiting() === 0; pages += 1) {
        const lease = makeLease(clock, leaseMilliseconds);
        const page = { at: now, leasedAt: lease.leasedAt, after, limit: receiversPerPage };
        const due = await job.listDue(page);
        started.push(...(await claimFor(due, { now, lease })));
        after = due.length < receiversPerPage ? undefined : due.at(-1);
        if (after !== undefined) continue;
        if (!mayWrap) break;
        mayWrap = false;
      }
      await waitAtMost(quickMilliseconds, Promise.all(started));
      return started.length;
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

function toReceiver({ workspaceId, key, url }: DueReceiver): Receiver {
  // An address that is not a URL is rejected when it is called. Until then it counts as a separate host.
  return { workspaceId, key, host: URL.canParse(url) ? new URL(url).host : url };
}

function toTurn({ workspaceId, key }: Receiver): Omit<Turn, 'count'> {
  return { workspaceId, key };
}

function slotKey({ workspaceId, key }: Pick<Receiver, 'workspaceId' | 'key'>): string {
  return `${workspaceId} ${key}`;
}

export type CallbackAnswer = { kind: 'answered'; status: number } | { kind: 'failed'; error: string };

export type PostCallback = (request: {
  method?: 'POST' | 'PUT';
  url: string;
  headers: Record<string, string>;
  body: string | Buffer;
}) => Promise<CallbackAnswer>;

export type SignedPost = { id: string; url: string; body: string; secret: string };

export type PostedAnswer = { answer: CallbackAnswer; startedAt: Date; endedAt: Date; durationMilliseconds: number };

export type PostSignedDependencies = {
  clock: Clock;
  log: Logger;
  /** Must end within 15 s whatever the receiver does (fault F24); the lease relies on it. */
  post: PostCallback;
};

/**
 * Posts to an address chosen by a user, signed according to Standard Webhooks. The id is the same in every attempt, so that a
 * receiver can drop duplicates caused by a crash or a lost response.
 */
export function postSigned(deps: PostSignedDependencies, { id, url, body, secret }: SignedPost): Promise<PostedAnswer> {
  // The receiver compares the timestamp with its clock, which no sandbox moves.
  const postedAt = deps.clock.realNow();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Carillon',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(postedAt.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, postedAt, body),
  };
  return callReceiver(deps, { id, request: { url, headers, body } });
}

/** Calls a receiver once, and measures the call. Never throws. */
export async function callReceiver(
  { clock, log, post }: PostSignedDependencies,
  { id, request }: { id: string; request: Parameters<PostCallback>[0] },
): Promise<PostedAnswer> {
  const startedAt = clock.now();
  const begunAt = clock.realNow();
  const answer = await post(request).catch((error: unknown): CallbackAnswer => {
    log.error({ callbackId: id, err: error }, 'callback request failed unexpectedly');
    return { kind: 'failed', error: 'unreachable' };
  });
  const durationMilliseconds = clock.realNow().getTime() - begunAt.getTime();
  return { answer, startedAt, endedAt: clock.now(), durationMilliseconds };
}

/**
 * Returns what an attempt shows about its receiver. Any HTTP response counts as an answer, even 500: a receiver that refuses
 * quickly holds no slot. If our own guard blocked the address, no request was made.
 */
export function contactOf(answer: CallbackAnswer): ContactKind {
  if (answer.kind === 'answered') return 'answered';
  return answer.error === 'refused' ? 'none' : 'silent';
}

/** Logs one line when a receiver is paused for the first time, one for each longer pause, and one when it responds again. */
export function logSilence(
  log: Logger,
  { contact, silence, receiver }: { contact: ContactKind; silence: Silence; receiver: Record<string, string> },
): void {
  const { pausedUntil } = silence;
  if (pausedUntil === null) return;
  switch (contact) {
    case 'answered':
      log.info({ ...receiver, ...silence }, 'receiver answers again');
      return;
    case 'silent':
      if (silence.failures === failuresBeforePause)
        log.warn({ ...receiver, ...silence }, 'receiver paused: it does not answer');
      else log.debug({ ...receiver, ...silence }, 'receiver still does not answer');
      return;
    case 'none':
      return;
    default:
      unknownCase(contact);
  }
}
