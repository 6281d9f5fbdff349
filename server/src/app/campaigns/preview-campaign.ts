import { readCampaign } from '../../domain/campaign-document/campaign.ts';
import type { CampaignDefinition, CampaignParts } from '../../domain/campaign-document/campaign.ts';
import type { AndroidPayload, Platform, CampaignContent } from '../../domain/content/content.ts';
import { chooseLanguage, hasLocales, languageAttribute, makeContentIn } from '../../domain/content/locales.ts';
import { withUtm } from '../../domain/content/utm.ts';
import type { UtmParameters } from '../../domain/content/utm.ts';
import { ServiceError } from '../../domain/errors.ts';
import { pickVariant, chooseLocale, defaultLocale } from '../../domain/experiments/variants.ts';
import type { ShownVariant, Variants } from '../../domain/experiments/variants.ts';
import type { TemplateMode } from '../../domain/template/parser.ts';
import { unknownUser, makePersonaliser } from '../../domain/template/personalise.ts';
import type { User, Personal } from '../../domain/template/personalise.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { findAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { findLocalesOfUser } from '../../storage/devices/devices.ts';
import { findUsers, findSelectedUsers } from '../../storage/users/users.ts';
import { findWorkspace } from '../../storage/workspaces.ts';
import { invalidCampaign } from './prepare-campaign.ts';

export type PreviewDependencies = { database: Database };

export type PreviewRequest = Omit<ShownCampaign, 'namedIn'> & {
  /** The user to render for; undefined means a user without attributes. */
  named: { identifier: string; value: string } | undefined;
  /** Attributes of a firing of the business event. */
  event: Record<string, unknown>;
};

export type Preview = {
  /** Empty if no user is named. */
  customerId: string;
  platforms: (Shown & { platform: Platform })[];
  androidPayload: AndroidPayload;
};

/**
 * Renders a campaign for one user and sends nothing. Uses the code of the fan-out, so each platform shows what would be sent.
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
    platforms: platforms.map((platform) => {
      const shown = contents.show({ platform, user, ofDevices, event });
      return { platform, ...shown, personal: asSent(shown.personal, { platform, utm: settings.utm }) };
    }),
  };
}

/** Returns the content with the tracking parameters that its links get when it is sent. */
function asSent(
  personal: Personal,
  { platform, utm }: { platform: Platform; utm: UtmParameters | undefined },
): Personal {
  if (utm === undefined || !('content' in personal)) return personal;
  return { ...personal, content: withUtm(personal.content, { platform, utm }) };
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
    const reason = key ? 'matches more than one user' : 'matches no user';
    throw invalidCampaign([{ field: 'identifier_value', reason }]);
  }
  const found = await findUsers(database, { workspaceId, users: [key], names: reads });
  const user = found.get(key.userId);
  if (!user) throw invalidCampaign([{ field: 'identifier_value', reason: 'matches no user' }]);
  return { user, ofDevices: await findLocalesOfUser(database, { workspaceId, ...key }) };
}

export type ShownCampaign = {
  workspaceId: string;
  /** The content, or the draft that contains it. */
  source: { parts: CampaignParts } | { draftId: string };
  /** One of the campaign's platforms; undefined means all of them. */
  platform: Platform | undefined;
  shown: ShownVariant;
  /** Prefix of the request's fields for platform, variation and locale. */
  namedIn: '' | 'test_campaign_meta.';
};

/**
 * Returns the campaign for a test or a preview, which define audience, time and variation themselves.
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

/** Finds users by a standard name of the push API or by any user attribute. */
export async function findNamedUsers(
  tx: Queryable,
  { workspaceId, identifier, value, limit }: NamedUsers,
): Promise<UserKey[]> {
  const ask = (isCustom: boolean) =>
    findSelectedUsers(tx, { workspaceId, selector: { attribute: identifier, isCustom, values: [value] }, limit });
  return (await ask(false)) ?? (await ask(true)) ?? [];
}

export type Shown = {
  /** One of the locales; undefined means the content's own texts. */
  language: string | undefined;
  personal: Personal;
};

export type ContentShow = {
  /** Names of the user attributes that are read. */
  reads: readonly string[] | 'all';
  /** `ofDevices`: the languages that the user's devices reported, by platform. */
  show(user: {
    platform: Platform;
    user: User;
    ofDevices: ReadonlyMap<Platform, string>;
    event: Record<string, unknown>;
  }): Shown;
};

/** Returns a function that renders the content for one user on one platform, with the code of the fan-out. */
export function makeContentShow(content: CampaignContent, mode: TemplateMode): ContentShow {
  const personaliser = makePersonaliser(content, mode);
  const contentIn = makeContentIn(content);
  const reads = personaliser?.reads ?? [];
  return {
    reads: reads === 'all' || !hasLocales(content) ? reads : [...reads, languageAttribute],
    show({ platform, user, ofDevices, event }) {
      const known = { ofDevice: ofDevices.get(platform) ?? null, ofUser: user.attributes[languageAttribute] };
      const language = chooseLanguage(content, { platform, ...known });
      return {
        language,
        personal: personaliser
          ? personaliser.render({ platform, user, event, language })
          : { content: contentIn(platform, language) },
      };
    },
  };
}

/** Like makeContentShow, for a campaign with one variation, which may have separate content for each language. */
function makeVariantShow(
  { content, variants }: { content: CampaignContent; variants: Variants | null },
  mode: TemplateMode,
): ContentShow {
  if (!variants) return makeContentShow(content, mode);
  const { locales, contents } = variants;
  const shows = contents[0]!.map((own) => makeContentShow(own, mode));
  const reads = shows.map((show) => show.reads);
  return {
    reads: reads.includes('all') ? 'all' : [...reads.flat(), languageAttribute],
    show(asked) {
      const { platform, user, ofDevices } = asked;
      const known = { ofDevice: ofDevices.get(platform) ?? null, ofUser: user.attributes[languageAttribute] };
      const index = chooseLocale(locales, known) - 1;
      const language = locales[index] === defaultLocale ? undefined : locales[index];
      return { ...shows[index]!.show(asked), language };
    },
  };
}
