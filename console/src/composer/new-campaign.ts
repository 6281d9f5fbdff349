import type { CampaignBody, ComposerResources } from '@carillon/client';

export type Platform = 'ANDROID' | 'IOS' | 'WEB';

export const platforms: readonly Platform[] = ['ANDROID', 'IOS', 'WEB'];

/** What a new campaign begins with: everybody, on the phones that can be sent to, at once. */
export function newCampaign({ credentials }: ComposerResources): CampaignBody {
  const phones = (['ANDROID', 'IOS'] as const).filter((platform) => credentials[platform] !== undefined);
  const chosen: Platform[] = phones.length > 0 ? phones : ['ANDROID'];
  return {
    channel: 'PUSH',
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: '', platforms: chosen },
    campaign_content: {
      content: { push: Object.fromEntries(chosen.map((platform) => [platform.toLowerCase(), newContent(platform)])) },
    },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  };
}

/** The layout stands there from the start, so that a platform without texts is told field by field. */
export function newContent(platform: Platform): Record<string, unknown> {
  return {
    template_type: 'BASIC',
    ...(platform === 'WEB' ? { advanced: { icon_image_type: 'ICON_URL' } } : {}),
  };
}

/** Where the contents of the platforms stand: drafts of other programs may have them below a locale. */
export function pushPath(body: CampaignBody): string {
  const content = (body.campaign_content?.content ?? {}) as Record<string, unknown>;
  return content.default === undefined
    ? 'campaign_content.content.push'
    : 'campaign_content.content.default.variation_1.push';
}

export function platformPath(body: CampaignBody, platform: Platform): string {
  return `${pushPath(body)}.${platform.toLowerCase()}`;
}

export function platformsOf(body: CampaignBody): Platform[] {
  const sent = body.basic_details?.platforms;
  const chosen = Array.isArray(sent) ? sent.map((word) => String(word).toUpperCase()) : [];
  return platforms.filter((platform) => chosen.includes(platform));
}
