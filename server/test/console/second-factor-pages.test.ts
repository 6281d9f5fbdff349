import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../find-free-port.ts';
import { goodPassword } from './accounts-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('second factors in Chromium', () => {
  let console: ConsoleBrowser;
  let origin: string;
  beforeAll(async () => {
    const port = await findFreePort();
    origin = `http://localhost:${port}`;
    console = await startConsoleBrowser({ CARILLON_PORT: String(port), CARILLON_PUBLIC_URL: origin });
  });
  afterAll(() => console?.stop());

  test('a passkey of a virtual authenticator is added, and is asked for at the next sign-in', async () => {
    const { page, context } = await console.openPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    const code = (await console.bundle.carillon.createConsoleLink()).split('#sign-in=')[1];
    const api = `${origin}/console/api`;
    const request = context.request;
    expect((await request.post(`${api}/session`, { data: { code } })).status()).toBe(204);
    const invited = await request.post(`${api}/invitations`, { data: { email: 'ana@example.com', role: 'owner' } });
    const { link } = (await invited.json()) as { link: string };
    await context.clearCookies();
    const acceptance = { code: link.split('#invitation=')[1], name: 'Ana', password: goodPassword };
    expect((await request.post(`${api}/invitation/acceptance`, { data: acceptance })).status()).toBe(204);

    await page.goto(`${origin}/console/w/${console.bundle.workspaceId}/account`);
    await page.getByLabel('Name of the new passkey').fill('Laptop');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByText('Your recovery codes').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('10 of your codes are left').waitFor();
    await page.getByRole('button', { name: 'Set up an app' }).click();
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Ana' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Email address').fill('ana@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await context.close();
  }, 120_000);
});
