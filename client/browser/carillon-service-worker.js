/*
 * Carillon's service worker: shows web pushes and reports what became of them. Serve it from your own site, as high as
 * the pages it belongs to, and register it with the address of your Carillon service:
 *
 *   navigator.serviceWorker.register('/carillon-service-worker.js?service=https://push.example.com')
 *
 * Without `service` the worker's own origin is meant. A site that has a worker already loads this file into it with
 * importScripts. Plain JavaScript, so that it needs no build.
 */
const carillon = {
  service: new URL(self.location.href).searchParams.get('service') || self.location.origin,
  dismissMilliseconds: 8000,

  /** The payload of a push, or undefined when it is not Carillon's. */
  read(data) {
    try {
      const payload = data.json();
      return typeof payload.title === 'string' && typeof payload.report_token === 'string' ? payload : undefined;
    } catch {
      return undefined;
    }
  },

  async show(payload) {
    await self.registration.showNotification(payload.title, {
      body: payload.message,
      icon: payload.iconURL,
      image: payload.imageURL,
      actions: payload.actions,
      // A repeat of the same message replaces the first, in silence.
      tag: payload.tag,
      requireInteraction: payload.autoDismiss !== true,
      data: payload,
    });
    await Promise.all([
      carillon.report(payload, { kind: 'impression' }),
      carillon.tellPages(payload),
      payload.autoDismiss === true ? carillon.dismiss(payload) : undefined,
    ]);
  },

  /** What `autoDismiss` promises: gone after 8 seconds. Not every browser does it by itself. */
  async dismiss(payload) {
    await new Promise((resolve) => setTimeout(resolve, carillon.dismissMilliseconds));
    for (const notification of await self.registration.getNotifications({ tag: payload.tag })) notification.close();
  },

  async click(notification, action) {
    const payload = notification.data || {};
    notification.close();
    const chosen = (payload.actions || []).find((offered) => offered.action === action);
    const address = (chosen && chosen.url) || payload.redirectURL;
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
    const post = () =>
      fetch(`${carillon.service}/v1/interactions`, { method: 'POST', body, credentials: 'omit', keepalive: true });
    await post()
      .catch(post)
      .catch(() => {});
  },

  /** Lets open pages of the site show what came, by `navigator.serviceWorker.onmessage`. */
  async tellPages(payload) {
    const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    for (const page of pages) page.postMessage({ type: 'carillon-push', payload });
  },
};

// A new version takes over at once: it has no pages of its own that could mix old and new.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  const payload = event.data && carillon.read(event.data);
  if (payload) event.waitUntil(carillon.show(payload));
});

self.addEventListener('notificationclick', (event) => {
  if (event.notification.data?.report_token) event.waitUntil(carillon.click(event.notification, event.action));
});

self.addEventListener('notificationclose', (event) => {
  const payload = event.notification.data;
  if (payload?.report_token) event.waitUntil(carillon.report(payload, { kind: 'close' }));
});
