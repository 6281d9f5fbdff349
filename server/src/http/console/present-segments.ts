import type { listCallbacks, listEmails, readCallback, readEmail } from '../../app/segments/read-messages.ts';
import type { listRejectedLines, listShownSegments, readSegment } from '../../app/segments/read-segments.ts';
import { presentCsv } from './present-csv.ts';

type Listing = Awaited<ReturnType<typeof listShownSegments>>;
type ListedSegment = Listing['segments'][number];
type ShownSegment = Awaited<ReturnType<typeof readSegment>>;
type ListedCallback = Awaited<ReturnType<typeof listCallbacks>>[number];
type ShownCallback = Awaited<ReturnType<typeof readCallback>>;
type Email = Awaited<ReturnType<typeof listEmails>>[number];
type ShownEmail = Awaited<ReturnType<typeof readEmail>>;
type Reject = Awaited<ReturnType<typeof listRejectedLines>>[number];

/** A segment in the console; null where it has no value. */
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

/** The rejected lines as a CSV file (RFC 4180). */
export function presentRejects(rejects: readonly Reject[]): string {
  return presentCsv([['line', 'reason'], ...rejects.map(({ line, reason }) => [String(line), reason])]);
}

function toText(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
