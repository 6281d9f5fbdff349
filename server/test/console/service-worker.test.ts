import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { BrowserContext, CDPSession, Page, Worker } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { findViolations } from './console-browser.ts';

const executablePath = '/usr/bin/chromium';
const hasChromium = existsSync(executablePath);

/** The part of a service worker's world that the tests use; they run there, where there are DOM types. */
declare const self: any;
declare const NotificationEvent: any;
declare const WindowClient: any;
declare const carillon: any;

/** What a person does to a notification. */
type Happening = { title: string; action?: string };

describe.skipIf(!hasChromium)(`the service worker${hasChromium ? '' : ' (skipped: no /usr/bin/chromium)'}`, () => {
  let bundle: CarillonBundle;
  let folder: string;
  let context: BrowserContext;
  let page: Page;
  let devtools: CDPSession;
  let worker: Worker;
  let registrationId: string;
  const faults: string[] = [];

  beforeAll(async () => {
    bundle = await startCarillonBundle();
    folder = await mkdtemp(join(tmpdir(), 'carillon-browser-'));
    // A profile of its own, because a private window has no push.
    context = await chromium.launchPersistentContext(folder, {
      executablePath,
      // No push service can be reached, whatever network the test runs in.
      args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    });
    await context.grantPermissions(['notifications'], { origin: bundle.url });
    page = await context.newPage();
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    devtools = await context.newCDPSession(page);
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      registrationId = registrations.find(({ isDeleted }) => !isDeleted)?.registrationId ?? registrationId;
    });
    await devtools.send('ServiceWorker.enable');
  });
  afterAll(async () => {
    await context?.close();
    await bundle?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const figures = async (campaignId: string): Promise<Record<string, [number, number]>> => {
    const rows = await bundle.database<{ kind: string; total: number; unique_devices: number }[]>`
      select kind, total, unique_devices from campaign_interactions where campaign_id = ${campaignId}`;
    return Object.fromEntries(rows.map((row) => [row.kind, [row.total, row.unique_devices]]));
  };

  /** A real send; the payload is what the simulated browser decrypted. */
  async function send(name: string, options: object = {}): Promise<Record<string, any>> {
    await bundle.push({
      campaignName: name,
      targetPlatform: ['WEB'],
      targetAudience: 'User',
      targetUserAttributes: {
        attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
        comparisonParameter: 'is',
        attributeValue: 'tim',
      },
      payload: {
        WEB: {
          title: name,
          message: 'For Tim',
          redirectURL: `${bundle.url}/sandbox/browser`,
          iconURL: 'https://example.com/icon.png',
          imageURL: 'https://example.com/image.png',
          options,
        },
      },
      campaignDelivery: { type: 'soon' },
    });
    return until(async () => (await bundle.inbox()).find(({ title }) => title === name)?.payload);
  }

  const deliver = (payload: object) =>
    devtools.send('ServiceWorker.deliverPushMessage', {
      origin: bundle.url,
      registrationId,
      data: JSON.stringify(payload),
    });

  const shown = (): Promise<{ title: string; [option: string]: unknown }[]> =>
    worker.evaluate(async () =>
      (await self.registration.getNotifications()).map((notification: any) => ({
        title: notification.title,
        body: notification.body,
        icon: notification.icon,
        tag: notification.tag,
        requireInteraction: notification.requireInteraction,
      })),
    );

  /**
   * Until it was shown so often. Nobody may ask for the notifications before: Chromium forgets one that is asked for
   * between its storing and its showing.
   */
  const untilShown = (payload: Record<string, any>, times = 1) =>
    until(async () => (await figures(payload.campaign_id)).IMPRESSION?.[0] === times);

  /**
   * What the browser does when a person clicks or closes. DevTools cannot click a notification, and an event that a
   * script makes refuses `waitUntil`, so the event brings its own.
   */
  const happen = (type: 'notificationclick' | 'notificationclose', { title, action = '' }: Happening) =>
    worker.evaluate(
      async ([name, wanted, button]) => {
        const all: { title: string }[] = await self.registration.getNotifications();
        const notification = all.find((one) => one.title === wanted);
        const event = new NotificationEvent(name, { notification, action: button });
        let work;
        event.waitUntil = (promise: Promise<unknown>) => {
          work = promise;
        };
        self.dispatchEvent(event);
        await work;
      },
      [type, title, action] as const,
    );

  test('is registered by the page, which reports clearly if no push service can be reached', async () => {
    await page.clock.install();
    await page.goto(`${bundle.url}/sandbox/browser`);
    const registered = context.waitForEvent('serviceworker');
    await page.getByRole('button', { name: 'Receive pushes here' }).click();
    worker = await registered;
    expect(worker.url()).toBe(`${bundle.url}/sandbox/carillon-service-worker.js`);
    await page.getByText('asks its push service').waitFor();
    // Chromium itself tries for ever. The click's own work goes on in steps, so time passes until the answer is there.
    await until(async () => {
      await page.clock.fastForward(20_000);
      return (await page.getByRole('status').textContent())?.includes('this network does not seem to let');
    });
    expect(await page.getByRole('status').textContent()).toContain('The simulated browsers need no network');
    const violations = await findViolations(page);
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  });

  test('shows a push and reports the impression, which the page receives', async () => {
    const payload = await send('Seen in Chromium');
    await deliver(payload);
    await page.getByText('Seen in Chromium').first().waitFor();
    await untilShown(payload);
    expect(await shown()).toEqual([
      {
        title: 'Seen in Chromium',
        body: 'For Tim',
        icon: 'https://example.com/icon.png',
        tag: payload.tag,
        requireInteraction: true,
      },
    ]);
    expect(await figures(payload.campaign_id)).toEqual({ IMPRESSION: [1, 1] });
  });

  test('counts a click and closes the notification, names a button, and ignores a repeated report', async () => {
    const payload = await send('Clicked in Chromium');
    await deliver(payload);
    await untilShown(payload);
    const reported = worker.evaluate(() => {
      const { fetch } = self;
      return new Promise((resolve) => {
        self.fetch = (url: string, init: RequestInit) => {
          self.fetch = fetch;
          resolve(init.body);
          return fetch(url, init);
        };
      });
    });
    await happen('notificationclick', { title: 'Clicked in Chromium', action: 'buy' });
    await until(async () => (await shown()).every(({ title }) => title !== 'Clicked in Chromium'));
    const counted = { IMPRESSION: [1, 1], CLICK: [1, 1] };
    expect(await figures(payload.campaign_id)).toEqual(counted);
    const [row] = await bundle.database`
      select action from device_interactions where campaign_id = ${payload.campaign_id} and kind = 'CLICK'`;
    expect(row).toEqual({ action: 'buy' });
    const again = await fetch(`${bundle.url}/v1/interactions`, { method: 'POST', body: (await reported) as string });
    expect(again.status).toBe(204);
    expect(await figures(payload.campaign_id)).toEqual(counted);
  });

  test('counts a closed notification as closed', async () => {
    const payload = await send('Closed in Chromium');
    await deliver(payload);
    await untilShown(payload);
    await happen('notificationclose', { title: 'Closed in Chromium' });
    expect((await figures(payload.campaign_id)).CLOSE).toEqual([1, 1]);
  });

  test('replaces the first notification by a repeat', async () => {
    const payload = await send('Repeated in Chromium');
    await deliver(payload);
    await deliver(payload);
    await untilShown(payload, 2);
    expect((await shown()).filter(({ title }) => title === 'Repeated in Chromium')).toHaveLength(1);
    expect(await figures(payload.campaign_id)).toEqual({ IMPRESSION: [2, 1] });
  });

  test('shows an unreadable push under the name of the site, with a link to it', async () => {
    // Browsers take the permission away when a push shows nothing.
    const sends = [
      'no JSON',
      '',
      '"text"',
      'null',
      '{}',
      '{"actions":7,"message":null,"title":""}',
      '{"title":"Bare"}',
    ];
    // These report nothing by which it could be seen that they were shown.
    await worker.evaluate(() => {
      const { notify } = carillon;
      self.notified = 0;
      carillon.notify = async (payload: object) => {
        await notify(payload);
        self.notified += 1;
      };
    });
    for (const [index, data] of sends.entries()) {
      await devtools.send('ServiceWorker.deliverPushMessage', { origin: bundle.url, registrationId, data });
      const title = data === '{"title":"Bare"}' ? 'Bare' : new URL(bundle.url).hostname;
      await until(async () => (await worker.evaluate(() => self.notified)) === index + 1);
      expect((await shown()).map((notification) => notification.title)).toContain(title);
      await worker.evaluate(() => {
        self.clients.openWindow = async (url: string) => (self.wentTo = url);
      });
      await happen('notificationclick', { title });
      expect(await worker.evaluate(() => self.wentTo)).toBe(`${bundle.url}/`);
      await until(async () => (await shown()).every((notification) => notification.title !== title));
    }
    // As a part of a worker that shows pushes of others, it leaves these alone.
    expect(
      await worker.evaluate(() => {
        carillon.isAlone = false;
        const read = carillon.read({ json: () => ({ title: 'Of another' }) });
        carillon.isAlone = true;
        return read === undefined;
      }),
    ).toBe(true);
  });

  test('shows two buttons and an image, opens the address of a clicked button and counts its name', async () => {
    const button = (action: string) => ({ action, title: `To ${action}`, url: `https://shop.example/${action}` });
    const payload = await send('Buttons in Chromium', {
      additionalActions: [button('track'), { ...button('call'), iconURL: 'https://shop.example/c.png' }],
      tag: 'order-17',
      renotify: true,
      requireInteraction: true,
      lang: 'de',
      dir: 'ltr',
      timestamp: 1_790_000_000_000,
      badgeURL: 'https://shop.example/b.png',
    });
    await deliver(payload);
    await untilShown(payload);
    const seen = await worker.evaluate(async () => {
      const all = await self.registration.getNotifications({ tag: 'order-17' });
      return all.map(({ actions, image, badge, lang, dir, renotify, timestamp }: any) => ({
        actions: actions.map(({ action, title }: any) => [action, title]),
        ...{ image, badge, lang, dir, renotify, timestamp },
      }));
    });
    expect(seen).toEqual([
      {
        actions: [
          ['track', 'To track'],
          ['call', 'To call'],
        ],
        image: 'https://example.com/image.png',
        badge: 'https://shop.example/b.png',
        lang: 'de',
        dir: 'ltr',
        renotify: true,
        timestamp: 1_790_000_000_000,
      },
    ]);
    await worker.evaluate(() => {
      self.clients.openWindow = async (url: string) => (self.wentTo = url);
    });
    await happen('notificationclick', { title: 'Buttons in Chromium', action: 'call' });
    expect(await worker.evaluate(() => self.wentTo)).toBe('https://shop.example/call');
    expect((await figures(payload.campaign_id)).CLICK).toEqual([1, 1]);
    const [row] = await bundle.database`
      select action from device_interactions where campaign_id = ${payload.campaign_id} and kind = 'CLICK'`;
    expect(row).toEqual({ action: 'call' });
  });

  test('shows a declarative push once, by the worker, whether or not the browser supports the declaration', async () => {
    const payload = await send('Declared in Chromium', {
      declarative: 'always',
      tag: 'declared-17',
      additionalActions: [{ action: 'track', title: 'To track', url: 'https://shop.example/track' }],
    });
    expect(payload).toMatchObject({ web_push: 8030, mutable: true });
    expect(payload.notification.navigate).toBe(payload.redirectURL);
    await deliver(payload);
    await untilShown(payload);
    const seen = await worker.evaluate(async () => {
      const all = await self.registration.getNotifications({ tag: 'declared-17' });
      return all.map(({ title, actions }: any) => [title, actions.map(({ action }: any) => action)]);
    });
    expect(seen).toEqual([['Declared in Chromium', ['track']]]);
    expect((await figures(payload.campaign_id)).IMPRESSION).toEqual([1, 1]);
  });

  test('leaves a declarative push that it does not show to a browser that supports it', async ({ skip }) => {
    const isKnown = await worker.evaluate(() => 'navigate' in (self as any).Notification.prototype);
    skip(!isKnown, 'SKIPPED: this Chromium does not know declarative web push; Safari 18.4 does');
    const payload = await send('Declared alone', { declarative: 'always', tag: 'declared-18' });
    await worker.evaluate(() => (self.registration.showNotification = async () => {}));
    await deliver(payload);
    const declared = await until(() =>
      worker.evaluate(async () => {
        const [first] = await self.registration.getNotifications({ tag: 'declared-18' });
        return first && { title: first.title, navigate: (first as any).navigate };
      }),
    );
    expect(declared).toEqual({ title: 'Declared alone', navigate: payload.notification.navigate });
    await worker.evaluate(() => delete (self.registration as any).showNotification);
  });

  test('drops an option that the browser rejects, and still shows the notification', async () => {
    const payload = await send('Refused option in Chromium');
    // A worker that shows without a tag while asking to alert again is refused by every browser.
    await deliver({ ...payload, actions: [{}], title: 'Refused option in Chromium' });
    await untilShown(payload);
    expect((await shown()).map(({ title }) => title)).toContain('Refused option in Chromium');
  });

  test('notifies the page of a subscription that the browser renewed', async () => {
    const told = page.evaluate(
      () =>
        new Promise((resolve) => {
          const { serviceWorker } = (globalThis as any).navigator;
          serviceWorker.addEventListener('message', ({ data }: { data: { type: string } }) => {
            if (data.type === 'carillon-subscription') resolve(data);
          });
        }),
    );
    const subscription = (endpoint: string) => ({ endpoint, keys: { p256dh: 'k', auth: 'a' } });
    await worker.evaluate(
      async ([old, renewed]) => {
        const json = (value: object) => ({ options: {}, toJSON: () => value });
        await carillon.renew({ oldSubscription: json(old!), newSubscription: json(renewed!) });
      },
      [subscription('https://push.test/old'), subscription('https://push.test/new')] as const,
    );
    expect(await told).toEqual({
      type: 'carillon-subscription',
      old: subscription('https://push.test/old'),
      new: subscription('https://push.test/new'),
    });
  });

  test('removes a notification with autoDismiss from the screen', async () => {
    const payload = await send('Dismissed in Chromium');
    await worker.evaluate(() => {
      carillon.dismissMilliseconds = 0;
      const { showNotification } = self.registration;
      self.registration.showNotification = (title: string, options: { requireInteraction: boolean }) => {
        self.shownWith = options.requireInteraction;
        return showNotification.call(self.registration, title, options);
      };
    });
    await deliver({ ...payload, autoDismiss: true });
    await untilShown(payload);
    await until(async () => !(await shown()).some(({ title }) => title === 'Dismissed in Chromium'));
    expect(await worker.evaluate(() => self.shownWith)).toBe(false);
    expect((await figures(payload.campaign_id)).CLOSE).toBeUndefined();
  });

  test('opens a click in the tab with the address or in a new one, and never opens a non-web address', async () => {
    const payload = await send('Opened from Chromium');
    // Browsers allow both to real clicks only.
    await worker.evaluate(() => {
      self.went = [];
      WindowClient.prototype.focus = async function (this: { url: string }) {
        self.went.push(`focus ${this.url}`);
      };
      self.clients.openWindow = async (url: string) => self.went.push(`open ${url}`);
    });
    let times = 0;
    for (const redirectURL of [payload.redirectURL, 'https://example.com/new?x=1', 'javascript:alert(1)']) {
      // A tag of its own: Chromium names notifications by their tag, and the close of the last one may come late.
      await deliver({ ...payload, redirectURL, tag: redirectURL });
      times += 1;
      await untilShown(payload, times);
      await happen('notificationclick', { title: 'Opened from Chromium' });
    }
    expect(await worker.evaluate(() => self.went)).toEqual([
      `focus ${bundle.url}/sandbox/browser`,
      'open https://example.com/new?x=1',
    ]);
    expect((await figures(payload.campaign_id)).CLICK).toEqual([3, 1]);
  });

  test('causes no policy violation on the page', () => expect(faults).toEqual([]));
});
