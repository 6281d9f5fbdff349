import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPasswordLink } from '../../src/app/accounts/accounts.ts';
import { makeCompanySignIn } from '../../src/app/accounts/company-sign-in.ts';
import type { CompanyClaims, CompanyRules } from '../../src/domain/access/company-accounts.ts';
import { makeCompanyProvider } from '../../src/engine/company-account.ts';
import { ConfigError, readConfig } from '../../src/start/config.ts';
import { goodPassword, makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';
import { startOpenidIssuer } from './openid-issuer.ts';
import type { OpenidIssuer } from './openid-issuer.ts';

describe('one-time links', () => {
  const hour = 3_600_000;
  const day = 24 * hour;
  let bundle: AccountsBundle;
  beforeEach(async () => {
    bundle = await makeAccountsBundle();
  });
  afterEach(() => bundle.end());

  const codeIn = (answer: { body: { link: string } }) => answer.body.link.split('=')[1]!;
  const invitee = { email: 'max@example.com', role: 'marketer' };

  const present = {
    firstOwner: (code: string) =>
      bundle.call('POST', 'first-owner', { body: { code, email: 'x@example.com', name: 'X', password: goodPassword } }),
    invitation: (code: string) => bundle.call('POST', 'invitation', { body: { code } }),
    acceptance: (code: string) =>
      bundle.call('POST', 'invitation/acceptance', { body: { code, name: 'Max', password: goodPassword } }),
    password: (code: string) =>
      bundle.call('POST', 'new-password', { body: { code, password: 'another long sentence' } }),
  };
  const refused = (detail: string) => ({ status: 401, body: { code: 'ACCOUNT_LINK_INVALID', detail } });

  describe('an invalid one-time link', () => {
    test('reports that it was used, even if it would have expired since', async () => {
      const { first, invited, linked } = await makeLinks();
      expect(await present.firstOwner(first)).toMatchObject(refused('used'));
      expect((await present.acceptance(codeIn(invited))).status).toBe(204);
      expect((await present.password(codeIn(linked))).status).toBe(204);
      bundle.clock.advance(8 * day);
      expect(await present.invitation(codeIn(invited))).toMatchObject(refused('used'));
      expect(await present.acceptance(codeIn(invited))).toMatchObject(refused('used'));
      expect(await present.password(codeIn(linked))).toMatchObject(refused('used'));
    });

    test('reports that it expired, for 30 days, even after another link was created', async () => {
      const { invited, linked } = await makeLinks();
      bundle.clock.advance(7 * day);
      await bundle.createStartLink();
      const fresh = await bundle.call('POST', 'session/password', {
        body: { email: 'olga@example.com', password: goodPassword },
      });
      await bundle.call('POST', 'invitations', {
        cookie: fresh.cookie,
        body: { ...invitee, email: 'eva@example.com' },
      });
      expect(await present.invitation(codeIn(invited))).toMatchObject(refused('expired'));
      expect(await present.password(codeIn(linked))).toMatchObject(refused('expired'));
      bundle.clock.advance(30 * day);
      const later = await bundle.call('POST', 'session/password', {
        body: { email: 'olga@example.com', password: goodPassword },
      });
      await bundle.call('POST', 'invitations', {
        cookie: later.cookie,
        body: { ...invitee, email: 'ida@example.com' },
      });
      expect(await present.invitation(codeIn(invited))).toMatchObject(refused('unknown'));
    });

    test('reports that it was withdrawn: by its owner, by another password, by an earlier owner', async () => {
      const { owner, second, invited, linked } = await makeLinks();
      expect(await present.firstOwner(second)).toMatchObject(refused('withdrawn'));
      await bundle.call('DELETE', `invitations/${invited.body.id}`, { cookie: owner });
      expect(await present.invitation(codeIn(invited))).toMatchObject(refused('withdrawn'));
      expect((await bundle.call('DELETE', `invitations/${invited.body.id}`, { cookie: owner })).status).toBe(404);
      expect((await bundle.call('GET', 'accounts', { cookie: owner })).body.invitations).toEqual([]);
      const body = { current: goodPassword, password: 'yet another sentence' };
      expect((await bundle.call('PUT', 'own/password', { cookie: owner, body })).status).toBe(204);
      expect(await present.password(codeIn(linked))).toMatchObject(refused('withdrawn'));
    });

    test('is unknown if another installation created it, or if it is of another kind', async () => {
      const { invited } = await makeLinks();
      expect(await present.invitation('A'.repeat(43))).toMatchObject(refused('unknown'));
      expect(await present.password(codeIn(invited))).toMatchObject(refused('unknown'));
    });

    test('opens one session of two browsers that submit it concurrently; the other gets that it was used', async () => {
      const { invited } = await makeLinks();
      const answers = await Promise.all([1, 2].map(() => present.acceptance(codeIn(invited))));
      const [opened, other] = answers.toSorted((one, another) => one.status - another.status);
      expect(opened!.status).toBe(204);
      expect(other).toMatchObject(refused('used'));
    });
  });

  describe('the address of a one-time link', () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };

    async function makeAddresses(publicUrl: string | undefined) {
      const own = await makeAccountsBundle(publicUrl === undefined ? {} : { publicUrl });
      const owner = await own.createOwner();
      const invited = await own.call('POST', 'invitations', { cookie: owner, headers, body: invitee });
      const { id } = (await own.call('GET', 'session', { cookie: owner })).body.account;
      const linked = await own.call('POST', `accounts/${id}/password-link`, { cookie: owner, headers });
      const query = `workspaceId=${own.workspaceId}`;
      const key = { cookie: owner, headers, body: { kind: 'data', name: 'New' } };
      const curls = {
        key: (await own.call('POST', `keys?${query}`, key)).body.curl as string,
        settings: (await own.call('GET', `settings/fixed?${query}`, { cookie: owner, headers })).body.url as string,
      };
      await own.end();
      return { links: [invited.body.link, linked.body.link] as string[], curls };
    }

    test('is the public URL, whatever host the request names, as in a curl command', async () => {
      const { links, curls } = await makeAddresses('https://push.example.com');
      expect(links).toEqual([
        expect.stringMatching(/^https:\/\/push\.example\.com\/console\/#invitation=\S{43}$/),
        expect.stringMatching(/^https:\/\/push\.example\.com\/console\/#new-password=\S{43}$/),
      ]);
      expect(curls.key).toContain('https://push.example.com/');
      expect(curls.key).not.toContain('evil');
      expect(curls.settings).toBe('https://push.example.com');
    });

    test('is a path without a public URL, never the host of the request', async () => {
      const { links } = await makeAddresses(undefined);
      expect(links).toEqual([
        expect.stringMatching(/^\/console\/#invitation=\S{43}$/),
        expect.stringMatching(/^\/console\/#new-password=\S{43}$/),
      ]);
    });
  });

  describe('the session cookie', () => {
    test('has a separate name per installation, so that two on one host keep their sessions', async () => {
      const [one, other] = [
        await makeAccountsBundle({ installationSecret: Buffer.alloc(32, 1) }),
        await makeAccountsBundle({ installationSecret: Buffer.alloc(32, 2) }),
      ];
      // A browser keeps one cookie of a name, and sends all of them to every port of the host.
      const jar = new Map(
        [await one.createOwner(), await other.createOwner()].map((cookie) => [cookie.split('=')[0], cookie]),
      );
      const cookie = [...jar.values()].join('; ');
      const statuses = [
        (await one.call('GET', 'session', { cookie })).status,
        (await other.call('GET', 'session', { cookie })).status,
      ];
      await one.end();
      await other.end();
      expect(statuses).toEqual([200, 200]);
    });

    test('is ignored if it comes from a version without the installation in its name', async () => {
      const owner = await bundle.createOwner();
      const token = owner.split('=')[1]!;
      expect((await bundle.call('GET', 'session', { cookie: `__Host-carillon_session=${token}` })).status).toBe(401);
      const both = `__Host-carillon_session=${'A'.repeat(43)}; ${owner}`;
      expect((await bundle.call('GET', 'session', { cookie: both })).status).toBe(200);
    });
  });

  /** What becomes of each kind of link, and the call that presents it. */
  async function makeLinks() {
    const first = (await bundle.createStartLink())!.code;
    const second = (await bundle.createStartLink())!.code;
    const body = { code: first, email: 'olga@example.com', name: 'Olga', password: goodPassword };
    const owner = (await bundle.call('POST', 'first-owner', { body })).cookie;
    const invited = await bundle.call('POST', 'invitations', { cookie: owner, body: invitee });
    const { id } = (await bundle.call('GET', 'session', { cookie: owner })).body.account;
    const linked = await bundle.call('POST', `accounts/${id}/password-link`, { cookie: owner });
    return { owner, first, second, invited, accountId: id as string, linked };
  }
});

type Line = { actorName: string; objectName: string | null; detail: Record<string, string> };

describe('failed sign-ins', () => {
  let bundle: AccountsBundle;
  let owner: string;
  let claims: CompanyClaims | Error;
  beforeEach(async () => {
    bundle = await makeAccountsBundle({
      company: (parts) =>
        makeCompanySignIn({
          ...parts,
          provider: {
            name: 'Example',
            authorize: async ({ state }) => `https://issuer.example/?state=${state}`,
            redeem: async () => {
              if (claims instanceof Error) throw claims;
              return claims;
            },
          },
          rules: { domains: ['example.com'], firstRole: undefined, emailTrust: 'verified', groupRoles: [] },
        }),
    });
    owner = await bundle.createOwner();
  });
  afterEach(() => bundle.end());

  const lines = async (): Promise<Line[]> => {
    const { body } = await bundle.call('GET', `audit?workspaceId=${bundle.workspaceId}`, { cookie: owner });
    return body.entries
      .filter(({ action }: { action: string }) => action === 'account.sign-in-failed')
      .map(({ actorName, objectName, detail }: Line) => ({ actorName, objectName, detail }));
  };
  const failed = (way: string, reason: string, more: Record<string, string> = {}) => ({
    ...{ actorName: 'somebody', objectName: null },
    detail: { way, reason, address: '198.51.100.7', ...more },
  });
  /** Lines of one instant have no order. */
  const attempt: AccountsBundle['call'] = (...call) => {
    bundle.clock.advance(1);
    return bundle.call(...call);
  };
  const tryPassword = (email: string, options: { password?: string; address?: string } = {}) => {
    const { password = 'a guess', ...rest } = options;
    return attempt('POST', 'session/password', { body: { email, password }, ...rest });
  };

  const tryLink = (address = '198.51.100.7') => attempt('POST', 'session', { body: { code: 'x'.repeat(43) }, address });

  test('leave a line with the reason for a wrong password, an unknown address and a disabled account', async () => {
    await bundle.join(owner, { email: 'max@example.com', role: 'analyst' });
    await bundle.database`update accounts set disabled_at = ${start} where email = 'max@example.com'`;
    await tryPassword('OLGA@example.com');
    await tryPassword('nobody@example.com');
    await tryPassword('max@example.com', { password: goodPassword });
    expect(await lines()).toEqual([
      { ...failed('password', 'the account is disabled'), objectName: 'max@example.com' },
      failed('password', 'no such account', { email: 'nobody@example.com' }),
      { ...failed('password', 'wrong password'), objectName: 'olga@example.com' },
    ]);
  });

  test('leave a line for an invalid link of any kind', async () => {
    const code = 'x'.repeat(43);
    const typed = { code, email: 'eve@example.com', name: 'Eve', password: goodPassword };
    const { email: _, ...named } = typed;
    await attempt('POST', 'session', { body: { code } });
    await attempt('POST', 'first-owner', { body: typed });
    await attempt('POST', 'invitation', { body: { code } });
    await attempt('POST', 'invitation/acceptance', { body: named });
    await attempt('POST', 'new-password', { body: { code, password: goodPassword } });
    expect((await lines()).map(({ detail }) => detail)).toEqual(
      ['password link', 'invitation', 'invitation', 'first owner link', 'start link'].map(
        (way) => failed(way, 'the link is unknown').detail,
      ),
    );
  });

  describe('failed sign-ins by company account', () => {
    async function comeBack(changed: Record<string, string> = {}) {
      const begun = await attempt('POST', 'company');
      const state = changed.state ?? new URL(begun.body.location).searchParams.get('state')!;
      return attempt('GET', `company/callback?state=${encodeURIComponent(state)}`, { cookie: begun.cookie });
    }

    test('leave a line with the kind and the address that the issuer verified, without its words', async () => {
      claims = new Error('text of an issuer');
      await comeBack();
      claims = {
        issuer: 'https://issuer.example',
        subject: 'eve',
        email: 'eve@example.com',
        emailVerification: 'verified',
      } as CompanyClaims;
      await comeBack();
      await comeBack({ state: 'made up' });
      // Whoever runs it reads what was wrong; the browser and the audit log are told the kind alone.
      expect(bundle.logLines.filter(({ msg }) => msg === 'company account refused')).toMatchObject([
        { detail: expect.stringContaining('text of an issuer'), requestId: expect.any(String) },
        { detail: expect.any(String) },
        { detail: expect.any(String) },
      ]);
      expect(await lines()).toEqual([
        failed('company account', 'expired'),
        failed('company account', 'unknown', { email: 'eve@example.com' }),
        failed('company account', 'provider'),
      ]);
    });
  });

  test('keep the typed address only if it is one, because it may be a password', async () => {
    for (const typed of [
      'correct horse battery',
      'bell\u0007@example.com',
      'rtl\u202e@example.com',
      `${'a'.repeat(900)}@b`,
    ])
      expect((await tryPassword(typed)).status).toBe(401);
    expect((await lines()).map(({ detail }) => detail)).toEqual(
      Array.from({ length: 4 }, () => failed('password', 'no such account').detail),
    );
  });

  test('write a bounded number of lines in a flood, the last of which says so, and hide no attempt on an account', async () => {
    // Ten lines in ten minutes of one address.
    for (let number = 0; number < 15; number += 1) await tryLink();
    expect(await lines()).toHaveLength(10);
    // Thirty in an hour of all addresses.
    for (let source = 0; source < 40; source += 1) await tryLink(`203.0.113.${source}`);
    const flood = await lines();
    expect(flood).toHaveLength(30);
    expect(flood.filter(({ detail }) => detail.note === 'further ones of this hour are not listed')).toHaveLength(1);
    expect(flood[0]!.detail.note).toBeDefined();
    await tryPassword('olga@example.com', { address: '192.0.2.1' });
    expect((await lines())[0]).toMatchObject({ objectName: 'olga@example.com' });
    bundle.clock.advance(3_600_000);
    await tryLink('192.0.2.2');
    expect((await lines())[0]!.detail).toMatchObject({ way: 'start link', address: '192.0.2.2' });
  });

  test('include an attempt that a limit rejects, but not an incomplete form', async () => {
    for (let number = 0; number < 11; number += 1) await tryPassword('olga@example.com', { address: '192.0.2.9' });
    expect((await lines()).filter(({ detail }) => detail.reason === 'too many attempts')).toHaveLength(0);
    bundle.clock.advance(500_000);
    await bundle.database`delete from limit_windows where operation = 'failed-sign-in-address'`;
    await tryPassword('olga@example.com', { address: '192.0.2.9' });
    expect((await lines())[0]!.detail).toMatchObject({ reason: 'too many attempts' });
    const before = (await lines()).length;
    expect((await bundle.call('POST', 'session/password', { body: { email: 'olga@example.com' } })).status).toBe(400);
    expect(await lines()).toHaveLength(before);
  });
});

describe('company sign-in', () => {
  const client = { clientId: 'carillon', clientSecret: 'the secret of the client' };
  const rules: CompanyRules = {
    domains: ['example.com'],
    firstRole: 'analyst',
    emailTrust: 'verified',
    groupRoles: [],
  };
  let issuer: OpenidIssuer;
  let bundle: AccountsBundle;
  let owner: string;
  let close: () => Promise<void>;

  beforeAll(async () => {
    issuer = await startOpenidIssuer(client);
    const provider = makeCompanyProvider({ groupsClaim: 'groups', issuer: issuer.issuer, ...client, name: 'Example' });
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

  const signIn = async () => comeBack(await begin());
  const whoIs = async (cookie: string | undefined) =>
    (await bundle.call('GET', 'session', { cookie: cookie ?? '' })).body.account;

  describe('a sign-in by company account', () => {
    test('creates an account with the first role for a verified address, recorded in the audit log', async () => {
      user('sub-ana', 'ana@example.com');
      const { status, location, session, cookie } = await signIn();
      expect([status, location]).toEqual([303, '/console/']);
      expect(session).toMatch(/HttpOnly; Secure; SameSite=Strict/);
      expect(await whoIs(cookie)).toMatchObject({ email: 'ana@example.com', name: 'Ana Maria', roles: ['analyst'] });
      const lines = await bundle.database<{ action: string; detail: object }[]>`
        select action, detail from audit_log where object_name = 'ana@example.com' order by action`;
      expect(lines.map(({ action }) => action)).toEqual(['account.create', 'account.link', 'account.sign-in']);
      expect(lines[0]!.detail).toEqual({ role: 'analyst', workspaceRoles: {}, by: 'first sign-in' });
      expect(lines[2]!.detail).toMatchObject({ by: 'Example' });
    });

    test('uses only the subject afterwards: another address, verified or not, is the same user', async () => {
      user('sub-ana', 'renamed@elsewhere.org', { email_verified: false });
      expect(await whoIs((await signIn()).cookie)).toMatchObject({ email: 'ana@example.com' });
    });

    test('does not open an account by its address if that now belongs to another subject', async () => {
      user('sub-new-hire', 'ana@example.com');
      expect(await signIn()).toMatchObject({ location: '/console/#refused=taken', session: undefined });
    });

    test('gives an invited user the role of the invitation, which is used up', async () => {
      const body = { email: 'Mo@Example.com', role: 'marketer' };
      await bundle.call('POST', 'session/password', { body });
      const fresh = await bundle.call('POST', 'session/password', {
        body: { email: 'olga@example.com', password: goodPassword },
      });
      owner = fresh.cookie;
      await bundle.call('POST', 'invitations', { cookie: owner, body });
      user('sub-mo', 'mo@example.com');
      expect(await whoIs((await signIn()).cookie)).toMatchObject({ roles: ['marketer'] });
      expect((await bundle.call('GET', 'accounts', { cookie: owner })).body.invitations).toEqual([]);
    });

    test('links an owner with a password, and keeps the password', async () => {
      user('sub-olga', 'olga@example.com');
      expect(await whoIs((await signIn()).cookie)).toMatchObject({ email: 'olga@example.com', roles: ['owner'] });
      const body = { email: 'olga@example.com', password: goodPassword };
      expect((await bundle.call('POST', 'session/password', { body })).status).toBe(204);
    });

    test('does not open a disabled account', async () => {
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
    ])('opens no session for %s', async (_name, more, refusal) => {
      user('sub-eve', 'eve@example.com', more);
      expect(await signIn()).toMatchObject({ location: `/console/#refused=${refusal}`, session: undefined });
      const rows = await bundle.database`select 1 from accounts where email like 'eve@%'`;
      expect(rows).toHaveLength(0);
    });
  });

  describe('an issuer that does not state whether addresses are verified, like Entra', () => {
    const unstated = { email_verified: undefined };

    test('is rejected unless it is trusted, and the log names the setting', async () => {
      user('sub-kim', 'kim@example.com', unstated);
      expect(await signIn()).toMatchObject({ location: '/console/#refused=unverified', session: undefined });
      expect(bundle.logLines.findLast(({ msg }) => msg === 'company account refused')).toMatchObject({
        detail: expect.stringMatching(/^unverified: .*CARILLON_OIDC_EMAIL_TRUST/),
      });
    });

    test('opens the console if it is trusted, and the audit log records the basis', async () => {
      rules.emailTrust = 'issuer';
      user('sub-kim', 'kim@example.com', unstated);
      expect((await signIn()).location).toBe('/console/');
      const [line] = await bundle.database<{ detail: object }[]>`
        select detail from audit_log where object_name = 'kim@example.com' and action = 'account.link'`;
      expect(line!.detail).toEqual({ issuer: issuer.issuer, address: 'issuer' });
    });

    test('opens the console by user name if there is no address and names are trusted', async () => {
      rules.emailTrust = 'issuer-or-username';
      issuer.state.user = { sub: 'sub-lee', name: 'Lee' };
      issuer.state.lies = { preferred_username: 'lee@example.com' };
      expect(await whoIs((await signIn()).cookie)).toMatchObject({ email: 'lee@example.com', roles: ['analyst'] });
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
    ])('fail with %s', async (_name, lies) => {
      user('sub-ana', 'ana@example.com');
      issuer.state.lies = lies;
      await refusedBy('provider', signIn());
    });

    test('fail with a token signed by another key', async () => {
      user('sub-ana', 'ana@example.com');
      issuer.state.isForged = true;
      await refusedBy('provider', signIn());
    });

    test('fail with a made-up, missing or changed state before the code is redeemed', async () => {
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

    test('fail as login CSRF: the response for another browser signs in nobody, and is not used up', async () => {
      user('sub-ana', 'ana@example.com');
      const started = await begin();
      const victim = await begin();
      await refusedBy('expired', comeBack({ path: started.path, cookie: '' }));
      await refusedBy('expired', comeBack({ path: started.path, cookie: victim.cookie }));
      expect((await comeBack(started)).location).toBe('/console/');
    });

    test('fail with a response that is used twice or after ten minutes', async () => {
      user('sub-ana', 'ana@example.com');
      const started = await begin();
      expect((await comeBack(started)).location).toBe('/console/');
      await refusedBy('expired', comeBack(started));
      const slow = await begin();
      bundle.clock.advance(600_000);
      await refusedBy('expired', comeBack(slow));
    });

    test('fail with a code that the issuer has already redeemed', async () => {
      user('sub-ana', 'ana@example.com');
      const first = await begin();
      expect((await comeBack(first)).location).toBe('/console/');
      const second = await begin();
      const mixed = new URL(second.back);
      mixed.searchParams.set('code', first.back.searchParams.get('code')!);
      await refusedBy('provider', comeBack({ ...second, path: `company/callback${mixed.search}` }));
    });

    test('fail to begin a sign-in from another site; its cookie is for this host only, and attempts are limited', async () => {
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

  describe('passwords for owners only', () => {
    test('sign in no other role, by an invitation or by a password link', async () => {
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

    test('are announced by the sign-in page', async () => {
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
  ])('is rejected at the start: %s', (_name, environment) => {
    expect(() => readConfig({ environment, arguments: [] })).toThrow(ConfigError);
  });

  test('is rejected while the issuer is unavailable, and tried again', async () => {
    const provider = makeCompanyProvider({
      groupsClaim: 'groups',
      issuer: 'http://127.0.0.1:9',
      ...client,
      name: 'Away',
    });
    const request = { redirectUri: 'https://x.example/', state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
    await expect(provider.authorize(request)).rejects.toThrow();
    await provider.close();
  });

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
});
