import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makePreferencePages } from '../../src/app/topics/preference-page.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makePreferenceLinks } from '../../src/domain/preference-links.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { bothSchemes, describeScreen, findViolations, openBrowser } from '../console/console-browser.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  for (const customer_id of ['ada', 'eve'])
    await bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
      headers: bundle.basic(),
      body: { type: 'customer', customer_id },
    });
  await bundle.database`update workspaces set name = 'Shop <b>&' where id = ${bundle.workspaceId}`;
  for (const [key, state] of [
    ['news', 'opted_in'],
    ['offers', 'opted_out'],
  ])
    await data('POST', '/v1/topics', { key, name: `All "${key}"`, description: `<i>${key}</i>`, default: state });
});
afterAll(() => bundle.stop());
beforeEach(async () => void (await bundle.database`delete from topic_choices`));

async function data(method: string, path: string, body?: unknown) {
  return (await bundle.call(method, path, { headers: bundle.basic(), body })).json();
}
const linkOf = async (customerId: string, body: object = {}) =>
  (await data('POST', `/v1/users/${customerId}/preference_link`, body)).url as string;
const topicsOf = async (customerId: string) =>
  (await data('GET', `/v1/users/${customerId}/topics`)).topics.map(
    ({ topic, opted_in, source }: any) => `${topic} ${opted_in} ${source}`,
  );
const submit = (url: string, fields: [string, string][]) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
const shown: [string, string][] = [
  ['shown', 'news:in'],
  ['shown', 'offers:out'],
];

