import { readCampaign } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignDefinition, CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import { pickVariant } from '../../domain/experiments/shown-variant.ts';
import type { ShownVariant } from '../../domain/experiments/shown-variant.ts';
import type { Queryable } from '../../storage/database.ts';
import { findAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { findSelectedUsers } from '../../storage/users/users.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import { invalidCampaign } from './prepare-campaign.ts';

export type ShownCampaign = {
  workspaceId: string;
  /** The content, or the draft that contains it. */
  source: { parts: CampaignParts } | { draftId: string };
  /** One of the campaign's platforms; undefined: each. */
  platform: Platform | undefined;
  shown: ShownVariant;
  /** Where the request names these three. */
  namedIn: '' | 'test_campaign_meta.';
};

/**
 * The campaign shown by a test or a preview, which define audience, time and variation themselves.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_REQUEST_INVALID
 */
export async function readShownCampaign(
  tx: Queryable,
  { workspaceId, source, platform, shown: asked, namedIn }: ShownCampaign,
): Promise<CampaignDefinition> {
  const shown = 'parts' in source ? source.parts : await findDraftParts(tx, { workspaceId, id: source.draftId });
  const basics = (shown.basic_details ?? {}) as Record<string, unknown>;
  const { business_event: _event, ...details } = basics;
  const parts: CampaignParts = {
    ...shown,
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: 'Test', ...details },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  };
  const { definition, faults } = readCampaign(parts);
  if (!definition) throw invalidCampaign(faults);
  const refuse = (name: string, reason: string) => invalidCampaign([{ field: `${namedIn}${name}`, reason }]);
  const picked = pickVariant(definition, asked);
  if ('unknown' in picked)
    throw picked.unknown === 'variation'
      ? refuse('variation', 'is not among the variations of campaign_content')
      : refuse('locale_name', 'is not among the locales of campaign_content');
  if (platform === undefined) return { ...definition, ...picked };
  if (definition.platforms.includes(platform)) return { ...definition, ...picked, platforms: [platform] };
  throw refuse('platform', 'is not among basic_details.platforms');
}

async function findDraftParts(tx: Queryable, named: { workspaceId: string; id: string }): Promise<CampaignParts> {
  const draft = await findAuthoredCampaign(tx, named);
  if (!draft) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  if (draft.status === 'DRAFT' && draft.parts) return draft.parts;
  throw invalidCampaign([{ field: 'draft_id', reason: 'names a campaign that is not in DRAFT state' }]);
}

type NamedUsers = { workspaceId: string; identifier: string; value: string; limit: number };

/** A standard name of the push API, or any attribute of the users. */
export async function findNamedUsers(
  tx: Queryable,
  { workspaceId, identifier, value, limit }: NamedUsers,
): Promise<UserKey[]> {
  const ask = (isCustom: boolean) =>
    findSelectedUsers(tx, { workspaceId, selector: { attribute: identifier, isCustom, values: [value] }, limit });
  return (await ask(false)) ?? (await ask(true)) ?? [];
}
