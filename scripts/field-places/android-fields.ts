import { countedBadge, gone, made } from './field-places.ts';
import type { FieldPlaces, Places } from './field-places.ts';
import { withoutHuaweiNotification } from './without-huawei-notification.ts';

type Parts = Pick<FieldPlaces, 'beside' | 'also' | 'of' | 'does'> & {
  /** In data, read by the app: modes `data` and `both`. */
  app?: Places;
  /** Read by the app if there is no notification: mode `data` only. */
  appAlone?: Places;
  /** In the notification, read by the system: modes `notification` and `both`. */
  system?: Places;
  /** In every FCM mode; complete paths. */
  always?: Places;
  /** In the Huawei notification; if absent, same as `system`. */
  huawei?: Places;
  /** Next to the Huawei notification; complete paths. */
  huaweiBeside?: Places;
};

function android(name: string, sent: unknown, parts: Parts): FieldPlaces {
  const { app, appAlone, system, always, huawei = system, huaweiBeside, ...more } = parts;
  const [inData, inDataAlone] = [within('data', app), within('data', appAlone)];
  const inNotification = within('android.notification', system);
  return {
    field: `payload.ANDROID.${name}`,
    sent,
    ...more,
    places: {
      data: { ...inData, ...inDataAlone, ...always },
      notification: { ...inNotification, ...always },
      both: { ...inData, ...inNotification, ...always },
      hms: { ...within('android.notification', huawei), ...huaweiBeside },
    },
  };
}

function within(parent: string, places: Places = {}): Places {
  return Object.fromEntries(Object.entries(places).map(([name, value]) => [`${parent}.${name}`, value]));
}

function rich(type: string, parts: Parts): FieldPlaces {
  const beside = { 'payload.ANDROID.richContent': [{ type, value: 'one' }] };
  return android('richContent[].value', 'other', { of: type, beside, ...parts });
}

const action = { type: 'richlanding', value: 'https://shop.example/1', kvPairs: { order: '17' } };
const withAction = { beside: { 'payload.ANDROID.defaultAction': action } };

const button = { type: 'copy', name: 'Copy', value: 'SPRING' };
function ofButton(name: string, value: string, member: object): FieldPlaces {
  const beside = { 'payload.ANDROID.additionalActions': [button] };
  const gcm_actions = JSON.stringify([{ ...button, ...member }]);
  return android(`additionalActions[].${name}`, value, { beside, app: { gcm_actions } });
}

function option(name: string, sent: unknown, parts: Parts): FieldPlaces {
  return android(`options.${name}`, sent, parts);
}

/** A localized text that the app looks up, and its arguments. */
function looked(text: 'title' | 'body'): FieldPlaces[] {
  const [key, args] = [`${text}LocKey`, `${text}LocArgs`];
  const svc_loc = (keys: object): Places => ({ svc_loc: JSON.stringify(keys) });
  return [
    option(`locKeys.${key}`, 'K', { app: svc_loc({ [key]: 'K' }), system: { [`${text}_loc_key`]: 'K' } }),
    option(`locKeys.${args}[]`, '18', {
      beside: { 'payload.ANDROID.options.locKeys': { [key]: 'K', [args]: ['17'] } },
      app: svc_loc({ [key]: 'K', [args]: ['18'] }),
      system: { [`${text}_loc_args`]: ['18'] },
    }),
  ];
}

const badge = { beside: { 'payload.ANDROID.options.badge': { operation: 'set', value: 2 } } };

