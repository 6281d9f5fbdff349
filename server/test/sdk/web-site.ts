import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import type { BrowserContext, Page } from 'playwright-core';
import { buildWebSdk } from '../../../sdk/web/build.ts';
import { makeClock } from '../../src/clock.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeLog } from '../../src/log.ts';
import { makeSimulatedSubscription } from '../../src/providers/webpush/simulated-browser.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

/** The SDK as a page of the site has it, for code that runs there. */
export type PageOfSite = {
  Carillon: {
    start(appKey: string, host: string): Promise<void>;
    subscribe(): Promise<void>;
    login(userId: string, identityToken?: string): Promise<void>;
    logout(): Promise<void>;
    track(name: string): Promise<void>;
    getTopics(): Promise<unknown[]>;
    setTopic(topic: string, isIn: boolean): Promise<unknown[]>;
    getInbox(): Promise<unknown>;
  };
  notices: string[];
  messages: unknown[];
  subscription: object;
};

const page = `<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>
<script type="module">
  import { Carillon } from '/carillon.js';
  import { defineInbox } from '/carillon-inbox.js';
  defineInbox(Carillon);
  Object.assign(window, { Carillon, notices: [], messages: [] });
  Carillon.onNotice((notice) => window.notices.push(notice));
  Carillon.onMessage((message) => window.messages.push(message));
  document.documentElement.dataset.ready = 'yes';
</script></html>`;

/** A site of its own origin, with the files of the package. */
export async function startSite() {
  const files = await buildWebSdk();
  const server = createServer(({ url }, response) => {
    const name = (url ?? '/').slice(1) as keyof typeof files;
    const text = files[name];
    response.setHeader('content-type', text === undefined ? 'text/html' : 'text/javascript');
    response.end(text ?? page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    files,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

/** An app key and the server's side of signing users in. */
export async function makeAppOf({ database, workspaceId, call, basic }: CarillonBundle) {
  const encryption = makeEncryption(Buffer.alloc(32, 1));
  const made = { workspaceId, kind: 'app' as const, name: 'Shop', at: new Date() };
  const { secret: appKey } = await createKey({ encryption }, database, made);
  const { kid, secret } = (
    await call('POST', '/v1/app-access/identity-keys', { headers: basic(), body: { algorithm: 'HS256' } })
  ).json();
  return {
    appKey,
    sign(user: string, { isExpired = false }: { isExpired?: boolean } = {}): Promise<string> {
      const now = Math.floor(Date.now() / 1000) - (isExpired ? 7_200 : 0);
      return new SignJWT({})
        .setProtectedHeader({ alg: 'HS256', kid })
        .setSubject(user)
        .setAudience(workspaceId)
        .setIssuedAt(now)
        .setExpirationTime(now + 3_600)
        .sign(new TextEncoder().encode(secret));
    },
  };
}

/** Makes subscriptions of the simulated push service, which reads their messages. */
export async function openSubscriptions({ config }: CarillonBundle) {
  const log = makeLog({ level: 'silent', pretty: false });
  const installation = await openInstallation(config, { clock: makeClock(), log });
  const secret = installation.secretFor('simulator');
  await installation.close();
  return (name: string): BrowserSubscription =>
    JSON.parse(makeSimulatedSubscription({ secret, id: `${name}-${randomBytes(8).toString('hex')}` }));
}

export type BrowserSubscription = { endpoint: string; keys: { p256dh: string; auth: string } };

/** Opens the site. The browser's push service cannot be reached here, so the page's `subscription` is what it would give. */
export async function openSite(context: BrowserContext, url: string): Promise<Page> {
  const opened = await context.newPage();
  await opened.addInitScript(() => {
    const scope = globalThis as any;
    scope.PushManager.prototype.getSubscription = async () => null;
    scope.PushManager.prototype.subscribe = async () => ({
      endpoint: scope.subscription.endpoint,
      toJSON: () => scope.subscription,
    });
    // A window without a profile asks nobody.
    scope.Notification.requestPermission = async () => 'granted';
  });
  await opened.goto(url);
  await opened.locator('html[data-ready]').waitFor();
  return opened;
}
