import { epochSeconds, gone } from './field-places.ts';
import type { Column, FieldPlaces, Places } from './field-places.ts';
import { withoutHuaweiNotification } from './without-huawei-notification.ts';

type Parts = Pick<FieldPlaces, 'beside' | 'also' | 'of' | 'does'> & {
  android?: Places;
  huawei?: Places;
  ios?: Places;
  web?: Places;
};

function setting(name: string, sent: unknown, { android, huawei, ios, web, ...more }: Parts): FieldPlaces {
  const places: Partial<Record<Column, Places>> = {
    ...(android ? { data: android, notification: android, both: android } : {}),
    ...(huawei ? { hms: huawei } : {}),
    ...(ios ? { IOS: ios } : {}),
    ...(web ? { WEB: web, declarative: web } : {}),
  };
  return { field: `advancedSettings.${name}`, sent, ...more, places };
}

/** A field that no message contains. */
function unsent(
  field: string,
  sent: unknown,
  more: Pick<FieldPlaces, 'beside' | 'also'> & { does: string },
): FieldPlaces {
  return { field, sent, ...more, places: {} };
}

const goal = {
  name: 'Bought',
  eventName: 'Bought',
  attrs: { name: 'city', filter: 'is', type: 'string', value: 'Oslo' },
};
const goals = { beside: { conversionGoals: [goal] }, does: 'what counts as success' };
const user = { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: '17' };
const users = { beside: { targetAudience: 'User', targetUserAttributes: user }, does: 'who is reached' };
const daily = { type: 'periodic', time: '09:30 AM', endDate: '12/02/2026', timezone: 'Europe/Oslo', repeatAfter: '3' };
const later = {
  beside: { campaignDelivery: { type: 'later', date: '12/01/2026', time: '09:30 AM' } },
  does: 'when it is sent',
};
const periodic = { beside: { campaignDelivery: daily }, does: 'when it is sent' };
const inTwoDays = epochSeconds('2026-11-23T12:00:00Z');
const normal = { android: { 'android.priority': 'NORMAL' }, huawei: { 'android.urgency': 'NORMAL' } };
const low = { ...normal, ios: { 'header apns-priority': '5' } };

/** Only key-value pairs remain of a message that only the app gets. */
const silent: FieldPlaces = {
  field: 'advancedSettings.silent',
  sent: true,
  sameAs: 'data',
  beside: {
    'payload.ANDROID.defaultAction': { type: 'navigation', value: 'Cart', kvPairs: { sync: 'orders' } },
    'payload.IOS.defaultAction': { type: 'navigation', value: 'Cart', kvPairs: { sync: 'orders' } },
  },
  also: {
    targetPlatform: ['ANDROID', 'IOS'],
    'payload.WEB': undefined,
    'payload.ANDROID.title': '',
    'payload.ANDROID.message': '',
    'payload.IOS.title': '',
    'payload.IOS.message': '',
  },
  places: {
    data: {
      'data.svc_silent': '1',
      'android.priority': 'NORMAL',
      ...without('data.', ['gcm_title', 'gcm_alert', 'gcm_action_type', 'gcm_activityName']),
      ...without('data.svc_', ['tag', 'report_token', 'report_url']),
    },
    hms: { 'android.urgency': 'NORMAL', ...withoutHuaweiNotification },
    IOS: {
      'header apns-push-type': 'background',
      'header apns-priority': '5',
      'aps.content-available': 1,
      'svc.key_value_pairs.sync': 'orders',
      ...without('aps.', ['alert.title', 'alert.body', 'sound', 'mutable-content']),
      ...without('svc.', ['report_token', 'action.type', 'action.value', 'action.key_value_pairs.sync']),
    },
  },
};

function without(parent: string, names: string[]): Places {
  return Object.fromEntries(names.map((name) => [`${parent}${name}`, gone]));
}

