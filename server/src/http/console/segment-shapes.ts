import { Type } from 'typebox';
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
  fileUrl: described(orNull(Type.String()), 'Null: the file was posted.'),
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
      'As they were sent; `excluded` null: nobody is left out. Null: the segment is none of filters.',
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
  field: described(orNull(oneOf(['included_filters', 'excluded_filters'])), 'The tree; null: both together.'),
  reason: described(Type.String(), 'Begins with the place where the tree is at fault, as in `filters[0].value`.'),
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
    isEstimate: described(Type.Boolean(), 'From a part of the users, to two digits.'),
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

export const KnownAttribute = Type.Object({
  name: Type.String(),
  type: described(
    oneOf(['string', 'double', 'bool', 'datetime', 'array_string', 'array_double']),
    'The data type that a filter gives it.',
  ),
  values: described(Type.Array(Type.String()), 'The most frequent ones of some users.'),
});
