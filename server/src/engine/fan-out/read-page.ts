import { deliverySettings, inboxOfRun, iosProvisional } from '../../domain/campaigns/delivery-settings.ts';
import { lastIdAt } from '../../domain/ids.ts';
import {
  findAllUsersPage,
  findSegmentPage,
  findTargetUsersPage,
  findTriggeredPage,
} from '../../storage/campaigns/audience.ts';
import type { AudiencePage, PagedDevice } from '../../storage/campaigns/audience.ts';
import { findInboxUsersPage } from '../../storage/campaigns/inbox-audience.ts';
import type { InboxAudience, PagedUser } from '../../storage/campaigns/inbox-audience.ts';
import type { Database } from '../../storage/database.ts';
import { listInboxToExplain } from '../../storage/inbox.ts';
import type { ClaimedChunk, Cursor } from '../../storage/runs/chunks.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { bucketGroup } from './runs.ts';

export type PageRequest = {
  run: RunToSend;
  chunk: Pick<ClaimedChunk, 'bucketFrom' | 'bucketTo'>;
  cursor: Cursor;
  limit: number;
  windowDevices: number;
};

/** What a window is about: devices to send to, and users whose message is kept in the inbox. */
export type WindowPage = {
  devices: PagedDevice[];
  users: PagedUser[];
  /** How many rows it has, and where the last one is. Undefined: it is empty. */
  rows: number;
  end: Cursor | undefined;
  /** Where the chunk continues if the page is shorter than requested. Undefined if nothing is left. */
  next: Cursor | undefined;
};

/** Returns the first non-empty page after the cursor. Reads at most as many pages as the chunk has buckets. */
export async function readPage(database: Database, request: PageRequest): Promise<WindowPage> {
  const { run, chunk, cursor, limit, windowDevices } = request;
  for (let from: Cursor | undefined = cursor; from !== undefined;) {
    const group = bucketGroup({ run, chunk, cursor: from, windowDevices });
    if (!group) break;
    const page = await readGroup(database, { run, buckets: group.buckets, cursor: from, limit });
    from = group.next === undefined ? undefined : { bucket: group.next, position: '' };
    if (page.rows > 0) return { ...page, next: from };
  }
  return { devices: [], users: [], rows: 0, end: undefined, next: undefined };
}

type GroupRequest = { run: RunToSend; buckets: number[]; cursor: Cursor; limit: number };

/** Reads devices and users separately, and returns the first rows of both in the order of the fan-out. */
async function readGroup(database: Database, request: GroupRequest): Promise<Omit<WindowPage, 'next'>> {
  const { run, limit } = request;
  const page = pageOf(request);
  const inbox = inboxOfRun(run);
  const users = inbox
    ? await findInboxUsersPage(database, {
        ...page,
        audience: inboxAudienceOf(run),
        users: inbox.sendTo === 'EITHER' ? 'unreached' : 'all',
      })
    : [];
  // The users of a bucket come first, so a full page of one bucket has no devices.
  const isFull = users.length === limit && request.buckets.length === 1;
  const found = inbox?.sendTo === 'INBOX' || isFull ? [] : await readDevices(database, { run, page });
  const devices = inbox?.sendTo === 'EITHER' ? await withoutKept(database, { run, users, devices: found }) : found;
  if (users.length === 0) return { devices, users, rows: found.length, end: endOf(found.at(-1)) };
  const kept = [
    ...users.map((user) => ({ user, ...endOf(user)! })),
    ...found.map((device) => ({ device, ...endOf(device)! })),
  ]
    .sort((one, other) => one.bucket - other.bucket || (one.position < other.position ? -1 : 1))
    .slice(0, limit);
  const isSent = new Set(devices);
  return {
    devices: kept.flatMap((row) => ('device' in row && isSent.has(row.device) ? [row.device] : [])),
    users: kept.flatMap((row) => ('user' in row ? [row.user] : [])),
    rows: kept.length,
    end: endOf(kept.at(-1)),
  };
}

type Found = { run: RunToSend; users: readonly PagedUser[]; devices: PagedDevice[] };

/**
 * Leaves out devices of users whose message is in the inbox already, or is in this window. Their user had no device to send to then,
 * and one of them was unblocked or opted in again since.
 */
async function withoutKept(database: Database, { run, users, devices }: Found): Promise<PagedDevice[]> {
  if (devices.length === 0) return devices;
  const kept = await listInboxToExplain(database, { workspaceId: run.workspaceId, runId: run.id, users: devices });
  const isKept = new Set([...users, ...kept].map(({ userId }) => userId));
  return devices.filter(({ userId }) => !isKept.has(userId));
}

function endOf(row: Cursor | undefined): Cursor | undefined {
  return row && { bucket: row.bucket, position: row.position };
}

function pageOf({ run, buckets, cursor, limit }: GroupRequest): AudiencePage {
  return {
    ...reachedBy(run),
    workspaceId: run.workspaceId,
    buckets,
    after: cursor,
    limit,
  };
}

/** Which devices a run is meant for. */
export function reachedBy(run: RunToSend): Pick<AudiencePage, 'platforms' | 'iosProvisional' | 'appIds' | 'bound'> {
  const settings = deliverySettings(run.settings);
  return {
    platforms: run.platforms,
    iosProvisional: iosProvisional(settings),
    appIds: settings.appIds,
    // Named users were resolved when the request was accepted. Their devices are frozen at that time too.
    bound: run.audienceBound ?? lastIdAt(run.createdAt),
  };
}

function readDevices(
  database: Database,
  { run, page }: { run: RunToSend; page: AudiencePage },
): Promise<PagedDevice[]> {
  if (run.targetUsers) return findTargetUsersPage(database, { ...page, targetUsers: run.targetUsers });
  if (run.deliveryType === 'EVENT_TRIGGERED') return findTriggeredPage(database, { ...page, runId: run.id });
  if (run.audienceSegmentId === null) return findAllUsersPage(database, page);
  const { audienceSegmentId: segmentId, audienceVersion: version } = run;
  return findSegmentPage(database, { ...page, segmentId, version: version! });
}

function inboxAudienceOf(run: RunToSend): InboxAudience {
  if (run.deliveryType === 'EVENT_TRIGGERED') return { kind: 'triggered', runId: run.id };
  if (run.audienceSegmentId === null) return { kind: 'all' };
  return { kind: 'segment', segmentId: run.audienceSegmentId, version: run.audienceVersion! };
}
