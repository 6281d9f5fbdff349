import type { DeliverySettings } from '../campaigns/delivery-settings.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';

/** `control_group_details` (fact 6.2): who is kept out of the campaign, to compare with. */
export function readControlGroups(groups: RequestReader): ControlSettings {
  const isEnabled = groups.flag('is_campaign_control_group_enabled') ?? false;
  const percent = groups.integer('campaign_control_group_percentage', { minimum: 0, maximum: 100 });
  const isGlobal = groups.flag('is_global_control_group_enabled') ?? false;
  if (isEnabled) groups.requires('campaign_control_group_percentage');
  else if (percent !== undefined && percent > 0)
    groups.invalid('campaign_control_group_percentage', 'needs is_campaign_control_group_enabled');
  return {
    ...(isEnabled && percent !== undefined && percent > 0 ? { controlGroupPercent: percent } : {}),
    ...(isGlobal ? { leavesOutGlobalControlGroup: true } : {}),
  };
}

export type ControlSettings = Pick<DeliverySettings, 'controlGroupPercent' | 'leavesOutGlobalControlGroup'>;
