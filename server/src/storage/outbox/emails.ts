import type { Database, Queryable } from '../database.ts';
import { attemptsPerRound } from './callbacks.ts';
import type { LogCursor } from './callbacks.ts';

/** Beyond this a resend is refused, far below the end of `smallint`. */
const maxAttempts = 32_000;

/** Attempt numbers come in rounds of ten, as those of callbacks. */
export type Email = {
  id: string;
  workspaceId: string;
  operationId: string | null;
  recipients: string[];
  subject: string;
  body: string;
  /** `KEPT`: there was no SMTP server to send it through; it is shown only. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';
  attempts: number;
  /** When the next attempt is due; while one is under way, when its lease ends. Null when it has ended. */
  nextAt: Date | null;
  /** Why the last attempt failed; of a sent mail, whom the server refused. */
  error: string | null;
  createdAt: Date;
  endedAt: Date | null;
};

export type NewEmail = Pick<Email, 'id' | 'workspaceId' | 'operationId' | 'recipients' | 'subject' | 'body'> & {
  state: 'PENDING' | 'KEPT';
  at: Date;
};

/** Stores a mail, due at once or kept. Belongs into the transaction that ends the operation it reports. */
export async function insertEmail(tx: Queryable, email: NewEmail): Promise<void> {
  const isPending = email.state === 'PENDING';
  await tx`
    insert into mails (
      id, workspace_id, operation_id, recipients, subject, body, state, next_at, created_at, ended_at
    )
    values (${email.id}, ${email.workspaceId}, ${email.operationId}, ${email.recipients}::text[], ${email.subject},
      ${email.body}, ${email.state}, ${isPending ? email.at : null}, ${email.at}, ${isPending ? null : email.at})`;
}

export type DueEmail = Pick<Email, 'id' | 'recipients' | 'subject' | 'body' | 'attempts'>;

/**
 * Takes mails that are due, oldest first, and moves their `next_at` to the end of the lease with the attempt counted,
 * before anything is sent: a worker that dies leaves them due again. Rows another node holds are skipped. Index:
 * mails_due.
 */
export async function claimDueEmails(
  database: Database,
  claim: { at: Date; leaseUntil: Date; limit: number },
): Promise<DueEmail[]> {
  return database<DueEmail[]>`
    with due as (
      select id from mails
      where state = 'PENDING' and next_at <= ${claim.at}
      order by next_at
      limit ${claim.limit}
      for update skip locked
    )
    update mails
    set next_at = ${claim.leaseUntil}, attempts = attempts + 1
    from due
    where mails.id = due.id
    returning mails.id, recipients, subject, body, attempts`;
}

export type EmailOutcome =
  | { state: 'PENDING'; nextAt: Date; error: string }
  | { state: 'SENT'; endedAt: Date; error: string | null }
  | { state: 'FAILED' | 'KEPT'; endedAt: Date; error: string };

/**
 * Stores what became of an attempt. Guarded by its number, so a worker whose lease ran out changes nothing. Index:
 * primary key.
 *
 * @returns whether it was stored
 */
export async function settleEmail(
  tx: Queryable,
  email: { id: string; attempts: number; outcome: EmailOutcome },
): Promise<boolean> {
  const { outcome } = email;
  const rows = await tx`
    update mails
    set state = ${outcome.state}, error = ${outcome.error},
      next_at = ${outcome.state === 'PENDING' ? outcome.nextAt : null},
      ended_at = ${outcome.state === 'PENDING' ? null : outcome.endedAt}
    where id = ${email.id} and state = 'PENDING' and attempts = ${email.attempts}
    returning 1`;
  return rows.length === 1;
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
export async function insertEmailAttempt(tx: Queryable, attempt: EmailAttempt & { mailId: string }): Promise<void> {
  await tx`
    insert into mail_attempts (mail_id, number, at, answer, is_taken, duration_ms)
    values (${attempt.mailId}, ${attempt.number}, ${attempt.at}, ${attempt.answer}, ${attempt.isTaken},
      ${attempt.durationMilliseconds})`;
}

/** The attempts of a mail in their order. Index: primary key. */
export async function listEmailAttempts(tx: Queryable, emailId: string): Promise<EmailAttempt[]> {
  return tx<EmailAttempt[]>`
    select number, at, answer, is_taken as "isTaken", duration_ms as "durationMilliseconds"
    from mail_attempts where mail_id = ${emailId} order by number`;
}

/** One mail, if it is this workspace's. Index: primary key. */
export async function findEmail(tx: Queryable, email: { workspaceId: string; id: string }): Promise<Email | undefined> {
  const [row] = await tx<Email[]>`
    select id, workspace_id as "workspaceId", operation_id as "operationId", recipients, subject, body, state, attempts,
      next_at as "nextAt", error, created_at as "createdAt", ended_at as "endedAt"
    from mails
    where id = ${email.id} and workspace_id = ${email.workspaceId}`;
  return row;
}

/**
 * Makes a mail that has ended due again, with the whole schedule before it: its attempts go up to the next round. Of two
 * resends at once the second finds it pending and changes nothing. Index: primary key.
 *
 * @returns false when it is no mail of this workspace, is pending, or was resent too often
 */
export async function resendEmail(
  tx: Queryable,
  email: { workspaceId: string; id: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update mails
    set state = 'PENDING', next_at = ${email.at}, ended_at = null, error = null,
      attempts = (attempts / ${attemptsPerRound}::int + 1) * ${attemptsPerRound}::int
    where id = ${email.id} and workspace_id = ${email.workspaceId} and state in ('SENT', 'KEPT', 'FAILED')
      and attempts < ${maxAttempts}
    returning 1`;
  return rows.length === 1;
}

/** Newest mails of a workspace, or those that failed. Indexes: mails_newest, mails_failed_newest. */
export async function listEmails(
  tx: Queryable,
  page: { workspaceId: string; isFailed?: boolean; after?: LogCursor; limit: number },
): Promise<Email[]> {
  const { after } = page;
  return tx<Email[]>`
    select id, workspace_id as "workspaceId", operation_id as "operationId", recipients, subject, body, state, attempts,
      next_at as "nextAt", error, created_at as "createdAt", ended_at as "endedAt"
    from mails
    where workspace_id = ${page.workspaceId} ${page.isFailed ? tx`and state = 'FAILED'` : tx``}
      ${after ? tx`and (created_at, id) < (${after.createdAt}, ${after.id})` : tx``}
    order by created_at desc, id desc
    limit ${page.limit}`;
}
