import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { startOpenidIssuer } from './openid-issuer.ts';
import type { OpenidIssuer } from './openid-issuer.ts';

const client = { clientId: 'carillon', clientSecret: 'the secret of the client' };

describeScreen('signing in by the company account in Chromium', () => {
  let issuer: OpenidIssuer;
  let console: ConsoleBrowser;
  beforeAll(async () => {
    issuer = await startOpenidIssuer(client);
    console = await startConsoleBrowser({
      CARILLON_OIDC_ISSUER: issuer.issuer,
      CARILLON_OIDC_CLIENT_ID: client.clientId,
      CARILLON_OIDC_CLIENT_SECRET: client.clientSecret,
      CARILLON_OIDC_NAME: 'Example',
      CARILLON_PASSWORD_SIGN_IN: 'owners',
    });
  });
  afterAll(async () => {
    await console?.stop();
    await issuer?.stop();
  });

  test('an uninvited person is told so; an invited one comes in with the role of the invitation', async () => {
    const { page: owner, context: first } = await console.openSession();
    const { page, context } = await console.openPage();
    issuer.state.user = { sub: 'sub-ana', email: 'ana@example.com', email_verified: true, name: 'Ana' };
    await page.goto(`${console.bundle.url}/console/`);
    await page.getByText('Owners may use a password').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign in with Example' }).click();
    await page.getByText('You have not been invited yet.').waitFor();
    expect(page.url()).not.toContain('refused');
    await expectAccessible(page);

    await owner.goto(`${console.home}/accounts`);
    await owner.getByRole('button', { name: 'Invite colleague' }).click();
    await owner.getByLabel('Email address').fill('ana@example.com');
    await owner.getByLabel('Role', { exact: true }).selectOption('analyst');
    await owner.getByRole('button', { name: 'Create invitation' }).click();
    await page.goto((await owner.getByText('#invitation=').textContent())!);
    await page.getByText('Sign in with the company account of that address.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign in with Example' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Ana' }).click();
    await page.getByText('ana@example.com · analyst').waitFor();
    await first.close();
    await context.close();
  });
});
