import { TOTP } from 'otpauth';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCompanySignIn } from '../../src/app/accounts/company-sign-in.ts';
import { goodPassword, makeAccountsBundle } from './accounts-bundle.ts';
import type { AccountsBundle, BundleOptions } from './accounts-bundle.ts';
import { makeSoftAuthenticator } from './soft-authenticator.ts';

describe('second factors', () => {
  let bundle: AccountsBundle;
  let owner: string;
  const origin = 'https://push.example';
  async function begin(options: BundleOptions = {}): Promise<void> {
    bundle = await makeAccountsBundle({ publicUrl: origin, ...options });
    owner = await bundle.createOwner();
  }
  afterEach(() => bundle.end());

  const post = (path: string, cookie: string, body?: object) =>
    bundle.call('POST', path, { cookie, ...(body && { body }) });
  const get = (path: string, cookie: string) => bundle.call('GET', path, { cookie });
  const sessionStatus = async (cookie: string) => (await get('session', cookie)).status;
  const codeOf = (secret: string, steps = 0) =>
    new TOTP({ secret }).generate({ timestamp: bundle.clock.realNow().getTime() + steps * 30_000 });
  const signIn = async (email = 'olga@example.com') =>
    (await post('session/password', '', { email, password: goodPassword })).cookie;
  const present = (cookie: string, code: string, address = '198.51.100.7') =>
    bundle.call('POST', 'second-factor/code', { cookie, address, body: { code } });
  const actions = async (cookie: string) =>
    (await get(`audit?workspaceId=${bundle.workspaceId}`, cookie)).body.entries.map(({ action }: any) => action);

  /** Adds an app to the account of the session. */
  async function addApp(cookie: string) {
    const { secret } = (await post('own/authenticator', cookie)).body as { secret: string };
    const confirmed = await post('own/authenticator/confirmation', cookie, { code: codeOf(secret) });
    expect(confirmed.status).toBe(200);
    bundle.clock.advance(60_000);
    return { secret, recoveryCodes: confirmed.body.recoveryCodes as string[], cookie: confirmed.cookie };
  }

  /** Adds a passkey to the account of the session. */
  async function addPasskey(cookie: string, key = makeSoftAuthenticator({ origin, site: 'push.example' })) {
    const { options } = (await post('own/passkeys/options', cookie)).body;
    return { key, added: await post('own/passkeys', cookie, { name: 'Key', response: key.create(options) }) };
  }

  describe('an authenticator app', () => {
    test('is asked for after the password, and until then the session opens nothing else', async () => {
      await begin();
      const { secret } = await addApp(owner);
      const halfway = await signIn();
      const refused = await get('session', halfway);
      expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
        ...[401, 'ACCOUNT_SECOND_FACTOR_NEEDED', 'second factor'],
      ]);
      for (const { method, url, permission } of bundle.routes) {
        if (permission === 'none' || permission === 'session.enter') continue;
        const path = url.replace('/console/api/', '').replace(/:[A-Za-z]+/g, '0'.repeat(24));
        const { status } = await bundle.call(method as 'GET', `${path}?workspaceId=${bundle.workspaceId}`, {
          cookie: halfway,
        });
        expect(status, `${method} ${url}`).toBe(401);
      }
      expect((await get('second-factor', halfway)).body).toEqual({
        ...{ stage: 'SECOND_FACTOR', email: 'olga@example.com' },
        ...{ hasAuthenticator: true, hasPasskey: false, hasRecoveryCode: true },
      });
      const complete = await present(halfway, codeOf(secret));
      expect(complete.status).toBe(204);
      expect(await sessionStatus(complete.cookie)).toBe(200);
      // The token of the first step does not become a full one.
      expect(complete.cookie).not.toBe(halfway);
      expect((await get('second-factor', halfway)).status).toBe(401);
      const [newest, ...earlier] = await actions(complete.cookie);
      expect([newest, earlier.includes('account.authenticator-add')]).toEqual(['account.sign-in', true]);
    }, 60_000);

    test('accepts a code once, of the present step or a neighbour, and none that is older than an accepted one (RFC 6238 §5.2)', async () => {
      await begin();
      const { secret } = await addApp(owner);
      expect((await present(await signIn(), codeOf(secret, 2))).status).toBe(401);
      expect((await present(await signIn(), codeOf(secret, -2))).status).toBe(401);
      const next = codeOf(secret, 1);
      const [first, second] = [await signIn(), await signIn()];
      const both = await Promise.all([present(first, next), present(second, next)]);
      expect(both.map(({ status }) => status).sort()).toEqual([204, 401]);
      expect((await present(await signIn(), codeOf(secret))).status).toBe(401);
      bundle.clock.advance(60_000);
      expect((await present(await signIn(), codeOf(secret))).status).toBe(204);
    });

    test('does not count before its first code is confirmed, and that code opens no session', async () => {
      await begin();
      const { secret } = (await post('own/authenticator', owner)).body;
      expect(await sessionStatus(await signIn())).toBe(200);
      expect((await post('own/authenticator/confirmation', owner, { code: '000000' })).status).toBe(401);
      const code = codeOf(secret);
      expect((await post('own/authenticator/confirmation', owner, { code })).status).toBe(200);
      expect((await present(await signIn(), code)).status).toBe(401);
      expect((await post('own/authenticator', owner)).body.code).toBe('PARAMETER_INVALID');
    });

    test('stores its secret encrypted under the master key', async () => {
      await begin();
      const { secret } = await addApp(owner);
      const [row] = await bundle.database`select secret_sealed from account_authenticators`;
      expect((row!.secret_sealed as Buffer).includes(secret)).toBe(false);
      expect(JSON.stringify(bundle.logLines)).not.toContain(secret);
      expect(bundle.recorded).toEqual([]);
    });
  });

  test('ten recovery codes come with the first factor; each works once, in any spelling, and new ones end the old', async () => {
    await begin();
    const { recoveryCodes } = await addApp(owner);
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(recoveryCodes[0]).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/);
    const [stored] =
      await bundle.database`select string_agg(code_hash::text, '') as hashes from account_recovery_codes`;
    expect(stored!.hashes).not.toContain(Buffer.from(recoveryCodes[0]!).toString('hex'));
    const typed = recoveryCodes[0]!.toLowerCase().replaceAll('-', ' ').replaceAll('1', 'l').replaceAll('0', 'o');
    const opened = await present(await signIn(), typed);
    expect(opened.status).toBe(204);
    expect((await present(await signIn(), recoveryCodes[0]!)).status).toBe(401);
    expect((await get('own/second-factors', opened.cookie)).body.recoveryCodes).toBe(9);
    const renewed = (await post('own/recovery-codes', opened.cookie)).body.recoveryCodes as string[];
    expect((await present(await signIn(), recoveryCodes[1]!)).status).toBe(401);
    expect((await present(await signIn(), renewed[1]!)).status).toBe(204);
  });

  describe('a passkey', () => {
    test('is added under a name, signs in, is renamed, and is removed with the recovery codes', async () => {
      await begin();
      const { key, added } = await addPasskey(owner);
      expect([added.status, added.body.recoveryCodes.length]).toEqual([200, 10]);
      expect((await addPasskey(owner, key)).added.status).toBe(400);
      const halfway = await signIn();
      const asked = (await post('second-factor/passkey-options', halfway)).body.options;
      expect(asked).toMatchObject({ rpId: 'push.example', userVerification: 'required' });
      const response = key.sign(asked);
      const opened = await post('second-factor/passkey', halfway, { response });
      expect(opened.status).toBe(204);
      const [passkey] = (await get('own/second-factors', opened.cookie)).body.passkeys;
      expect(passkey).toMatchObject({ name: 'Key', usedAt: expect.any(String) });
      const path = `own/passkeys/${passkey.id}`;
      const renamed = await bundle.call('PATCH', path, { cookie: opened.cookie, body: { name: 'Desk' } });
      expect(renamed.status).toBe(204);
      expect((await get('own/second-factors', opened.cookie)).body.passkeys[0].name).toBe('Desk');
      expect((await bundle.call('DELETE', path, { cookie: opened.cookie })).status).toBe(204);
      expect((await get('own/second-factors', opened.cookie)).body).toMatchObject({ passkeys: [], recoveryCodes: 0 });
      expect(await sessionStatus(await signIn())).toBe(200);
      expect(await actions(opened.cookie)).toEqual(
        expect.arrayContaining(['account.passkey-add', 'account.passkey-rename', 'account.passkey-remove']),
      );
    });

    test.each([
      ['of another origin', { origin: 'https://push.example.evil.example' }],
      ['of plain http, as behind a proxy', { origin: 'http://push.example' }],
      ['of another site', { site: 'evil.example' }],
      ['without user verification', { isUserVerified: false }],
      ['with a counter that has not grown, as of a copy', { signCount: -1 }],
    ])('rejects a signature %s', async (_case, lie) => {
      await begin();
      const { key } = await addPasskey(owner);
      const enter = async () => {
        const halfway = await signIn();
        const { options } = (await post('second-factor/passkey-options', halfway)).body;
        return post('second-factor/passkey', halfway, { response: key.sign(options) });
      };
      expect((await enter()).status).toBe(204);
      Object.assign(key.state, lie);
      expect((await enter()).body.code).toBe('ACCOUNT_SECOND_FACTOR_FAILED');
    });

    test('signs each challenge once, within five minutes, in the session that asked for it', async () => {
      await begin();
      const { key } = await addPasskey(owner);
      const [halfway, other] = [await signIn(), await signIn()];
      const ask = async () => (await post('second-factor/passkey-options', halfway)).body.options;
      const use = (cookie: string, response: object) => post('second-factor/passkey', cookie, { response });
      expect((await use(other, key.sign(await ask()))).status).toBe(401);
      const late = await ask();
      bundle.clock.advance(300_000);
      expect((await use(halfway, key.sign(late))).status).toBe(401);
      const response = key.sign(await ask());
      const both = await Promise.all([use(halfway, response), use(halfway, response)]);
      expect(both.map(({ status }) => status).sort()).toEqual([204, 401]);
    });

    test.each([
      [undefined, 'CARILLON_PUBLIC_URL is missing'],
      ['http://push.example', 'does not begin with https'],
      ['https://192.0.2.7:8443', 'IP address'],
    ])('is not possible at the public URL %s, with the reason', async (publicUrl, fault) => {
      await begin({ publicUrl: publicUrl as string });
      expect((await get('own/second-factors', owner)).body.passkeyFault).toContain(fault);
      expect((await post('own/passkeys/options', owner)).status).toBe(400);
    });
  });

  test('changes of factors need a session of the last 15 minutes, and end all other sessions', async () => {
    await begin();
    const other = await signIn();
    const { secret } = await addApp(owner);
    expect([await sessionStatus(other), await sessionStatus(owner)]).toEqual([401, 200]);
    bundle.clock.advance(15 * 60_000);
    const remove = (cookie: string) => bundle.call('DELETE', 'own/authenticator', { cookie });
    expect((await remove(owner)).body.code).toBe('ACCOUNT_SIGN_IN_STALE');
    const fresh = (await present(await signIn(), codeOf(secret))).cookie;
    expect((await remove(fresh)).status).toBe(204);
    expect([await sessionStatus(owner), await sessionStatus(fresh)]).toEqual([401, 200]);
  });

  test('a link for a new password does not replace the second factor', async () => {
    await begin();
    const cookie = await bundle.join(owner, { email: 'max@example.com', role: 'owner' });
    const { id } = (await get('session', cookie)).body.account;
    const { secret } = await addApp(cookie);
    const { link } = (await post(`accounts/${id}/password-link`, owner)).body;
    const body = { code: link.split('#new-password=')[1], password: 'quite another one' };
    const set = await post('new-password', '', body);
    expect([set.status, await sessionStatus(set.cookie)]).toEqual([204, 401]);
    expect((await present(set.cookie, codeOf(secret))).status).toBe(204);
  });

  test('an owner resets them for a user who lost them, which ends the sessions and keeps the password', async () => {
    await begin();
    const cookie = await bundle.join(owner, { email: 'max@example.com', role: 'analyst' });
    const { id } = (await get('session', cookie)).body.account;
    await addApp(cookie);
    const halfway = await signIn('max@example.com');
    const listed = async () => (await get('accounts', owner)).body.accounts.find((one: any) => one.id === id);
    expect((await listed()).hasSecondFactor).toBe(true);
    const reset = () => bundle.call('DELETE', `accounts/${id}/second-factors`, { cookie: owner });
    expect((await reset()).status).toBe(204);
    expect((await listed()).hasSecondFactor).toBe(false);
    expect([await sessionStatus(cookie), (await get('second-factor', halfway)).status]).toEqual([401, 401]);
    expect(await sessionStatus(await signIn('max@example.com'))).toBe(200);
    expect((await reset()).status).toBe(404);
    expect(await actions(owner)).toContain('account.second-factor-reset');
  });

  describe('where they are required', () => {
    test('users without one can only add one, with which they go on, and keep the last one', async () => {
      await begin({ secondFactor: 'passwords' });
      const refused = await get('session', owner);
      expect([refused.status, refused.body.detail]).toEqual([401, 'enrolment']);
      expect((await get(`overview?workspaceId=${bundle.workspaceId}`, owner)).status).toBe(401);
      expect((await get('second-factor', owner)).body.stage).toBe('ENROLMENT');
      const { cookie } = await addApp(owner);
      expect([await sessionStatus(cookie), await sessionStatus(owner)]).toEqual([200, 401]);
      const removed = await bundle.call('DELETE', 'own/authenticator', { cookie });
      expect(removed.body).toMatchObject({ code: 'PARAMETER_INVALID', field: 'secondFactor' });
    });

    test('a sign-in without one ends after 15 minutes', async () => {
      await begin({ secondFactor: 'passwords' });
      bundle.clock.advance(15 * 60_000);
      expect((await get('second-factor', owner)).status).toBe(401);
    });

    test.each([
      ['optional', 200, undefined],
      ['passwords', 200, undefined],
      ['everyone', 401, 'enrolment'],
    ] as const)('with the rule %s, a company account gets %i', async (secondFactor, status, detail) => {
      const claims = { issuer: 'i', subject: 's', email: 'ada@example.com', emailVerification: 'verified' as const };
      await begin({
        secondFactor,
        company: (parts) =>
          makeCompanySignIn({
            ...parts,
            provider: {
              name: 'Example',
              authorize: async ({ state }) => `https://issuer.example/?state=${state}`,
              redeem: async () => ({ ...claims, username: undefined, name: 'Ada', groups: undefined }),
            },
            rules: { domains: ['example.com'], firstRole: 'analyst', emailTrust: 'verified', groupRoles: [] },
          }),
      });
      const begun = await post('company', '');
      const state = new URL(begun.body.location as string).searchParams.get('state')!;
      const ended = await get(`company/callback?code=c&state=${state}`, begun.cookie);
      const cookies = [ended.headers['set-cookie']].flat().map(String);
      const answer = await get('session', cookies.find((one) => one.includes('session'))!.split(';', 1)[0]!);
      expect([answer.status, answer.body.detail]).toEqual([status, detail]);
    });
  });

  describe('guesses', () => {
    test('of codes are limited to ten in ten minutes for an account, over all addresses and sign-ins', async () => {
      await begin();
      const { secret } = await addApp(owner);
      bundle.clock.advance(600_000);
      const sessions = [await signIn(), await signIn()];
      for (let guess = 0; guess < 10; guess += 1)
        expect((await present(sessions[guess % 2]!, '000000', `203.0.113.${guess}`)).status).toBe(401);
      const refused = await present(sessions[0]!, codeOf(secret), '203.0.113.99');
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '600']);
      bundle.clock.advance(600_000);
      const opened = await present(sessions[0]!, codeOf(secret));
      expect(opened.status).toBe(204);
      expect(await actions(opened.cookie)).toContain('account.sign-in-failed');
    });

    test('of a password are limited to a hundred a day over all addresses, but not from addresses that opened the account', async () => {
      await begin();
      const guess = (address: string, email = 'olga@example.com', password = 'not the password') =>
        bundle.call('POST', 'session/password', { address, body: { email, password } });
      for (const email of ['olga@example.com', 'nobody@example.com']) {
        for (let source = 0; source < 10; source += 1)
          for (let attempt = 0; attempt < 10; attempt += 1)
            expect((await guess(`203.0.${email.length}.${source}`, email)).status).toBe(401);
        expect((await guess('203.0.113.200', email, goodPassword)).status).toBe(429);
      }
      // The bundle's own address created the account.
      expect(await sessionStatus(await signIn())).toBe(200);
      bundle.clock.advance(86_400_000);
      expect((await guess('203.0.113.200', 'olga@example.com', goodPassword)).status).toBe(204);
    }, 60_000);
  });
});
