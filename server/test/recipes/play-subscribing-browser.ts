import { expect } from 'vitest';
import type { BrowserContext } from 'playwright-core';
import { until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openBrowser } from '../console/console-browser.ts';
import type { ByHand } from './run-recipe.ts';

declare const self: any;
declare const PushManager: any;
declare const PushEvent: any;

/**
 * What the reader of the browser's recipe does, in Chromium. Its push service is the sandbox's: no other can be reached where
 * tests run. The browser hands out a subscription there, and what the service decrypted is delivered to the worker.
 */
export function playSubscribingBrowser(
  bundle: CarillonBundle,
  origin: string,
): { byHand: ByHand; close(): Promise<void> } {
  let context: BrowserContext | undefined;

  return {
    byHand: {
      async 'press the button'() {
        const subscription = await readSimulatedSubscription(bundle);
        context = await (await openBrowser()).newContext();
        await context.grantPermissions(['notifications'], { origin });
        const page = await context.newPage();
        await page.addInitScript((made) => {
          PushManager.prototype.getSubscription = async () => null;
          PushManager.prototype.subscribe = async () => ({ toJSON: () => made });
        }, subscription);
        await page.goto(origin);
        await page.getByRole('button').click();
        await page.getByText('You will hear from us.').waitFor();
      },
      async 'see the notification'() {
        const payload = await until(
          async () => (await bundle.inbox()).find(({ title }) => title === 'Back in stock')?.payload,
        );
        const [worker] = context!.serviceWorkers();
        // A private window shows none, and an event that a script makes refuses `waitUntil`; service-worker.test.ts has
        // a profile with both.
        const shown = await worker!.evaluate(async (data) => {
          const asked: { title: string; body: string }[] = [];
          self.registration.showNotification = async (title: string, { body }: any) => void asked.push({ title, body });
          const event = new PushEvent('push', { data });
          let work;
          event.waitUntil = (promise: Promise<unknown>) => (work = promise);
          self.dispatchEvent(event);
          await work;
          return asked;
        }, JSON.stringify(payload));
        expect(shown).toEqual([{ title: 'Back in stock', body: 'The lamp is here' }]);
      },
    },
    close: async () => context?.close(),
  };
}

/** One of which the sandbox has the keys: that of its own browser, which moves to whoever registers it. */
async function readSimulatedSubscription({ database }: CarillonBundle): Promise<object> {
  const [device] = await database<{ push_id: string }[]>`select push_id from devices where platform = 'WEB'`;
  return JSON.parse(device!.push_id) as object;
}
