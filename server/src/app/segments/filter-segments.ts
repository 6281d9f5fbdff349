import { createHash } from 'node:crypto';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import { describeSegmentFilter } from '../../domain/segments/preview.ts';
import { SegmentExpansionError, segmentsUsedBy } from '../../domain/segments/filter.ts';
import { expandStoredFilters } from '../../domain/segments/filter-reader.ts';
import type { StoredFilters } from '../../domain/segments/filter-reader.ts';
import type { GroupFilter } from '../../domain/segments/filter.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { ReferencedSegment } from '../../storage/segments/segment-members.ts';
import { findReferencedSegments } from '../../storage/segments/segment-members.ts';
import {
  findSegmentByFilters,
  findSegmentById,
  insertSegment,
  listSegments,
  lockSegment,
  lockSegmentsOfWorkspace,
  updateFilterSegment,
} from '../../storage/segments/segments.ts';
import type { Segment } from '../../storage/segments/segments.ts';
import { audit } from '../accounts/audit.ts';
import { answerOnce } from '../idempotency.ts';
import { requireWorkspace } from '../workspaces.ts';
import { countCall, requireSegmentQuota } from './segment-limits.ts';
import type { Once, SegmentCaller, SegmentDependencies } from './segment-limits.ts';
import { archivedSegmentShownDays, filterSegmentWindows } from '../../domain/limits/segments.ts';

/** Filters as they were sent and as they were parsed. */
export type GivenFilters = { sent: unknown; filter: GroupFilter };

/** The users of a filter segment: those of the included tree without those of the excluded one. */
export type FilterTreesCommand = { included: GivenFilters; excluded: GivenFilters | undefined };

export type FilterSegmentCommand = FilterTreesCommand & { name: string };

const maxListed = 1_000;

export type FilterSegmentOperation = keyof typeof filterSegmentWindows;

/** Counts a call of one operation. @throws ServiceError SEGMENT_RATE_LIMITED */
export async function countFilterCall(
  { database, clock }: Pick<SegmentDependencies, 'database' | 'clock'>,
  { operation, workspaceId }: { operation: FilterSegmentOperation; workspaceId: string },
): Promise<void> {
  const limit = { operation: `segment-${operation}`, windows: filterSegmentWindows[operation] };
  const refusal = await countCall(database, { ...limit, workspaceId, at: clock.now() });
  if (refusal) throw new ServiceError('SEGMENT_RATE_LIMITED', { ...refusal, reason: textOf(limit.windows) });
}

/** Lists all visible segments of a workspace (fact 2.3), or the one with the given name. */
export function listShownSegments(
  { database, clock }: Pick<SegmentDependencies, 'database' | 'clock'>,
  { workspaceId, name }: { workspaceId: string; name: string | undefined },
): Promise<Segment[]> {
  return listSegments(database, {
    workspaceId,
    name,
    archivedSince: new Date(clock.now().getTime() - archivedSegmentShownDays * 24 * 3_600_000),
    limit: maxListed,
  });
}

/** @throws ServiceError SEGMENT_ID_NOT_FOUND */
export async function getSegment(
  { database }: Pick<SegmentDependencies, 'database'>,
  key: { workspaceId: string; id: string },
): Promise<Segment> {
  const segment = await findSegmentById(database, key);
  if (!segment) throw new ServiceError('SEGMENT_ID_NOT_FOUND', { field: key.id });
  return segment;
}

/** @throws ServiceError SEGMENT_FILTERS_INVALID, SEGMENT_FILTERS_TAKEN, SEGMENT_NAME_TAKEN, SEGMENT_ACTIVE_LIMITED */
export function createFilterSegment(deps: SegmentDependencies, request: CreateRequest & Once): Promise<{ id: string }> {
  const { workspaceId, rawBody, idempotencyKey: key } = request;
  const once = { workspaceId, operation: 'segment:filter', key, rawBody, at: deps.clock.now() };
  return answerOnce(deps, once, async (tx) => ({ id: await storeFilterSegment(deps, tx, request) }));
}

type CreateRequest = SegmentCaller & { command: FilterSegmentCommand };

async function storeFilterSegment(
  { clock, limits }: SegmentDependencies,
  tx: Transaction,
  { workspaceId, actor, command }: CreateRequest,
): Promise<string> {
  await requireWorkspace(tx, workspaceId);
  const at = clock.now();
  const filters = await prepareFilters(tx, { workspaceId, command, ownId: undefined });
  await requireSegmentQuota(tx, { workspaceId, limits });
  await requireNewFilters(tx, { workspaceId, filtersDigest: filters.filtersDigest, ownId: undefined });
  const id = makeId(at);
  const isNew = await insertSegment(tx, {
    ...filters,
    id,
    workspaceId,
    name: command.name,
    kind: 'FILTER',
    state: 'READY',
    source: actor.kind === 'account' ? 'CONSOLE' : 'API',
    attributeName: null,
    attributeType: null,
    partner: null,
    cohortId: null,
    userCount: null,
    expiryDays: null,
    expiresAt: null,
    createdBy: actor.name,
    at,
  });
  if (!isNew) throw new ServiceError('SEGMENT_NAME_TAKEN', { field: command.name });
  const object = { id, name: command.name };
  await audit(tx, { actor, workspaceId, action: 'segment.create', object, at: clock.realNow() });
  return id;
}

