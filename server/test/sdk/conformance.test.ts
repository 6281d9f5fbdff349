import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeAppOf, makeSubscription, openSite, startSite } from './web-site.ts';
import type { PageOfSite } from './web-site.ts';

/** Situations that every SDK must handle; another SDK's runner reads the same file. */
type Step =
  | { do: 'offline' | 'online' | 'start' | 'logout' | 'reinstall' | 'replace server' }
  | { do: 'subscribe'; token: string }
  | { do: 'login'; user: string; identity: 'valid' | 'expired' }
  | { do: 'track'; event: string }
  | { do: 'clock'; aheadSeconds: number }
  | { do: 'lose next answer'; of: string }
  | { expect: 'events'; user: string | null; events: string[]; ageSeconds?: number }
  | { expect: 'devices'; user: string; tokens: string[] }
  | { expect: 'signed in'; user: string | null }
  | { expect: 'notice'; notice: string }
  | { expect: 'sign-ins'; count: number }
  | { expect: 'requests'; of: string; atLeast: number };

type Situation = { name: string; steps: Step[] };

const file = join(import.meta.dirname, '..', '..', '..', 'sdk', 'conformance.json');
const situations = JSON.parse(readFileSync(file, 'utf8')) as Situation[];
const executablePath = '/usr/bin/chromium';
const maxBytes = 10 * 1024;
const hasChromium = existsSync(executablePath);

test('@carillon/web has at most 10 kB in a page, minified and compressed, and as many in its worker', async () => {
  const site = await startSite();
  const sizes = Object.values(site.files).map((text) => gzipSync(text).length);
  await site.stop();
  expect(sizes).toHaveLength(2);
  for (const size of sizes) expect(size).toBeLessThanOrEqual(maxBytes);
});

describe.skipIf(!hasChromium)(`@carillon/web${hasChromium ? '' : ' (skipped: no /usr/bin/chromium)'}`, () => {
  let bundle: CarillonBundle;
  let site: Awaited<ReturnType<typeof startSite>>;
  let app: Awaited<ReturnType<typeof makeAppOf>>;
  let browser: Browser;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    site = await startSite();
    app = await makeAppOf(bundle);
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
    const { database, url: host } = bundle;
    const suffix = `of ${name}`;
    const tokens = new Map<string, ReturnType<typeof makeSubscription>>();
    const requests: string[] = [];
    const installations = new Set<string>();
    let opened = await open();

    async function open(): Promise<Page> {
      const page = await openSite(context, site.url);
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

    async function act(step: Extract<Step, { do: unknown }>): Promise<unknown> {
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
          await database`delete from installations where id = any(${[...installations]})`;
          return database`
            delete from devices using users where users.bucket = devices.bucket and users.id = devices.user_id
              and users.customer_id like ${`%${suffix}`}`;
      }
    }

    async function check(step: Extract<Step, { expect: unknown }>): Promise<void> {
      const eventually = (look: () => Promise<unknown>) => expect.poll(look, { timeout: 30_000, interval: 50 });
      switch (step.expect) {
        case 'events': {
          const { user, ageSeconds } = step;
          // The anonymous user has only this installation's events.
          const find = () => database<{ name: string; age: number }[]>`
            select events.name, extract(epoch from events.received_at - events.occurred_at)::float8 as age
            from events join users on users.bucket = events.bucket and users.id = events.user_id
            where ${
              user === null
                ? database`users.id in (select user_id from installations where id = any(${[...installations]}))
                  and users.customer_id like 'anonymous-%'`
                : database`users.customer_id = ${`${user} ${suffix}`}`
            }
            order by events.id`;
          await eventually(async () => (await find()).map((event) => event.name)).toEqual(step.events);
          if (ageSeconds !== undefined)
            for (const { age } of await find()) expect(Math.abs(age)).toBeLessThan(ageSeconds);
          return;
        }
        case 'devices':
          return eventually(async () => {
            const rows = await database<{ token: string }[]>`
              select devices.push_id::jsonb ->> 'endpoint' as token
              from devices join users on users.bucket = devices.bucket and users.id = devices.user_id
              where users.customer_id = ${`${step.user} ${suffix}`}`;
            return rows.map(({ token }) => [...tokens].find(([, { endpoint }]) => endpoint === token)?.[0]).sort();
          }).toEqual(step.tokens);
        case 'signed in':
          return eventually(async () => {
            const rows = await database<{ user: string | null }[]>`
              select case when is_identified then users.customer_id end as user from installations
              left join users on users.bucket = user_bucket and users.id = user_id
              where installations.id = ${[...installations].at(-1)!}`;
            return rows.map(({ user }) => user);
          }).toEqual([step.user === null ? null : `${step.user} ${suffix}`]);
        case 'notice':
          return eventually(() => inPage(() => (globalThis as unknown as PageOfSite).notices)).toContain(step.notice);
        case 'sign-ins':
          expect(requests.filter((path) => path.endsWith('/identify'))).toHaveLength(step.count);
          return;
        case 'requests':
          return eventually(async () => requests.filter((path) => path === step.of).length).toBeGreaterThanOrEqual(
            step.atLeast,
          );
      }
    }

    return { take: (step: Step): Promise<unknown> => ('do' in step ? act(step) : check(step)) };
  }
});
