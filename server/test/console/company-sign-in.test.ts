import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPasswordLink } from '../../src/app/accounts/accounts.ts';
import { makeCompanySignIn } from '../../src/app/accounts/company-sign-in.ts';
import type { CompanyRules } from '../../src/domain/access/accounts.ts';
import { ConfigError, readConfig } from '../../src/start/config.ts';
import { makeCompanyProvider } from '../../src/engine/company-account.ts';
import { goodPassword, makeAccountsBundle } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';
import { startOpenidIssuer } from './openid-issuer.ts';
import type { OpenidIssuer } from './openid-issuer.ts';

const client = { clientId: 'carillon', clientSecret: 'the secret of the client' };
const rules: CompanyRules = { domains: ['example.com'], firstRole: 'analyst', emailTrust: 'verified' };
let issuer: OpenidIssuer;
let bundle: AccountsBundle;
let owner: string;
let close: () => Promise<void>;

beforeAll(async () => {
  issuer = await startOpenidIssuer(client);
  const provider = makeCompanyProvider({ issuer: issuer.issuer, ...client, name: 'Example' });
  close = provider.close;
  bundle = await makeAccountsBundle({
    passwordSignIn: 'owners',
    company: (parts) => makeCompanySignIn({ ...parts, provider, rules }),
  });
  owner = await bundle.createOwner();
});
afterAll(async () => {
  await bundle?.end();
  await close?.();
  await issuer?.stop();
});
beforeEach(() => {
  rules.emailTrust = 'verified';
  issuer.state.lies = {};
  issuer.state.isForged = false;
  // Attempts are limited by the quarter of an hour.
  bundle.clock.advance(900_000);
});

const user = (sub: string, email: string, more: object = {}) =>
  (issuer.state.user = { sub, email, email_verified: true, name: 'Ana Maria', ...more });

