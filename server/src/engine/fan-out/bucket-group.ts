import { bucketCount } from '../../domain/users/bucket.ts';
import type { Cursor } from '../../storage/runs/cursors.ts';
import type { ClaimedChunk } from '../../storage/runs/chunks.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

/** Buckets whose devices are read together, in order, from the cursor's on. Never none. */
export type BucketGroup = {
  buckets: number[];
  /** The first bucket after them; undefined when nothing of the chunk is left. */
  next: number | undefined;
};

type Asked = {
  run: Pick<RunToSend, 'targetUsers' | 'audienceDevices'>;
  chunk: Pick<ClaimedChunk, 'bucketFrom' | 'bucketTo'>;
  cursor: Cursor;
  /** Most devices in a window. */
  windowDevices: number;
};

/** Up to this an audience is one chunk whose windows cross buckets, so a small send is a few queries and not 256. */
export const smallAudienceDevices = 5_000;
// Full windows, all but the last of so many, and no page that has to be sorted out of much more.
const windowsOfSmallGroup = 4;

/**
 * The buckets that a window is read from: one, so that all it stores lies in one place of a cluster, and as many as fill
 * a window where one would not.
 */
export function bucketGroup({ run, chunk, cursor, windowDevices }: Asked): BucketGroup | undefined {
  const from = Math.max(cursor.bucket, chunk.bucketFrom);
  return run.targetUsers
    ? groupOfUsers({ targetUsers: run.targetUsers, from, to: chunk.bucketTo, windowDevices })
    : groupOfAudience({ devices: run.audienceDevices, from, to: chunk.bucketTo, windowDevices });
}

type Range = { from: number; to: number; windowDevices: number };

/** Buckets are filled evenly: they are a hash of the user. */
function groupOfAudience({ devices, from, to, windowDevices }: Range & { devices: number | null }): BucketGroup {
  const last = Math.min(to, from + widthOf({ devices, windowDevices }) - 1);
  const buckets = Array.from({ length: last - from + 1 }, (_, index) => from + index);
  return { buckets, next: last < to ? last + 1 : undefined };
}

function widthOf({ devices, windowDevices }: { devices: number | null; windowDevices: number }): number {
  if (devices === null) return 1;
  const windows = devices <= smallAudienceDevices ? windowsOfSmallGroup : 1;
  return Math.max(1, Math.floor((windows * windowDevices * bucketCount) / Math.max(1, devices)));
}

/** Only where a named user is, and as many of those buckets as have users for a window. */
function groupOfUsers({
  targetUsers,
  from,
  to,
  windowDevices,
}: Range & { targetUsers: readonly [bucket: number, userId: string][] }): BucketGroup | undefined {
  const users = Map.groupBy(
    targetUsers.map(([bucket]) => bucket).filter((bucket) => bucket >= from && bucket <= to),
    (bucket) => bucket,
  );
  const ahead = [...users.keys()].sort((one, other) => one - other);
  let sum = 0;
  let count = 0;
  while (count < ahead.length && (count === 0 || sum + users.get(ahead[count]!)!.length <= windowDevices)) {
    sum += users.get(ahead[count]!)!.length;
    count += 1;
  }
  return count === 0 ? undefined : { buckets: ahead.slice(0, count), next: ahead[count] };
}
