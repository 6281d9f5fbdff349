import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCompanySignIn } from '../../src/app/accounts/company-sign-in.ts';
import type { CompanyClaims } from '../../src/domain/access/accounts.ts';
import { goodPassword, makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

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
        rules: { domains: ['example.com'], firstRole: undefined, emailTrust: 'verified' },
      }),
  });
  owner = await bundle.createOwner();
});
afterEach(() => bundle.end());

type Line = { actorName: string; objectName: string | null; detail: Record<string, string> };

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

test('a wrong password, an unknown address and a disabled account each leave a line that says which', async () => {
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

test('a link that is not valid leaves a line, whatever it was to open', async () => {
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

describe('by the company account', () => {
  async function comeBack(changed: Record<string, string> = {}) {
    const begun = await attempt('POST', 'company');
    const state = changed.state ?? new URL(begun.body.location).searchParams.get('state')!;
    return attempt('GET', `company/callback?state=${encodeURIComponent(state)}`, { cookie: begun.cookie });
  }

  test('a refusal leaves a line with its kind and the address that the issuer verified, none of its words', async () => {
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

test('what is typed into the field of the address is kept only if it is one: it may be a password', async () => {
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

test('a flood writes a bounded number of lines, the last of which says so, and hides no attempt on an account', async () => {
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

test('an attempt that a limit refuses is a failed sign-in too, and a form filled in badly is none', async () => {
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
