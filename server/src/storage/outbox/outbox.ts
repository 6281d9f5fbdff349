import type { Database, Queryable } from '../database.ts';
import type { Lease } from '../../domain/lease.ts';

/**
 * What leaves for somebody else's server: callbacks over HTTP and emails over SMTP. Both pass through one state machine
 * (pending until it is delivered, kept or given up) in a table of their own, so each statement on it stands here once.
 *
 * Attempt numbers come in rounds of ten, a round for the first delivery and for every resend: 1, 2, … then 11, 12, …
 * then 21, 22, …. So a number says how often a message was resent and which try of the schedule it is. A number without
 * a row among the attempts is a try whose worker died or lost its lease.
 */
export const attemptsPerRound = 10;

/** Beyond this a resend is refused, far below the end of `smallint`: over 3,000 resends. */
const maxAttempts = 32_000;

export type Channel = keyof Messages;

type Messages = { callbacks: Callback; emails: Email };
type Outcomes = { callbacks: CallbackOutcome; emails: EmailOutcome };

type Message = {
  id: string;
  workspaceId: string;
  body: string;
  attempts: number;
  /** When the next attempt is, or was, due. Null when it has ended. */
  nextAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
};

export type Callback = Message & {
  /** Null: it is of an alert. */
  operationId: string | null;
  url: string;
  state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
  /** Since when its receiver has not answered and is paused for it. Null: it is not paused, or the callback has ended. */
  silentSince: Date | null;
};

export type Email = Message & {
  operationId: string | null;
  recipients: string[];
  subject: string;
  /** `KEPT`: there was no SMTP server to send it through; it is shown only. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';
  /** Why the last attempt failed; of a sent email, the recipients the server refused. */
  error: string | null;
};

export type DueCallback = Pick<Callback, 'id' | 'workspaceId' | 'url' | 'body' | 'attempts'> & { origin: string };
export type DueEmail = Pick<Email, 'id' | 'workspaceId' | 'recipients' | 'subject' | 'body' | 'attempts'>;

export type CallbackOutcome = { state: 'PENDING'; nextAt: Date } | { state: 'DELIVERED' | 'GIVEN_UP'; endedAt: Date };
export type EmailOutcome =
  | { state: 'PENDING'; nextAt: Date; error: string }
  | { state: 'SENT'; endedAt: Date; error: string | null }
  | { state: 'FAILED' | 'KEPT'; endedAt: Date; error: string };

const tables = { callbacks: 'callbacks', emails: 'mails' } as const;

function tableOf(tx: Queryable, channel: Channel) {
  return tx(tables[channel]);
}

/** The columns that one channel alone has. Index: callback_receivers primary key. */
function ownColumns(tx: Queryable, channel: Channel) {
  if (channel === 'emails') return tx`recipients, subject, error`;
  return tx`url, (
    select silent_since from callback_receivers as receiver
    where receiver.workspace_id = callbacks.workspace_id and receiver.origin = callbacks.origin
      and receiver.paused_until is not null and callbacks.state = 'PENDING'
  ) as "silentSince"`;
}

/** The state is a literal, as in the partial indexes of what has failed. */
function isFailed(tx: Queryable, channel: Channel) {
  return channel === 'callbacks' ? tx`state = 'GIVEN_UP'` : tx`state = 'FAILED'`;
}

/** Stores what is to be posted, due at once. Belongs into the transaction that ends the operation (fault F25). */
export async function insertCallback(
  tx: Queryable,
  callback: Pick<Callback, 'id' | 'workspaceId' | 'operationId' | 'url' | 'body'> & { at: Date },
): Promise<void> {
  await tx`
    insert into callbacks (id, workspace_id, operation_id, url, body, state, next_at, created_at)
    values (${callback.id}, ${callback.workspaceId}, ${callback.operationId}, ${callback.url}, ${callback.body},
      'PENDING', ${callback.at}, ${callback.at})`;
}

export type NewEmail = Pick<Email, 'id' | 'workspaceId' | 'operationId' | 'recipients' | 'subject' | 'body'> & {
  state: 'PENDING' | 'KEPT';
  at: Date;
};

/** Stores an email, due at once or kept. Belongs into the transaction that ends the operation it reports. */
export async function insertEmail(tx: Queryable, email: NewEmail): Promise<void> {
  const isPending = email.state === 'PENDING';
  await tx`
    insert into mails (
      id, workspace_id, operation_id, recipients, subject, body, state, next_at, created_at, ended_at
    )
    values (${email.id}, ${email.workspaceId}, ${email.operationId}, ${email.recipients}::text[], ${email.subject},
      ${email.body}, ${email.state}, ${isPending ? email.at : null}, ${email.at}, ${isPending ? null : email.at})`;
}

/**
 * Claims emails that are due, oldest first, with the attempt counted before anything is sent: a worker that dies leaves them
 * due again when its lease ends. Rows that another node holds are skipped. All leave through one server, so nothing is to be
 * shared among receivers. Index: mails_due.
 */
export async function claimDueEmails(
  database: Database,
  claim: { at: Date; limit: number } & Lease,
): Promise<DueEmail[]> {
  return database<DueEmail[]>`
    with due as (
      select id as due_id from mails
      where state = 'PENDING' and next_at <= ${claim.at}
        and (lease_until is null or lease_until <= ${claim.leasedAt})
      order by next_at
      limit ${claim.limit}
      for update skip locked
    )
    update mails
    set lease_until = ${claim.leaseUntil}, attempts = attempts + 1
    from due
    where id = due_id
    returning id, workspace_id as "workspaceId", body, attempts, recipients, subject`;
}

