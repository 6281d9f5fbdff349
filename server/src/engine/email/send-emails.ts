import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/pool.ts';
import { attemptsPerRound } from '../../storage/outbox/callbacks.ts';
import { claimDueMails, insertMailAttempt, settleMail } from '../../storage/outbox/emails.ts';
import type { DueMail, MailOutcome } from '../../storage/outbox/emails.ts';
import type { Duty } from '../job.ts';
import type { MailResult, SmtpMailer } from './smtp-mailer.ts';

export type SendMailsDependencies = {
  database: Database;
  clock: Clock;
  /** Undefined: no mail server is set. Mails are kept as they are made; one that is sent again says why it is not. */
  mailer: Pick<SmtpMailer, 'send'> | undefined;
};

/** The waits before the second to the fourth attempt; then a mail has failed. */
const retryDelaysSeconds = [60, 600, 3_600];
const maxAttempts = retryDelaysSeconds.length + 1;

const mailsAtOnce = 5;
/** Twice what one mail may take: a lease that ends means a worker that died. */
const leaseMilliseconds = 120_000;

/**
 * The duty that sends waiting mails. A mail that the server refuses for good has failed at once; what may pass (no
 * server, 4xx) is tried again. A mail taken for some recipients only is sent: a repeat would reach those twice.
 */
export function sendMails({ database, clock, mailer }: SendMailsDependencies): Duty {
  return {
    name: 'send-mails',
    intervalMilliseconds: 5000,
    async runOnce(now) {
      const due = await claimDueMails(database, {
        at: now,
        leaseUntil: new Date(now.getTime() + leaseMilliseconds),
        limit: mailsAtOnce,
      });
      await Promise.all(due.map((mail) => sendOne({ database, clock, mailer }, mail)));
      return due.length;
    },
  };
}

async function sendOne({ database, clock, mailer }: SendMailsDependencies, mail: DueMail): Promise<void> {
  const { id, attempts } = mail;
  const nth = ((attempts - 1) % attemptsPerRound) + 1;
  const startedAt = clock.now();
  const result = await send(mailer, { ...mail, nth });
  const endedAt = clock.now();
  await database.begin(async (tx) => {
    const settled = await settleMail(tx, { id, attempts, outcome: classify(result, { nth, at: endedAt }) });
    // Another worker took it over when our lease ran out; its outcome stands.
    if (!settled) return;
    await insertMailAttempt(tx, {
      mailId: id,
      number: attempts,
      at: startedAt,
      answer: result.kind === 'sent' ? [result.answer, ...result.refused].join('; ') : result.reason,
      isTaken: result.kind === 'sent',
      durationMilliseconds: endedAt.getTime() - startedAt.getTime(),
    });
  });
}

type Result = MailResult | { kind: 'kept'; reason: string };

async function send(mailer: SendMailsDependencies['mailer'], mail: DueMail & { nth: number }): Promise<Result> {
  // The worker of the last attempt died before it wrote down what became of it.
  if (mail.nth > maxAttempts) return { kind: 'failed', reason: 'the last attempt did not end', isPermanent: true };
  if (!mailer) return { kind: 'kept', reason: 'no mail server is set (CARILLON_SMTP_URL)' };
  return mailer.send({ to: mail.recipients, subject: mail.subject, text: mail.body, messageId: mail.id });
}

function classify(result: Result, { nth, at }: { nth: number; at: Date }): MailOutcome {
  if (result.kind === 'sent') {
    return { state: 'SENT', endedAt: at, error: result.refused.length > 0 ? result.refused.join('; ') : null };
  }
  if (result.kind === 'kept') return { state: 'KEPT', endedAt: at, error: result.reason };
  const delaySeconds = result.isPermanent ? undefined : retryDelaysSeconds[nth - 1];
  if (delaySeconds === undefined) return { state: 'FAILED', endedAt: at, error: result.reason };
  return { state: 'PENDING', nextAt: new Date(at.getTime() + delaySeconds * 1000), error: result.reason };
}