/** What the browser does: begins, goes to the issuer, is sent back. */
async function begin() {
  const started = await bundle.call('POST', 'company');
  expect(started.status).toBe(200);
  const answer = await fetch(started.body.location, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location')!);
  return {
    cookie: started.cookie,
    header: String(started.headers['set-cookie']),
    back,
    path: `company/callback${back.search}`,
  };
}

async function comeBack({ path, cookie }: { path: string; cookie: string }) {
  const { status, headers } = await bundle.call('GET', path, { cookie, headers: { 'sec-fetch-site': 'cross-site' } });
  const cookies = [headers['set-cookie']].flat().map(String);
  const session = cookies.find((each) => each.startsWith('__Host-carillon_session_'));
  return { status, location: headers.location, session, cookie: session?.split(';', 1)[0] };
}

const signIn = async () => comeBack(await begin());
const whoIs = async (cookie: string | undefined) =>
  (await bundle.call('GET', 'session', { cookie: cookie ?? '' })).body.account;

describe('signing in by the company account', () => {
  test('an address that the issuer verified gets the first role, and the audit log says by whom', async () => {
    user('sub-ana', 'ana@example.com');
    const { status, location, session, cookie } = await signIn();
    expect([status, location]).toEqual([303, '/console/']);
    expect(session).toMatch(/HttpOnly; Secure; SameSite=Strict/);
    expect(await whoIs(cookie)).toMatchObject({ email: 'ana@example.com', name: 'Ana Maria', role: 'analyst' });
    const lines = await bundle.database<{ action: string; detail: object }[]>`
      select action, detail from audit_log where object_name = 'ana@example.com' order by action`;
    expect(lines.map(({ action }) => action)).toEqual(['account.create', 'account.link', 'account.sign-in']);
    expect(lines[0]!.detail).toEqual({ role: 'analyst', by: 'first sign-in' });
    expect(lines[2]!.detail).toMatchObject({ by: 'Example' });
  });

  test('afterwards the subject counts alone: another address at the issuer is the same person, unverified or not', async () => {
    user('sub-ana', 'renamed@elsewhere.org', { email_verified: false });
    expect(await whoIs((await signIn()).cookie)).toMatchObject({ email: 'ana@example.com' });
  });

  test('her address, given to somebody else at the issuer, does not open her account', async () => {
    user('sub-new-hire', 'ana@example.com');
    expect(await signIn()).toMatchObject({ location: '/console/#refused=taken', session: undefined });
  });

  test('an invited person gets the role of the invitation, which is used up', async () => {
    const body = { email: 'Mo@Example.com', role: 'marketer' };
    await bundle.call('POST', 'session/password', { body });
    const fresh = await bundle.call('POST', 'session/password', {
      body: { email: 'olga@example.com', password: goodPassword },
    });
    owner = fresh.cookie;
    await bundle.call('POST', 'invitations', { cookie: owner, body });
    user('sub-mo', 'mo@example.com');
    expect(await whoIs((await signIn()).cookie)).toMatchObject({ role: 'marketer' });
    expect((await bundle.call('GET', 'accounts', { cookie: owner })).body.invitations).toEqual([]);
  });

  test('an owner with a password is linked, and keeps the password', async () => {
    user('sub-olga', 'olga@example.com');
    expect(await whoIs((await signIn()).cookie)).toMatchObject({ email: 'olga@example.com', role: 'owner' });
    const body = { email: 'olga@example.com', password: goodPassword };
    expect((await bundle.call('POST', 'session/password', { body })).status).toBe(204);
  });

  test('a disabled account stays shut', async () => {
    const { body } = await bundle.call('GET', 'accounts', { cookie: owner });
    const { id } = body.accounts.find(({ email }: { email: string }) => email === 'mo@example.com');
    await bundle.call('POST', `accounts/${id}/disable`, { cookie: owner });
    user('sub-mo', 'mo@example.com');
    expect((await signIn()).location).toBe('/console/#refused=disabled');
  });

  test.each([
    ['an address that is not verified', { email_verified: false }, 'unverified'],
    ['no word about it', { email_verified: undefined }, 'unverified'],
    ['no address', { email: undefined }, 'unverified'],
    ['an address of another domain', { email: 'eve@evil.example' }, 'domain'],
    ['a domain that only ends like ours', { email: 'eve@not-example.com' }, 'domain'],
  ])('%s opens nothing', async (_name, more, refusal) => {
    user('sub-eve', 'eve@example.com', more);
    expect(await signIn()).toMatchObject({ location: `/console/#refused=${refusal}`, session: undefined });
    const rows = await bundle.database`select 1 from accounts where email like 'eve@%'`;
    expect(rows).toHaveLength(0);
  });
});

describe('an issuer that says nothing about its addresses, as Entra does', () => {
  const unstated = { email_verified: undefined };

  test('is refused unless it is trusted, and the log names the setting', async () => {
    user('sub-kim', 'kim@example.com', unstated);
    expect(await signIn()).toMatchObject({ location: '/console/#refused=unverified', session: undefined });
    expect(bundle.logLines.findLast(({ msg }) => msg === 'company account refused')).toMatchObject({
      detail: expect.stringMatching(/^unverified: .*CARILLON_OIDC_EMAIL_TRUST/),
    });
  });

  test('opens the console where it is trusted, and the audit log says on what ground', async () => {
    rules.emailTrust = 'issuer';
    user('sub-kim', 'kim@example.com', unstated);
    expect((await signIn()).location).toBe('/console/');
    const [line] = await bundle.database<{ detail: object }[]>`
      select detail from audit_log where object_name = 'kim@example.com' and action = 'account.link'`;
    expect(line!.detail).toEqual({ issuer: issuer.issuer, address: 'issuer' });
  });

  test('opens it by the user name where there is no address and names are trusted', async () => {
    rules.emailTrust = 'issuer-or-username';
    issuer.state.user = { sub: 'sub-lee', name: 'Lee' };
    issuer.state.lies = { preferred_username: 'lee@example.com' };
    expect(await whoIs((await signIn()).cookie)).toMatchObject({ email: 'lee@example.com', role: 'analyst' });
  });
});

describe('attacks', () => {
  const refusedBy = async (kind: string, result: Promise<Awaited<ReturnType<typeof signIn>>>) =>
    expect(await result).toMatchObject({ location: `/console/#refused=${kind}`, session: undefined });

  test.each<[string, Record<string, unknown>]>([
    ['a nonce of another sign-in', { nonce: 'other' }],
    ['no nonce', { nonce: undefined }],
    ['a token for another client', { aud: 'somebody-else' }],
    ['a token of another issuer', { iss: 'https://evil.example' }],
    ['a token that is over', { exp: 1_000_000_000 }],
  ])('%s is refused', async (_name, lies) => {
    user('sub-ana', 'ana@example.com');
    issuer.state.lies = lies;
    await refusedBy('provider', signIn());
  });

  test('a token signed by another key is refused', async () => {
    user('sub-ana', 'ana@example.com');
    issuer.state.isForged = true;
    await refusedBy('provider', signIn());
  });

  test('a state that nobody was given, none at all, and a changed one are refused before the code is redeemed', async () => {
    user('sub-ana', 'ana@example.com');
    const before = issuer.state.redeemed;
    const started = await begin();
    const changed = new URL(started.back);
    changed.searchParams.set('state', 'x'.repeat(43));
    await refusedBy('expired', comeBack({ ...started, path: `company/callback${changed.search}` }));
    changed.searchParams.delete('state');
    await refusedBy('expired', comeBack({ ...started, path: `company/callback${changed.search}` }));
    expect(issuer.state.redeemed).toBe(before);
  });

  test("login CSRF: another browser's answer signs nobody in, and is not used up by the try", async () => {
    user('sub-ana', 'ana@example.com');
    const started = await begin();
    const victim = await begin();
    await refusedBy('expired', comeBack({ path: started.path, cookie: '' }));
    await refusedBy('expired', comeBack({ path: started.path, cookie: victim.cookie }));
    expect((await comeBack(started)).location).toBe('/console/');
  });

  test('an answer counts once, and for ten minutes', async () => {
    user('sub-ana', 'ana@example.com');
    const started = await begin();
    expect((await comeBack(started)).location).toBe('/console/');
    await refusedBy('expired', comeBack(started));
    const slow = await begin();
    bundle.clock.advance(600_000);
    await refusedBy('expired', comeBack(slow));
  });

  test('a code that the issuer has seen before is refused', async () => {
    user('sub-ana', 'ana@example.com');
    const first = await begin();
    expect((await comeBack(first)).location).toBe('/console/');
    const second = await begin();
    const mixed = new URL(second.back);
    mixed.searchParams.set('code', first.back.searchParams.get('code')!);
    await refusedBy('provider', comeBack({ ...second, path: `company/callback${mixed.search}` }));
  });

  test('no other site begins a sign-in; the cookie of one is for this host alone, and attempts are limited', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await bundle.call('POST', 'company', { headers })).status).toBe(403);
    const { header } = await begin();
    expect(header).toMatch(/^__Host-carillon_company_[0-9a-f]{8}=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const statuses = new Set<number>();
    for (let tries = 0; tries < 61; tries += 1)
      statuses.add((await bundle.call('POST', 'company', { address: '203.0.113.9' })).status);
    expect([...statuses].sort()).toEqual([200, 429]);
  });
});