/** The places of the fields that belong to no single platform. */
export const settingFields: FieldPlaces[] = [
  setting('ttl.ANDROID', 60, { android: { 'android.ttl': '3600s' }, huawei: { 'android.ttl': '3600s' } }),
  setting('ttl.IOS', 60, { ios: { 'header apns-expiration': String(epochSeconds('2026-11-21T13:00:00Z')) } }),
  setting('ttl.WEB', 60, { web: { 'header ttl': '3600' } }),
  setting('notificationPrioritySettings.Android', 'Low', normal),
  setting('notificationPrioritySettings.iOS', 1, { ios: { 'header apns-priority': '1' } }),
  setting('sendAtHighPriority', true, { of: 'true', web: { 'header urgency': 'high' } }),
  setting('sendAtHighPriority', false, { of: 'false', ...low }),
  setting('deliverWhenActive', true, { ...low, web: { 'header urgency': 'low' } }),
  {
    field: 'advancedSettings.inboxExpiry',
    sent: 48,
    places: {
      data: { 'data.svc_inbox_expiry': String(inTwoDays) },
      both: { 'data.svc_inbox_expiry': String(inTwoDays) },
      IOS: { 'svc.inbox_expiry': inTwoDays },
      WEB: { inbox_expiry: inTwoDays },
      declarative: { inbox_expiry: inTwoDays },
    },
  },
  silent,
  unsent('appId', 'X', { does: 'whose push it is' }),
  unsent('signature', 'X', { does: 'that it is theirs' }),
  unsent('campaignName', 'Another name', { does: 'what it is called' }),
  unsent('requestId', 'r-17', { does: 'answered' }),
  unsent('requestType', 'push', { does: 'checked' }),
  unsent('targetPlatform[]', 'ANDROID', { does: 'which devices are reached' }),
  unsent('targetAudience', 'Custom Segment', { also: { customSegmentName: 'VIP' }, does: 'who is reached' }),
  unsent('customSegmentName', 'Others', {
    beside: { targetAudience: 'Custom Segment', customSegmentName: 'VIP' },
    does: 'who is reached',
  }),
  unsent('targetUserAttributes.attribute', 'city', users),
  unsent('targetUserAttributes.comparisonParameter', 'in', {
    ...users,
    also: { 'targetUserAttributes.attributeValue': ['17'] },
  }),
  unsent('targetUserAttributes.attributeValue', '18', users),
  unsent('targetUserAttributes.isCustom', true, users),
  unsent('campaignDelivery.type', 'later', {
    also: { 'campaignDelivery.date': '12/01/2026', 'campaignDelivery.time': '09:30 AM' },
    does: 'when it is sent',
  }),
  unsent('campaignDelivery.date', '12/02/2026', later),
  unsent('campaignDelivery.time', '10:30 AM', later),
  unsent('campaignDelivery.endDate', '12/03/2026', periodic),
  unsent('campaignDelivery.timezone', 'Asia/Tokyo', periodic),
  unsent('campaignDelivery.repeatAfter', '2', periodic),
  unsent('campaignTags[]', 'spring', { beside: { campaignTags: ['sale'] }, does: 'kept with the campaign' }),
  unsent('conversionGoals[].name', 'Paid', goals),
  unsent('conversionGoals[].eventName', 'Paid', goals),
  unsent('conversionGoals[].attrs.name', 'town', goals),
  unsent('conversionGoals[].attrs.filter', 'exists', {
    ...goals,
    also: { 'conversionGoals.0.attrs.value': undefined },
  }),
  unsent('conversionGoals[].attrs.type', 'numeric', {
    ...goals,
    also: { 'conversionGoals.0.attrs.value': 4, 'conversionGoals.0.attrs.filter': 'is greater than' },
  }),
  unsent('conversionGoals[].attrs.value', 'Bern', goals),
  ...(['ignoreFC', 'countFC', 'ignoreMinimumDelay', 'bypassDND'] as const).map((name) =>
    unsent(`advancedSettings.${name}`, true, { does: 'what holds it back, and what it counts for' }),
  ),
  unsent('advancedSettings.campaignThrottleTime', 30, { does: 'how fast it is sent' }),
  unsent('advancedSettings.campaignThrottleRpm', 1_000, { does: 'how fast it is sent' }),
  unsent('advancedSettings.useJinjaPersonalization', true, { does: 'whether texts are templates' }),
  unsent('advancedSettings.iOSTargetDevice', 'apns_device_provisional_push', { does: 'which devices are reached' }),
  unsent('advancedSettings.appIds[]', 'courier', {
    beside: { 'advancedSettings.appIds': ['default'] },
    does: 'which devices are reached',
  }),
  unsent('advancedSettings.pushAmp+', false, { does: 'only `false` has an effect' }),
  unsent('advancedSettings.preCacheSegment', false, { does: 'only `false` has an effect' }),
];
