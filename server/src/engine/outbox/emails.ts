import type { Clock } from '../../clock.ts';
import { emailRetrySeconds } from '../../domain/limits/delivery.ts';
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
  /** Undefined if no SMTP server is configured. Emails are then kept unsent; sending one again reports why it is not sent. */
  smtpClient: Pick<SmtpClient, 'send'> | undefined;
  outcomes: OutcomeBuffer;
};

const maxAttempts = emailRetrySeconds.length + 1;

const emailsAtOnce = 5;
/** Twice the time one email may take: an expired lease means that the worker died. */
const leaseMilliseconds = 120_000;

/**
 * The job that sends waiting emails. An email that the server rejects permanently fails immediately. Temporary failures (no
 * server, 4xx) are retried. An email accepted for only some recipients counts as sent, because a repeat would reach those
 * recipients twice.
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
  // The worker of the last attempt died before it recorded the outcome.
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
  /** The part before the @ of the Message-ID: the same on every attempt, so that mailboxes can drop duplicates. */
  messageId: string;
};

type EmailResult =
  /** The server accepted the email for at least one recipient. `refused` are the other recipients, with the server's text. */
  | { kind: 'sent'; refused: string[]; answer: string }
  /** `isPermanent`: the server responded with 5xx, so a retry would fail too. */
  | { kind: 'failed'; reason: string; isPermanent: boolean };

export type SmtpClient = {
  send(email: EmailToSend): Promise<EmailResult>;
  close(): void;
};

const connectMilliseconds = 10_000;
const greetingMilliseconds = 10_000;
const socketMilliseconds = 30_000;
/**
 * Limits a server that keeps trickling bytes and so never exceeds the idle limits above. The lease of an email relies on this
 * limit.
 */
const totalMilliseconds = 60_000;
const maxReason = 300;

/**
 * Sends plain text through one SMTP server. Opens one connection per email, because reports are rare.
 *
 * @param options.url `smtp://` or `smtps://`, with user and password if the server requires them
 * @param options.from sender, an address or `Name <address>`
 */
export function makeSmtpClient({ url, from }: { url: string; from: string }): SmtpClient {
  // Loaded with the first email, because loading would delay the start and few installations send any.
  const makeTransport = async () =>
    (await import('nodemailer')).createTransport({
      url,
      dnsTimeout: connectMilliseconds,
      connectionTimeout: connectMilliseconds,
      greetingTimeout: greetingMilliseconds,
      socketTimeout: socketMilliseconds,
      // An email's text never refers to a file or address to fetch.
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
          // As objects: strings would be parsed, and a comma in an address would split it in two.
          to: email.to.map((address) => ({ name: '', address })),
          subject: email.subject,
          text: email.text,
          messageId: `<${email.messageId}@${domain}>`,
          // Suppresses automatic replies (RFC 3834 §5).
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

/** Converts to one line: a server may respond with several lines, or with bytes that the database rejects. */
function toReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\p{Cc}+/gu, ' ').slice(0, maxReason);
}
