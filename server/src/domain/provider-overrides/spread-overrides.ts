import type { CampaignContent, Platform } from '../campaigns/content.ts';
import type { OverriddenProvider, ProviderOverrides } from './provider-overrides.ts';

/** Whose requests the messages of a platform are made for. */
export const carriers: Record<Platform, readonly OverriddenProvider[]> = {
  ANDROID: ['fcm', 'hms'],
  IOS: ['apns'],
  WEB: ['webpush'],
};

/**
 * Gives each platform's content the overrides of its providers. A fallback is for users of whom too little is known, so it
 * gets those only that read nothing of them.
 */
export function spreadOverrides(
  content: CampaignContent,
  { overrides, readsUser }: { overrides: ProviderOverrides; readsUser: ReadonlySet<OverriddenProvider> },
): void {
  for (const platform of Object.keys(content) as Platform[]) {
    for (const provider of carriers[platform]) {
      const override = overrides[provider];
      const own = content[platform];
      if (override === undefined || own === undefined) continue;
      own.overrides = { ...own.overrides, [provider]: override };
      if (own.fallback && !readsUser.has(provider))
        own.fallback.overrides = { ...own.fallback.overrides, [provider]: override };
    }
  }
}

/** What `spreadOverrides` spread over the platforms, in one again. */
export function collectOverrides(content: CampaignContent): ProviderOverrides | undefined {
  const found = Object.assign({}, ...Object.values(content).map(({ overrides }) => overrides)) as ProviderOverrides;
  return Object.keys(found).length === 0 ? undefined : found;
}
