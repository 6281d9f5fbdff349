import type { AndroidPayload } from '../../domain/campaigns/android-payload.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { unknownUser } from '../../domain/users/user-source.ts';
import type { User } from '../../domain/users/user-source.ts';
import type { Database } from '../../storage/database.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import { findLocalesOfUser } from '../../storage/devices/device-locales.ts';
import { findUsers } from '../../storage/users/users.ts';
import { invalidCampaign } from './prepare-campaign.ts';
import { makeVariantShow } from './show-content.ts';
import type { Shown } from './show-content.ts';
import { findNamedUsers, readShownCampaign } from './read-shown-campaign.ts';
import type { ShownCampaign } from './read-shown-campaign.ts';

export type PreviewDependencies = { database: Database };

export type PreviewRequest = Omit<ShownCampaign, 'namedIn'> & {
  /** The user it is rendered for; undefined: a user without attributes. */
  named: { identifier: string; value: string } | undefined;
  /** What a firing of the business event would say. */
  event: Record<string, unknown>;
};

export type Preview = {
  /** Empty for nobody in particular. */
  customerId: string;
  platforms: (Shown & { platform: Platform })[];
  androidPayload: AndroidPayload;
};

/**
 * Renders a campaign for one person and sends nothing: what the fan-out would show to each platform, by the same code.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_REQUEST_INVALID
 */
export async function previewCampaign({ database }: PreviewDependencies, request: PreviewRequest): Promise<Preview> {
  const { event } = request;
  const definition = await readShownCampaign(database, { ...request, namedIn: '' });
  const { platforms, settings } = definition;
  const contents = makeVariantShow(definition, settings.templates);
  const { user, ofDevices } = await findUser(database, { ...request, reads: contents.reads });
  return {
    androidPayload: (await findWorkspace(database, request.workspaceId))!.androidPayload,
    customerId: user.customerId,
    platforms: platforms.map((platform) => ({ platform, ...contents.show({ platform, user, ofDevices, event }) })),
  };
}

type Asked = Pick<PreviewRequest, 'workspaceId' | 'named'> & { reads: readonly string[] | 'all' };

async function findUser(
  database: Database,
  { workspaceId, named, reads }: Asked,
): Promise<{ user: User; ofDevices: Map<Platform, string> }> {
  if (!named) return { user: unknownUser, ofDevices: new Map() };
  const users = await findNamedUsers(database, { workspaceId, ...named, limit: 2 });
  const [key] = users;
  if (!key || users.length > 1) {
    const reason = key ? 'is that of more than one user' : 'is that of no user';
    throw invalidCampaign([{ field: 'identifier_value', reason }]);
  }
  const found = await findUsers(database, { workspaceId, users: [key], names: reads });
  const user = found.get(key.userId);
  if (!user) throw invalidCampaign([{ field: 'identifier_value', reason: 'is that of no user' }]);
  return { user, ofDevices: await findLocalesOfUser(database, { workspaceId, ...key }) };
}
