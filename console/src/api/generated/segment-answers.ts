// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type AcceptedUpload = {
  segmentId: string;
  segmentName: string;
  operationId: string;
  requestId: string;
};

/** The number of users who have an attribute as a text, and as a number. */
export type AttributeTypes =
  | {
      state: 'COUNTED';
      texts: number;
      numbers: number;
    }
  | {
      state: 'TOO_SLOW';
      afterSeconds: number;
    };

export type CallbackAttempt = {
  /** 0 for the first delivery. */
  resend: number;
  attempt: number;
  at: string;

  /** Null if there was no response. */
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

  /** The time since which the receiver has not responded. The callback waits for a successful probe. */
  silentSince: string | null;

  /** How often a user sent it again. `attempts` counts the attempts since then. */
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

  /** The time since which the receiver has not responded. The callback waits for a successful probe. */
  silentSince: string | null;

  /** How often a user sent it again. `attempts` counts the attempts since then. */
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

  /** `KEPT` if there is no SMTP server: the email is only shown here. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';

  /** How often a user sent it again. `attempts` counts the attempts since then. */
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
  /** 0 for the first delivery. */
  resend: number;

  /** The number of the attempt in the schedule. */
  attempt: number;
  at: string;

  /** The response of the mail server, or why there was none. */
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

  /** `KEPT` if there is no SMTP server: the email is only shown here. */
  state: 'PENDING' | 'SENT' | 'KEPT' | 'FAILED';

  /** How often a user sent it again. `attempts` counts the attempts since then. */
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

      /** True if the count is estimated from a part of the users, to two digits. */
      isEstimate: boolean;
    }
  | {
      state: 'TOO_SLOW';
      afterSeconds: number;
    }
  | {
      state: 'UNUSABLE';

      /** The tree that is invalid; null for both together. */
      field: 'included_filters' | 'excluded_filters' | null;

      /** The reason. Starts with the path of the invalid member, as in `filters[0].value`. */
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

      /** The tree that is invalid; null for both together. */
      field: 'included_filters' | 'excluded_filters' | null;

      /** The reason. Starts with the path of the invalid member, as in `filters[0].value`. */
      reason: string;
    };

export type FilterWords =
  | {
      state: 'READABLE';
      words: string;
    }
  | {
      state: 'UNUSABLE';

      /** The tree that is invalid; null for both together. */
      field: 'included_filters' | 'excluded_filters' | null;

      /** The reason. Starts with the path of the invalid member, as in `filters[0].value`. */
      reason: string;
    };

export type KnownAttribute = {
  name: string;

  /** The data type that a filter uses for the attribute. */
  type: 'string' | 'double' | 'bool' | 'datetime' | 'array_string' | 'array_double';

  /** The most frequent values of some users. */
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

  /** The filters as they were sent; `excluded` is null if no users are excluded. Null if the segment has no filters. */
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

  /** Null if the file was uploaded. */
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
