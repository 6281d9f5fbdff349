import type { FieldPlaces, Places } from './field-places.ts';

type Columns = { fcm?: Places; apns?: Places; webpush?: Places };

function override(path: string, sent: object, { fcm, apns, webpush }: Columns): FieldPlaces {
  return {
    field: `payload.providerOverrides.${path}.*`,
    sent: undefined,
    also: { [`payload.providerOverrides.${path}`]: sent },
    places: {
      ...(fcm ? { data: fcm, notification: fcm, both: fcm } : {}),
      ...(apns ? { IOS: apns } : {}),
      ...(webpush ? { WEB: webpush, declarative: webpush } : {}),
    },
  };
}

/** What a caller changes in finished requests stands where the caller says. */
export const overrideFields: FieldPlaces[] = [
  override(
    'fcm',
    { android: { ttl: '60s', notification: { ticker: 'x' } } },
    { fcm: { 'android.ttl': '60s', 'android.notification.ticker': 'x' } },
  ),
  override('apns.headers', { 'apns-collapse-id': 'order' }, { apns: { 'header apns-collapse-id': 'order' } }),
  override('apns.payload', { aps: { 'thread-id': 'o' }, shelf: 17 }, { apns: { 'aps.thread-id': 'o', shelf: 17 } }),
  override('webpush.headers', { Urgency: 'high' }, { webpush: { 'header urgency': 'high' } }),
  override('webpush.payload', { dir: 'rtl', tag: 'order' }, { webpush: { dir: 'rtl', tag: 'order' } }),
];
