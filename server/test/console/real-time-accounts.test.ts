import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCompanySignIn } from '../../src/app/accounts/company-sign-in.ts';
import { goodPassword, makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

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
            ...{ emailVerification: 'verified', username: undefined },
          }),
        },
        rules: { domains: [], firstRole: undefined, emailTrust: 'verified' },
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

  test('leaves the life of a session as it is: twelve hours of real time', async () => {
    moveSandbox(days);
    bundle.clock.advance(12 * 3_600_000 - 1);
    expect(await statusOf(owner)).toBe(200);
    bundle.clock.advance(1);
    expect(await statusOf(owner)).toBe(401);
  });

  test('leaves invitations and password links valid', async () => {
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

  test('leaves a company sign-in under way valid', async () => {
    const begun = await bundle.call('POST', 'company');
    const state = new URL(begun.body.location).searchParams.get('state')!;
    moveSandbox(days);
    const ended = await bundle.call('GET', `company/callback?state=${state}&code=1`, { cookie: begun.cookie });
    expect([ended.status, ended.headers.location]).toEqual([303, '/console/']);
  });

  test('gives no further guesses of a password', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await signIn('guess')).status).toBe(401);
    moveSandbox(days);
    expect((await signIn('guess')).status).toBe(429);
  });

  test('leaves the audit log in the order of real time', async () => {
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
