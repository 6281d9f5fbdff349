import type { Database, Queryable, Lease } from '../database.ts';

/**
 * Messages to other servers: callbacks over HTTP and emails over SMTP. Both have a separate table but use one state
 * machine (pending until delivered, kept or given up), so each statement is written here once.
 *
 * Attempt numbers come in rounds of ten, one round for the first delivery and one for each resend: 1, 2, … then 11, 12,
 * … then 21, 22, …. So a number says how often a message was resent and which attempt of the schedule it is. A number
 * without an attempt row is an attempt whose worker died or lost its lease.
 */
export const attemptsPerRound = 10;

/** Resends above this are rejected. It is far below the end of `smallint`: over 3,000 resends. */
const maxAttempts = 32_000;

export type Channel = keyof Messages;

type Messages = { callbacks: Callback; emails: Email };
type Outcomes = { callbacks: CallbackOutcome; emails: EmailOutcome };

type Message = {
  id: string;
  workspaceId: string;
  body: string;
  attempts: number;
  /** When the next attempt is, or was, due. Null if the message has ended. */
  nextAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
};

export type Callback = Message & {
  /** Null: it belongs to an alert. */
  operationId: string | null;
  url: string;
  state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
  /** The time since which its paused receiver has not responded. Null if the receiver is not paused or the callback has ended. */
  silentSince: Date | null;
};

export type Email = Message & {
  operationId: string | null;
  recipients: string[];
  subject: string;
  /** `KEPT`: there was no SMTP server to send it; it is only displayed. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';
  /** The error of the last attempt; for a sent email, the recipients that the server refused. */
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

/** Columns that only one channel has. Index: callback_receivers primary key. */
function ownColumns(tx: Queryable, channel: Channel) {
  if (channel === 'emails') return tx`recipients, subject, error`;
  return tx`url, (
    select silent_since from callback_receivers as receiver
    where receiver.workspace_id = callbacks.workspace_id and receiver.origin = callbacks.origin
      and receiver.paused_until is not null and callbacks.state = 'PENDING'
  ) as "silentSince"`;
}

/** The failed state, as a literal like in the partial indexes of failed messages. */
function isFailed(tx: Queryable, channel: Channel) {
  return channel === 'callbacks' ? tx`state = 'GIVEN_UP'` : tx`state = 'FAILED'`;
}

/** Stores a callback, due immediately. Must run in the transaction that ends the operation (fault F25). */
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

/** Stores an email, due immediately or kept. Must run in the transaction that ends the operation it reports. */
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
 * Claims due emails, oldest first, and counts the attempt before anything is sent: if the worker dies, they become due
 * again when its lease ends. Skips rows that another node holds. All emails go through one server, so there is no need
 * to share capacity among receivers. Index: mails_due.
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
 * Stores the outcome of an attempt. Guarded by the attempt number, so a worker with an expired lease changes nothing.
 * Index: primary key.
 *
 * @returns true if it was stored
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

/** Finds one message of this workspace. Index: primary key. */
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

/** The last message of the previous page. */
export type LogCursor = { createdAt: Date; id: string };

/**
 * Lists the newest messages of a workspace: all, those that were given up, or those about the files of a segment.
 * Indexes: callbacks_newest, callbacks_given_up_newest, mails_newest, mails_failed_newest; for a segment
 * segment_operations_segment_id_number_key with callbacks_operation and mails_operation.
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
  // `offset 0` is an optimization fence: PostgreSQL 15 would otherwise read all newer messages of others for their
  // order.
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
 * Queues an ended message again, with a complete new retry schedule. Its attempts continue in the next round.
 * Of two concurrent resends, the second finds it pending and changes nothing. Index: primary key.
 *
 * @returns false if it is not a message of this workspace, is pending, or was resent too often
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
  /** Null: no response was received. */
  status: number | null;
  /** Null: the attempt succeeded. */
  error: string | null;
  durationMilliseconds: number;
};

/** Stores one attempt, in the transaction that stored its outcome. */
export async function insertCallbackAttempt(
  tx: Queryable,
  attempt: CallbackAttempt & { callbackId: string },
): Promise<void> {
  await tx`
    insert into callback_attempts (callback_id, number, at, status, error, duration_ms)
    values (${attempt.callbackId}, ${attempt.number}, ${attempt.at}, ${attempt.status}, ${attempt.error},
      ${attempt.durationMilliseconds})`;
}

/** Lists the attempts of a callback in order. Index: primary key. */
export async function listCallbackAttempts(tx: Queryable, callbackId: string): Promise<CallbackAttempt[]> {
  return tx<CallbackAttempt[]>`
    select number, at, status, error, duration_ms as "durationMilliseconds"
    from callback_attempts where callback_id = ${callbackId} order by number`;
}

export type EmailAttempt = {
  number: number;
  at: Date;
  /** The server's reply, or why there was none. */
  answer: string;
  isTaken: boolean;
  durationMilliseconds: number;
};

/** Stores one attempt, in the transaction that stored its outcome. */
export async function insertEmailAttempt(tx: Queryable, attempt: EmailAttempt & { emailId: string }): Promise<void> {
  await tx`
    insert into mail_attempts (mail_id, number, at, answer, is_taken, duration_ms)
    values (${attempt.emailId}, ${attempt.number}, ${attempt.at}, ${attempt.answer}, ${attempt.isTaken},
      ${attempt.durationMilliseconds})`;
}

/** Lists the attempts of an email in order. Index: primary key. */
export async function listEmailAttempts(tx: Queryable, emailId: string): Promise<EmailAttempt[]> {
  return tx<EmailAttempt[]>`
    select number, at, answer, is_taken as "isTaken", duration_ms as "durationMilliseconds"
    from mail_attempts where mail_id = ${emailId} order by number`;
}