describe('passwords for owners alone', () => {
  test('nobody else comes in by one, by an invitation or by a password link', async () => {
    const answer = await bundle.call('POST', 'session/password', {
      body: { email: 'olga@example.com', password: goodPassword },
    });
    const cookie = answer.cookie;
    const body = { email: 'dev@example.com', role: 'developer' };
    const { link } = (await bundle.call('POST', 'invitations', { cookie, body })).body;
    const acceptance = { code: link.split('#invitation=')[1], name: 'Dev', password: goodPassword };
    const accepted = await bundle.call('POST', 'invitation/acceptance', { body: acceptance });
    expect([accepted.status, accepted.body.code]).toEqual([403, 'ACCOUNT_PASSWORDS_OFF']);
    const { accounts } = (await bundle.call('GET', 'accounts', { cookie })).body;
    const { id } = accounts.find(({ email }: { email: string }) => email === 'ana@example.com');
    const refused = await bundle.call('POST', `accounts/${id}/password-link`, { cookie });
    expect([refused.status, refused.body.code]).toEqual([403, 'ACCOUNT_PASSWORDS_OFF']);
    // One that was made before the rule.
    const { code } = await createPasswordLink(bundle, {
      actor: { kind: 'account', id: null, name: 'before' },
      id,
    });
    expect((await bundle.call('POST', 'new-password', { body: { code, password: goodPassword } })).status).toBe(403);
  });

  test('the entrance says what it offers', async () => {
    expect((await bundle.call('GET', 'entrance')).body).toEqual({
      company: { name: 'Example' },
      passwordSignIn: 'owners',
    });
  });
});

test.each<[string, Record<string, string>]>([
  ['an issuer without a client', { CARILLON_OIDC_ISSUER: 'https://id.example.com' }],
  ['an issuer over plain http', { CARILLON_OIDC_ISSUER: 'http://id.example.com' }],
  ['a first role for everybody in the world', { CARILLON_OIDC_FIRST_ROLE: 'analyst' }],
  ['a first owner', { CARILLON_OIDC_FIRST_ROLE: 'owner', CARILLON_OIDC_DOMAINS: 'example.com' }],
  ['no way in at all', { CARILLON_PASSWORD_SIGN_IN: 'owners' }],
])('%s is refused at the start', (_name, environment) => {
  expect(() => readConfig({ environment, arguments: [] })).toThrow(ConfigError);
});

test('an issuer that is away is a refusal, and is asked again', async () => {
  const provider = makeCompanyProvider({ issuer: 'http://127.0.0.1:9', ...client, name: 'Away' });
  const request = { redirectUri: 'https://x.example/', state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
  await expect(provider.authorize(request)).rejects.toThrow();
  await provider.close();
});
