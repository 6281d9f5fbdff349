import type { ConsoleCaller, Key } from './console-caller.ts';

export type MessageQuery = {
  workspaceId: string;
  /** Those that were not delivered. */
  only?: 'failed';
  /** Those about its files. */
  segmentId?: string;
  after?: string;
};

/** Callbacks and emails, newest first; `next` is the `after` of the next page. */
export function makeMessageCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    listCallbacks: (query: MessageQuery) => ask('GET callbacks', { query }),
    readCallback: async (key: Key) => (await ask('GET callbacks/:id', of(key))).callback,
    /** Sends a callback again that has ended. */
    resendCallback: async (key: Key) => (await ask('POST callbacks/:id/resend', of(key))).callback,
    listEmails: (query: MessageQuery) => ask('GET mails', { query }),
    readEmail: async (key: Key) => (await ask('GET mails/:id', of(key))).email,
    /** Sends an email again that has ended. */
    resendEmail: async (key: Key) => (await ask('POST mails/:id/resend', of(key))).email,
  };
}
