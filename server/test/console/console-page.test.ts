import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import type { KeyKind } from '../../../console/src/api/generated/keys.ts';
import { makeArchiveEndedKeys } from '../../src/engine/housekeeping/expiry.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import {
  expectAccessible,
  findViolations,
  hasChromium,
  openBrowser,
  skipReason,
  startConsoleBrowser,
} from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { openSignedInClient } from './signed-in-client.ts';

/** One node for all sections, because a start takes a second of processor time. */
let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

describe.skipIf(!hasChromium)(`the console in Chromium${skipReason}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });

  test('signs in with the printed link, shows the workspace and an arriving push, and meets WCAG 2.2 AA in light and dark', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    await page.goto(bundle.block.console);
    await page.getByText(bundle.workspaceId).first().waitFor();
    // The code is used up and gone from the address, so it cannot be copied or reloaded.
    expect(page.url()).not.toContain('sign-in');

    await bundle.push({
      campaignName: 'Seen <img src=x onerror=alert(1)>',
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Arrives <b>live</b>', message: 'Hello <script>alert(2)</script>' } },
      campaignDelivery: { type: 'soon' },
    });
    await page.getByText('Arrives <b>live</b>').first().waitFor();
    await page.getByText('Seen <img src=x onerror=alert(1)>').first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await findViolations(page, {
        type: 'tag',
        values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'],
      });
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
    expect(faults).toEqual([]);
    await context.close();
  });

  test('says how to sign in if there is no session', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${bundle.url}/console/`);
    await page
      .getByText(/sign-in link|start block|printed/i)
      .first()
      .waitFor();
    await context.close();
  });
});

