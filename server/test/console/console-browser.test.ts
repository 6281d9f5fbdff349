import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, skipReason, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describe.runIf(hasChromium)(`the browser of the tests${skipReason}`, () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('a context is closed while a route of it is at work, and nothing fails for it, then or when all is closed', async () => {
    const { page, context } = await console.openPage();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    await page.route('**/console/', async (route) => {
      begun.resolve();
      await goOn.promise;
      // It fails, which would be an error of the run that no test has.
      await route.fetch().finally(ended.resolve);
    });
    void page.goto(`${console.bundle.url}/console/`).catch(() => undefined);
    await begun.promise;
    await context.close();
    goOn.resolve();
    await ended.promise;
    await context.close();
    expect(page.isClosed()).toBe(true);
  });
});
