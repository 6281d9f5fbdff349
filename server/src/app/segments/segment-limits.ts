import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { secondsUntilPass } from '../../domain/access/rate-limits.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  cohortRequestsPerMinute,
  fileOperationsPerDay,
  fileOperationsPerHour,
  fileUsersPerDay,
  maxActiveSegments,
} from '../../domain/limits/segments.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { countEvent, findLimitWindows } from '../../storage/limits/sliding-windows.ts';
import { sumCountedUsers } from '../../storage/segments/segment-operations.ts';
import { countActiveSegments, lockSegmentsOfWorkspace } from '../../storage/segments/segments.ts';
import type { Actor } from '../accounts/audit.ts';

export type SegmentDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  limits: SegmentLimits;
};

/** The limits of interface 8 and fact 2.3, unless a test overrides them. */
export type SegmentLimits = {
  operationsPerHour: number;
  operationsPerDay: number;
  activeSegments: number;
  /** Users that files may add in 24 hours; a setting. */
  usersPerDay: number;
  cohortRequestsPerMinute: number;
};

export const documentedSegmentLimits: SegmentLimits = {
  operationsPerHour: fileOperationsPerHour,
  operationsPerDay: fileOperationsPerDay,
  activeSegments: maxActiveSegments,
  usersPerDay: fileUsersPerDay,
  cohortRequestsPerMinute,
};

/** The workspace and the caller, whose name is stored with segments and operations. */
export type SegmentCaller = { workspaceId: string; actor: Actor };

export type Once = { idempotencyKey: string | undefined; rawBody: string };

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

type Asked = { workspaceId: string; at: Date; limits: SegmentLimits };

/**
 * Counts one file operation against the hour and the day (interface 8), in the caller's transaction: operations that are
 * rejected or rolled back do not count. Also rejects it when the users of the last 24 hours are used up (decision D22).
 *
 * @throws ServiceError SEGMENT_OPERATIONS_LIMITED
 */
export async function countFileOperation(tx: Queryable, { workspaceId, at, limits }: Asked): Promise<void> {
  const windows = [
    { events: limits.operationsPerHour, seconds: hourSeconds },
    { events: limits.operationsPerDay, seconds: daySeconds },
  ];
  const refusal = await countCall(tx, { operation: 'segment-file', workspaceId, windows, at });
  if (refusal) throw new ServiceError('SEGMENT_OPERATIONS_LIMITED', { ...refusal, detail: 'operations' });
  const since = new Date(at.getTime() - daySeconds * 1000);
  const users = await sumCountedUsers(tx, { workspaceId, since });
  if (users >= limits.usersPerDay)
    throw new ServiceError('SEGMENT_OPERATIONS_LIMITED', { detail: `${users} users in 24 hours` });
}

export type Call = { operation: string; workspaceId: string; windows: readonly LimitWindow[]; at: Date };

/** Counts a call if all windows have capacity. @returns the wait after a refusal, or undefined if the call was counted */
export async function countCall(
  tx: Queryable,
  { operation, workspaceId, windows, at }: Call,
): Promise<{ retryAfterSeconds: number } | undefined> {
  const subject = { operation, subject: createHash('sha256').update(workspaceId).digest() };
  const { counted } = await countEvent(tx, { ...subject, windows, at });
  if (counted) return undefined;
  const [events] = await findLimitWindows(tx, [subject]);
  return { retryAfterSeconds: Math.max(1, secondsUntilPass(windows, { events: events!, at })) };
}

/**
 * Checks that one more segment may be active (interface 8). No other transaction of this workspace passes the same check before
 * this one ends.
 *
 * @throws ServiceError SEGMENT_ACTIVE_LIMITED
 */
export async function requireSegmentQuota(tx: Queryable, { workspaceId, limits }: Omit<Asked, 'at'>): Promise<void> {
  await lockSegmentsOfWorkspace(tx, workspaceId);
  const active = await countActiveSegments(tx, workspaceId);
  if (active < limits.activeSegments) return;
  throw new ServiceError('SEGMENT_ACTIVE_LIMITED', {
    members: { actual_count: active, limit: limits.activeSegments },
  });
}
