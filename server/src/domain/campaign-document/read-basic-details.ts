import { platforms } from '../campaigns/content.ts';
import type { Platform } from '../campaigns/content.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { maxCampaignNameCharacters, maxCampaignTags } from '../campaigns/limits.ts';

export type BasicDetails = { name: string; tags: string[]; platforms: Platform[]; businessEvent: string | undefined };

const maxName = 256;

/** `basic_details` (fact 6.2). There is one team, the default one. */
export function readBasicDetails(details: RequestReader, { isTriggered }: { isTriggered: boolean }): BasicDetails {
  const team = details.text('team', maxName);
  if (team !== undefined && !/^default( team)?$/i.test(team))
    details.invalid('team', 'must be Default Team: other teams are not available in this version');
  details.refuse('geofences', 'broadcast_live_activity_id');
  details.only(false, 'send_to_triggered_platform_only');
  readPlatformDetails(details.part('platform_specific_details'));
  const businessEvent = details.text('business_event', maxName);
  if (isTriggered) details.requires('business_event');
  else if (businessEvent !== undefined)
    details.invalid('business_event', 'is for campaigns of type BUSINESS_EVENT_TRIGGERED');
  return {
    name: details.requiredText('name', maxCampaignNameCharacters).trim(),
    tags: details.texts('tags', { maxItems: maxCampaignTags, maxCharacters: maxName }) ?? [],
    platforms: readPlatforms(details),
    businessEvent,
  };
}

function readPlatforms(details: RequestReader): Platform[] {
  details.requires('platforms');
  const sent = details.list('platforms', platforms.length).map((word) => String(word).toUpperCase());
  const known = platforms.filter((platform) => sent.includes(platform));
  if (known.length !== new Set(sent).size) details.invalid('platforms', `must hold only ${platforms.join(', ')}`);
  return known;
}

function readPlatformDetails(details: RequestReader): void {
  details.part('android').only(false, 'push_amp_plus_enabled');
  const ios = details.part('ios');
  ios.only(true, 'send_to_all_eligible_device');
  ios.only(false, 'exclude_provisional_push_devices', 'send_to_only_provisional_push_enabled_devices');
}
