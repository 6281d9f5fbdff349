import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { describeScreen, expectAccessible, bothSchemes, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';
import { makeAccountsBundle } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';
import { findMisses } from './hit-test.ts';

describe('topics in the console', () => {
  let bundle: AccountsBundle;
  let cookie: string;
  let id: string;
  beforeAll(async () => {
    bundle = await makeAccountsBundle();
    cookie = await bundle.createOwner();
    id = (await call('POST', 'people', { customerId: 'ada' })).body.id;
  });
  afterAll(() => bundle.end());
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
    bundle.call(method, `${path}?workspaceId=${bundle.workspaceId}`, {
      cookie,
      ...(body === undefined ? {} : { body }),
    });
  const add = (key: string, more: object = {}) =>
    call('POST', 'topics', { key, name: `About ${key}`, description: '', isInByDefault: true, position: 0, ...more });
  const lines = (action: string) => bundle.database`
    select actor_name as "by", object_id as "of", detail from audit_log where action = ${action} order by id`;

  test('are added, listed, changed and deleted, with the faults of the API', async () => {
    expect((await add('news', { name: '  News  ', position: 2 })).status).toBe(201);
    expect((await add('offers', { isInByDefault: false })).status).toBe(201);
    const keys = async () => (await call('GET', 'topics')).body.topics.map(({ key }: { key: string }) => key);
    expect(await keys()).toEqual(['offers', 'news']);
    const faultOf = async (sent: ReturnType<typeof call>) => [(await sent).status, (await sent).body.field];
    expect(await faultOf(add('news'))).toEqual([400, 'key']);
    expect(await faultOf(add('News'))).toEqual([400, 'key']);
    expect(await faultOf(add('more', { name: ' ' }))).toEqual([400, 'name']);
    expect((await call('PATCH', 'topics/news', { isInByDefault: false })).status).toBe(400);
    expect((await call('PATCH', 'topics/none', { name: 'None' })).status).toBe(404);
    const changed = await call('PATCH', 'topics/news', { name: 'All news', description: 'Each month', position: 0 });
    expect(changed.body).toMatchObject({
      key: 'news',
      name: 'All news',
      description: 'Each month',
      isInByDefault: true,
    });
    expect(await keys()).toEqual(['news', 'offers']);
    await add('brief');
    expect((await call('DELETE', 'topics/brief')).status).toBe(204);
    expect((await call('DELETE', 'topics/brief')).status).toBe(404);
    expect(await lines('topic.remove')).toMatchObject([{ by: 'Olga' }]);
  });

  test('of a user are read and set, and the audit log and the timeline say by whom', async () => {
    const rows = async () =>
      (await call('GET', `people/${id}/topics`)).body.topics.map(
        ({ key, isIn, source }: { key: string; isIn: boolean; source: string | null }) => `${key} ${isIn} ${source}`,
      );
    expect(await rows()).toEqual(['news true null', 'offers false null']);
    const set = (topics: object) => call('PATCH', `people/${id}/topics`, { topics });
    const stored = await set({ news: false, offers: true });
    expect(stored.body.topics.map(({ source }: { source: string }) => source)).toEqual(['CONSOLE', 'CONSOLE']);
    expect(await rows()).toEqual(['news false CONSOLE', 'offers true CONSOLE']);
    // Nothing is stored or logged if one of them is unknown.
    expect((await set({ news: true, none: true })).status).toBe(400);
    expect((await set({})).status).toBe(400);
    expect((await set({ news: 'yes' })).status).toBe(400);
    expect(await lines('person.topics')).toEqual([
      { by: 'Olga', of: id, detail: { joined: ['offers'], left: ['news'] } },
    ]);
    const { entries } = (await call('GET', `people/${id}/timeline`)).body;
    // The user was added at the same instant.
    const entry = entries.find(({ name }: { name: string | null }) => name === 'person.topics');
    expect(entry).toMatchObject({ kind: 'CHANGED', detail: { by: 'Olga', joined: ['offers'], left: ['news'] } });
    const nobody = 'f'.repeat(24);
    expect((await call('GET', `people/${nobody}/topics`)).status).toBe(404);
    expect((await call('PATCH', `people/${nobody}/topics`, { topics: { news: true } })).status).toBe(404);
  });
});

// The screens are looked at by axe in both schemes, which takes seconds each on a busy machine.
const patience = 120_000;

describeScreen('the topics page in Chromium', () => {
  let console: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsoleBrowser();
  });
  afterAll(() => console?.stop());
  const shoot = async (page: Page, name: string) => {
    if (process.env.SHOTS === undefined) return;
    for (const [size, viewport] of [
      ['desk', { width: 1440, height: 900 }],
      ['phone', { width: 390, height: 844 }],
    ] as const)
      for (const colorScheme of bothSchemes) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `${process.env.SHOTS}/${name}-${size}-${colorScheme}.png` });
      }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
  };

  test(
    'adds a topic whose key follows its name, changes it, and says what a deletion does',
    async () => {
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/topics`);
      await page.getByText('No topics yet').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'New topic' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Offers & más');
      expect(await dialog.getByLabel('Key').inputValue()).toBe('offers-mas');
      await dialog.getByLabel('Description').fill('Sales, about once a week');
      await expectAccessible(page, bothSchemes);
      await shoot(page, 'topic-new');
      await dialog.getByRole('button', { name: 'Add topic' }).click();
      const row = page.getByRole('region', { name: 'Topics' }).getByRole('row').filter({ hasText: 'offers-mas' });
      await row.getByText('Only people who joined').waitFor();
      await page.getByRole('button', { name: 'New topic' }).click();
      await dialog.getByLabel('Name').fill('News');
      await dialog.getByLabel('Key').fill('offers-mas');
      await dialog.getByLabel('Everyone: people can leave it').check();
      await dialog.getByRole('button', { name: 'Add topic' }).click();
      await dialog.getByText('is the key of another topic').waitFor();
      await dialog.getByLabel('Key').fill('news');
      await dialog.getByRole('button', { name: 'Add topic' }).click();
      await page.getByText('Everyone who did not leave').waitFor();
      await expectAccessible(page, bothSchemes);
      expect(await findMisses(page)).toEqual([]);
      await shoot(page, 'topics');
      await page.getByRole('button', { name: 'Change Offers & más' }).click();
      await dialog.getByLabel('Name').fill('Offers');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Delete Offers' }).click();
      await dialog.getByText('Drafts that name it cannot be published').waitFor();
      await expectAccessible(page);
      await shoot(page, 'topic-delete');
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('“Offers” is deleted').waitFor();
      await expect.poll(() => row.count()).toBe(0);
      // The key that was in use.
      expect(faults).toEqual([expect.stringContaining('status of 400')]);
      await context.close();
    },
    patience,
  );

  test(
    'shows the topics of a user, and changes one of them',
    async () => {
      const [user] = await console.bundle.database`select id from users where customer_id = 'ada'`;
      const { bundle } = console;
      const topic = { key: 'letters', name: 'Letters', default: 'opted_in' };
      expect((await bundle.call('POST', '/v1/topics', { headers: bundle.basic(), body: topic })).status).toBe(201);
      const { page, context, faults } = await console.openSession();
      await page.goto(`${console.home}/people/${user!.id}`);
      const section = page.getByRole('region', { name: 'Topics of ada' });
      const row = section.getByRole('row').filter({ hasText: 'letters' });
      await row.getByText('No choice: follows the default').waitFor();
      await row.getByRole('button', { name: 'Take out of Letters' }).click();
      await row.getByText('by an operator').waitFor();
      await row.getByRole('button', { name: 'Add to Letters' }).waitFor();
      await expectAccessible(page, bothSchemes);
      expect(await findMisses(page)).toEqual([]);
      await section.scrollIntoViewIfNeeded();
      await shoot(page, 'user-topics');
      await page.getByRole('link', { name: 'Timeline' }).click();
      await page.getByText(/left letters$/).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
    patience,
  );
});
