export type EmailToSend = {
  to: string[];
  subject: string;
  text: string;
  /** The part before the @ of the Message-ID: the same on every try, so that mailboxes can drop a repeat. */
  messageId: string;
};

export type EmailResult =
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
