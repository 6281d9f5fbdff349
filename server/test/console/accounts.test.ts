import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changeOwnPassword } from '../../src/app/accounts/accounts.ts';
import { makeCompanySignIn } from '../../src/app/accounts/company-sign-in.ts';
import { makePasswordHash } from '../../src/app/accounts/password-hash.ts';
import { signIn as useCase } from '../../src/app/accounts/sign-in.ts';
import { permissions } from '../../src/domain/access/accounts.ts';
import { goodPassword, makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

describe('accounts', () => {
  let bundle: AccountsBundle;
  beforeEach(async () => {
    bundle = await makeAccountsBundle();
  });
  afterEach(() => bundle.end());

  const credentials = { email: 'olga@example.com', password: goodPassword };
  const signIn = (more: Record<string, unknown> = {}, address?: string) =>
    bundle.call('POST', 'session/password', {
      body: { ...credentials, ...more },
      ...(address === undefined ? {} : { address }),
    });
  const session = (cookie: string) => bundle.call('GET', 'session', { cookie });
  const audit = async (cookie: string) =>
    (await bundle.call('GET', `audit?workspaceId=${bundle.workspaceId}`, { cookie })).body.entries as any[];

  describe('the first owner', () => {
    test('signs in once with the link of the first start, after which no start creates another', async () => {
      const link = (await bundle.createStartLink())!;
      const second = (await bundle.createStartLink())!;
      expect(link.kind).toBe('first-owner');
      const owner = { code: link.code, email: ' Olga@example.com ', name: 'Olga', password: goodPassword };
      const answer = await bundle.call('POST', 'first-owner', { body: owner });
      expect(answer.status).toBe(204);
      expect((await session(answer.cookie)).body).toMatchObject({
        account: { email: 'Olga@example.com', name: 'Olga', roles: ['owner'] },
        workspaces: [{ roles: ['owner'], permissions: Object.keys(permissions) }],
      });
      expect((await bundle.call('POST', 'first-owner', { body: owner })).body.code).toBe('ACCOUNT_LINK_INVALID');
      // A link that another start had printed meanwhile.
      const late = { ...owner, code: second.code, email: 'late@example.com' };
      expect((await bundle.call('POST', 'first-owner', { body: late })).status).toBe(401);
      expect(await bundle.createStartLink()).toBeUndefined();
    });

    test('is not created by a link that is a day old', async () => {
      const { code } = (await bundle.createStartLink())!;
      bundle.clock.advance(24 * 3_600_000);
      const owner = { code, ...credentials, name: 'Olga' };
      expect((await bundle.call('POST', 'first-owner', { body: owner })).status).toBe(401);
    });

    test.each([
      ['short', 'must have 12'],
      ['aaaaaaaaaaaaaaaa', 'different characters'],
      ['OLGA@example.com', 'your name or address'],
    ])('gets a reason if the password %s is rejected', async (password, reason) => {
      const { code } = (await bundle.createStartLink())!;
      const answer = await bundle.call('POST', 'first-owner', {
        body: { code, ...credentials, name: 'Olga', password },
      });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ field: 'password', detail: expect.stringContaining(reason) });
    });
  });

  describe('signing in', () => {
    test('accepts an address in any case with its password, and hides the cookie from scripts and other sites', async () => {
      await bundle.createOwner();
      const answer = await signIn({ email: 'OLGA@Example.com' });
      expect(answer.status).toBe(204);
      const header = String(answer.headers['set-cookie']);
      expect(header).toMatch(
        /^__Host-carillon_session_[0-9a-f]{8}=\S+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      );
      expect((await session(answer.cookie)).status).toBe(200);
      // A name without the prefix is one that a neighbour below the same domain could have set.
      expect((await session(answer.cookie.replace('__Host-', ''))).status).toBe(401);
    });

    test('gives the same response to a wrong password, an unknown address and a disabled account', async () => {
      const owner = await bundle.createOwner();
      await bundle.join(owner, { email: 'max@example.com', role: 'marketer' });
      const { body } = await bundle.call('GET', 'accounts', { cookie: owner });
      const max = body.accounts.find(({ email }: { email: string }) => email === 'max@example.com');
      await bundle.call('POST', `accounts/${max.id}/disable`, { cookie: owner });
      const answers = await Promise.all([
        signIn({ password: 'not the password' }),
        signIn({ email: 'nobody@example.com' }),
        signIn({ email: 'max@example.com' }),
      ]);
      for (const answer of answers) {
        expect(answer.status).toBe(401);
        expect(answer.body).toEqual(answers[0]!.body);
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    });

    test('opens no session that outlives a concurrent password change', async () => {
      const cookie = await bundle.createOwner();
      const { accounts, database } = bundle;
      const passwords = {
        ...accounts.passwords,
        // The change comes between the comparison and the session.
        async matches(password: string, stored: string | undefined) {
          const isRight = await accounts.passwords.matches(password, stored);
          const body = { current: goodPassword, password: 'another long sentence' };
          expect((await bundle.call('PUT', 'own/password', { cookie, body })).status).toBe(204);
          return isRight;
        },
      };
      const caller = { address: '203.0.113.9', userAgent: '' };
      await expect(useCase({ ...accounts, passwords }, { ...credentials, caller })).rejects.toMatchObject({
        code: 'ACCOUNT_SIGN_IN_FAILED',
      });
      expect((await session(cookie)).status).toBe(200);
      expect(await database`select count(*) as sessions from console_sessions`).toEqual([{ sessions: 1 }]);
    });

    test('rejects the eleventh attempt in ten minutes for one account from one address, right or wrong, but not from another', async () => {
      await bundle.createOwner();
      for (let attempt = 0; attempt < 10; attempt += 1) expect((await signIn({ password: 'guess' })).status).toBe(401);
      const refused = await signIn();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBe(600);
      expect((await signIn({}, '203.0.113.9')).status).toBe(204);
      bundle.clock.advance(600_000);
      expect((await signIn()).status).toBe(204);
    });

    test('rejects an address that tries many accounts after sixty attempts', async () => {
      for (let attempt = 0; attempt < 60; attempt += 1)
        expect((await signIn({ email: `p${attempt}@example.com` })).status).toBe(401);
      expect((await signIn({ email: 'p60@example.com' })).status).toBe(429);
    });

    test('ends a session after twelve hours, and when its owner signs out', async () => {
      const cookie = await bundle.createOwner();
      const other = (await signIn()).cookie;
      expect((await bundle.call('DELETE', 'session', { cookie: other })).status).toBe(204);
      expect((await session(other)).status).toBe(401);
      bundle.clock.advance(12 * 3_600_000 - 1);
      expect((await session(cookie)).status).toBe(200);
      bundle.clock.advance(1);
      expect((await session(cookie)).status).toBe(401);
    });

    test('writes no password and no code to the API log', async () => {
      await bundle.createOwner();
      await signIn();
      expect(bundle.recorded).toEqual([]);
    });

    test('stores a password as argon2id with 19 MiB and two passes, and matches no other', async () => {
      const passwords = makePasswordHash();
      const stored = await passwords.hash(goodPassword);
      expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect(await passwords.matches(goodPassword, stored)).toBe(true);
      expect(await passwords.matches(`${goodPassword} `, stored)).toBe(false);
      expect(await passwords.matches(goodPassword, undefined)).toBe(false);
      await bundle.createOwner();
      const [row] = await bundle.database`select password_hash from accounts`;
      expect(row!.password_hash).toMatch(/^\$argon2id\$v=19\$m=64,t=2,p=1\$/);
    });
  });

  describe('invitations', () => {
    test('show an address and a role, and are used up by one acceptance', async () => {
      const owner = await bundle.createOwner();
      const body = { email: 'ana@example.com', role: 'analyst' };
      const invited = await bundle.call('POST', 'invitations', { cookie: owner, body });
      const code = String(invited.body.link).split('#invitation=')[1]!;
      expect((await bundle.call('POST', 'invitation', { body: { code } })).body).toEqual({
        ...body,
        workspaceRoles: [],
        invitedBy: 'Olga',
      });
      const acceptance = { code, name: 'Ana', password: goodPassword };
      const accepted = await bundle.call('POST', 'invitation/acceptance', { body: acceptance });
      expect((await session(accepted.cookie)).body.account).toMatchObject({
        ...{ name: 'Ana', email: body.email, roles: [body.role] },
      });
      expect((await bundle.call('POST', 'invitation/acceptance', { body: acceptance })).status).toBe(401);
      expect((await bundle.call('POST', 'invitations', { cookie: owner, body })).body.code).toBe('ACCOUNT_EMAIL_TAKEN');
    });

    test('are invalid if they are withdrawn or a week old', async () => {
      const owner = await bundle.createOwner();
      const invite = async (email: string) =>
        (await bundle.call('POST', 'invitations', { cookie: owner, body: { email, role: 'owner' } })).body;
      const codeOf = ({ link }: { link: string }) => link.split('#invitation=')[1]!;
      const withdrawn = await invite('w@example.com');
      const late = await invite('l@example.com');
      expect((await bundle.call('DELETE', `invitations/${withdrawn.id}`, { cookie: owner })).status).toBe(204);
      const accept = (code: string) =>
        bundle.call('POST', 'invitation/acceptance', { body: { code, name: 'X', password: goodPassword } });
      expect((await accept(codeOf(withdrawn))).status).toBe(401);
      bundle.clock.advance(7 * 24 * 3_600_000);
      expect((await accept(codeOf(late))).status).toBe(401);
    });
  });

  describe('roles', () => {
    test('permit no change by a request from another site, whatever its cookies', async () => {
      const cookie = await bundle.createOwner();
      const changing = bundle.routes.filter((route) => route.method !== 'GET');
      expect(changing.length).toBeGreaterThan(50);
      for (const { method, url } of changing) {
        const path = url.replace('/console/api/', '').replace(/:[A-Za-z]+/g, '0'.repeat(24));
        for (const headers of [
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
          { origin: 'https://evil.example' },
        ])
          expect((await bundle.call(method as 'POST', path, { cookie, headers: headers as never })).status).toBe(403);
      }
    });

    test('change open sessions immediately, and a disabled account is signed out', async () => {
      const owner = await bundle.createOwner();
      const cookie = await bundle.join(owner, { email: 'dev@example.com', role: 'developer' });
      const { id } = (await session(cookie)).body.account;
      const list = () => bundle.call('GET', 'accounts', { cookie });
      expect((await list()).status).toBe(403);
      await bundle.call('PUT', `accounts/${id}/role`, { cookie: owner, body: { role: 'owner' } });
      expect((await list()).status).toBe(200);
      await bundle.call('POST', `accounts/${id}/disable`, { cookie: owner });
      expect((await list()).status).toBe(401);
      await bundle.call('POST', `accounts/${id}/enable`, { cookie: owner });
      expect((await list()).status).toBe(401);
      expect((await signIn({ email: 'dev@example.com' })).status).toBe(204);
    });

    test('keep the last owner, and one of two who demote each other concurrently', async () => {
      const olga = await bundle.createOwner();
      const olgaId = (await session(olga)).body.account.id;
      const demote = (cookie: string, id: string) =>
        bundle.call('PUT', `accounts/${id}/role`, { cookie, body: { role: 'analyst' } });
      expect((await demote(olga, olgaId)).body.code).toBe('ACCOUNT_LAST_OWNER');
      expect((await bundle.call('POST', `accounts/${olgaId}/disable`, { cookie: olga })).status).toBe(409);
      const paul = await bundle.join(olga, { email: 'paul@example.com', role: 'owner' });
      const paulId = (await session(paul)).body.account.id;
      const statuses = (await Promise.all([demote(olga, paulId), demote(paul, olgaId)])).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      const owners = await bundle.database`select 1 from accounts where role = 'owner'`;
      expect(owners).toHaveLength(1);
    });
  });

  describe('the own account', () => {
    test('lists its sessions and ends one, but not those of other accounts', async () => {
      const cookie = await bundle.createOwner();
      bundle.clock.advance(1);
      const second = (await signIn({}, '203.0.113.9')).cookie;
      const ana = await bundle.join(cookie, { email: 'ana@example.com', role: 'analyst' });
      const list = async (of: string) =>
        (await bundle.call('GET', 'own/sessions', { cookie: of })).body.sessions as any[];
      const [newest, oldest] = await list(cookie);
      expect([newest.sourceAddress, newest.isThis, oldest.isThis]).toEqual(['203.0.113.9', false, true]);
      const [anas] = await list(ana);
      expect((await bundle.call('DELETE', `own/sessions/${anas.id}`, { cookie })).status).toBe(404);
      expect((await bundle.call('DELETE', `own/sessions/${newest.id}`, { cookie })).status).toBe(204);
      expect((await session(second)).status).toBe(401);
      expect((await session(ana)).status).toBe(200);
    });

    test('changes its password with the old one, which ends the other sessions', async () => {
      const cookie = await bundle.createOwner();
      const second = (await signIn()).cookie;
      const change = (current: string) =>
        bundle.call('PUT', 'own/password', { cookie, body: { current, password: 'another long sentence' } });
      expect((await change('wrong')).status).toBe(401);
      expect((await change(goodPassword)).status).toBe(204);
      expect((await session(second)).status).toBe(401);
      expect((await session(cookie)).status).toBe(200);
      expect((await signIn()).status).toBe(401);
      expect((await signIn({ password: 'another long sentence' })).status).toBe(204);
    });

    test('sets a forgotten password once by a link of an owner, which ends every session', async () => {
      const owner = await bundle.createOwner();
      const cookie = await bundle.join(owner, { email: 'max@example.com', role: 'marketer' });
      const { id } = (await session(cookie)).body.account;
      const made = await bundle.call('POST', `accounts/${id}/password-link`, { cookie: owner });
      const code = String(made.body.link).split('#new-password=')[1]!;
      const set = () => bundle.call('POST', 'new-password', { body: { code, password: 'quite another one' } });
      expect((await set()).status).toBe(204);
      expect((await set()).status).toBe(401);
      expect((await session(cookie)).status).toBe(401);
      expect((await signIn({ email: 'max@example.com', password: 'quite another one' })).status).toBe(204);
    });

    test('rejects a password change with a password that a link replaced during the comparison', async () => {
      const owner = await bundle.createOwner();
      const cookie = await bundle.join(owner, { email: 'max@example.com', role: 'marketer' });
      const { id, name } = (await session(cookie)).body.account;
      const made = await bundle.call('POST', `accounts/${id}/password-link`, { cookie: owner });
      const code = String(made.body.link).split('#new-password=')[1]!;
      const { database, accounts } = bundle;
      const passwords = {
        ...accounts.passwords,
        async matches(password: string, stored: string | undefined) {
          const isRight = await accounts.passwords.matches(password, stored);
          const body = { code, password: 'quite another one' };
          expect((await bundle.call('POST', 'new-password', { body })).status).toBe(204);
          return isRight;
        },
      };
      const [row] = await database`select id from console_sessions where account_id = ${id}`;
      const actor = {
        kind: 'account',
        id,
        name,
        email: 'max@example.com',
        access: { installation: ['marketer'], workspaces: {} },
        sessionId: row!.id as string,
        stage: 'OPEN',
        openedAt: start,
      } as const;
      const caller = { address: '203.0.113.9', userAgent: '' };
      const change = { actor, caller, current: goodPassword, password: 'one of a thief' };
      await expect(changeOwnPassword({ ...accounts, passwords }, change)).rejects.toMatchObject({
        code: 'ACCOUNT_SIGN_IN_FAILED',
      });
      expect((await signIn({ email: 'max@example.com', password: 'one of a thief' })).status).toBe(401);
      expect((await signIn({ email: 'max@example.com', password: 'quite another one' })).status).toBe(204);
    });
  });

  test('the audit log records who changed which object when, newest first, and contains no secret', async () => {
    const owner = await bundle.createOwner();
    const cookie = await bundle.join(owner, { email: 'max@example.com', role: 'marketer' });
    const { id } = (await session(cookie)).body.account;
    bundle.clock.advance(1000);
    await bundle.call('PUT', `accounts/${id}/role`, { cookie: owner, body: { role: 'analyst' } });
    await bundle.call('POST', `accounts/${id}/disable`, { cookie: owner });
    const entries = await audit(owner);
    expect(entries.map(({ action }) => action).toSorted()).toEqual([
      'account.create',
      'account.create',
      'account.disable',
      'account.role',
      'invitation.create',
    ]);
    const change = entries.find(({ action }) => action === 'account.role');
    expect(change).toMatchObject({
      at: '2026-03-01T10:00:01.000Z',
      actorName: 'Olga',
      objectKind: 'account',
      objectId: id,
      objectName: 'max@example.com',
      detail: { from: 'marketer', to: 'analyst' },
    });
    expect(entries.map(({ id: entryId }) => entryId)).toEqual(
      entries
        .map(({ id: entryId }) => entryId)
        .toSorted()
        .toReversed(),
    );
    const older = await bundle.call('GET', `audit?workspaceId=${bundle.workspaceId}&before=${entries[1].id}`, {
      cookie: owner,
    });
    expect(older.body.entries).toHaveLength(entries.length - 2);
    expect(JSON.stringify(entries)).not.toMatch(/argon2|bottles/);
  });
});

