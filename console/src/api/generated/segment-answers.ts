// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type AcceptedUpload = {
  segmentId: string;
  segmentName: string;
  operationId: string;
  requestId: string;
};

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

export type CampaignOfSegment = {
  id: string;
  name: string;
  status: string;
  createdAt: string;
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

export type ConsoleSegment = {
  id: string;
  name: string;
  kind: 'FILE' | 'FILTER' | 'COHORT';
  state: 'FILLING' | 'READY' | 'FAILED' | 'ARCHIVED';
  stateReason: string | null;
  source: 'API' | 'CONSOLE' | 'PARTNER';
  attributeName: string | null;
  attributeType: 'string' | 'double' | null;
  description: string | null;
  userCount: number | null;
  expiryDays: number | null;
  expiresAt: string | null;
  archivedAt: string | null;
  createdAt: string;

  /** The operation being worked, with how many wait behind it. */
  progress: {
    operationId: string;
    kind: OperationKind;
    state: OperationState;
    attempts: number;
    bytesRead: number;
    valuesFound: number;
    waiting: number;
    createdAt: string;
  } | null;
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

export type FilterCount =
  | {
      state: 'COUNTED';
      users: number;
      of: number;

      /** From a part of the users, to two digits. */
      isEstimate: boolean;
    }
  | {
      state: 'TOO_SLOW';
      afterSeconds: number;
    }
  | {
      state: 'UNUSABLE';

      /** The tree; null: both together. */
      field: 'included_filters' | 'excluded_filters' | null;

      /** Begins with the place where the tree is at fault, as in `filters[0].value`. */
      reason: string;
    };

export type FilterSample =
  | {
      state: 'FOUND';
      users: {
        id: string;
        customerId: string;
      }[];
    }
  | {
      state: 'TOO_SLOW';
      afterSeconds: number;
    }
  | {
      state: 'UNUSABLE';

      /** The tree; null: both together. */
      field: 'included_filters' | 'excluded_filters' | null;

      /** Begins with the place where the tree is at fault, as in `filters[0].value`. */
      reason: string;
    };

export type FilterWords =
  | {
      state: 'READABLE';
      words: string;
    }
  | {
      state: 'UNUSABLE';

      /** The tree; null: both together. */
      field: 'included_filters' | 'excluded_filters' | null;

      /** Begins with the place where the tree is at fault, as in `filters[0].value`. */
      reason: string;
    };

export type KnownAttribute = {
  name: string;

  /** The data type that a filter gives it. */
  type: 'string' | 'double' | 'bool' | 'datetime' | 'array_string' | 'array_double';

  /** The most frequent ones of some users. */
  values: string[];
};

export type OperationKind = 'CREATE' | 'ADD' | 'REMOVE' | 'REPLACE';

export type OperationState = 'QUEUED' | 'FILLING' | 'WAITING' | 'SUCCEEDED' | 'FAILED';

/** Operations newest first. */
export type SegmentDetail = {
  id: string;
  name: string;
  kind: 'FILE' | 'FILTER' | 'COHORT';
  state: 'FILLING' | 'READY' | 'FAILED' | 'ARCHIVED';
  stateReason: string | null;
  source: 'API' | 'CONSOLE' | 'PARTNER';
  attributeName: string | null;
  attributeType: 'string' | 'double' | null;
  description: string | null;
  userCount: number | null;
  expiryDays: number | null;
  expiresAt: string | null;
  archivedAt: string | null;
  createdAt: string;

  /** The operation being worked, with how many wait behind it. */
  progress: {
    operationId: string;
    kind: OperationKind;
    state: OperationState;
    attempts: number;
    bytesRead: number;
    valuesFound: number;
    waiting: number;
    createdAt: string;
  } | null;

  /** As they were sent; `excluded` null: nobody is left out. Null: the segment is none of filters. */
  filters: {
    included: unknown;
    excluded: unknown;
  } | null;
  operations: SegmentOperation[];
};

export type SegmentList = {
  segments: ConsoleSegment[];
  active: number;
  maxActive: number;
};

export type SegmentOperation = {
  id: string;
  number: number;
  kind: OperationKind;
  requestId: string;

  /** Null: the file was posted. */
  fileUrl: string | null;
  state: OperationState;
  attempts: number;
  bytesRead: number;
  valuesFound: number;
  valuesProcessed: number | null;
  userCount: number | null;
  status: number | null;
  errorMessage: string | null;
  errorDetail: string | null;
  requestedBy: string;
  createdAt: string;
  endedAt: string | null;
};
