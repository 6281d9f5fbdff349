type Members = Record<string, unknown>;
export type MessagePlatform = 'ANDROID' | 'IOS' | 'WEB';

/** The texts of one platform, as a V5 campaign record has them. */
export type PlatformMessage = { platform: MessagePlatform; content: Members };

/** The locale or variation; null if there is only one content. */
export type SentMessage = { locale: string | null; variation: number | null; platforms: PlatformMessage[] };

/** Returns every message of a campaign: one, or one per locale and variation. */
export function sentMessages(record: Members): SentMessage[] {
  const content = members(members(record.campaign_content).content);
  if (content.push !== undefined) return ofPush(members(content.push));
  // The default is first. The database determines the order of the others.
  const byLocale = Object.entries(content).toSorted(([one], [other]) => rankOf(one) - rankOf(other));
  return byLocale.flatMap(([locale, variations]) =>
    Object.entries(members(variations)).map(([name, variation]) => ({
      locale: Object.keys(content).length > 1 ? locale : null,
      variation: Object.keys(members(variations)).length > 1 ? Number(name.replace('variation_', '')) : null,
      platforms: platformsOf(members(members(variation).push)),
    })),
  );
}

function rankOf(locale: string): number {
  return locale === 'default' ? 0 : 1;
}

/** Returns the messages of a push: one with its own texts, and one per language with the texts of that language. */
function ofPush(push: Members): SentMessage[] {
  const platforms = platformsOf(push);
  const locales = Object.entries(members(push.locales));
  const one = { locale: locales.length > 0 ? 'default' : null, variation: null, platforms };
  return [
    one,
    ...locales.map(([locale, texts]) => ({
      ...{ locale, variation: null },
      platforms: platforms.map(({ platform, content }) => ({
        platform,
        content: withTexts(content, members(members(texts)[platform.toLowerCase()])),
      })),
    })),
  ];
}

function withTexts(content: Members, texts: Members): Members {
  const { redirectURL, iconURL, imageURL, ...words } = texts;
  const addresses = { redirect_url: redirectURL, image_url: imageURL };
  const known = Object.fromEntries(Object.entries(addresses).filter(([, value]) => value !== undefined));
  return {
    ...content,
    basic_details: { ...members(content.basic_details), ...words, ...known },
    ...(iconURL === undefined ? {} : { advanced: { ...members(content.advanced), icon_url: iconURL } }),
  };
}

function platformsOf(push: Members): PlatformMessage[] {
  return (['ANDROID', 'IOS', 'WEB'] as const).flatMap((platform) => {
    const content = push[platform.toLowerCase()];
    return content === undefined ? [] : [{ platform, content: members(content) }];
  });
}

export function members(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** Formats a language as `German (de)`. */
export function localeText(locale: string | null): string {
  if (locale === null || locale === 'default') return 'Default language';
  const name = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(locale);
  return name === undefined ? locale : `${name} (${locale})`;
}
