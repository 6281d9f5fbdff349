/*
 * Carillon's service worker: shows web pushes and reports what became of them. Serve it from your own site, as high as
 * the pages it belongs to, and register it with the address of your Carillon service:
 *
 *   navigator.serviceWorker.register('/carillon-service-worker.js?service=https://push.example.com&name=Shop')
 *
 * `service`: without it the worker's own origin is meant. `name`: what stands above a push that cannot be read; without it
 * the site's host. `subscription`: an address of your site to which a subscription is posted that the browser renewed by
 * itself, as {"old": …, "new": …}.
 *
 * Every push shows something: browsers take the permission away, or show a text of their own, when one shows nothing. A
 * site that has a worker already loads this file into it with importScripts; pushes that are not Carillon's are then left
 * to that worker. Plain JavaScript, so that it needs no build.
 */
const carillonSettings = new URL(self.location.href).searchParams;

const carillon = {
  service: carillonSettings.get('service') || self.location.origin,
  name: carillonSettings.get('name') || self.location.hostname,
  subscriptionAddress: carillonSettings.get('subscription') || undefined,
  /** Whether this file is the worker, and not a part of one that shows pushes of others. */
  isAlone: /carillon-service-worker[^/]*\.js$/.test(self.location.pathname),
  dismissMilliseconds: 8000,

  /** The payload of a push. What is not readable is shown all the same; undefined: it is another's to show. */
  read(data) {
    let payload;
    try {
      payload = data?.json();
    } catch {
      // A text, or bytes that nobody can read.
    }
    const isObject = payload !== null && typeof payload === 'object' && !Array.isArray(payload);
    if (isObject && typeof payload.message_id === 'string') return payload;
    if (!carillon.isAlone) return undefined;
    return isObject ? payload : {};
  },

  async show(payload) {
    // A code for the app API's package, which answers it.
    if (payload.challenge !== undefined) return;
    await carillon.notify(payload);
    await Promise.all([
      carillon.badge(payload),
      carillon.report(payload, { kind: 'impression' }),
      carillon.tellPages(payload),
      payload.autoDismiss === true ? carillon.dismiss(payload) : undefined,
    ]);
  },

  async notify(payload) {
    const title = typeof payload.title === 'string' && payload.title !== '' ? payload.title : carillon.name;
    const body = typeof payload.message === 'string' ? payload.message : '';
    const options = {
      body,
      icon: payload.iconURL,
      image: payload.imageURL,
      actions: carillon
        .actionsOf(payload)
        .map(({ action, title: caption, iconURL }) => ({ action, title: caption, icon: iconURL })),
      // A repeat of the same message replaces the first, in silence.
      tag: payload.tag,
      requireInteraction: payload.requireInteraction ?? payload.autoDismiss !== true,
      badge: payload.badgeURL,
      data: payload,
    };
    // Left out where nothing is said: some browsers refuse `undefined` for them.
    for (const name of ['renotify', 'silent', 'lang', 'dir', 'vibrate', 'timestamp'])
      if (payload[name] !== undefined) options[name] = payload[name];
    // A browser that refuses an option throws and shows nothing.
    await self.registration
      .showNotification(title, options)
      .catch(() => self.registration.showNotification(title, { body, data: payload }));
  },

  actionsOf(payload) {
    return Array.isArray(payload.actions) ? payload.actions : [];
  },

  /** The number on the app's icon, of a site that was installed as an app; 0 takes it away. */
  async badge({ appBadge }) {
    if (!Number.isInteger(appBadge) || !self.navigator.setAppBadge) return;
    await (appBadge === 0 ? self.navigator.clearAppBadge() : self.navigator.setAppBadge(appBadge)).catch(() => {});
  },

  /** What `autoDismiss` promises: gone after 8 seconds. Not every browser does it by itself. */
  async dismiss(payload) {
    await new Promise((resolve) => setTimeout(resolve, carillon.dismissMilliseconds));
    for (const notification of await self.registration.getNotifications({ tag: payload.tag })) notification.close();
  },

  async click(notification, action) {
    const payload = notification.data || {};
    notification.close();
    const chosen = carillon.actionsOf(payload).find((offered) => offered.action === action);
    // A push that could not be read leads to the site.
    const address = (chosen && chosen.url) || payload.redirectURL || self.location.origin;
    await Promise.all([
      carillon.report(payload, action ? { kind: 'click', action } : { kind: 'click' }),
      carillon.open(address),
    ]);
  },

  /** The tab that shows the address already, or a new one. */
  async open(address) {
    if (!/^https?:\/\//i.test(address || '')) return;
    const wanted = new URL(address).href;
    const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    const found = pages.find((page) => page.url === wanted);
    // A browser that finds the click too long ago refuses both; the click counts all the same.
    await (found ? found.focus() : self.clients.openWindow(wanted)).catch(() => {});
  },

  /** Tried twice under one id, so that an answer that was lost does not count twice. */
  async report(payload, what) {
    if (!payload.report_token) return;
    const body = JSON.stringify({ token: payload.report_token, ...what, id: crypto.randomUUID() });
    // As text/plain, which needs no preflight request from another origin.
    await carillon.postTwice(`${carillon.service}/v1/interactions`, { body, credentials: 'omit' });
  },

  async postTwice(address, init) {
    const post = () => fetch(address, { method: 'POST', keepalive: true, ...init });
    await post()
      .catch(post)
      .catch(() => {});
  },

  /** Lets open pages of the site show what came, by `navigator.serviceWorker.onmessage`. */
  async tellPages(payload) {
    await carillon.postToPages({ type: 'carillon-push', payload });
  },

  async postToPages(message) {
    const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    for (const page of pages) page.postMessage(message);
  },

  /**
   * A browser gave up a subscription, or made another: this subscribes again under the same key and tells the site, whose
   * server knows the user and registers the device.
   */
  async renew({ oldSubscription, newSubscription }) {
    const options = oldSubscription?.options;
    const renewed =
      newSubscription ?? (options && (await self.registration.pushManager.subscribe(options).catch(() => undefined)));
    const change = { old: oldSubscription?.toJSON() ?? null, new: renewed?.toJSON() ?? null };
    await Promise.all([
      carillon.postToPages({ type: 'carillon-subscription', ...change }),
      carillon.subscriptionAddress &&
        carillon.postTwice(new URL(carillon.subscriptionAddress, self.location.origin), {
          body: JSON.stringify(change),
          headers: { 'content-type': 'application/json' },
          credentials: 'same-origin',
        }),
    ]);
  },
};

// A new version takes over at once: it has no pages of its own that could mix old and new.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  const payload = carillon.read(event.data);
  if (payload) event.waitUntil(carillon.show(payload));
});

self.addEventListener('notificationclick', (event) => {
  if (carillon.isAlone || event.notification.data?.message_id)
    event.waitUntil(carillon.click(event.notification, event.action));
});

self.addEventListener('notificationclose', (event) => {
  const payload = event.notification.data;
  if (payload?.report_token) event.waitUntil(carillon.report(payload, { kind: 'close' }));
});

self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(carillon.renew(event)));