/**
 * Stores the outcome of an attempt. Guarded by its number, so a worker whose lease ran out changes nothing. Index:
 * primary key.
 *
 * @returns whether it was stored
 */
export async function settleMessage<C extends Channel>(
  tx: Queryable,
  message: { channel: C; id: string; attempts: number; outcome: Outcomes[C] },
): Promise<boolean> {
  const outcome: CallbackOutcome | EmailOutcome = message.outcome;
  const rows = await tx`
    update ${tableOf(tx, message.channel)}
    set state = ${outcome.state}, lease_until = null, next_at = ${outcome.state === 'PENDING' ? outcome.nextAt : null},
      ended_at = ${outcome.state === 'PENDING' ? null : outcome.endedAt}
      ${'error' in outcome ? tx`, error = ${outcome.error}` : tx``}
    where id = ${message.id} and state = 'PENDING' and attempts = ${message.attempts}
    returning 1`;
  return rows.length === 1;
}

/** One message, if it is this workspace's. Index: primary key. */
export async function findMessage<C extends Channel>(
  tx: Queryable,
  message: { channel: C; workspaceId: string; id: string },
): Promise<Messages[C] | undefined> {
  const [row] = await tx<Messages[C][]>`
    select id, workspace_id as "workspaceId", operation_id as "operationId", body, state, attempts,
      next_at as "nextAt", created_at as "createdAt", ended_at as "endedAt", ${ownColumns(tx, message.channel)}
    from ${tableOf(tx, message.channel)}
    where id = ${message.id} and workspace_id = ${message.workspaceId}`;
  return row;
}

/** The last one of the page before. */
export type LogCursor = { createdAt: Date; id: string };

/**
 * Newest messages of a workspace, those that were given up, or those about the files of a segment. Indexes: callbacks_newest,
 * callbacks_given_up_newest, mails_newest, mails_failed_newest; of a segment segment_operations_segment_id_number_key with
 * callbacks_operation and mails_operation.
 */
export async function listMessages<C extends Channel>(
  tx: Queryable,
  page: {
    channel: C;
    workspaceId: string;
    isFailed?: boolean;
    segmentId?: string;
    after?: LogCursor;
    limit: number;
  },
): Promise<Messages[C][]> {
  const { channel, segmentId, after } = page;
  const table = tableOf(tx, channel);
  // Fenced off by `offset 0`: PostgreSQL 15 would read all newer messages of others for the sake of their order.
  const messages =
    segmentId === undefined
      ? table
      : tx`(select * from ${table} where operation_id = any (array(
          select segment_operations.id from segment_operations where segment_id = ${segmentId})) offset 0) as ${table}`;
  return tx<Messages[C][]>`
    select id, workspace_id as "workspaceId", operation_id as "operationId", body, state, attempts,
      next_at as "nextAt", created_at as "createdAt", ended_at as "endedAt", ${ownColumns(tx, channel)}
    from ${messages}
    where workspace_id = ${page.workspaceId} ${page.isFailed ? tx`and ${isFailed(tx, channel)}` : tx``}
      ${after ? tx`and (created_at, id) < (${after.createdAt}, ${after.id})` : tx``}
    order by created_at desc, id desc
    limit ${page.limit}`;
}

/**
 * Makes a message that has ended due again, with the whole schedule before it: its attempts go up to the next round. Of
 * two resends at once the second finds it pending and changes nothing. Index: primary key.
 *
 * @returns false when it is no message of this workspace, is pending, or was resent too often
 */
export async function resendMessage(
  tx: Queryable,
  message: { channel: Channel; workspaceId: string; id: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update ${tableOf(tx, message.channel)}
    set state = 'PENDING', next_at = ${message.at}, ended_at = null,
      attempts = (attempts / ${attemptsPerRound}::int + 1) * ${attemptsPerRound}::int
      ${message.channel === 'emails' ? tx`, error = null` : tx``}
    where id = ${message.id} and workspace_id = ${message.workspaceId} and state <> 'PENDING'
      and attempts < ${maxAttempts}
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
    from callback_attempts where callback_id = ${callbackId} order by number`;
}

export type EmailAttempt = {
  number: number;
  at: Date;
  /** What the server said, or why nobody answered. */
  answer: string;
  isTaken: boolean;
  durationMilliseconds: number;
};

/** Stores one attempt, in the transaction that settled it. */
export async function insertEmailAttempt(tx: Queryable, attempt: EmailAttempt & { emailId: string }): Promise<void> {
  await tx`
    insert into mail_attempts (mail_id, number, at, answer, is_taken, duration_ms)
    values (${attempt.emailId}, ${attempt.number}, ${attempt.at}, ${attempt.answer}, ${attempt.isTaken},
      ${attempt.durationMilliseconds})`;
}

/** The attempts of an email in their order. Index: primary key. */
export async function listEmailAttempts(tx: Queryable, emailId: string): Promise<EmailAttempt[]> {
  return tx<EmailAttempt[]>`
    select number, at, answer, is_taken as "isTaken", duration_ms as "durationMilliseconds"
    from mail_attempts where mail_id = ${emailId} order by number`;
}
