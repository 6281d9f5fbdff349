import type { ConsoleCaller } from './console-caller.ts';
import type { ConsoleCallback, ConsoleMail } from './console-client.ts';

export type MailTry = {
  /** 0: the first sending. */
  resend: number;
  /** Which of the schedule. */
  attempt: number;
  at: string;
  /** What the mail server said, or why nobody answered. */
  answer: string;
  isTaken: boolean;
  durationMilliseconds: number;
};

export type MailDetail = ConsoleMail & { tries: MailTry[] };

export type MessageQuery = {
  workspaceId: string;
  /** Those that nobody took. */
  only?: 'failed';
  after?: string;
};

/** Callbacks and mails, newest first; `next` is the `after` of the page behind. */
export type ConsoleMessages = {
  listCallbacks(query: MessageQuery): Promise<{ callbacks: ConsoleCallback[]; next: string | null }>;
  listMails(query: MessageQuery): Promise<{ mails: ConsoleMail[]; next: string | null }>;
  readMail(key: { workspaceId: string; id: string }): Promise<MailDetail>;
  /** Sends a mail again that has ended. @throws CarillonError */
  resendMail(key: { workspaceId: string; id: string }): Promise<MailDetail>;
};

export function makeConsoleMessages({ read, send }: ConsoleCaller): ConsoleMessages {
  return {
    listCallbacks: (query) => read('callbacks', { ...query }),
    listMails: (query) => read('mails', { ...query }),
    readMail: async ({ workspaceId, id }) => (await read<{ mail: MailDetail }>(`mails/${id}`, { workspaceId })).mail,
    resendMail: async ({ workspaceId, id }) =>
      (await send<{ mail: MailDetail }>('POST', `mails/${id}/resend?${new URLSearchParams({ workspaceId })}`)).mail,
  };
}
