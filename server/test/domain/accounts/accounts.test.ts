import { describe, expect, test } from 'vitest';
import {
  readAccountName,
  readEmail,
  readNewPassword,
  isSharedIssuer,
  readCompanyEmail,
  mayDo,
  permissions,
  permissionsOf,
  roles,
} from '../../../src/domain/access/accounts.ts';
import type { CompanyClaims, CompanyRules, Permission } from '../../../src/domain/access/accounts.ts';
import { ServiceError } from '../../../src/domain/errors.ts';

/** What is read, or why it is refused. */
function read(reading: () => string): string {
  try {
    return reading();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('PARAMETER_INVALID');
    return `${error.context.field}: ${error.context.reason}`;
  }
}

describe('an email address', () => {
  const long = (length: number) => `${'x'.repeat(length - 10)}@b.example`;
  test.each([
    [' Ada@B.example ', 'Ada@B.example'],
    ['a+b@c', 'a+b@c'],
    [long(254), long(254)],
  ])('parses %j as %j', (text, email) => {
    expect(read(() => readEmail(text))).toBe(email);
  });

  test.each([
    ...['', 'a', '@b', 'a@', 'a@@b', 'a b@c', 'a@b c', 'a,b@c', 'a;b@c', '<a@c>', '"a"@c', long(255)],
    ...['a\u200b@b', 'a\0@b', 'a@b\ud800', 'a@b, c@d'],
  ])('is not %j', (text) => {
    expect(read(() => readEmail(text))).toBe('email: must be an e-mail address');
  });
});

test.each([
  [' Ada ', 'Ada'],
  ['A', 'A'],
  ['😀'.repeat(100), '😀'.repeat(100)],
  ['', 'name: must have 1 to 100 characters'],
  ['  ', 'name: must have 1 to 100 characters'],
  ['😀'.repeat(101), 'name: must have 1 to 100 characters'],
  ['A\tB', 'name: must be plain text'],
  ['A\ud800', 'name: must be plain text'],
])('parses the account name %j as %j', (text, name) => {
  expect(read(() => readAccountName(text))).toBe(name);
});

test.each([
  ['correct horse', 'correct horse'],
  ['😀bcdefghijkl', '😀bcdefghijkl'],
  [`abcde${'x'.repeat(251)}`, `abcde${'x'.repeat(251)}`],
  [`abcde${'x'.repeat(252)}`, 'password: must have 12 to 256 characters'],
  ['abcdefghijk', 'password: must have 12 to 256 characters'],
  ['😀😁😂🤣😃😄', 'password: must have 12 to 256 characters'],
  ['aAbBcCdDaAbB', 'password: must have more than four different characters'],
  ['aAbBcCdDeEaA', 'aAbBcCdDeEaA'],
  ['Ada.Lovelace@B.example', 'password: must not be your name or address'],
  ['ADA.LOVELACE', 'password: must not be your name or address'],
  ['countess Ada L', 'password: must not be your name or address'],
  ['ada.lovelace1', 'ada.lovelace1'],
])('parses the password %j as %j', (password, taken) => {
  const own = { email: 'ada.Lovelace@b.example', name: 'Countess Ada L' };
  expect(read(() => readNewPassword(password, own))).toBe(taken);
});

