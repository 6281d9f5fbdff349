import { readAt } from './body-path.ts';
import { useCampaignForm } from './campaign-form.ts';
import { newContent, platformPath, platforms, platformsOf } from './new-campaign.ts';
import type { Platform } from './new-campaign.ts';

/**
 * Chooses the platforms. The server takes content of chosen ones alone; what was written for another comes back with it,
 * and a new one begins with the texts of the first.
 */
export function usePlatforms(): (chosen: Platform[]) => void {
  const { body, write, setAside } = useCampaignForm();
  return (chosen) => {
    const before = platformsOf(body);
    const changes: Record<string, unknown> = { 'basic_details.platforms': chosen };
    for (const platform of platforms) {
      const path = platformPath(body, platform);
      if (!chosen.includes(platform)) {
        setAside.set(platform, readAt(body, path) ?? setAside.get(platform));
        changes[path] = undefined;
      } else if (!before.includes(platform)) {
        changes[path] = setAside.get(platform) ?? { ...newContent(platform), ...textsOf(before[0]) };
      }
    }
    write(changes);
  };

  function textsOf(first: Platform | undefined): Record<string, unknown> {
    if (first === undefined) return {};
    const of = (name: string) => readAt(body, `${platformPath(body, first)}.basic_details.${name}`);
    return { basic_details: { title: of('title') ?? '', message: of('message') ?? '' } };
  }
}
