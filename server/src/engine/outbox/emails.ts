import type { Clock } from '../../clock.ts';
import { emailRetrySeconds } from '../../domain/limits/outbox.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { attemptsPerRound, claimDueEmails, insertEmailAttempt, settleMessage } from '../../storage/outbox/outbox.ts';
import type { DueEmail, EmailOutcome } from '../../storage/outbox/outbox.ts';
import type { Job } from '../jobs/job.ts';
import { makeLease } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';

export type SendEmailsDependencies = {
  database: Database;
  clock: Clock;
  /** Undefined: no mail server is configured. Emails are kept unsent; sending one again reports why it is not sent. */
  smtpClient: Pick<SmtpClient, 'send'> | undefined;
  outcomes: OutcomeBuffer;
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

export type EmailToSend = {
  to: string[];
  subject: string;
  text: string;
  /** The part before the @ of the Message-ID: the same on every try, so that mailboxes can drop a repeat. */
  messageId: string;
};

type EmailResult =
  /** The server took it for at least one recipient. `refused` are the others, with its words. */
  | { kind: 'sent'; refused: string[]; answer: string }
  /** `isPermanent`: the server said 5xx, and would again. */
  | { kind: 'failed'; reason: string; isPermanent: boolean };

export type SmtpClient = {
  send(email: EmailToSend): Promise<EmailResult>;
  close(): void;
};

const connectMilliseconds = 10_000;
const greetingMilliseconds = 10_000;
const socketMilliseconds = 30_000;
/**
 * A server that keeps trickling bytes never exceeds the idle limits above; the lease of an email relies on this one.
 */
const totalMilliseconds = 60_000;
const maxReason = 300;

/**
 * Sends plain text through one SMTP server, with one connection per email, because reports are few.
 *
 * @param options.url `smtp://` or `smtps://`, with user and password if the server requires them
 * @param options.from sender, an address or `Name <address>`
 */
export function makeSmtpClient({ url, from }: { url: string; from: string }): SmtpClient {
  // At the first email: what a start would wait for, and few of them send any.
  const makeTransport = async () =>
    (await import('nodemailer')).createTransport({
      url,
      dnsTimeout: connectMilliseconds,
      connectionTimeout: connectMilliseconds,
      greetingTimeout: greetingMilliseconds,
      socketTimeout: socketMilliseconds,
      // The text of an email never refers to a file or address to fetch.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  let transport: ReturnType<typeof makeTransport> | undefined;
  const domain = /@([^@\s>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  return {
    async send(email) {
      try {
        transport ??= makeTransport();
        const sent = await (
          await transport
        ).sendMail({
          from,
          // As objects: a text would be parsed, and a comma in it would make two addresses.
          to: email.to.map((address) => ({ name: '', address })),
          subject: email.subject,
          text: email.text,
          messageId: `<${email.messageId}@${domain}>`,
          // Keeps answering machines quiet (RFC 3834 §5).
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.timeout(totalMilliseconds),
        });
        return { kind: 'sent', refused: (sent.rejectedErrors ?? []).map(toReason), answer: toReason(sent.response) };
      } catch (error) {
        const code = (error as { responseCode?: number }).responseCode ?? 0;
        return { kind: 'failed', reason: toReason(error), isPermanent: code >= 500 };
      }
    },
    close: () => void transport?.then((made) => made.close()),
  };
}

/** One line: a server may answer with several, or with bytes the database does not take. */
function toReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\p{Cc}+/gu, ' ').slice(0, maxReason);
}
