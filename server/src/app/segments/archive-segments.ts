import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import {
  archiveSegment,
  findSegmentById,
  findSegmentByName,
  lockSegment,
  lockSegmentsOfWorkspace,
  unarchiveSegment,
} from '../../storage/segments/segments.ts';
import type { Segment } from '../../storage/segments/segments.ts';
import { requireSegmentQuota } from './limit-segments.ts';
import type { SegmentDependencies } from './segment-dependencies.ts';

/** What is written with the change, in its transaction. */
export type Noted = { note?: (tx: Transaction) => Promise<void> };

export type NamedSegment = { workspaceId: string; name: string; segmentId: string | undefined };

/** Archives a segment of any kind; an archived one stays so. @throws ServiceError SEGMENT_NOT_FOUND */
export async function archiveNamedSegment(
  { database, clock }: Pick<SegmentDependencies, 'database' | 'clock'>,
  named: NamedSegment & Noted,
): Promise<Pick<Segment, 'id' | 'name'>> {
  return await inTransaction(database, async (tx) => {
    const segment = await takeNamed(tx, named);
    await archiveSegment(tx, { id: segment.id, at: clock.now() });
    await named.note?.(tx);
    return { id: segment.id, name: segment.name };
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
  named: NamedSegment & Noted,
): Promise<Pick<Segment, 'id' | 'name'>> {
  return await inTransaction(database, async (tx) => {
    // Before the segment, as whoever makes one.
    await lockSegmentsOfWorkspace(tx, named.workspaceId);
    const segment = await takeNamed(tx, named);
    if (segment.state === 'ARCHIVED') await requireSegmentQuota(tx, { ...named, limits });
    await unarchiveSegment(tx, { id: segment.id, at: clock.now() });
    await named.note?.(tx);
    return { id: segment.id, name: segment.name };
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