describe('the address of a company account', () => {
  const claims: CompanyClaims = {
    ...{ issuer: 'i', subject: 's', email: 'Ada@B.Example', emailVerification: 'verified', username: 'ada@b.example' },
    name: undefined,
  };
  const rules: CompanyRules = { domains: ['b.example'], firstRole: undefined, emailTrust: 'verified' };
  const unstated = { ...claims, emailVerification: 'unstated' } as const;
  const denied = { ...claims, emailVerification: 'denied' } as const;

  test('is accepted if its issuer has verified it', () => {
    expect(readCompanyEmail(claims, rules)).toEqual({ email: 'Ada@B.Example', basis: 'verified' });
    expect(readCompanyEmail(denied, rules)).toEqual({ refusal: 'unverified' });
    expect(readCompanyEmail(unstated, rules)).toEqual({ refusal: 'unverified' });
    expect(readCompanyEmail({ ...claims, email: undefined }, rules)).toEqual({ refusal: 'unverified' });
  });

  test('is accepted without a verification claim of a trusted issuer, and never against the claim', () => {
    for (const emailTrust of ['issuer', 'issuer-or-username'] as const) {
      const trusting = { ...rules, emailTrust };
      expect(readCompanyEmail(unstated, trusting)).toEqual({ email: 'Ada@B.Example', basis: 'issuer' });
      expect(readCompanyEmail(claims, trusting)).toEqual({ email: 'Ada@B.Example', basis: 'verified' });
      expect(readCompanyEmail(denied, trusting)).toEqual({ refusal: 'unverified' });
      expect(readCompanyEmail({ ...unstated, email: 'ada@c.example' }, trusting)).toEqual({ refusal: 'domain' });
    }
  });

  test('is the user name if there is no address and the setting allows it', () => {
    const nameOnly = { ...unstated, email: undefined };
    expect(readCompanyEmail(nameOnly, { ...rules, emailTrust: 'issuer' })).toEqual({ refusal: 'unverified' });
    const trusting = { ...rules, emailTrust: 'issuer-or-username' } as const;
    expect(readCompanyEmail(nameOnly, trusting)).toEqual({ email: 'ada@b.example', basis: 'username' });
    const guest = { ...nameOnly, username: 'ada_b.example#EXT#@other.onmicrosoft.com' };
    expect(readCompanyEmail(guest, trusting)).toEqual({ refusal: 'domain' });
    for (const username of [undefined, '+49 30 1234', 'ada'])
      expect(readCompanyEmail({ ...nameOnly, username }, trusting)).toEqual({ refusal: 'unverified' });
    // An issuer that denies an address it does not send says nothing of the name.
    expect(readCompanyEmail({ ...denied, email: undefined }, trusting)).toEqual({ refusal: 'unverified' });
  });

  test('must be of an allowed domain; without any, every domain is allowed', () => {
    for (const email of ['ada@c.example', 'b.example@c.example', 'ada@b.example@c.example'])
      expect(readCompanyEmail({ ...claims, email }, rules)).toEqual({ refusal: 'domain' });
    expect(readCompanyEmail(claims, { ...rules, domains: [] })).toMatchObject({ email: 'Ada@B.Example' });
  });

  test.each([
    ['https://login.microsoftonline.com/common/v2.0', true],
    ['https://login.microsoftonline.com/Organizations/v2.0', true],
    ['https://login.microsoftonline.com//%63onsumers/v2.0', true],
    ['https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0', true],
    ['https://login.microsoftonline.us/common/v2.0', true],
    ['https://login.partner.microsoftonline.cn/organizations/v2.0', true],
    ['https://sts.windows.net/common/', true],
    ['https://login.live.com', true],
    ['https://accounts.google.com', true],
    ['https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0', false],
    ['https://login.microsoftonline.com/contoso.onmicrosoft.com/v2.0', false],
    ['https://id.example.com/common', false],
    ['https://notmicrosoftonline.com/common', false],
    ['https://id.example.com/realms/%zz', false],
  ])('recognizes %s as an issuer where anyone can have an account: %s', (issuer, isShared) =>
    expect(isSharedIssuer(issuer)).toBe(isShared),
  );
});

test('allows an owner everything, every other role its permissions, and every role the overview', () => {
  expect(permissionsOf('owner')).toEqual(Object.keys(permissions));
  expect(permissionsOf('analyst')).toEqual(['session.own', 'overview.read']);
  for (const role of roles)
    for (const permission of Object.keys(permissions) as Permission[])
      expect(mayDo(role, permission)).toBe(permissionsOf(role).includes(permission));
  expect(mayDo('marketer', 'campaigns.write')).toBe(true);
  expect(mayDo('developer', 'campaigns.write')).toBe(false);
});
