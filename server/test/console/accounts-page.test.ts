import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describeScreen('people and roles in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());

  test('an invitation is made, handed over and accepted; the person sees what the role may, signs out and in again', async () => {
    const { page: owner, context, faults } = await console.openSignedIn();
    await owner.getByRole('button', { name: 'Console' }).click();
    await owner.getByRole('menuitem', { name: 'Accounts and roles' }).click();
    await owner.getByRole('button', { name: 'Invite colleague' }).click();
    await owner.getByLabel('Email address').fill('ana@example.com');
    await owner.getByLabel('Role', { exact: true }).selectOption('analyst');
    await owner.getByRole('button', { name: 'Create invitation' }).click();
    const link = await owner.getByText('#invitation=').textContent();
    await expectAccessible(owner);

    const { page, context: other } = await console.openPage();
    await page.goto(link!);
    await page.getByText('Console invites ana@example.com as analyst.').waitFor();
    expect(page.url()).not.toContain('invitation');
    await expectAccessible(page);
    await page.getByLabel('Name').fill('Ana');
    await page.getByLabel('New password').fill('short');
    await page.getByLabel('New password').fill('nine green bottles');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await page.getByRole('button', { name: 'Ana' }).click();
    await page.getByRole('menuitem', { name: 'Sessions and password' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Accounts and roles' }).count()).toBe(0);
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Email address').fill('ana@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('not the right one');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The e-mail address or the password is not right.').waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill('nine green bottles');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    // The owner sees her, names what a click hits, and the log says it.
    await owner.reload();
    await owner.getByRole('button', { name: 'Disable ana@example.com' }).click();
    await owner.getByText('is signed out everywhere at once').waitFor();
    await expectAccessible(owner);
    await owner.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await owner.getByText('DISABLED').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await owner.getByRole('link', { name: 'Audit log' }).click();
    await owner.getByText('Account disabled').waitFor();
    await expectAccessible(owner);
    expect(faults).toEqual([]);
    await context.close();
    await other.close();
  }, 90_000);

  test('a link that does not work says why, and how to get another', async () => {
    const { page, context, faults } = await console.openSignedIn();
    await context.clearCookies();
    const code = 'A'.repeat(43);
    const alert = () => page.getByRole('alert').textContent();
    await page.goto(`${console.bundle.url}/console/#sign-in=${code}`);
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await alert()).toContain('This installation does not know the link');
    expect(await alert()).toContain('npm run carillon -- console-link');
    await expectAccessible(page);
    await page.goto(`${console.bundle.url}/console/#invitation=${code}`);
    await page.getByText('ask an owner to invite you again').waitFor();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await expectAccessible(page);
    await page.goto(`${console.bundle.url}/console/#new-password=${code}`);
    await page.getByLabel('New password').fill('nine green bottles');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('carillon accounts password-link').waitFor();
    await expectAccessible(page);
    expect(faults.filter((fault) => !fault.includes('401'))).toEqual([]);
    await context.close();
  });

  test('the own sessions are listed, and another one is ended', async () => {
    const first = await console.openSession();
    const second = await console.openSignedIn();
    await first.page.goto(`${console.home}/account`);
    await first.page.getByText('this one').waitFor();
    await expectAccessible(first.page);
    await first.page
      .getByRole('button', { name: /^End the session/ })
      .first()
      .click();
    await first.page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await first.page.getByRole('dialog').waitFor({ state: 'detached' });
    await second.page.reload();
    await second.page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await first.context.close();
    await second.context.close();
  });

  test('drafts are there after a session that ended, and gone after signing out', async () => {
    const { page, context } = await console.openSession();
    const builder = `${console.home}/segments/new/filter`;
    const composer = `${console.home}/campaigns/new`;
    const drafts = () =>
      page.evaluate(() => {
        const kept = Object.keys((globalThis as any).localStorage);
        return kept.filter((key) => /^carillon\.(filter|campaign)\./.test(key)).length;
      });
    const signIn = async () => {
      const code = (await console.bundle.carillon.createConsoleLink()).split('#sign-in=')[1];
      await context.request.post(`${console.bundle.url}/console/api/session`, { data: { code } });
    };
    await page.goto(builder);
    await page.getByRole('textbox', { name: 'Name' }).fill('Secret plans');
    await page.goto(composer);
    await page.getByRole('textbox', { name: 'Name' }).fill('Secret sale');
    await expect.poll(drafts).toBe(2);

    await context.clearCookies();
    await page.goto(builder);
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await drafts()).toBe(2);
    await signIn();
    await page.goto(builder);
    await page.getByText('Your draft in this browser is shown.').waitFor();
    await page.goto(composer);
    await page.getByText('Your unsaved changes in this browser are shown.').waitFor();

    await page.getByRole('button', { name: 'Console', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await drafts()).toBe(0);
    await signIn();
    await page.goto(builder);
    await page.getByRole('textbox', { name: 'Name' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
    await context.close();
  }, 60_000);
});
