import type { CampaignContent } from '../campaigns/content.ts';
import type { App } from './app.ts';

export const needsCriticalAlerts = 'needs an app with critical alerts';

type Reached = {
  /** Those beside the default ones. */
  apps: readonly Pick<App, 'platform' | 'appId' | 'settings'>[];
  /** Undefined: all of them. */
  appIds: readonly string[] | undefined;
};

/**
 * Which contents for iPhones ask for a critical sound where no app that is reached can play one. Where some can, the others
 * play it as a plain one. Pure.
 */
export function findCriticalSounds({ IOS }: CampaignContent, { apps, appIds }: Reached): ('content' | 'fallback')[] {
  const isPlayed = apps.some(
    ({ platform, appId, settings }) =>
      platform === 'IOS' && settings?.criticalAlerts === true && (appIds === undefined || appIds.includes(appId)),
  );
  if (isPlayed || !IOS) return [];
  const asks = (content: Pick<typeof IOS, 'options'> | undefined): boolean =>
    content?.options?.sound !== undefined && 'critical' in content.options.sound;
  return [...(asks(IOS) ? (['content'] as const) : []), ...(asks(IOS.fallback) ? (['fallback'] as const) : [])];
}
