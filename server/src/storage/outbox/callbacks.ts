import type { Database, Queryable } from '../database.ts';

/**
 * Attempt numbers come in rounds of ten, a round for the first delivery and for every resend: 1, 2, … then 11, 12, …
 * then 21, 22, …. So a number says how often a callback was resent and which try of the schedule it is. A number
 * without a row in `callback_attempts` is a try whose worker died or lost its lease.
 */
export const attemptsPerRound = 10;

/** Beyond this a resend is refused, far below the end of `smallint`: over 3,000 resends. */
const maxAttempts = 32_000;

export type Callback = {
  id: string;
  workspaceId: string;
  operationId: string;
  url: string;
  body: string;
  state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
  attempts: number;
  /** When the next attempt is due; while one is under way, when its lease ends. Null when it has ended. */
  nextAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
};

/** Stores what is to be posted, due at once. Belongs into the transaction that ends the operation (fault F25). */
export async function insertCallback(
  tx: Queryable,
  callback: { id: string; workspaceId: string; operationId: string; url: string; body: string; at: Date },
): Promise<void> {
  await tx`
    insert into callbacks (id, workspace_id, operation_id, url, body, state, next_at, created_at)
    values (${callback.id}, ${callback.workspaceId}, ${callback.operationId}, ${callback.url}, ${callback.body},
      'PENDING', ${callback.at}, ${callback.at})`;
}

export type DueCallback = Pick<Callback, 'id' | 'workspaceId' | 'url' | 'body' | 'attempts'>;

/**
 * Takes callbacks that are due, oldest first, and moves their `next_at` to the end of the lease with the attempt
 * counted, before anything is sent: a worker that dies leaves them due again. Rows another node holds are skipped.
 * Index: callbacks_due.
 */
export async function claimDueCallbacks(
  database: Database,
  claim: { at: Date; leaseUntil: Date; limit: number },
): Promise<DueCallback[]> {
  return database<DueCallback[]>`
    with due as (
      select id from callbacks
      where state = 'PENDING' and next_at <= ${claim.at}
      order by next_at
      limit ${claim.limit}
      for update skip locked
    )
    update callbacks
    set next_at = ${claim.leaseUntil}, attempts = attempts + 1
    from due
    where callbacks.id = due.id
    returning callbacks.id, workspace_id as "workspaceId", url, body, attempts`;
}

export type CallbackOutcome = { state: 'PENDING'; nextAt: Date } | { state: 'DELIVERED' | 'GIVEN_UP'; endedAt: Date };

/**
 * Stores what became of an attempt. Guarded by its number, so a worker whose lease ran out changes nothing. Index:
 * primary key.
 *
 * @returns whether it was stored
 */
export async function settleCallback(
  tx: Queryable,
  callback: { id: string; attempts: number; outcome: CallbackOutcome },
): Promise<boolean> {
  const { outcome } = callback;
  const rows = await tx`
    update callbacks
    set state = ${outcome.state}, next_at = ${outcome.state === 'PENDING' ? outcome.nextAt : null},
      ended_at = ${outcome.state === 'PENDING' ? null : outcome.endedAt}
    where id = ${callback.id} and state = 'PENDING' and attempts = ${callback.attempts}
    returning 1`;
  return rows.length === 1;
}

export type CallbackAttempt = {
  number: number;
  at: Date;
  /** Null: no answer came. */
  status: number | null;
  /** Null: it was received. */
  error: string | null;
  durationMilliseconds: number;
};

/** Stores one attempt, in the transaction that settled it. */
export async function insertCallbackAttempt(
  tx: Queryable,
  attempt: CallbackAttempt & { callbackId: string },
): Promise<void> {
  await tx`
    insert into callback_attempts (callback_id, number, at, status, error, duration_ms)
    values (${attempt.callbackId}, ${attempt.number}, ${attempt.at}, ${attempt.status}, ${attempt.error},
      ${attempt.durationMilliseconds})`;
}

/** The attempts of a callback in their order. Index: primary key. */
export async function listCallbackAttempts(tx: Queryable, callbackId: string): Promise<CallbackAttempt[]> {
  return tx<CallbackAttempt[]>`
    select number, at, status, error, duration_ms as "durationMilliseconds"
    from callback_attempts
    where callback_id = ${callbackId}
    order by number`;
}

/** The last one of the page before. */
export type LogCursor = { createdAt: Date; id: string };

/**
 * Newest callbacks of a workspace, or those that were given up. Indexes: callbacks_newest, callbacks_given_up_newest.
 */
export async function listCallbacks(
  tx: Queryable,
  page: { workspaceId: string; isFailed?: boolean; after?: LogCursor; limit: number },
): Promise<Callback[]> {
  const { after } = page;
  return tx<Callback[]>`
    select id, workspace_id as "workspaceId", operation_id as "operationId", url, body, state, attempts,
      next_at as "nextAt", created_at as "createdAt", ended_at as "endedAt"
    from callbacks
    where workspace_id = ${page.workspaceId} ${page.isFailed ? tx`and state = 'GIVEN_UP'` : tx``}
      ${after ? tx`and (created_at, id) < (${after.createdAt}, ${after.id})` : tx``}
    order by created_at desc, id desc
    limit ${page.limit}`;
}

/** One callback, if it is this workspace's. Index: primary key. */
export async function findCallback(
  tx: Queryable,
  callback: { workspaceId: string; id: string },
): Promise<Callback | undefined> {
  const [row] = await tx<Callback[]>`
    select id, workspace_id as "workspaceId", operation_id as "operationId", url, body, state, attempts,
      next_at as "nextAt", created_at as "createdAt", ended_at as "endedAt"
    from callbacks
    where id = ${callback.id} and workspace_id = ${callback.workspaceId}`;
  return row;
}

/**
 * Makes a callback that has ended due again, with the whole schedule before it: its attempts go up to the next round.
 * Of two resends at once the second finds it pending and changes nothing. Index: primary key.
 *
 * @returns false when it is no callback of this workspace, is pending, or was resent too often
 */
export async function resendCallback(
  tx: Queryable,
  callback: { workspaceId: string; id: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update callbacks
    set state = 'PENDING', next_at = ${callback.at}, ended_at = null,
      attempts = (attempts / ${attemptsPerRound}::int + 1) * ${attemptsPerRound}::int
    where id = ${callback.id} and workspace_id = ${callback.workspaceId} and state in ('DELIVERED', 'GIVEN_UP')
      and attempts < ${maxAttempts}
    returning 1`;
  return rows.length === 1;
}
