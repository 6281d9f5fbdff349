import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { passBurst } from '../domain/access/rate-limits.ts';
import type { LimitWindow } from '../domain/access/rate-limits.ts';
import { campaignCallsPerMinute } from '../domain/limits/campaigns.ts';
import { pushRequestsPerMinute } from '../domain/limits/push.ts';
import type { Database } from '../storage/database.ts';
import { readCounted } from '../storage/limits/push-rate-limit.ts';
import { findLimitWindows } from '../storage/limits/sliding-windows.ts';
import { sumCountedUsers } from '../storage/segments/segment-operations.ts';
import { countActiveSegments } from '../storage/segments/segments.ts';
import type { AuthoringLimits } from './campaigns/authoring.ts';
import type { SegmentLimits } from './segments/segment-limits.ts';

export type LimitUse = {
  id: string;
  name: string;
  used: number;
  most: number;
  /** Null if the limit applies at any one time. */
  windowSeconds: number | null;
  /** The setting that defines the limit; null if the interface defines it. */
  setting: string | null;
};

export type ReadLimitsDependencies = { database: Database; segments: SegmentLimits; authoring: AuthoringLimits };

const minute = 60;
const hour = 3_600;
const day = 86_400;

/** Returns how much of its limits a workspace has used at an instant. Counts nothing itself. */
export async function readLimits(
  { database, segments, authoring }: ReadLimitsDependencies,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<LimitUse[]> {
  const subject = createHash('sha256').update(workspaceId).digest();
  const operations = ['segment-file', 'campaign-create', 'campaign'];
  const [pushes, active, users, windows] = await Promise.all([
    readCounted(database, { operation: 'push', workspaceId, windowSeconds: minute, at }),
    countActiveSegments(database, workspaceId),
    sumCountedUsers(database, { workspaceId, since: new Date(at.getTime() - day * 1000) }),
    findLimitWindows(
      database,
      operations.map((operation) => ({ operation, subject })),
    ),
  ]);
  const [files, creations, calls] = windows as [Date[], Date[], Date[]];
  const within = (events: Date[], seconds: number) =>
    events.filter((event) => event.getTime() > at.getTime() - seconds * 1000).length;
  const limit = (id: string, more: Omit<LimitUse, 'id' | 'setting'>): LimitUse => ({ id, setting: null, ...more });
  return [
    limit('pushes', { name: 'Push requests', used: pushes, most: pushRequestsPerMinute, windowSeconds: minute }),
    limit('segments', { name: 'Active segments', used: active, most: segments.activeSegments, windowSeconds: null }),
    ...(
      [
        [segments.operationsPerHour, hour],
        [segments.operationsPerDay, day],
      ] as const
    ).map(([most, windowSeconds]) =>
      limit(`segment-files-${windowSeconds}`, {
        name: 'File operations on segments',
        used: within(files, windowSeconds),
        most,
        windowSeconds,
      }),
    ),
    {
      id: 'segment-users',
      name: 'People added by files',
      used: users,
      most: segments.usersPerDay,
      windowSeconds: day,
      setting: 'CARILLON_SEGMENT_USERS_PER_DAY',
    },
    ...authoring.creations.map(({ events, seconds }) =>
      limit(`creations-${seconds}`, {
        name: 'Campaigns made through the API',
        used: within(creations, seconds),
        most: events,
        windowSeconds: seconds,
      }),
    ),
    limit('campaign-calls', {
      name: 'Campaign calls',
      used: within(calls, minute),
      most: campaignCallsPerMinute,
      windowSeconds: minute,
    }),
  ];
}

/**
 * Counts an event of a subject. Returns undefined if it passes, otherwise how long to wait; a rejected event is not counted.
 */
export type LimitBursts = (subject: string) => { retryAfterSeconds: number } | undefined;

// About 20 MB at most.
const maxSubjects = 100_000;

/**
 * Keeps a limit in the memory of this process, for callers that are not authenticated yet: a row in the database would cost as
 * much as the request that the limit guards against. With several nodes the limit is multiplied by their number.
 */
export function makeLimitBursts(limit: LimitWindow, { clock }: { clock: Clock }): LimitBursts {
  const fullAtOf = new Map<string, number>();
  return (subject) => {
    const passed = passBurst(limit, { fullAt: fullAtOf.get(subject), now: clock.now().getTime() });
    if ('retryAfterSeconds' in passed) return passed;
    // The map is in order of the last event, so the first subject has been silent for longest.
    fullAtOf.delete(subject);
    fullAtOf.set(subject, passed.fullAt);
    if (fullAtOf.size > maxSubjects) fullAtOf.delete(fullAtOf.keys().next().value!);
    return undefined;
  };
}