describe('the preference page', () => {
  test('shows the topics of its person in the name of the workspace, with nothing that a browser runs or keeps', async () => {
    const url = await linkOf('ada');
    expect(url.startsWith(`${bundle.url}/preferences/`)).toBe(true);
    const answer = await fetch(url);
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(page).toContain('<h1 dir="auto">Messages from Shop &lt;b&gt;&amp;</h1>');
    expect(page).toContain('All &quot;news&quot;</label><p id="about-news" dir="auto">&lt;i&gt;news&lt;/i&gt;</p>');
    expect(page).not.toMatch(/<script|ada/);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      ),
    });
    expect(answer.headers.get('set-cookie')).toBeNull();
    // Opening the page is no choice.
    expect(await topicsOf('ada')).toEqual(['news true null', 'offers false null']);
  });

  test('speaks the language of the browser, and says which one it is', async () => {
    const read = async (url: string, language: string) => {
      const answer = await fetch(url, { headers: { 'accept-language': language } });
      return { vary: answer.headers.get('vary'), text: await answer.text() };
    };
    const german = await read(`${await linkOf('ada')}?saved`, 'de-CH, fr;q=0.5');
    expect(german.vary).toContain('accept-language');
    for (const part of [
      '<html lang="de">',
      'Nachrichten von Shop',
      'Ihre Auswahl ist gespeichert.',
      '>Speichern</button>',
    ])
      expect(german.text).toContain(part);
    const french = await read(`${bundle.url}/preferences/none`, 'fr');
    expect(french.text).toContain('<html lang="fr">');
    expect(french.text).toContain('Ce lien n’est pas valide.');
  });

  test('stores only what the person changed, and leads back to the page', async () => {
    const url = await linkOf('ada');
    const answer = await submit(url, [...shown, ['topic', 'news'], ['topic', 'offers'], ['do', 'save']]);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${new URL(url).pathname}?saved`]);
    expect(await topicsOf('ada')).toEqual(['news true null', 'offers true page']);
    expect(await topicsOf('eve')).toEqual(['news true null', 'offers false null']);
    expect(await (await fetch(`${url}?saved`)).text()).toContain('role="status">Your choice is saved.');
  });

  test('leaves all topics with one button, and ignores topics that do not exist', async () => {
    const url = await linkOf('ada');
    await submit(url, [...shown, ['shown', 'none:in'], ['topic', 'news'], ['do', 'leave-all']]);
    expect(await topicsOf('ada')).toEqual(['news false page', 'offers false page']);
  });

  test('never says that a choice is saved if the request is not its form', async () => {
    const url = await linkOf('ada');
    const post = (body: string | URLSearchParams, type = 'application/x-www-form-urlencoded') =>
      fetch(url, { method: 'POST', body, redirect: 'manual', headers: { 'content-type': type } });
    for (const sent of [
      post(''),
      // A program of mail that presses the link of RFC 8058 §3.
      post('List-Unsubscribe=One-Click'),
      post('{"do":"leave-all"}', 'application/json'),
      post(new URLSearchParams([['do', 'save']])),
      post(new URLSearchParams(shown)),
    ]) {
      const answer = await sent;
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(await answer.text()).toContain('Your choice was not saved.');
    }
    expect(await topicsOf('ada')).toEqual(['news true null', 'offers false null']);
  });

  test('does not undo what changed elsewhere while it was open', async () => {
    const url = await linkOf('ada');
    await data('PATCH', '/v1/users/ada/topics', { topics: { news: false } });
    await submit(url, [...shown, ['topic', 'news'], ['topic', 'offers'], ['do', 'save']]);
    expect(await topicsOf('ada')).toEqual(['news false api', 'offers true page']);
  });

  test('opens only for its person: a changed link, one that has expired and one of an erased user open nothing', async () => {
    const url = await linkOf('eve', { days: 1 });
    const last = url.at(-1) === 'A' ? 'B' : 'A';
    for (const wrong of [`${url.slice(0, -1)}${last}`, `${url}A`, `${bundle.url}/preferences/none`]) {
      const answer = await fetch(wrong);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([404, 'no-store']);
      expect((await submit(wrong, shown)).status).toBe(404);
    }
    const [user] = await bundle.database<{ bucket: number; userId: string }[]>`
      select bucket, id as "userId" from users where customer_id = 'eve'`;
    const { database, workspaceId } = bundle;
    const links = makePreferenceLinks(Buffer.alloc(32, 3));
    const clock = makeManualClock(new Date('2026-03-01T12:00:00Z'));
    const pages = makePreferencePages({ database, clock, links });
    const token = links.issue({ workspaceId, ...user!, expiresAt: new Date('2026-03-02T12:00:00Z') });
    const address = '192.0.2.1';
    expect(pages.open({ token, address }).kind).toBe('valid');
    clock.anchor(new Date('2026-03-02T12:00:00Z'));
    expect(pages.open({ token, address }).kind).toBe('expired');
    await bundle.database`delete from users where customer_id = 'eve'`;
    expect((await fetch(url)).status).toBe(404);
    expect((await submit(url, [...shown, ['do', 'leave-all']])).status).toBe(404);
    expect((await bundle.database`select 1 from topic_choices`).length).toBe(0);
  });

  test('limits guesses by address, and calls with a valid link by person', () => {
    const links = makePreferenceLinks(Buffer.alloc(32, 3));
    const clock = makeManualClock(new Date('2026-03-01T12:00:00Z'));
    const limits = { calls: { events: 2, seconds: 60 }, guesses: { events: 2, seconds: 60 } };
    const pages = makePreferencePages({ database: bundle.database, clock, links }, limits);
    const guess = (address: string) => pages.open({ token: 'guess', address }).kind;
    expect([guess('192.0.2.1'), guess('192.0.2.1'), guess('192.0.2.1')]).toEqual(['invalid', 'invalid', 'too many']);
    // A /64 of IPv6 is one caller.
    expect([guess('2001:db8::1'), guess('2001:db8::2'), guess('2001:db8::3')]).toEqual([
      'invalid',
      'invalid',
      'too many',
    ]);
    const subject = {
      workspaceId: 'w',
      bucket: 1,
      userId: 'a'.repeat(24),
      expiresAt: new Date('2026-03-02T12:00:00Z'),
    };
    const open = (address: string) => pages.open({ token: links.issue(subject), address }).kind;
    // The limit of guesses does not lock out a person at the same address.
    expect([open('192.0.2.1'), open('192.0.2.1'), open('192.0.2.9')]).toEqual(['valid', 'valid', 'too many']);
  });

  test('rejects links for unknown users and for more than 90 days', async () => {
    const make = async (customerId: string, body: object) =>
      (await bundle.call('POST', `/v1/users/${customerId}/preference_link`, { headers: bundle.basic(), body })).status;
    expect(await make('nobody', {})).toBe(404);
    expect(await make('ada', { days: 91 })).toBe(400);
    expect(await make('ada', { days: 90 })).toBe(201);
  });
});

describeScreen('the preference page in a browser', () => {
  test('is operated with the keyboard, without JavaScript', async () => {
    const context = await (await openBrowser()).newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(await linkOf('ada'));
    const offers = page.getByRole('checkbox', { name: 'All "offers"' });
    expect(await offers.isChecked()).toBe(false);
    await offers.focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Your choice is saved.').waitFor();
    expect(await offers.isChecked()).toBe(true);
    expect(await topicsOf('ada')).toEqual(['news true null', 'offers true page']);
    await page.getByRole('button', { name: 'Leave all' }).click();
    await page.waitForURL(/saved/);
    await expect.poll(() => topicsOf('ada')).toEqual(['news false page', 'offers false page']);
    await context.close();
  });

  test.each(bothSchemes)('has nothing against WCAG 2.2 AA, in its %s colours', async (colorScheme) => {
    const context = await (await openBrowser()).newContext({ colorScheme, viewport: { width: 320, height: 640 } });
    const page = await context.newPage();
    const refused: string[] = [];
    page.on('console', (message) => void refused.push(message.text()));
    for (const address of [await linkOf('ada'), `${await linkOf('ada')}?saved`, `${bundle.url}/preferences/none`]) {
      await page.goto(address);
      expect([address, await findViolations(page)]).toEqual([address, []]);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      );
      expect([address, wide]).toEqual([address, false]);
    }
    // The policy refuses none of the page's own styles.
    expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    await context.close();
  });
});
