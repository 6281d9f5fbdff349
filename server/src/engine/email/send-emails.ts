import type { Clock } from '../../clock.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { attemptsPerRound, claimDueEmails, insertEmailAttempt, settleMessage } from '../../storage/outbox/outbox.ts';
import type { DueEmail, EmailOutcome } from '../../storage/outbox/outbox.ts';
import type { Job } from '../job.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';
import { makeLease } from '../make-lease.ts';
import type { EmailResult, SmtpClient } from './smtp-client.ts';
import { emailRetrySeconds } from '../../domain/outbox/limits.ts';

export type SendEmailsDependencies = {
  database: Database;
  clock: Clock;
  /** Undefined: no mail server is configured. Emails are kept unsent; sending one again reports why it is not sent. */
  smtpClient: Pick<SmtpClient, 'send'> | undefined;
  outcomes: KeptOutcomes;
};

const maxAttempts = emailRetrySeconds.length + 1;

const emailsAtOnce = 5;
/** Twice the time one email may take: an expired lease means that the worker died. */
const leaseMilliseconds = 120_000;

/**
 * The job that sends waiting emails. An email that the server refuses permanently fails immediately; temporary failures
 * (no server, 4xx) are tried again. An email accepted for only some recipients counts as sent: a repeat would reach
 * those twice.
 */
export function makeSendEmails(deps: SendEmailsDependencies): Job {
  const { database, clock, outcomes } = deps;
  return {
    name: 'send-mails',
    intervalMilliseconds: 5000,
    async runOnce(now) {
      if (outcomes.waiting() > 0) return 0;
      const due = await claimDueEmails(database, {
        at: now,
        ...makeLease(clock, leaseMilliseconds),
        limit: emailsAtOnce,
      });
      await Promise.all(due.map((email) => sendOne(deps, email)));
      return due.length;
    },
  };
}

async function sendOne(deps: SendEmailsDependencies, email: DueEmail): Promise<void> {
  const { database, clock, smtpClient, outcomes } = deps;
  const { id, attempts } = email;
  const nth = ((attempts - 1) % attemptsPerRound) + 1;
  const startedAt = clock.now();
  const postedAt = clock.realNow();
  const result = await send(smtpClient, { ...email, nth });
  const endedAt = clock.now();
  const durationMilliseconds = clock.realNow().getTime() - postedAt.getTime();
  const store = () =>
    inTransaction(database, async (tx) => {
      const settled = await settleMessage(tx, {
        channel: 'emails',
        id,
        attempts,
        outcome: classify(result, { nth, at: endedAt }),
      });
      // Another worker took over when our lease expired; its outcome counts.
      if (!settled) return;
      await insertEmailAttempt(tx, {
        emailId: id,
        number: attempts,
        at: startedAt,
        answer: result.kind === 'sent' ? [result.answer, ...result.refused].join('; ') : result.reason,
        isTaken: result.kind === 'sent',
        durationMilliseconds,
      });
    });
  await outcomes.store(store);
}

type Result = EmailResult | { kind: 'kept'; reason: string };

async function send(
  smtpClient: SendEmailsDependencies['smtpClient'],
  email: DueEmail & { nth: number },
): Promise<Result> {
  // The worker of the last attempt died before it wrote down what became of it.
  if (email.nth > maxAttempts) return { kind: 'failed', reason: 'the last attempt did not end', isPermanent: true };
  if (!smtpClient) return { kind: 'kept', reason: 'no mail server is set (CARILLON_SMTP_URL)' };
  return smtpClient.send({ to: email.recipients, subject: email.subject, text: email.body, messageId: email.id });
}

function classify(result: Result, { nth, at }: { nth: number; at: Date }): EmailOutcome {
  if (result.kind === 'sent') {
    return { state: 'SENT', endedAt: at, error: result.refused.length > 0 ? result.refused.join('; ') : null };
  }
  if (result.kind === 'kept') return { state: 'KEPT', endedAt: at, error: result.reason };
  const delaySeconds = result.isPermanent ? undefined : emailRetrySeconds[nth - 1];
  if (delaySeconds === undefined) return { state: 'FAILED', endedAt: at, error: result.reason };
  return { state: 'PENDING', nextAt: new Date(at.getTime() + delaySeconds * 1000), error: result.reason };
}
