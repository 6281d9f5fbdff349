import { platformNames } from '../parts/text/platform-names.ts';

/** What the fields of a campaign are called on the screen, by the last member of their path. */
const names: Record<string, string> = {
  name: 'Name',
  platforms: 'Platforms',
  business_event: 'Event',
  included_filters: 'Audience',
  excluded_filters: 'Excluded people',
  title: 'Title',
  message: 'Message',
  summary: 'Summary',
  subtitle: 'Subtitle',
  image_url: 'Image',
  icon_url: 'Icon',
  redirect_url: 'Address',
  rich_media_type: 'Image, video or sound',
  rich_media_value: 'Address of the image, video or sound',
  default_click_action: 'Click action',
  default_click_action_value: 'What a click opens',
  btn_name: 'Name',
  click_action_type: 'Action',
  click_action_value: 'Value',
  button_category: 'Button category',
  key: 'Key',
  value: 'Value',
  notification_channel: 'Notification channel',
  sound_file: 'Sound',
  coupon_code: 'Coupon code',
  group_key: 'Group',
  collapse_replace_key: 'Collapse key',
  manual_distribution_percentage: 'Shares of the variations',
  start_time: 'Day and time',
  expiry_time: 'Last day and time',
  timezone: 'Time zone',
  delivery_type: 'When it is sent',
  periodic_details: 'Repetition',
  repeat_frequency: 'Repetition',
  no_of_occurences: 'Number of times',
  goal_name: 'Goal',
  goal_event_name: 'Event',
  goal_event_attribute: 'Event attribute',
  goals: 'Goals',
  campaign_throttle_rpm: 'Maximum devices per minute',
  expire_notification_after_value: 'Time to live',
  send_to: 'Where it goes',
  inbox_expiry: 'Hours in the inbox',
};

const lists: Record<string, string> = { buttons: 'button', key_value_pairs: 'pair', goals: 'goal' };

/** Names a field as the screen does: `…push.android.buttons[0].btn_name` is "Android, button 1: Name". */
export function fieldName(path: string): string {
  const members = path.split('.');
  const last = members.at(-1)!.replace(/\[\d+\]$/, '');
  const platform = Object.entries(platformNames).find(([name]) => members.includes(name.toLowerCase()))?.[1];
  const places = [
    ...members.flatMap((member) => {
      const variation = /^variation_(\d+)$/.exec(member)?.[1];
      return variation === undefined ? [] : [`variation ${variation}`];
    }),
    ...members.flatMap((member) => {
      const [, list = '', index = ''] = /^(\w+)\[(\d+)\]$/.exec(member) ?? [];
      return lists[list] === undefined ? [] : [`${lists[list]} ${Number(index) + 1}`];
    }),
    ...(members.includes('template_backup') ? ['fallback'] : []),
  ];
  const where = [...(platform === undefined ? [] : [platform]), ...places].join(', ');
  const name = names[last] ?? words(last);
  if (where === '') return name;
  return `${platform === undefined ? capital(where) : where}: ${name}`;
}

/** A field without a name of its own, which other clients of the API may have set. */
function words(member: string): string {
  return capital(member.replaceAll('_', ' '));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