describe('accounts in real time', () => {
  const email = 'olga@example.com';
  const daysOfMilliseconds = (days: number): number => days * 86_400_000;

  let bundle: AccountsBundle;
  let owner: string;
  beforeEach(async () => {
    bundle = await makeAccountsBundle({
      company: (parts) =>
        makeCompanySignIn({
          ...parts,
          provider: {
            name: 'Example',
            authorize: async ({ state }) => `https://issuer.example/?state=${state}`,
            redeem: async () => ({
              ...{ issuer: 'i', subject: 's', email, name: 'Olga' },
              ...{ emailVerification: 'verified', username: undefined, groups: undefined },
            }),
          },
          rules: { domains: [], firstRole: undefined, emailTrust: 'verified', groupRoles: [] },
        }),
    });
    owner = await bundle.createOwner();
  });
  afterEach(() => bundle.end());

  const statusOf = async (cookie: string) => (await bundle.call('GET', 'session', { cookie })).status;
  const signIn = (password: string) => bundle.call('POST', 'session/password', { body: { email, password } });
  const moveSandbox = (days: number) => bundle.clock.setOffset(daysOfMilliseconds(days));
  const codeIn = ({ link }: { link: string }) => link.split('=')[1]!;

  describe.each([30, -30])('a sandbox clock that is moved by %i days', (days) => {
    test('signs no user out', async () => {
      moveSandbox(days);
      expect(await statusOf(owner)).toBe(200);
    });

    test('keeps the lifetime of a session at twelve hours of real time', async () => {
      moveSandbox(days);
      bundle.clock.advance(12 * 3_600_000 - 1);
      expect(await statusOf(owner)).toBe(200);
      bundle.clock.advance(1);
      expect(await statusOf(owner)).toBe(401);
    });

    test('keeps invitations and password links valid', async () => {
      const invited = await bundle.call('POST', 'invitations', {
        cookie: owner,
        body: { email: 'max@example.com', role: 'marketer' },
      });
      const { accounts } = (await bundle.call('GET', 'accounts', { cookie: owner })).body;
      const linked = await bundle.call('POST', `accounts/${accounts[0].id}/password-link`, { cookie: owner });
      moveSandbox(days);
      const { invitations } = (await bundle.call('GET', 'accounts', { cookie: owner })).body;
      expect(invitations).toMatchObject([{ email: 'max@example.com', createdAt: start.toISOString() }]);
      const acceptance = { code: codeIn(invited.body), name: 'Max', password: goodPassword };
      expect((await bundle.call('POST', 'invitation/acceptance', { body: acceptance })).status).toBe(204);
      const change = { code: codeIn(linked.body), password: 'another long sentence' };
      expect((await bundle.call('POST', 'new-password', { body: change })).status).toBe(204);
    });

    test('keeps a company sign-in in progress valid', async () => {
      const begun = await bundle.call('POST', 'company');
      const state = new URL(begun.body.location).searchParams.get('state')!;
      moveSandbox(days);
      const ended = await bundle.call('GET', `company/callback?state=${state}&code=1`, { cookie: begun.cookie });
      expect([ended.status, ended.headers.location]).toEqual([303, '/console/']);
    });

    test('allows no further guesses of a password', async () => {
      for (let attempt = 0; attempt < 10; attempt += 1) expect((await signIn('guess')).status).toBe(401);
      moveSandbox(days);
      expect((await signIn('guess')).status).toBe(429);
    });

    test('keeps the audit log in the order of real time', async () => {
      moveSandbox(days);
      bundle.clock.advance(60_000);
      expect((await signIn(goodPassword)).status).toBe(204);
      const { entries } = (await bundle.call('GET', `audit?workspaceId=${bundle.workspaceId}`, { cookie: owner })).body;
      expect(entries.map(({ action, at }: { action: string; at: string }) => [action, at])).toEqual([
        ['account.sign-in', new Date(start.getTime() + 60_000).toISOString()],
        ['account.create', start.toISOString()],
      ]);
    });
  });
});
