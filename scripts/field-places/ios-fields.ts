import { countedBadge, gone, made } from './field-places.ts';
import type { FieldPlaces, Places } from './field-places.ts';

type Neighbours = Pick<FieldPlaces, 'beside' | 'also' | 'of' | 'does'>;

function ios(name: string, sent: unknown, { places, ...more }: Neighbours & { places: Places }): FieldPlaces {
  return { field: `payload.IOS.${name}`, sent, ...more, places: { IOS: places } };
}

const media = (type: string): FieldPlaces =>
  ios('richContent[].value', 'other', {
    of: type,
    beside: { 'payload.IOS.richContent': [{ type, value: 'one' }] },
    places: { 'svc.media': [{ type, value: 'other' }] },
  });

const action = { type: 'richlanding', value: 'https://shop.example/1', kvPairs: { order: '17' } };
const withAction = { beside: { 'payload.IOS.defaultAction': action } };

function ofButton(name: string, value: string, member: object): FieldPlaces {
  const button = { action: 'track', title: 'Track', url: 'https://shop.example/1' };
  const carried = { type: 'open', action: 'track', name: 'Track', value: 'https://shop.example/1' };
  const beside = { 'payload.IOS.options.additionalActions': [button] };
  const places = { 'svc.actions': [{ ...carried, ...member }] };
  return ios(`options.additionalActions[].${name}`, value, { beside, places });
}

/** A localized text that the app looks up, and its arguments. Apple's name for that of the body is plain `loc-key`. */
function looked(text: 'title' | 'subtitle' | 'body', prefix: string): FieldPlaces[] {
  const [key, args] = [`${text}LocKey`, `${text}LocArgs`];
  return [
    ios(`options.locKeys.${key}`, 'K', { places: { [`aps.alert.${prefix}loc-key`]: 'K' } }),
    ios(`options.locKeys.${args}[]`, '18', {
      beside: { 'payload.IOS.options.locKeys': { [key]: 'K', [args]: ['17'] } },
      places: { [`aps.alert.${prefix}loc-args`]: ['18'] },
    }),
  ];
}

const option = (name: string, sent: unknown, place: string): FieldPlaces =>
  ios(`options.${name}`, sent, { places: { [place]: sent } });
const badge = { beside: { 'payload.IOS.options.badge': { operation: 'set', value: 2 } } };

/** The places of the members of `payload.IOS` in the sent message. */
export const iosFields: FieldPlaces[] = [
  ios('title', 'Order 17', { places: { 'aps.alert.title': 'Order 17' } }),
  ios('message', 'Ready', { places: { 'aps.alert.body': 'Ready' } }),
  ios('subtitle', 'Shop', { places: { 'aps.alert.subtitle': 'Shop' } }),
  ios('groupKey', 'orders', { places: { 'aps.thread-id': 'orders' } }),
  ios('collapseReplaceKey', 'order-17', { places: { 'header apns-collapse-id': made } }),
  ios('enableIosBadge', true, { places: { 'aps.badge': 1 } }),
  ios('richContent[].type', 'video', {
    of: 'video for image',
    beside: { 'payload.IOS.richContent': [{ type: 'image', value: 'one' }] },
    places: { 'svc.media': [{ type: 'video', value: 'one' }] },
  }),
  ...['image', 'gif', 'audio', 'video'].map(media),
  ios('richContent[].value', 'other', {
    of: 'sound',
    beside: { 'payload.IOS.richContent': [{ type: 'sound', value: 'one' }] },
    places: { 'aps.sound': 'other' },
  }),
  ios('richContent[].value', 'other', {
    of: 'coupon',
    beside: { 'payload.IOS.richContent': [{ type: 'coupon', value: 'one' }] },
    places: { 'svc.coupon_code': 'other' },
  }),
  ios('defaultAction.type', 'deeplinking', { ...withAction, places: { 'svc.action.type': 'deeplinking' } }),
  ios('defaultAction.value', 'https://shop.example/2', {
    ...withAction,
    places: { 'svc.action.value': 'https://shop.example/2', 'svc.click_proof': made },
  }),
  ios('defaultAction.kvPairs.*', '18', {
    ...withAction,
    also: { 'payload.IOS.defaultAction.kvPairs.order': '18' },
    places: { 'svc.action.key_value_pairs.order': '18' },
  }),
  ios('additionalActions[].category', 'ORDER', {
    beside: { 'payload.IOS.additionalActions': [{ category: 'OTHER' }] },
    places: { 'aps.category': 'ORDER' },
  }),
  option('interruptionLevel', 'time-sensitive', 'aps.interruption-level'),
  option('relevanceScore', 0.7, 'aps.relevance-score'),
  option('targetContentId', 'order-17', 'aps.target-content-id'),
  option('filterCriteria', 'work', 'aps.filter-criteria'),
  option('sound.name', 'bell.caf', 'aps.sound'),
  ios('options.sound.critical', true, {
    beside: { 'payload.IOS.options.sound': { name: 'bell.caf' } },
    places: { 'aps.sound': gone, 'aps.sound.critical': 1, 'aps.sound.name': 'bell.caf' },
  }),
  ios('options.sound.volume', 0.8, {
    beside: { 'payload.IOS.options.sound': { name: 'bell.caf', critical: true } },
    places: { 'aps.sound.volume': 0.8 },
  }),
  ios('options.badge.operation', 'clear', {
    of: 'clear',
    ...badge,
    also: { 'payload.IOS.options.badge.value': undefined },
    places: { 'aps.badge': 0 },
  }),
  ios('options.badge.operation', 'increment', { of: 'increment', ...badge, places: { 'aps.badge': countedBadge } }),
  ios('options.badge.value', 3, { ...badge, places: { 'aps.badge': 3 } }),
  ios('options.contentAvailable', true, { places: { 'aps.content-available': 1 } }),
  option('launchImage', 'Order', 'aps.alert.launch-image'),
  ...looked('title', 'title-'),
  ...looked('subtitle', 'subtitle-'),
  ...looked('body', ''),
  ofButton('action', 'follow', { action: 'follow' }),
  ofButton('title', 'Follow', { name: 'Follow' }),
  ofButton('url', 'https://shop.example/2', { value: 'https://shop.example/2' }),
  ofButton('iconURL', 'https://shop.example/t.png', { iconUrl: 'https://shop.example/t.png' }),
];
