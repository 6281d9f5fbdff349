import { failuresBeforePause, firstPauseSeconds, maxPauseSeconds } from '../../domain/outbox/receiver-pause.ts';
import type { Fragment, Queryable } from '../database.ts';

/** An attempt to reach a receiver: when it began and ended, by the clock that attempts are scheduled by. */
export type Contact = { startedAt: Date; endedAt: Date };

/** The state of a receiver that does not answer. */
export type Silence = { failures: number; silentSince: Date; pausedUntil: Date | null };

/** A receiver of which something is due. */
export type DueReceiver = {
  workspaceId: string;
  /** What identifies it in its workspace: the origin of callbacks, the id of an event stream. */
  key: string;
  /** An address of it, for its host. */
  url: string;
  /** Since when its oldest message is due. */
  dueAt: Date;
  /** Nothing may be posted to it now: it is paused, or another attempt is finding out whether it answers. */
  isPaused: boolean;
};

/** How many messages may be posted to a receiver. */
export type Turn = { workspaceId: string; key: string; count: number };

/**
 * The assignments that count one more attempt without an answer, for an `update` of a row that has the columns of a
 * receiver. The receiver is paused from the third on, longer each time.
 */
export function afterSilence(tx: Queryable, { row, contact }: { row: Fragment; contact: Contact }): Fragment {
  const { startedAt, endedAt } = contact;
  const isEnough = tx`${row}.failures + 1 >= ${failuresBeforePause}::int`;
  return tx`
    failures = ${row}.failures + 1,
    silent_since = coalesce(${row}.silent_since, ${startedAt}::timestamptz),
    paused_at = case when ${isEnough} then ${endedAt}::timestamptz end,
    paused_until = case when ${isEnough} then ${endedAt}::timestamptz + interval '1 second' * least(
      ${maxPauseSeconds}::int, ${firstPauseSeconds}::int * 2 ^ least(${row}.failures + 1 - ${failuresBeforePause}::int, 10)
    ) end,
    probe_until = null`;
}

/**
 * True if an attempt says something new of a receiver. Attempts that began before it was paused end without an answer
 * one after another; they are no further evidence, and must not lengthen the pause.
 */
export function isNews(tx: Queryable, { row, contact }: { row: Fragment; contact: Contact }): Fragment {
  return tx`(${row}.paused_at is null or ${row}.paused_at <= ${contact.startedAt}::timestamptz)`;
}

/** True if nothing may be posted to a receiver: it is paused, or another attempt is finding out whether it answers. */
export function isPaused(tx: Queryable, { row, at, leasedAt }: { row: Fragment; at: Date; leasedAt: Date }): Fragment {
  return tx`(
    ${row}.paused_until is not null and (${row}.paused_until > ${at} or coalesce(${row}.probe_until > ${leasedAt}, false))
  )`;
}
