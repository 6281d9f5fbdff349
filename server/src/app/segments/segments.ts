import { ServiceError } from '../../domain/errors.ts';
import { archivedSegmentShownDays, maxRejectsKept } from '../../domain/limits/segments.ts';
import { inSnapshot, inTransaction } from '../../storage/database.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import {
  isOperationOf,
  listCampaignsOfSegment,
  listOpenOperations,
  listSampleMembers,
} from '../../storage/segments/segment-members.ts';
import type { OpenOperation } from '../../storage/segments/segment-members.ts';
import { listOperations, listRejects } from '../../storage/segments/segment-operations.ts';
import {
  countActiveSegments,
  findSegmentById,
  findSegmentByName,
  listSegments,
  archiveSegment,
  lockSegment,
  lockSegmentsOfWorkspace,
  unarchiveSegment,
} from '../../storage/segments/segments.ts';
import type { Segment } from '../../storage/segments/segments.ts';
import { audit } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces.ts';
import { requireSegmentQuota } from './segment-limits.ts';
import type { SegmentCaller, SegmentDependencies } from './segment-limits.ts';

export type ReadSegmentsDependencies = Pick<SegmentDependencies, 'database' | 'clock' | 'limits'>;

type Key = { workspaceId: string; id: string };
type RejectsQuery = { workspaceId: string; segmentId: string; operationId: string };

/** Active segments and recently archived ones. */
export const maxSegmentsListed = 1_000;
const maxOperations = 100;

/** Lists segments, newest first, with the number of active ones and its maximum. @throws ServiceError NOT_FOUND */
export async function listShownSegments({ database, clock, limits }: ReadSegmentsDependencies, workspaceId: string) {
  await requireWorkspace(database, workspaceId);
  const archivedSince = new Date(clock.now().getTime() - archivedSegmentShownDays * 24 * 3_600_000);
  const [segments, open, active] = await inSnapshot(database, (tx) =>
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

/** Returns a segment and its newest operations. @throws ServiceError NOT_FOUND */
export function readSegment({ database }: ReadSegmentsDependencies, key: Key) {
  return inSnapshot(database, async (tx) => {
    return withOperations(tx, await requireSegment(tx, key));
  });
}

/** Does the same by exact name. @throws ServiceError SEGMENT_NOT_FOUND */
export function readNamedSegment({ database }: ReadSegmentsDependencies, named: { workspaceId: string; name: string }) {
  return inSnapshot(database, async (tx) => {
    const segment = await findSegmentByName(tx, named);
    if (!segment) throw new ServiceError('SEGMENT_NOT_FOUND', { field: named.name });
    return withOperations(tx, segment);
  });
}

/** Lists the skipped lines of an operation's file, in its order. @throws ServiceError NOT_FOUND */
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

/** Returns the progress of the current operation, and how many are queued behind it; undefined if none is open. */
function progressOf({ id }: Pick<Segment, 'id'>, open: readonly OpenOperation[]) {
  const [first, ...waiting] = open.filter(({ segmentId }) => segmentId === id);
  return first && { ...first, waiting: waiting.length };
}

/** Lists the campaigns that are or were sent to a segment, newest first. @throws ServiceError NOT_FOUND */
export async function listSegmentCampaigns({ database }: ReadSegmentsDependencies, key: Key) {
  await requireSegment(database, key);
  return listCampaignsOfSegment(database, key);
}

/** Returns the customer ids of some members of a segment. @throws ServiceError NOT_FOUND */
export async function listSegmentMembers({ database }: ReadSegmentsDependencies, key: Key): Promise<string[]> {
  const { version } = await requireSegment(database, key);
  return listSampleMembers(database, { ...key, version });
}

async function requireSegment(tx: Queryable, key: Key): Promise<Segment> {
  const segment = await findSegmentById(tx, key);
  if (!segment) throw new ServiceError('NOT_FOUND', { detail: `no segment ${key.id}` });
  return segment;
}

export type NamedSegment = SegmentCaller & { name: string; segmentId: string | undefined };

/** Archives or unarchives the segment of an id. @throws ServiceError NOT_FOUND, SEGMENT_ACTIVE_LIMITED */
export async function changeSegmentState(
  deps: Pick<SegmentDependencies, 'database' | 'clock' | 'limits'>,
  { actor, workspaceId, id, action }: SegmentCaller & { id: string; action: 'archive' | 'unarchive' },
): Promise<void> {
  const { name } = await requireSegment(deps.database, { workspaceId, id });
  const change = action === 'archive' ? archiveNamedSegment : unarchiveNamedSegment;
  await change(deps, { actor, workspaceId, name, segmentId: id });
}

/** Archives a segment of any kind; an archived one stays archived. @throws ServiceError SEGMENT_NOT_FOUND */
export async function archiveNamedSegment(
  { database, clock }: Pick<SegmentDependencies, 'database' | 'clock'>,
  named: NamedSegment,
): Promise<Pick<Segment, 'id' | 'name'>> {
  return await inTransaction(database, async (tx) => {
    const segment = await takeNamed(tx, named);
    await archiveSegment(tx, { id: segment.id, at: clock.now() });
    const { id, name } = segment;
    const { actor, workspaceId } = named;
    await audit(tx, { actor, workspaceId, action: 'segment.archive', object: { id, name }, at: clock.realNow() });
    return { id, name };
  });
}

/**
 * Makes an archived segment active again and restarts its expiry. Members deleted 30 days after archiving are not
 * restored (fact 2.2).
 *
 * @throws ServiceError SEGMENT_NOT_FOUND, SEGMENT_ACTIVE_LIMITED
 */
export async function unarchiveNamedSegment(
  { database, clock, limits }: Pick<SegmentDependencies, 'database' | 'clock' | 'limits'>,
  named: NamedSegment,
): Promise<Pick<Segment, 'id' | 'name'>> {
  return await inTransaction(database, async (tx) => {
    // Locked before the segment, as in the creation of one.
    await lockSegmentsOfWorkspace(tx, named.workspaceId);
    const segment = await takeNamed(tx, named);
    if (segment.state === 'ARCHIVED') await requireSegmentQuota(tx, { ...named, limits });
    await unarchiveSegment(tx, { id: segment.id, at: clock.now() });
    const { id, name } = segment;
    const { actor, workspaceId } = named;
    await audit(tx, { actor, workspaceId, action: 'segment.unarchive', object: { id, name }, at: clock.realNow() });
    return { id, name };
  });
}

async function takeNamed(tx: Transaction, named: NamedSegment): Promise<Segment> {
  const found = await findNamed(tx, named);
  const locked = found && (await lockSegment(tx, { workspaceId: named.workspaceId, id: found.id }));
  if (!locked) throw new ServiceError('SEGMENT_NOT_FOUND', { field: named.segmentId ?? named.name });
  return locked;
}

function findNamed(tx: Transaction, { workspaceId, name, segmentId }: NamedSegment): Promise<Segment | undefined> {
  return segmentId ? findSegmentById(tx, { workspaceId, id: segmentId }) : findSegmentByName(tx, { workspaceId, name });
}
