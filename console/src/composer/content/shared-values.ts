import type { CampaignBody } from '@carillon/client';
import { textAt } from '../campaign-body.ts';
import type { Platform } from '../campaign-body.ts';

/** What is typed once for all platforms. */
export type SharedName = 'image' | 'link';

/** A platform's content: where it is in the campaign. */
type Place = { body: CampaignBody; platform: Platform; path: string };

type Changes = Record<string, unknown>;

const members: Record<SharedName, Record<Platform, string>> = {
  image: { ANDROID: 'image_url', IOS: 'rich_media_value', WEB: 'image_url' },
  link: { ANDROID: 'default_click_action_value', IOS: 'default_click_action_value', WEB: 'redirect_url' },
};

export function sharedValue({ body, platform, path }: Place, name: SharedName): string {
  return textAt(body, `${path}.basic_details.${members[name][platform]}`);
}

/**
 * Returns the changes that show a picture on a platform, or none if `url` is undefined. A web notification requires an icon:
 * the picture is the icon too, until the icon is another one.
 */
export function imageOn(place: Place, url: string | undefined): Changes {
  const { body, platform, path } = place;
  const details = `${path}.basic_details`;
  if (platform === 'ANDROID') return { [`${details}.image_url`]: url };
  if (platform === 'IOS')
    return {
      [`${details}.rich_media_type`]: url === undefined ? undefined : 'Image',
      [`${details}.rich_media_value`]: url,
    };
  const icon = textAt(body, `${path}.advanced.icon_url`);
  const isOwnIcon = icon !== '' && icon !== sharedValue(place, 'image');
  return { [`${details}.image_url`]: url, ...(isOwnIcon ? {} : { [`${path}.advanced.icon_url`]: url }) };
}

/** Browsers show pictures of https addresses only, which a sandbox may not have. */
export function isShownOn(platform: Platform, url: string): boolean {
  return platform !== 'WEB' || url.startsWith('https:');
}

/** A link that is typed, and the one that it replaces. Empty links are undefined. */
type LinkChange = { link: string | undefined; before: string };

/** Returns the changes that open a link. A browser cannot open the scheme of an app, so it keeps the address that it has. */
export function linkOn({ body, platform, path }: Place, { link, before }: LinkChange): Changes {
  const details = `${path}.basic_details`;
  if (platform !== 'WEB')
    return {
      [`${details}.default_click_action`]: link === undefined ? undefined : 'DEEPLINKING',
      [`${details}.default_click_action_value`]: link,
    };
  const address = `${details}.redirect_url`;
  if (link === undefined) return textAt(body, address) === before ? { [address]: undefined } : {};
  return isWebAddress(link) ? { [address]: link } : {};
}

function isWebAddress(link: string): boolean {
  return /^https?:/i.test(link);
}

/** True if a browser cannot open the link. The first letters of an address are not taken for a link of an app. */
export function isOfApp(link: string): boolean {
  return link !== '' && !isWebAddress(link) && !'https:'.startsWith(link.toLowerCase());
}
