import { Type } from 'typebox';
import type { listCallbacks, listEmails, readCallback, readEmail } from '../../app/segments/messages.ts';
import type { listRejectedLines, listShownSegments, readSegment } from '../../app/segments/segments.ts';
import { presentCsv } from './csv.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const OperationState = oneOf(['QUEUED', 'FILLING', 'WAITING', 'SUCCEEDED', 'FAILED']);

export const OperationKind = oneOf(['CREATE', 'ADD', 'REMOVE', 'REPLACE']);

export const ConsoleSegment = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: oneOf(['FILE', 'FILTER', 'COHORT']),
  state: oneOf(['FILLING', 'READY', 'FAILED', 'ARCHIVED']),
  stateReason: orNull(Type.String()),
  source: oneOf(['API', 'CONSOLE', 'PARTNER']),
  attributeName: orNull(Type.String()),
  attributeType: orNull(oneOf(['string', 'double'])),
  description: orNull(Type.String()),
  userCount: orNull(Type.Number()),
  expiryDays: orNull(Type.Number()),
  expiresAt: orNull(Type.String()),
  archivedAt: orNull(Type.String()),
  createdAt: Type.String(),
  progress: described(
    orNull(
      Type.Object({
        operationId: Type.String(),
        kind: OperationKind,
        state: OperationState,
        attempts: Type.Number(),
        bytesRead: Type.Number(),
        valuesFound: Type.Number(),
        waiting: Type.Number(),
        createdAt: Type.String(),
      }),
    ),
    'The operation being worked, with how many wait behind it.',
  ),
});

export const SegmentOperation = Type.Object({
  id: Type.String(),
  number: Type.Number(),
  kind: OperationKind,
  requestId: Type.String(),
  fileUrl: described(orNull(Type.String()), 'Null if the file was uploaded.'),
  state: OperationState,
  attempts: Type.Number(),
  bytesRead: Type.Number(),
  valuesFound: Type.Number(),
  valuesProcessed: orNull(Type.Number()),
  userCount: orNull(Type.Number()),
  status: orNull(Type.Number()),
  errorMessage: orNull(Type.String()),
  errorDetail: orNull(Type.String()),
  requestedBy: Type.String(),
  createdAt: Type.String(),
  endedAt: orNull(Type.String()),
});

export const SegmentList = Type.Object({
  segments: Type.Array(ConsoleSegment),
  active: Type.Number(),
  maxActive: Type.Number(),
});

export const SegmentDetail = described(
  Type.Object({
    ...ConsoleSegment.properties,
    filters: described(
      orNull(Type.Object({ included: Type.Unknown(), excluded: Type.Unknown() })),
      'The filters as they were sent; `excluded` is null if no users are excluded. Null if the segment has no filters.',
    ),
    operations: Type.Array(SegmentOperation),
  }),
  'Operations newest first.',
);

export const CampaignOfSegment = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.String(),
  createdAt: Type.String(),
});

export const AcceptedUpload = Type.Object({
  segmentId: Type.String(),
  segmentName: Type.String(),
  operationId: Type.String(),
  requestId: Type.String(),
});

const Unusable = Type.Object({
  state: Type.Literal('UNUSABLE'),
  field: described(
    orNull(oneOf(['included_filters', 'excluded_filters'])),
    'The tree that is invalid; null for both together.',
  ),
  reason: described(Type.String(), 'The reason. Starts with the path of the invalid member, as in `filters[0].value`.'),
});

const TooSlow = Type.Object({ state: Type.Literal('TOO_SLOW'), afterSeconds: Type.Number() });

export const FilterWords = Type.Union([
  Type.Object({ state: Type.Literal('READABLE'), words: Type.String() }),
  Unusable,
]);

export const FilterCount = Type.Union([
  Type.Object({
    state: Type.Literal('COUNTED'),
    users: Type.Number(),
    of: Type.Number(),
    isEstimate: described(Type.Boolean(), 'True if the count is estimated from a part of the users, to two digits.'),
  }),
  TooSlow,
  Unusable,
]);

export const FilterSample = Type.Union([
  Type.Object({
    state: Type.Literal('FOUND'),
    users: Type.Array(Type.Object({ id: Type.String(), customerId: Type.String() })),
  }),
  TooSlow,
  Unusable,
]);

export const AttributeTypes = described(
  Type.Union([
    Type.Object({ state: Type.Literal('COUNTED'), texts: Type.Number(), numbers: Type.Number() }),
    Type.Object({ state: Type.Literal('TOO_SLOW'), afterSeconds: Type.Number() }),
  ]),
  'The number of users who have an attribute as a text, and as a number.',
);

export const KnownAttribute = Type.Object({
  name: Type.String(),
  type: described(
    oneOf(['string', 'double', 'bool', 'datetime', 'array_string', 'array_double']),
    'The data type that a filter uses for the attribute.',
  ),
  values: described(Type.Array(Type.String()), 'The most frequent values of some users.'),
});

export const ConsoleCallback = Type.Object({
  id: Type.String(),
  operationId: orNull(Type.String()),
  url: Type.String(),
  body: Type.String(),
  state: oneOf(['PENDING', 'DELIVERED', 'GIVEN_UP']),
  silentSince: described(
    orNull(Type.String()),
    'The time since which the receiver has not responded. The callback waits for a successful probe.',
  ),
  resends: Type.Number({ description: 'How often a user sent it again. `attempts` counts the attempts since then.' }),
  attempts: Type.Number(),
  nextAt: orNull(Type.String()),
  createdAt: Type.String(),
  endedAt: orNull(Type.String()),
});

