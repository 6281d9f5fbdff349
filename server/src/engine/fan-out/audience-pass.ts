import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { lastIdAt } from '../../domain/ids.ts';
import { bucketCount } from '../../domain/users/users.ts';
import type { Transaction } from '../../storage/database.ts';
import { findWorkspaceThrottle, hasMany } from '../../storage/runs/audience-passes.ts';
import type { AudiencePass } from '../../storage/runs/audience-passes.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { findAudienceSegment } from '../../storage/segments/segments.ts';
import { findStoredFilters, groupsOf, whyUnusable } from './audience.ts';
import type { FrozenAudience } from './audience.ts';
import { globalControlPercentNow } from './experiments.ts';

/**
 * Up to about this many devices an audience is counted before its run starts: that takes a tenth of a second, and the chunks can be cut
 * by the size.
 */
export const countedAtOnce = 50_000;
// Users are spread over the buckets by a hash of their ids.
const sampledBucket = 0;

/** The frozen audience of a run that is counted bucket by bucket, before the first is counted. */
export type PlannedPass = Pick<FrozenAudience, 'bound' | 'segment' | 'globalControlPercent'> & {
  pass: AudiencePass;
  /** The run waits until all buckets are counted. */
  needsSize: boolean;
};

type Planning = { run: RunToSend; now: Date; countAtOnce: number };

/**
 * Freezes an audience that takes long to count. Returns undefined for one that is counted at once, which also finds why a run cannot be
 * sent. The users of triggers are always counted at once: they come in batches.
 */
export async function planPass(tx: Transaction, { run, now, countAtOnce }: Planning): Promise<PlannedPass | undefined> {
  if (run.deliveryType === 'EVENT_TRIGGERED' || run.audience === 'USER') return undefined;
  const found = await findSource(tx, { run, countAtOnce });
  if (!found) return undefined;
  const globalControlPercent = globalControlPercentNow(run);
  const groupUsers = groupsOf(run, globalControlPercent) ? [] : null;
  return {
    bound: lastIdAt(now),
    segment: found.segment,
    globalControlPercent,
    pass: { at: now.toISOString(), filters: found.filters, platforms: [], users: found.users, groupUsers, estimate: 0 },
    needsSize: await needsSize(tx, run),
  };
}

/** `users`: those that are known before the count. */
type Source = Pick<PlannedPass, 'segment'> & Pick<AudiencePass, 'filters' | 'users'>;

async function findSource(tx: Transaction, { run, countAtOnce }: Omit<Planning, 'now'>): Promise<Source | undefined> {
  const { workspaceId } = run;
  const isLarge = () =>
    hasMany(tx, { workspaceId, bucket: sampledBucket, atLeast: Math.ceil(countAtOnce / bucketCount) });
  if (run.segmentId === null) return (await isLarge()) ? { segment: undefined, filters: null, users: 0 } : undefined;
  const segment = await findAudienceSegment(tx, { workspaceId, id: run.segmentId });
  if (!segment || whyUnusable(segment) !== undefined) return undefined;
  const { id, version, kind } = segment;
  if (kind !== 'FILTER') {
    const users = segment.userCount ?? 0;
    return users >= countAtOnce ? { segment: { id, version }, filters: null, users } : undefined;
  }
  if (!(await isLarge())) return undefined;
  const found = await findStoredFilters(tx, { workspaceId, segment });
  return 'reason' in found ? undefined : { segment: { id: run.id, version: 0 }, filters: found.stored, users: 0 };
}

/**
 * A throttle adds to the time to live by the size, and a campaign that is spread over a time gets its throttle from it. Naming a winner
 * changes the chunks of a run, so all of them must exist.
 */
async function needsSize(tx: Transaction, run: RunToSend): Promise<boolean> {
  const { devicesPerMinute, spreadMinutes } = deliverySettings(run.settings);
  if (devicesPerMinute !== null || spreadMinutes !== null) return true;
  if (run.variants !== null && run.variants.percents.length > 1) return true;
  return (await findWorkspaceThrottle(tx, run.workspaceId)) !== null;
}
