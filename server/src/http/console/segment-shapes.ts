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
  Type.Object({ ...ConsoleSegment.properties, operations: Type.Array(SegmentOperation) }),
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