describe('console keys', () => {
  const hasPrograms = ['/usr/bin/curl', '/usr/bin/openssl'].every((path) => existsSync(path));

  let client: ConsoleClient;
  let workspaceId: string;
  beforeAll(async () => {
    ({ workspaceId } = bundle);
    ({ client } = await openSignedInClient(bundle));
  });

  const searchWith = async (secret: string) =>
    (await bundle.call('POST', '/v5/campaigns/search', { headers: bundle.basic(secret), body: { limit: 1, page: 1 } }))
      .status;
  const lastAudit = async () => (await client.accounts.listAudit({ workspaceId }))[0]!;

  describe('API keys', () => {
    test('are created with a secret that is returned once and stored nowhere, and work', async () => {
      const { key, secret, curl } = await client.keys.create({ workspaceId, kind: 'campaigns', name: 'Search' });
      expect(await searchWith(secret)).toBe(200);
      expect(curl).toContain(secret);
      const shown = JSON.stringify([await client.keys.list(workspaceId), await lastAudit()]);
      expect(shown).toContain(key.hint);
      expect(shown).not.toContain(secret);
      expect(await lastAudit()).toMatchObject({
        action: 'key.create',
        objectId: key.id,
        detail: { kind: 'campaigns' },
      });
    });

    test.skipIf(!hasPrograms).each<Exclude<KeyKind, 'app'>>(['oauth', 'data', 'push', 'campaigns'])(
      'are shown with a command for a new %s key that works when pasted',
      async (kind) => {
        const { curl } = await client.keys.create({ workspaceId, kind, name: `Curl ${kind}` });
        // Asynchronous for the server in this process.
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        execFile('/bin/sh', ['-c', curl.replace('curl ', 'curl -sS --fail-with-body ')], (error, stdout) =>
          error ? reject(new Error(`${error.message}\n${stdout}`)) : resolve(stdout),
        );
        const expected = { oauth: 'access_token', data: 'success', push: '"Success"', campaigns: '"campaigns"' };
        expect(await promise).toContain(expected[kind]);
      },
    );

    test('are rotated to a successor; both work until the overlap ends, then the old one is archived', async () => {
      const { key, secret } = await client.keys.create({ workspaceId, kind: 'campaigns', name: 'Rotated' });
      const made = await client.keys.rotate({ workspaceId, id: key.id, overlapHours: 24 });
      expect(made.key).toMatchObject({ kind: 'campaigns', name: 'Rotated' });
      expect([await searchWith(secret), await searchWith(made.secret)]).toEqual([200, 200]);
      expect(await lastAudit()).toMatchObject({ action: 'key.rotate', detail: { successor: made.key.id } });
      await expect(client.keys.rotate({ workspaceId, id: key.id, overlapHours: 1 })).rejects.toMatchObject({
        status: 400,
        detail: 'was rotated already',
      });
      const job = makeArchiveEndedKeys(bundle);
      const end = new Date(made.endsAt);
      await job.runOnce(new Date(end.getTime() - 1));
      expect(await searchWith(secret)).toBe(200);
      expect(await job.runOnce(end)).toBe(1);
      expect([await searchWith(secret), await searchWith(made.secret)]).toEqual([401, 200]);
      const old = (await client.keys.list(workspaceId)).find(({ id }) => id === key.id);
      expect(old!.archivedAt).toBe(made.endsAt);
    });

    test('fail immediately and permanently after revocation; revoking twice leaves one audit line', async () => {
      const { key, secret } = await client.keys.create({ workspaceId, kind: 'campaigns', name: 'Revoked' });
      await client.keys.revoke({ workspaceId, id: key.id });
      await client.keys.revoke({ workspaceId, id: key.id });
      expect(await searchWith(secret)).toBe(401);
      const lines = (await client.accounts.listAudit({ workspaceId })).filter(({ objectId }) => objectId === key.id);
      expect(lines.map(({ action }) => action).toSorted()).toEqual(['key.create', 'key.revoke']);
      await expect(client.keys.rotate({ workspaceId, id: key.id, overlapHours: 1 })).rejects.toMatchObject({
        status: 404,
      });
    });

    test('cannot be rotated or revoked from another workspace, and need a name', async () => {
      const { key } = await client.keys.create({ workspaceId, kind: 'data', name: 'Mine' });
      const other = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
      for (const attempt of [
        () => client.keys.revoke({ workspaceId: other, id: key.id }),
        () => client.keys.rotate({ workspaceId: other, id: key.id, overlapHours: 0 }),
      ])
        await expect(attempt()).rejects.toMatchObject({ status: 404 });
      await expect(client.keys.create({ workspaceId, kind: 'data', name: ' ' })).rejects.toMatchObject({
        field: 'name',
      });
    });
  });

  describe.skipIf(!hasChromium)(`the keys screen in Chromium${skipReason}`, () => {
    test('creates a key and shows it once, and rotates and revokes it after a confirmation that names the effect', async () => {
      const console = await startConsoleBrowser();
      const { page, faults } = await console.openSignedIn();
      await page.getByRole('link', { name: 'Keys' }).click();
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Kind').selectOption('campaigns');
      await page.getByLabel('Name').fill('Shop backend');
      await page.getByRole('button', { name: 'Create key' }).click();
      const alert = page.getByRole('status').filter({ hasText: 'Shop backend' });
      const secret = (await alert.locator('code').first().textContent())!;
      expect(secret).toMatch(/^cck_/);
      await expectAccessible(page);
      await page.reload();
      await page.getByText('Shop backend').first().waitFor();
      expect(await page.content()).not.toContain(secret);

      await page.getByRole('button', { name: 'Rotate key Shop backend' }).click();
      await page.getByLabel('The old key keeps working for').selectOption('1');
      await expectAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      await page.getByText('rotated, ends').waitFor();
      await page.getByRole('button', { name: 'Revoke key Shop backend' }).first().click();
      await page.getByText('It was never used.').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('Revoked', { exact: true }).waitFor();
      expect(faults).toEqual([]);
      await console.stop();
    });
  });
});

describe.runIf(hasChromium)(`the test browser${skipReason}`, () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('closes a context during a route handler without a failure, then and at the end', async () => {
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