export type FilterSegmentChange = SegmentCaller & {
  id: string;
  /** An email address that the caller names; by default the name of the actor. */
  updatedBy?: string | undefined;
  /** Keeps the values that are not given. */
  change: (present: Segment) => FilterSegmentCommand;
};

/** @throws ServiceError SEGMENT_ID_NOT_FOUND, SEGMENT_UPDATE_FORBIDDEN, and as createFilterSegment */
export async function changeFilterSegment(
  { database, clock }: Pick<SegmentDependencies, 'database' | 'clock'>,
  request: FilterSegmentChange,
): Promise<void> {
  const { actor, workspaceId, id } = request;
  await inTransaction(database, async (tx) => {
    const { name } = await changeLocked(tx, { ...request, at: clock.now() });
    await audit(tx, { actor, workspaceId, action: 'segment.change', object: { id, name }, at: clock.realNow() });
  });
}

async function changeLocked(
  tx: Transaction,
  { workspaceId, id, actor, updatedBy = actor.name, change, at }: FilterSegmentChange & { at: Date },
): Promise<FilterSegmentCommand> {
  // Name, filters and references are checked before they are written: two concurrent changes would not see each other's.
  await lockSegmentsOfWorkspace(tx, workspaceId);
  const present = await lockSegment(tx, { workspaceId, id });
  if (!present) throw new ServiceError('SEGMENT_ID_NOT_FOUND', { field: id });
  if (present.kind !== 'FILTER' || present.state === 'ARCHIVED')
    throw new ServiceError('SEGMENT_UPDATE_FORBIDDEN', { detail: `${present.kind}, ${present.state}` });
  const command = change(present);
  const filters = await prepareFilters(tx, { workspaceId, command, ownId: id });
  await requireNewFilters(tx, { workspaceId, filtersDigest: filters.filtersDigest, ownId: id });
  const isStored = await updateFilterSegment(tx, {
    ...filters,
    workspaceId,
    id,
    name: command.name,
    updatedBy,
    at,
  });
  if (!isStored) throw new ServiceError('SEGMENT_NAME_TAKEN', { field: command.name });
  return command;
}

type Preparation = {
  workspaceId: string;
  command: FilterTreesCommand;
  ownId: string | undefined;
};

/**
 * Returns the stored form of filters. References must exist, and must not lead back to the segment itself.
 *
 * @throws ServiceError SEGMENT_FILTERS_INVALID, SEGMENT_CYCLIC, SEGMENT_QUERY_TOO_MANY_SEGMENTS
 */
export async function prepareFilters(tx: Queryable, { workspaceId, command, ownId }: Preparation) {
  const { included, excluded } = command;
  const trees = [included.filter, ...(excluded ? [excluded.filter] : [])];
  const uses = [...new Set(trees.flatMap(segmentsUsedBy))];
  const referenced = await findReferencedSegments(tx, { workspaceId, ids: uses });
  const missing = uses.find((id) => !referenced.some((segment) => segment.id === id));
  if (missing !== undefined)
    throw new ServiceError('SEGMENT_FILTERS_INVALID', { detail: `there is no segment ${missing}` });
  if (ownId !== undefined && referenced.some((segment) => segment.id === ownId))
    throw new ServiceError('SEGMENT_CYCLIC', { detail: `leads back to ${ownId}` });
  requireExpandable({ includedFilters: included.sent, excludedFilters: excluded?.sent ?? null }, referenced);
  const segmentNames = new Map(referenced.map(({ id, name }) => [id, name]));
  return {
    includedFilters: included.sent,
    excludedFilters: excluded?.sent ?? null,
    description: describeSegmentFilter({ included: included.filter, excluded: excluded?.filter, segmentNames }),
    filtersDigest: createHash('sha256').update(JSON.stringify(trees)).digest(),
    usesSegments: uses,
  };
}

/** Rejects filters that cannot be evaluated at creation, not at the first send. */
function requireExpandable(filters: StoredFilters, referenced: ReferencedSegment[]): void {
  try {
    expandStoredFilters(filters, referenced);
  } catch (error) {
    if (!(error instanceof SegmentExpansionError)) throw error;
    const code = error.code === 'cyclic' ? 'SEGMENT_CYCLIC' : 'SEGMENT_QUERY_TOO_MANY_SEGMENTS';
    throw new ServiceError(code, { detail: error.message });
  }
}

type NewFilters = { workspaceId: string; filtersDigest: Buffer; ownId: string | undefined };

async function requireNewFilters(tx: Transaction, { workspaceId, filtersDigest, ownId }: NewFilters): Promise<void> {
  const existing = await findSegmentByFilters(tx, { workspaceId, filtersDigest });
  if (!existing || existing.id === ownId) return;
  throw new ServiceError('SEGMENT_FILTERS_TAKEN', {
    members: { existing_cs_name: existing.name, existing_cs_id: existing.id },
  });
}

function textOf(limits: readonly LimitWindow[]): string {
  return limits.map(({ events, seconds }) => `${events}/${seconds / 60} mins`).join(', ');
}
