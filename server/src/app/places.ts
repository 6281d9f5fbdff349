import { isPermitted } from '../domain/access/accounts.ts';
import type { Permission } from '../domain/access/accounts.ts';
import { campaignStatuses } from '../domain/campaigns/campaign.ts';
import type { InteractionTokens } from '../domain/events/interactions.ts';
import { isId } from '../domain/ids.ts';
import type { UserKey } from '../domain/users/users.ts';
import type { Database } from '../storage/database.ts';
import {
  findDayOfRun,
  findOwnerOfDevice,
  findPlaceOfResponse,
  findPlacesOfId,
  findSegmentsByName,
} from '../storage/installation/places.ts';
import { listFoundUsers } from '../storage/users/user-records.ts';
import { findUserById, findUsersByCustomerIds } from '../storage/users/users.ts';
import type { SignedIn } from './accounts/audit.ts';
import { searchCampaigns } from './campaigns/search-campaigns.ts';
import type { SearchDependencies } from './campaigns/search-campaigns.ts';
import { requireWorkspace } from './workspaces.ts';

export const placeKinds = [
  ...(['campaign', 'run', 'segment', 'user', 'device', 'delivery'] as const),
  ...(['call', 'callback', 'email', 'key'] as const),
] as const;
export type PlaceKind = (typeof placeKinds)[number];

/** A screen that a search word leads to. */
export type Place = {
  kind: PlaceKind;
  /** The id in the screen's address; for a delivery the parts of its key, joined as in the delivery log. */
  id: string;
  name: string;
  detail: string | null;
};

export type FindPlacesDependencies = SearchDependencies & { interactionTokens: InteractionTokens };

type Asked = { workspaceId: string; word: string; actor: SignedIn };

const maxOfKind = 5;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const permissionOf: Record<PlaceKind, Permission> = {
  campaign: 'overview.read',
  run: 'overview.read',
  segment: 'overview.read',
  user: 'people.read',
  device: 'people.read',
  delivery: 'people.read',
  call: 'log.read',
  callback: 'log.read',
  email: 'log.read',
  key: 'keys.read',
};

/**
 * Finds what a word names: any id, a part of the name of a campaign or a segment, the id of a user. Returns only what the
 * caller may open.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function findPlaces(
  { database, totals, interactionTokens }: FindPlacesDependencies,
  { workspaceId, word, actor }: Asked,
): Promise<Place[]> {
  await requireWorkspace(database, workspaceId);
  const asked = { workspaceId, word };
  const found = await Promise.all([
    ofIds(database, asked),
    ofMessage({ database, interactionTokens }, asked),
    ofCustomerId(database, asked),
    ofCampaignName({ database, totals }, asked),
    findSegmentsByName(database, { workspaceId, text: word, limit: maxOfKind }),
  ]);
  const places = found.flat().map((place): Place => ({ detail: null, ...place }));
  const unique = new Map(places.map((place) => [`${place.kind} ${place.id}`, place]));
  return [...unique.values()].filter(({ kind }) =>
    isPermitted(actor.access, { permission: permissionOf[kind], workspaceId }),
  );
}

type Found = Omit<Place, 'detail'> & { detail?: string | null };
type Word = Pick<Asked, 'workspaceId' | 'word'>;

async function ofIds(database: Database, { workspaceId, word }: Word): Promise<Found[]> {
  if (uuid.test(word)) {
    const place = await findPlaceOfResponse(database, { workspaceId, responseId: word });
    return place ? [place] : [];
  }
  const id = word.toLowerCase();
  if (!isId(id)) return [];
  const [places, user, device] = await Promise.all([
    findPlacesOfId(database, { workspaceId, id }),
    findUserById(database, { workspaceId, id }),
    findOwnerOfDevice(database, { workspaceId, id }),
  ]);
  const named = await nameUsers(database, { workspaceId, users: [user, device].filter((key) => key !== undefined) });
  const name = ({ userId }: UserKey) => named.get(userId) ?? userId;
  return [
    ...places,
    ...(user ? [{ kind: 'user' as const, id, name: name(user) }] : []),
    ...(device ? [{ kind: 'device' as const, id: device.userId, name: device.deviceId, detail: name(device) }] : []),
  ];
}

/** Finds a delivery by the token that its message carries and that apps report with. */
async function ofMessage(
  { database, interactionTokens }: Pick<FindPlacesDependencies, 'database' | 'interactionTokens'>,
  { workspaceId, word }: Word,
): Promise<Found[]> {
  const subject = interactionTokens.open(word);
  if (!subject || subject.workspaceId !== workspaceId) return [];
  const { runId, deviceId } = subject;
  const [day, owner] = await Promise.all([
    findDayOfRun(database, { workspaceId, id: runId }),
    findOwnerOfDevice(database, { workspaceId, id: deviceId }),
  ]);
  if (day === undefined || !owner) return [];
  const named = await nameUsers(database, { workspaceId, users: [owner] });
  const id = [day, owner.bucket, owner.userId, runId, deviceId].join('~');
  return [{ kind: 'delivery', id, name: owner.deviceId, detail: named.get(owner.userId) ?? null }];
}

async function ofCustomerId(database: Database, { workspaceId, word }: Word): Promise<Found[]> {
  const keys = await findUsersByCustomerIds(database, { workspaceId, customerIds: [word], limit: maxOfKind });
  const named = await nameUsers(database, { workspaceId, users: keys });
  return keys.map(({ userId }) => ({ kind: 'user', id: userId, name: named.get(userId) ?? userId }));
}

async function nameUsers(
  database: Database,
  { workspaceId, users }: { workspaceId: string; users: UserKey[] },
): Promise<Map<string, string>> {
  const keys = users.map(({ bucket, userId }) => ({ bucket, userId }));
  const found = await listFoundUsers(database, { workspaceId, users: keys });
  return new Map(found.map(({ userId, customerId }) => [userId, customerId]));
}

/** Includes drafts, because users search for them as well. */
async function ofCampaignName({ database, totals }: SearchDependencies, { workspaceId, word }: Word): Promise<Found[]> {
  const nothingElse = { ids: undefined, channels: undefined, createdBy: undefined, createdFrom: undefined };
  const search = {
    ...{ ...nothingElse, createdBefore: undefined, deliveryTypes: undefined, tags: undefined },
    ...{ name: word, versionNumber: undefined, statuses: [...campaignStatuses] },
    ...({ children: 'without', archived: 'without' } as const),
  };
  const request = { workspaceId, version: 'V5', versioning: 'off', search, limit: maxOfKind, page: 1 } as const;
  const { campaigns } = await searchCampaigns({ database, totals }, request);
  return campaigns.map(({ id, name, status }) => ({ kind: 'campaign', id, name, detail: status }));
}
