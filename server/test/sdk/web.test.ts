import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { BrowserContext, CDPSession, Page, Worker } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeAppOf, openSite, startSite } from './web-site.ts';
import type { PageOfSite } from './web-site.ts';

const executablePath = '/usr/bin/chromium';
const hasChromium = existsSync(executablePath);

/** The part of a service worker's world that the test uses. */
declare const self: any;
declare const NotificationEvent: any;

describe.skipIf(!hasChromium)(
  `a site with @carillon/web${hasChromium ? '' : ' (skipped: no /usr/bin/chromium)'}`,
  () => {
    let bundle: CarillonBundle;
    let site: Awaited<ReturnType<typeof startSite>>;
    let app: Awaited<ReturnType<typeof makeAppOf>>;
    let folder: string;
    let context: BrowserContext;
    let page: Page;
    let devtools: CDPSession;
    let worker: Worker;
    let registrationId: string;
    const faults: string[] = [];

    beforeAll(async () => {
      bundle = await startCarillonBundle();
      site = await startSite();
      app = await makeAppOf(bundle);
      folder = await mkdtemp(join(tmpdir(), 'carillon-site-'));
      // A profile of its own, because a private window has no push.
      context = await chromium.launchPersistentContext(folder, {
        executablePath,
        args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
      });
      await context.grantPermissions(['notifications'], { origin: site.url });
      page = await openSite(context, site.url);
      page.on('pageerror', (error) => faults.push(String(error)));
      devtools = await context.newCDPSession(page);
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        registrationId = registrations.find(({ isDeleted }) => !isDeleted)?.registrationId ?? registrationId;
      });
      await devtools.send('ServiceWorker.enable');
    });
    afterAll(async () => {
      await context?.close();
      await site?.stop();
      await bundle?.stop();
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    const devicesOf = async (user: string): Promise<string[]> =>
      (
        await bundle.database<{ platform: string }[]>`
        select devices.platform from devices join users on users.bucket = devices.bucket and users.id = devices.user_id
        where users.customer_id like ${user}`
      ).map(({ platform }) => platform);

    const figures = async (campaignId: string): Promise<Record<string, number>> => {
      const rows = await bundle.database<{ kind: string; total: number }[]>`
      select kind, total from campaign_interactions where campaign_id = ${campaignId}`;
      return Object.fromEntries(rows.map(({ kind, total }) => [kind, total]));
    };

    const push = async (title: string): Promise<void> => {
      const answer = await bundle.push({
        ...{ campaignName: title, targetPlatform: ['WEB'], targetAudience: 'User' },
        targetUserAttributes: {
          attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
          comparisonParameter: 'is',
          attributeValue: 'nora',
        },
        payload: {
          WEB: { title, message: 'For Nora', redirectURL: `${site.url}/offer`, iconURL: 'https://example.com/i.png' },
        },
        campaignDelivery: { type: 'soon' },
      });
      expect(answer.status).toBe(200);
    };

    const received = (title: string) =>
      until(async () => (await bundle.inbox()).find((message) => message.title === title)?.payload);

    /** The push service of the browser is simulated: what it was given goes to the real worker. */
    const deliver = (payload: object) =>
      devtools.send('ServiceWorker.deliverPushMessage', {
        ...{ origin: site.url, registrationId },
        data: JSON.stringify(payload),
      });

    test('installs, subscribes, signs in, shows a push, counts its click, signs out and gets no more', async () => {
      // The simulated push service knows the demo's browser, which leaves it to this one.
      const [demo] = await bundle.database<
        { push_id: string }[]
      >`select push_id from devices where device_id = 'demo-browser' or push_id like '%demo-browser%' limit 1`;
      await bundle.database`delete from push_addresses where address_hash = sha256(convert_to(${demo!.push_id}, 'UTF8'))`;
      await bundle.database`delete from devices where push_id = ${demo!.push_id}`;

      const registered = context.waitForEvent('serviceworker');
      await page.evaluate(
        async ([key, host, subscription]) => {
          const scope = globalThis as unknown as PageOfSite;
          scope.subscription = JSON.parse(subscription!) as object;
          await scope.Carillon.start(key!, host!);
          await scope.Carillon.subscribe();
        },
        [app.appKey, bundle.url, demo!.push_id],
      );
      worker = await registered;
      expect(await devicesOf('anonymous-%')).toEqual(['WEB']);

      await page.evaluate(
        async (token) => (globalThis as unknown as PageOfSite).Carillon.login('nora', token),
        await app.sign('nora'),
      );
      expect([await devicesOf('nora'), await devicesOf('anonymous-%')]).toEqual([['WEB'], []]);

      await push('Shown on the site');
      const payload = await received('Shown on the site');
      await deliver(payload);
      await until(async () => (await figures(payload.campaign_id)).IMPRESSION === 1);
      expect(await page.evaluate(() => (globalThis as unknown as PageOfSite).messages)).toEqual([
        expect.objectContaining({ title: 'Shown on the site' }),
      ]);
      await click('Shown on the site');
      await until(async () => (await figures(payload.campaign_id)).CLICK === 1);

      await bundle.call('POST', '/v1/topics', {
        headers: bundle.basic(),
        body: { key: 'offers', name: 'Offers', default: 'opted_out' },
      });
      const ofTopics = (work: 'read' | 'join' | 'join another') =>
        page.evaluate(async (asked) => {
          const { Carillon } = globalThis as unknown as PageOfSite;
          const ask = () => {
            if (asked === 'read') return Carillon.getTopics();
            return Carillon.setTopic(asked === 'join' ? 'offers' : 'none', true);
          };
          return ask().catch((error: { code: string }) => error.code);
        }, work);
      const offers = { topic: 'offers', name: 'Offers', description: '' };
      expect(await ofTopics('read')).toEqual([{ ...offers, isIn: false, isChosen: false }]);
      expect(await ofTopics('join')).toEqual([{ ...offers, isIn: true, isChosen: true }]);
      expect(await ofTopics('join another')).toBe('unknown-topic');

      await page.evaluate(() => (globalThis as unknown as PageOfSite).Carillon.logout());
      expect([await devicesOf('nora'), await devicesOf('anonymous-%')]).toEqual([[], ['WEB']]);
      expect(await ofTopics('read')).toBe('signed-out');
      await push('For nobody here');
      await until(async () => {
        const [run] = await bundle.database<{ status: string }[]>`
        select runs.status from runs join campaigns on campaigns.id = runs.campaign_id
        where campaigns.name = 'For nobody here'`;
        return run !== undefined && !['QUEUED', 'SENDING'].includes(run.status);
      });
      expect((await bundle.inbox()).map(({ title }) => title)).not.toContain('For nobody here');
      expect(faults).toEqual([]);
    });

    test('does not show what arrives while a logout waits, and sends the logout', async () => {
      const token = await app.sign('nora');
      await page.evaluate((proof) => (globalThis as unknown as PageOfSite).Carillon.login('nora', proof), token);
      await push('Too late to show');
      const payload = await received('Too late to show');
      await context.setOffline(true);
      await page.evaluate(() => (globalThis as unknown as PageOfSite).Carillon.logout());
      expect(await devicesOf('nora')).toEqual(['WEB']);
      // No page is open any more: only the worker is left.
      await page.close();
      await context.setOffline(false);
      const keeper = await context.newPage();
      devtools = await context.newCDPSession(keeper);
      await devtools.send('ServiceWorker.enable');
      await deliver(payload);
      await until(async () => (await devicesOf('nora')).length === 0);
      expect(await figures(payload.campaign_id)).toEqual({});
    });

    /** DevTools cannot click a notification, and an event that a script makes refuses `waitUntil`, so the event brings its own. */
    async function click(title: string): Promise<void> {
      await worker.evaluate(async (wanted) => {
        const all: { title: string }[] = await self.registration.getNotifications();
        const notification = all.find((one) => one.title === wanted);
        const event = new NotificationEvent('notificationclick', { notification, action: '' });
        let work;
        event.waitUntil = (promise: Promise<unknown>) => {
          work = promise;
        };
        self.clients.openWindow = async () => null;
        self.dispatchEvent(event);
        await work;
      }, title);
    }
  },
);
