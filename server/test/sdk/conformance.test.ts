import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeChecks, replaceServer, situations } from './situations.ts';
import type { AppStep, Check } from './situations.ts';
import { makeAppOf, openSite, openSubscriptions, startSite } from './web-site.ts';
import type { BrowserSubscription, PageOfSite } from './web-site.ts';

const executablePath = '/usr/bin/chromium';
const maxBytes = 10 * 1024;
const hasChromium = existsSync(executablePath);

test('@carillon/web has at most 10 kB in a page, minified and compressed, and as many in its worker', async () => {
  const site = await startSite();
  const sizes = Object.values(site.files).map((text) => gzipSync(text).length);
  await site.stop();
  expect(sizes).toHaveLength(3);
  for (const size of sizes) expect(size).toBeLessThanOrEqual(maxBytes);
});

describe.skipIf(!hasChromium)(`@carillon/web${hasChromium ? '' : ' (skipped: no /usr/bin/chromium)'}`, () => {
  let bundle: CarillonBundle;
  let site: Awaited<ReturnType<typeof startSite>>;
  let app: Awaited<ReturnType<typeof makeAppOf>>;
  let browser: Browser;
  let makeSubscription: Awaited<ReturnType<typeof openSubscriptions>>;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    site = await startSite();
    app = await makeAppOf(bundle);
    makeSubscription = await openSubscriptions(bundle);
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await bundle?.stop();
  });

  test.each(situations)('handles: $name', async ({ name, steps }) => {
    const context = await browser.newContext();
    try {
      const phone = await openPhone(context, name);
      for (const step of steps) await phone.take(step);
    } finally {
      await context.close();
    }
  });

  /** A browser with the site, whose users no other situation has. */
  async function openPhone(context: BrowserContext, name: string) {
    const { url: host } = bundle;
    const suffix = `of ${name}`;
    const tokens = new Map<string, BrowserSubscription>();
    const requests: string[] = [];
    const installations = new Set<string>();
    let registrationId: string | undefined;
    let devtools: CDPSession;
    let opened = await open();

    async function open(): Promise<Page> {
      const page = await openSite(context, site.url);
      devtools = await context.newCDPSession(page);
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        registrationId = registrations.find(({ isDeleted }) => !isDeleted)?.registrationId ?? registrationId;
      });
      await devtools.send('ServiceWorker.enable');
      page.on('request', (request) => {
        if (request.method() === 'OPTIONS') return;
        requests.push(new URL(request.url()).pathname);
        const { installation_id: id } = (request.postDataJSON() ?? {}) as { installation_id?: string };
        if (id !== undefined) installations.add(id);
      });
      return page;
    }
    const inPage = <Argument, Result>(
      work: (argument: Argument) => Result | Promise<Result>,
      argument?: Argument,
    ): Promise<Result> => opened.evaluate(work as never, argument as never) as Promise<Result>;

    const tokenOf = (token: string) => {
      if (!tokens.has(token)) tokens.set(token, makeSubscription(token));
      return tokens.get(token)!;
    };

    async function act(step: AppStep): Promise<unknown> {
      switch (step.do) {
        case 'offline':
          return context.setOffline(true);
        case 'online':
          return context.setOffline(false);
        case 'start':
          return inPage(
            ([key, address]) => (globalThis as unknown as PageOfSite).Carillon.start(key!, address!),
            [app.appKey, host],
          );
        case 'subscribe':
          return inPage(async (subscription) => {
            const scope = globalThis as unknown as PageOfSite;
            scope.subscription = subscription;
            await scope.Carillon.subscribe();
          }, tokenOf(step.token));
        case 'receive challenge': {
          const id = tokenOf(step.token).endpoint.split('/').at(-1);
          const payload = await until(async () => {
            const messages = await bundle.inbox();
            return messages.find((one) => one.deviceToken === id && one.payload.challenge)?.payload as
              object | undefined;
          });
          const data = JSON.stringify(step.of ? { ...payload, installation_id: 'x'.repeat(16) } : payload);
          return devtools.send('ServiceWorker.deliverPushMessage', {
            ...{ origin: site.url, registrationId: registrationId!, data },
          });
        }
        case 'login': {
          const user = `${step.user} ${suffix}`;
          const token = await app.sign(user, { isExpired: step.identity === 'expired' });
          return inPage(
            ([id, proof]) => (globalThis as unknown as PageOfSite).Carillon.login(id!, proof),
            [user, token],
          );
        }
        case 'logout':
          return inPage(() => (globalThis as unknown as PageOfSite).Carillon.logout());
        case 'track':
          return inPage((event) => (globalThis as unknown as PageOfSite).Carillon.track(event), step.event);
        case 'clock':
          return inPage((ahead) => {
            const { now } = Date;
            Date.now = () => now() + ahead;
          }, step.aheadSeconds * 1000);
        case 'reinstall':
          // Deletes what the browser stored for the site, as "clear site data" does.
          await opened.close();
          opened = await open();
          await inPage(() =>
            new Promise((resolve, reject) => {
              const request = (globalThis as any).indexedDB.deleteDatabase('carillon');
              request.onsuccess = resolve;
              request.onerror = reject;
            }).then(() => undefined),
          );
          return undefined;
        case 'lose next answer': {
          let isLost = false;
          return opened.route(`**${step.of}`, async (route) => {
            if (isLost || route.request().method() !== 'POST') return route.fallback();
            isLost = true;
            await route.fetch();
            return route.abort();
          });
        }
        case 'replace server':
          return replaceServer(bundle, { installations, suffix });
      }
    }

    const check = makeChecks(bundle, {
      ...{ suffix, requests, installations },
      notices: () => inPage(() => (globalThis as unknown as PageOfSite).notices),
      nameToken(pushId) {
        const { endpoint } = JSON.parse(pushId) as BrowserSubscription;
        return [...tokens].find(([, subscription]) => subscription.endpoint === endpoint)?.[0];
      },
    });
    return { take: (step: AppStep | Check): Promise<unknown> => ('do' in step ? act(step) : check(step)) };
  }
});