/** The places of the members of `payload.ANDROID` in the sent message. */
export const androidFields: FieldPlaces[] = [
  android('title', 'Order 17', { app: { gcm_title: 'Order 17' }, system: { title: 'Order 17' } }),
  android('message', 'Ready', { app: { gcm_alert: 'Ready' }, system: { body: 'Ready' } }),
  android('summary', 'Today', { app: { gcm_subtext: 'Today' }, huawei: { notify_summary: 'Today' } }),
  android('Summary', 'Today', { app: { gcm_subtext: 'Today' }, huawei: { notify_summary: 'Today' } }),
  android('channel_id', 'orders', { app: { svc_channel_id: 'orders' }, system: { channel_id: 'orders' } }),
  android('groupKey', 'orders', { app: { svc_group_key: 'orders' }, huawei: { group: 'orders' } }),
  android('collapseReplaceKey', 'order-17', {
    appAlone: { svc_tag: made },
    system: { tag: made },
    always: { 'android.collapse_key': made },
  }),
  android('richContent[].type', 'sound', {
    of: 'sound for coupon',
    beside: { 'payload.ANDROID.richContent': [{ type: 'coupon', value: 'one' }] },
    app: { coupon_code: gone },
    appAlone: { svc_sound: 'one' },
    system: { sound: 'one' },
    huawei: { sound: 'one', default_sound: gone },
  }),
  android('richContent[].value', 'https://shop.example/2.png', {
    of: 'image',
    beside: { 'payload.ANDROID.richContent': [{ type: 'image', value: 'https://shop.example/1.png' }] },
    appAlone: { svc_image: 'https://shop.example/2.png' },
    system: { image: 'https://shop.example/2.png' },
  }),
  rich('sound', { appAlone: { svc_sound: 'other' }, system: { sound: 'other' } }),
  rich('coupon', { app: { coupon_code: 'other' } }),
  android('defaultAction.type', 'deeplinking', {
    ...withAction,
    app: { gcm_action_type: 'deeplinking' },
    huawei: {
      'click_action.type': 1,
      'click_action.intent': 'intent://shop.example/1#Intent;scheme=https;end',
      'click_action.url': gone,
    },
  }),
  android('defaultAction.value', 'https://shop.example/2', {
    ...withAction,
    app: { gcm_activityName: 'https://shop.example/2', svc_click_proof: made },
    huawei: { 'click_action.url': 'https://shop.example/2' },
  }),
  android('defaultAction.kvPairs.*', '18', {
    ...withAction,
    also: { 'payload.ANDROID.defaultAction.kvPairs.order': '18' },
    always: { 'data.order': '18' },
    huaweiBeside: { data: '{"order":"18"}' },
  }),
  ofButton('type', 'share', { type: 'share' }),
  ofButton('name', 'Take', { name: 'Take' }),
  ofButton('value', 'WINTER', { value: 'WINTER' }),
  ofButton('iconURL', 'https://shop.example/c.png', { iconUrl: 'https://shop.example/c.png' }),
  ...(['data', 'notification', 'both'] as const).map((mode) => ({
    ...option('deliveryMode', mode, { of: mode, huaweiBeside: mode === 'data' ? withoutHuaweiNotification : {} }),
    sameAs: mode,
  })),
  option('visibility', 'private', { app: { svc_visibility: 'private' }, system: { visibility: 'PRIVATE' } }),
  option('color', '#0a7d5a', { app: { svc_color: '#0a7d5a' }, system: { color: '#0a7d5a' } }),
  option('icon', 'ic_order', { app: { svc_icon: 'ic_order' }, system: { icon: 'ic_order' } }),
  option('sticky', true, { app: { svc_ongoing: '1' }, system: { sticky: true }, huawei: {} }),
  option('timeoutSeconds', 3600, { app: { svc_timeout_s: '3600' }, huawei: { auto_clear: 3_600_000 } }),
  option('badge.operation', 'clear', {
    of: 'clear',
    ...badge,
    also: { 'payload.ANDROID.options.badge.value': undefined },
    app: { svc_badge: '{"op":"clear"}' },
    system: { notification_count: gone },
    huawei: { 'badge.set_num': 0 },
  }),
  option('badge.operation', 'increment', {
    of: 'increment',
    ...badge,
    app: { svc_badge: `{"op":"set","value":${countedBadge}}` },
    system: { notification_count: countedBadge },
    huawei: { 'badge.set_num': countedBadge },
  }),
  option('badge.value', 3, {
    ...badge,
    app: { svc_badge: '{"op":"set","value":3}' },
    system: { notification_count: 3 },
    huawei: { 'badge.set_num': 3 },
  }),
  ...looked('title'),
  ...looked('body'),
  option('directBootOk', true, { always: { 'android.direct_boot_ok': true } }),
  option('bandwidthConstrainedOk', true, { always: { 'android.bandwidth_constrained_ok': true } }),
  option('restrictedSatelliteOk', true, { always: { 'android.restricted_satellite_ok': true } }),
  option('analyticsLabel', 'orders', { always: { 'android.fcm_options.analytics_label': 'orders' } }),
];
