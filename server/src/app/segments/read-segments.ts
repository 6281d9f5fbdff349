import { ServiceError } from '../../domain/errors.ts';
import { archivedSegmentShownDays, maxRejectsKept } from '../../domain/segments/limits.ts';
import type { Transaction } from '../../storage/database.ts';
import { listOperations, listRejects } from '../../storage/segments/segment-operations.ts';
import { isOperationOf, listOpenOperations, readOneOccurrence } from '../../storage/segments/segment-members.ts';
import type { OpenOperation } from '../../storage/segments/segment-members.ts';
import {
  countActiveSegments,
  findSegmentById,
  findSegmentByName,
  listSegments,
} from '../../storage/segments/segments.ts';
import type { Segment } from '../../storage/segments/segments.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';
import type { SegmentDependencies } from './segment-dependencies.ts';

export type ReadSegmentsDependencies = Pick<SegmentDependencies, 'database' | 'clock' | 'limits'>;

type Key = { workspaceId: string; id: string };
type RejectsQuery = { workspaceId: string; segmentId: string; operationId: string };

/** Those that are active, and those archived of late. */
export const maxSegmentsListed = 1_000;
const maxOperations = 100;

/** Newest first, with how many may still be active. @throws ServiceError NOT_FOUND */
export async function listShownSegments({ database, clock, limits }: ReadSegmentsDependencies, workspaceId: string) {
  await requireWorkspace(database, workspaceId);
  const archivedSince = new Date(clock.now().getTime() - archivedSegmentShownDays * 24 * 3_600_000);
  const [segments, open, active] = await readOneOccurrence(database, (tx) =>
    Promise.all([
      listSegments(tx, { workspaceId, name: undefined, archivedSince, limit: maxSegmentsListed }),
      listOpenOperations(tx, workspaceId),
      countActiveSegments(tx, workspaceId),
    ]),
  );
  return {
    segments: segments.map((segment) => ({ ...segment, progress: progressOf(segment, open) })),
    active,
    maxActive: limits.activeSegments,
  };
}

/** A segment and its newest operations. @throws ServiceError NOT_FOUND */
export function readSegment({ database }: ReadSegmentsDependencies, key: Key) {
  return readOneOccurrence(database, async (tx) => {
    const segment = await findSegmentById(tx, key);
    if (!segment) throw new ServiceError('NOT_FOUND', { detail: `no segment ${key.id}` });
    return withOperations(tx, segment);
  });
}

/** The same by its exact name. @throws ServiceError SEGMENT_NOT_FOUND */
export function readNamedSegment({ database }: ReadSegmentsDependencies, named: { workspaceId: string; name: string }) {
  return readOneOccurrence(database, async (tx) => {
    const segment = await findSegmentByName(tx, named);
    if (!segment) throw new ServiceError('SEGMENT_NOT_FOUND', { field: named.name });
    return withOperations(tx, segment);
  });
}

/** The lines of an operation's file that were skipped, in its order. @throws ServiceError NOT_FOUND */
export async function listRejectedLines({ database }: ReadSegmentsDependencies, query: RejectsQuery) {
  const { workspaceId, segmentId, operationId } = query;
  if (!(await isOperationOf(database, { workspaceId, segmentId, id: operationId })))
    throw new ServiceError('NOT_FOUND', { detail: `no operation ${operationId}` });
  return listRejects(database, { workspaceId, operationId, limit: maxRejectsKept });
}

async function withOperations(tx: Transaction, segment: Segment) {
  const { workspaceId, id: segmentId } = segment;
  const open = await listOpenOperations(tx, workspaceId);
  const operations = await listOperations(tx, { workspaceId, segmentId, limit: maxOperations });
  return { ...segment, progress: progressOf(segment, open), operations };
}

/** The progress of the current operation, and how many are queued behind it; undefined if none is open. */
function progressOf({ id }: Pick<Segment, 'id'>, open: readonly OpenOperation[]) {
  const [first, ...waiting] = open.filter(({ segmentId }) => segmentId === id);
  return first && { ...first, waiting: waiting.length };
}
