import { countedBadge, made } from './field-places.ts';
import type { FieldPlaces, Places } from './field-places.ts';

type Parts = Pick<FieldPlaces, 'beside' | 'also' | 'of' | 'does'> & {
  /** Read by the service worker, declarative or not. */
  worker?: Places;
  /** Also in the declarative notification. */
  declared?: Places;
};

function web(name: string, sent: unknown, { worker, declared, ...more }: Parts): FieldPlaces {
  const inNotification = Object.entries(declared ?? {}).map(([place, value]) => [
    place.startsWith('/') ? place.slice(1) : `notification.${place}`,
    value,
  ]);
  const declarative = { ...worker, ...(Object.fromEntries(inNotification) as Places) };
  return { field: `payload.WEB.${name}`, sent, ...more, places: { WEB: worker ?? {}, declarative } };
}

function option(name: string, sent: unknown): FieldPlaces {
  return web(`options.${name}`, sent, { worker: { [name]: sent }, declared: { [name]: sent } });
}

const button = { action: 'track', title: 'Track', url: 'https://shop.example/1' };
function ofButton(name: keyof typeof button | 'iconURL', value: string): FieldPlaces {
  const { url: navigate, iconURL: icon, ...shown } = { iconURL: undefined, ...button, [name]: value };
  return web(`options.additionalActions[].${name}`, value, {
    beside: { 'payload.WEB.options.additionalActions': [button] },
    worker: { actions: [{ ...button, [name]: value }] },
    declared: { actions: [{ ...shown, navigate, ...(icon === undefined ? {} : { icon }) }] },
  });
}

const badge = { beside: { 'payload.WEB.options.appBadge': { operation: 'set', value: 2 } } };
const shownBadge = (count: number): Parts => ({
  worker: { appBadge: count },
  // Some browsers read it in one place, some in the other.
  declared: { app_badge: count, '/app_badge': count },
});
const [icon, image, address] = ['https://shop.example/i.png', 'https://shop.example/p.png', 'https://shop.example/2'];

/** The places of the members of `payload.WEB` in the sent message. */
export const webFields: FieldPlaces[] = [
  web('title', 'Order 17', { worker: { title: 'Order 17' }, declared: { title: 'Order 17' } }),
  web('message', 'Ready', { worker: { message: 'Ready' }, declared: { body: 'Ready' } }),
  web('redirectURL', address, { worker: { redirectURL: address, click_proof: made }, declared: { navigate: made } }),
  web('iconURL', icon, { worker: { iconURL: icon }, declared: { icon } }),
  web('imageURL', image, { worker: { imageURL: image }, declared: { image } }),
  web('autoDismiss', true, { worker: { autoDismiss: true } }),
  ofButton('action', 'follow'),
  ofButton('title', 'Follow'),
  ofButton('url', 'https://shop.example/2'),
  ofButton('iconURL', 'https://shop.example/t.png'),
  web('options.badgeURL', image, { worker: { badgeURL: image }, declared: { badge: image } }),
  web('options.tag', 'order-17', { worker: { tag: 'order-17', 'header topic': made }, declared: { tag: 'order-17' } }),
  { ...option('renotify', true), beside: { 'payload.WEB.options.tag': 'order-17' } },
  option('silent', true),
  option('requireInteraction', true),
  option('lang', 'de'),
  option('dir', 'rtl'),
  {
    ...option('vibrate', [100, 50]),
    field: 'payload.WEB.options.vibrate[]',
    sent: 100,
    beside: { 'payload.WEB.options.vibrate': [200, 50] },
  },
  option('timestamp', 1_790_000_000_000),
  {
    field: 'payload.WEB.options.declarative',
    sent: 'always',
    places: {
      WEB: {
        web_push: 8030,
        mutable: true,
        'notification.title': 'Title',
        'notification.body': 'Text',
        'notification.navigate': made,
        'notification.icon': 'https://shop.example/icon.png',
        'notification.tag': made,
        'notification.mutable': true,
      },
    },
  },
  web('options.appBadge.operation', 'clear', {
    of: 'clear',
    ...badge,
    also: { 'payload.WEB.options.appBadge.value': undefined },
    ...shownBadge(0),
  }),
  web('options.appBadge.operation', 'increment', { of: 'increment', ...badge, ...shownBadge(countedBadge) }),
  web('options.appBadge.value', 3, { ...badge, ...shownBadge(3) }),
];
