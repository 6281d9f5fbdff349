import type { FieldPlaces, Places } from './field-places.ts';

type Columns = { fcm?: Places; hms?: Places; adm?: Places; apns?: Places; webpush?: Places };

function override(path: string, sent: object, { fcm, hms, adm = {}, apns, webpush }: Columns): FieldPlaces {
  return {
    field: `payload.providerOverrides.${path}.*`,
    sent: undefined,
    also: { [`payload.providerOverrides.${path}`]: sent },
    places: {
      ...(fcm ? { data: fcm, notification: fcm, both: fcm } : {}),
      ...(hms ? { hms } : {}),
      adm,
      ...(apns ? { IOS: apns } : {}),
      ...(webpush ? { WEB: webpush, declarative: webpush } : {}),
    },
  };
}

/** For a user who reads German: each text replaces the text of the content, and its language is sent with it. */
const german: FieldPlaces = {
  field: 'payload.locales.*',
  sent: undefined,
  also: {
    'payload.locales': {
      de: {
        ANDROID: { title: 'Bestellung', message: 'Fertig' },
        IOS: { title: 'Bestellung' },
        WEB: { message: 'Fertig' },
      },
    },
  },
  places: {
    data: { 'data.svc_lang': 'de', 'data.gcm_title': 'Bestellung', 'data.gcm_alert': 'Fertig' },
    notification: { 'android.notification.title': 'Bestellung', 'android.notification.body': 'Fertig' },
    both: {
      'data.svc_lang': 'de',
      'data.gcm_title': 'Bestellung',
      'data.gcm_alert': 'Fertig',
      'android.notification.title': 'Bestellung',
      'android.notification.body': 'Fertig',
    },
    hms: { 'android.notification.title': 'Bestellung', 'android.notification.body': 'Fertig' },
    IOS: { 'svc.lang': 'de', 'aps.alert.title': 'Bestellung' },
    WEB: { lang: 'de', message: 'Fertig' },
    declarative: { lang: 'de', message: 'Fertig', 'notification.lang': 'de', 'notification.body': 'Fertig' },
  },
};

/** The caller names the place of each change in the finished request. */
export const overrideFields: FieldPlaces[] = [
  german,
  override(
    'fcm',
    { android: { ttl: '60s', notification: { ticker: 'x' } } },
    { fcm: { 'android.ttl': '60s', 'android.notification.ticker': 'x' } },
  ),
  override('hms', { android: { category: 'EXPRESS' } }, { hms: { 'android.category': 'EXPRESS' } }),
  override('adm', { data: { shelf: '17' } }, { adm: { 'data.shelf': '17' } }),
  override('apns.headers', { 'apns-collapse-id': 'order' }, { apns: { 'header apns-collapse-id': 'order' } }),
  override('apns.payload', { aps: { 'thread-id': 'o' }, shelf: 17 }, { apns: { 'aps.thread-id': 'o', shelf: 17 } }),
  override('webpush.headers', { Urgency: 'high' }, { webpush: { 'header urgency': 'high' } }),
  override('webpush.payload', { dir: 'rtl', tag: 'order' }, { webpush: { dir: 'rtl', tag: 'order' } }),
];
