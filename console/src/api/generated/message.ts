// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type CallbackAttempt = {
  /** 0: the first delivery. */
  resend: number;
  attempt: number;
  at: string;

  /** Null: no answer came. */
  status: number | null;
  error: string | null;
  durationMilliseconds: number;
};

export type CallbackDetail = {
  id: string;
  operationId: string | null;
  url: string;
  body: string;
  state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';

  /** Since when the receiver has not answered: the callback waits for one of its probes. */
  silentSince: string | null;

  /** How often it was sent again, and the tries since. */
  resends: number;
  attempts: number;
  nextAt: string | null;
  createdAt: string;
  endedAt: string | null;
  tries: CallbackAttempt[];
};

export type CallbackPage = {
  callbacks: ConsoleCallback[];
  next: string | null;
};

export type ConsoleCallback = {
  id: string;
  operationId: string | null;
  url: string;
  body: string;
  state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';

  /** Since when the receiver has not answered: the callback waits for one of its probes. */
  silentSince: string | null;

  /** How often it was sent again, and the tries since. */
  resends: number;
  attempts: number;
  nextAt: string | null;
  createdAt: string;
  endedAt: string | null;
};

export type ConsoleEmail = {
  id: string;
  operationId: string | null;
  recipients: string[];
  subject: string;
  body: string;

  /** `KEPT`: there is no SMTP server; it is shown only. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';

  /** How often it was sent again, and the tries since. */
  resends: number;
  attempts: number;
  nextAt: string | null;
  error: string | null;
  createdAt: string;
  endedAt: string | null;
};

export type EmailAttempt = {
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

export type EmailDetail = {
  id: string;
  operationId: string | null;
  recipients: string[];
  subject: string;
  body: string;

  /** `KEPT`: there is no SMTP server; it is shown only. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';

  /** How often it was sent again, and the tries since. */
  resends: number;
  attempts: number;
  nextAt: string | null;
  error: string | null;
  createdAt: string;
  endedAt: string | null;
  tries: EmailAttempt[];
};

export type EmailPage = {
  emails: ConsoleEmail[];
  next: string | null;
};
