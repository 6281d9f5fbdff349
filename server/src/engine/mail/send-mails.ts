import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/pool.ts';
import { claimDueMails, settleMail } from '../../storage/sql/mails.ts';
import type { DueMail, MailOutcome } from '../../storage/sql/mails.ts';
import type { Duty } from '../duty.ts';
import type { MailResult, SmtpMailer } from './smtp-mailer.ts';

export type SendMailsDependencies = { database: Database; clock: Clock; mailer: Pick<SmtpMailer, 'send'> };

/** The waits before the second to the fourth attempt; then a mail has failed. */
const retryDelaysSeconds = [60, 600, 3_600];
const mostAttempts = retryDelaysSeconds.length + 1;

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
      await Promise.all(
        due.map(async (mail) => {
          const result = await send(mailer, mail);
          const outcome = classify(result, { attempts: mail.attempts, at: clock.now() });
          await settleMail(database, { id: mail.id, attempts: mail.attempts, outcome });
        }),
      );
      return due.length;
    },
  };
}

async function send(mailer: Pick<SmtpMailer, 'send'>, mail: DueMail): Promise<MailResult> {
  // The worker of the last attempt died before it wrote down what became of it.
  if (mail.attempts > mostAttempts)
    return { kind: 'failed', reason: 'the last attempt did not end', isPermanent: true };
  return mailer.send({ to: mail.recipients, subject: mail.subject, text: mail.body, messageId: mail.id });
}

function classify(result: MailResult, { attempts, at }: { attempts: number; at: Date }): MailOutcome {
  if (result.kind === 'sent') {
    return { state: 'SENT', endedAt: at, error: result.refused.length > 0 ? result.refused.join('; ') : null };
  }
  const delaySeconds = result.isPermanent ? undefined : retryDelaysSeconds[attempts - 1];
  if (delaySeconds === undefined) return { state: 'FAILED', endedAt: at, error: result.reason };
  return { state: 'PENDING', nextAt: new Date(at.getTime() + delaySeconds * 1000), error: result.reason };
}
