import type { Clock } from '../../clock.ts';
import type { Platform } from '../../domain/content/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import { lastIdAt } from '../../domain/ids.ts';
import type { PushCommand } from '../../domain/push.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { unknownUser } from '../../domain/template/personalise.ts';
import type { User } from '../../domain/template/personalise.ts';
import { findTargetUsersPage } from '../../storage/campaigns/audience.ts';
import { withinTime } from '../../storage/database.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { allBuckets } from '../../storage/segments/segment-members.ts';
import { findLocalesOfUser } from '../../storage/devices/devices.ts';
import { findUsers, findUsersByCustomerIds } from '../../storage/users/users.ts';
import { findPlatformCredentials, countAudience } from '../campaigns/check-campaign.ts';
import { makeContentShow } from '../campaigns/preview-campaign.ts';
import type { Shown } from '../campaigns/preview-campaign.ts';
import type { PushOfWorkspace } from './admit-push.ts';
import { findPushAudience } from './accept-push.ts';
import type { FoundPushAudience } from './accept-push.ts';
import { requireApps } from './admit-push.ts';

export type PushPreview = {
  /** The user that the texts are rendered for; empty if there is none. */
  customerId: string;
  platforms: (Shown & {
    platform: Platform;
    /** Devices that a send now would be for; undefined if they were not counted in time. */
    devices: number | undefined;
    /** Undefined if there are none, so that a send waits for them. */
    credentials: 'simulated' | 'real' | undefined;
  })[];
  /** Reasons why the audience is not final. */
  pending: string[];
};

export type PreviewedPush = {
  admitted: PushOfWorkspace;
  command: PushCommand;
  /** A customer id; undefined means the first user that the push names, or no particular user. */
  previewFor: string | undefined;
};

const maxCountSeconds = 10;
// More devices than a hundred users have.
const maxDevicesOfUsers = 100_000;

/**
 * Returns what a push would show on each platform and how many devices it is for, as the fan-out renders and reads them. Stores
 * nothing and sends nothing.
 *
 * @throws ServiceError PUSH_PARAMETER_INVALID, DATA_USER_NOT_FOUND
 */
export async function previewPush(
  { database, clock }: { database: Database; clock: Clock },
  { admitted, command, previewFor }: PreviewedPush,
): Promise<PushPreview> {
  const workspaceId = admitted.workspace.id;
  const { content, settings, platforms, audience } = command;
  await requireApps(database, { admitted, command });
  const found = await findPushAudience({ database }, { workspaceId, audience });
  const contents = makeContentShow(content, settings.templates);
  const named = { workspaceId, previewFor, first: found.targetUsers?.[0] };
  const { user, ofDevices } = await findShownUser(database, { ...named, reads: contents.reads });
  const credentials = await findPlatformCredentials(database, workspaceId);
  const asked = { workspaceId, found, command, at: clock.now() };
  const milliseconds = maxCountSeconds * 1000;
  const counted = await withinTime(database, { milliseconds, work: (tx) => countPlatforms(tx, asked) });
  return {
    customerId: user.customerId,
    platforms: platforms.map((platform) => ({
      platform,
      ...contents.show({ platform, user, ofDevices, event: {} }),
      devices: counted === 'too slow' ? undefined : (counted.result.devices.get(platform) ?? 0),
      credentials: credentials[platform],
    })),
    pending: counted === 'too slow' ? [] : counted.result.pending,
  };
}

type ShownUser = {
  workspaceId: string;
  previewFor: string | undefined;
  first: [bucket: number, userId: string] | undefined;
};

async function findShownUser(
  database: Database,
  { workspaceId, previewFor, first, reads }: ShownUser & { reads: readonly string[] | 'all' },
): Promise<{ user: User; ofDevices: Map<Platform, string> }> {
  const named: UserKey[] =
    previewFor === undefined
      ? first === undefined
        ? []
        : [{ bucket: first[0], userId: first[1] }]
      : await findUsersByCustomerIds(database, { workspaceId, customerIds: [previewFor], limit: 1 });
  const users = await findUsers(database, { workspaceId, users: named, names: reads });
  const [user] = users.values();
  if (user) return { user, ofDevices: await findLocalesOfUser(database, { workspaceId, ...named[0]! }) };
  if (previewFor !== undefined) throw new ServiceError('DATA_USER_NOT_FOUND', { field: `The user ${previewFor}` });
  return { user: unknownUser, ofDevices: new Map() };
}

type Counted = { devices: Map<Platform, number>; pending: string[] };
type Asked = { workspaceId: string; found: FoundPushAudience; command: PushCommand; at: Date };

async function countPlatforms(tx: Queryable, { workspaceId, found, command, at }: Asked): Promise<Counted> {
  const { platforms, settings } = command;
  if (found.targetUsers) {
    const devices = await findTargetUsersPage(tx, {
      ...{ workspaceId, platforms, targetUsers: found.targetUsers, buckets: allBuckets },
      iosProvisional: settings.iosDevices === 'ALL' ? null : settings.iosDevices === 'PROVISIONAL',
      appIds: settings.appIds,
      ...{ after: { bucket: -1, position: '' }, bound: lastIdAt(at), limit: maxDevicesOfUsers },
    });
    const byPlatform = Map.groupBy(devices, ({ platform }) => platform);
    return { devices: new Map([...byPlatform].map(([platform, own]) => [platform, own.length])), pending: [] };
  }
  const segment = found.segmentId === undefined ? undefined : { id: found.segmentId };
  const { devices, pending } = await countAudience(tx, { workspaceId, segment, platforms, at });
  const leavesOut = settings.iosDevices !== 'ALL' && platforms.includes('IOS');
  if (leavesOut) pending.push('iOSTargetDevice leaves out some of the iPhones that are counted');
  if (settings.appIds) pending.push('appIds leaves out devices of other apps that are counted');
  const active = devices.filter(({ state }) => state === 'ACTIVE');
  return { devices: new Map(active.map(({ platform, devices: count }) => [platform, count])), pending };
}