export const CallbackAttempt = Type.Object({
  resend: Type.Number({ description: '0 for the first delivery.' }),
  attempt: Type.Number(),
  at: Type.String(),
  status: described(orNull(Type.Number()), 'Null if there was no response.'),
  error: orNull(Type.String()),
  durationMilliseconds: Type.Number(),
});

export const CallbackDetail = Type.Object({ ...ConsoleCallback.properties, tries: Type.Array(CallbackAttempt) });

export const ConsoleEmail = Type.Object({
  id: Type.String(),
  operationId: orNull(Type.String()),
  recipients: Type.Array(Type.String()),
  subject: Type.String(),
  body: Type.String(),
  state: described(
    oneOf(['PENDING', 'SENT', 'KEPT', 'FAILED']),
    '`KEPT` if there is no SMTP server: the email is only shown here.',
  ),
  resends: Type.Number({ description: 'How often a user sent it again. `attempts` counts the attempts since then.' }),
  attempts: Type.Number(),
  nextAt: orNull(Type.String()),
  error: orNull(Type.String()),
  createdAt: Type.String(),
  endedAt: orNull(Type.String()),
});

export const EmailAttempt = Type.Object({
  resend: Type.Number({ description: '0 for the first delivery.' }),
  attempt: Type.Number({ description: 'The number of the attempt in the schedule.' }),
  at: Type.String(),
  answer: Type.String({ description: 'The response of the mail server, or why there was none.' }),
  isTaken: Type.Boolean(),
  durationMilliseconds: Type.Number(),
});

export const EmailDetail = Type.Object({ ...ConsoleEmail.properties, tries: Type.Array(EmailAttempt) });

export const CallbackPage = Type.Object({ callbacks: Type.Array(ConsoleCallback), next: orNull(Type.String()) });

export const EmailPage = Type.Object({ emails: Type.Array(ConsoleEmail), next: orNull(Type.String()) });

type Listing = Awaited<ReturnType<typeof listShownSegments>>;
type ListedSegment = Listing['segments'][number];
type ShownSegment = Awaited<ReturnType<typeof readSegment>>;
type ListedCallback = Awaited<ReturnType<typeof listCallbacks>>[number];
type ShownCallback = Awaited<ReturnType<typeof readCallback>>;
type Email = Awaited<ReturnType<typeof listEmails>>[number];
type ShownEmail = Awaited<ReturnType<typeof readEmail>>;
type Reject = Awaited<ReturnType<typeof listRejectedLines>>[number];

/** Presents a segment on the console; values that it does not have are null. */
export function presentSegment(segment: ListedSegment) {
  const { progress } = segment;
  return {
    id: segment.id,
    name: segment.name,
    kind: segment.kind,
    state: segment.state,
    stateReason: segment.stateReason,
    source: segment.source,
    attributeName: segment.attributeName,
    attributeType: segment.attributeType,
    description: segment.description,
    userCount: segment.userCount,
    expiryDays: segment.expiryDays,
    expiresAt: toText(segment.expiresAt),
    archivedAt: toText(segment.archivedAt),
    createdAt: segment.createdAt.toISOString(),
    progress: progress
      ? {
          operationId: progress.id,
          kind: progress.kind,
          state: progress.state,
          attempts: progress.attempts,
          bytesRead: progress.bytesRead,
          valuesFound: progress.valuesFound,
          waiting: progress.waiting,
          createdAt: progress.createdAt.toISOString(),
        }
      : null,
  };
}

export function presentSegmentDetail(segment: ShownSegment) {
  const { kind, includedFilters, excludedFilters } = segment;
  return {
    ...presentSegment(segment),
    filters: kind === 'FILTER' ? { included: includedFilters, excluded: excludedFilters } : null,
    operations: segment.operations.map(presentOperation),
  };
}

function presentOperation(operation: ShownSegment['operations'][number]) {
  return { ...operation, createdAt: operation.createdAt.toISOString(), endedAt: toText(operation.endedAt) };
}

export function presentCallback({ workspaceId: _workspaceId, ...callback }: ListedCallback) {
  return {
    ...callback,
    silentSince: toText(callback.silentSince),
    nextAt: toText(callback.nextAt),
    createdAt: callback.createdAt.toISOString(),
    endedAt: toText(callback.endedAt),
  };
}

export function presentCallbackDetail({ tries, ...callback }: ShownCallback) {
  return {
    ...presentCallback(callback),
    tries: tries.map(({ at, ...attempt }) => ({ ...attempt, at: at.toISOString() })),
  };
}

export function presentEmail({ workspaceId: _workspaceId, ...email }: Email) {
  return {
    ...email,
    nextAt: toText(email.nextAt),
    createdAt: email.createdAt.toISOString(),
    endedAt: toText(email.endedAt),
  };
}

export function presentEmailDetail({ tries, ...email }: ShownEmail) {
  return { ...presentEmail(email), tries: tries.map(({ at, ...attempt }) => ({ ...attempt, at: at.toISOString() })) };
}

/** Returns the rejected lines as a CSV file (RFC 4180). */
export function presentRejects(rejects: readonly Reject[]): string {
  return presentCsv([['line', 'reason'], ...rejects.map(({ line, reason }) => [String(line), reason])]);
}

function toText(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
