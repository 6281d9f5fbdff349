import { dictionary } from '@zxcvbn-ts/language-common';
import { describe, expect, test } from 'vitest';
import {
  accessOf,
  isPermitted,
  mayDo,
  permissions,
  permissionsOf,
  readAccountName,
  readEmail,
  readNewPassword,
  roles,
  rolesIn,
} from '../../../src/domain/access/accounts.ts';
import type { Access, Permission } from '../../../src/domain/access/accounts.ts';
import {
  grantRoles,
  isSharedIssuer,
  parseGroupRole,
  readCompanyEmail,
  readGroups,
} from '../../../src/domain/access/company-accounts.ts';
import type { CompanyClaims, CompanyRules, GroupRole } from '../../../src/domain/access/company-accounts.ts';
import { findMade } from '../../../src/domain/access/api-log.ts';
import { dataCenterOfHost, namesUnknownDataCenter } from '../../../src/domain/access/data-centers.ts';
import {
  assertKeySettings,
  hashSecret,
  hashesEqual,
  hintOfSecret,
  isSecret,
  keyKinds,
  knownScopes,
  limitSubject,
  makeSecret,
  opensAsPassword,
  secretPrefixes,
  stateOfToken,
} from '../../../src/domain/access/keys.ts';
import type { SecretKind } from '../../../src/domain/access/keys.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import { isWorkspaceId } from '../../../src/domain/ids.ts';

describe('accounts', () => {
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
    ['😀kettle/tram', '😀kettle/tram'],
    [`blue kettle tram${'x'.repeat(240)}`, `blue kettle tram${'x'.repeat(240)}`],
    [`blue kettle tram${'x'.repeat(241)}`, 'password: must have 12 to 256 characters'],
    ['abcdefghijk', 'password: must have 12 to 256 characters'],
    ['😀😁😂🤣😃😄', 'password: must have 12 to 256 characters'],
    ['aAbBcCdDaAbB', 'password: must have more than four different characters'],
    ['aAbBcCdDeEaA', 'aAbBcCdDeEaA'],
    ['Ada.Lovelace@B.example', 'password: must not be your name or address'],
    ['ADA.LOVELACE', 'password: must not be your name or address'],
    ['countess Ada L', 'password: must not be your name or address'],
    ['password1234', 'password: is easy to guess; use several unrelated words'],
    ['Password1234!', 'password: is easy to guess; use several unrelated words'],
    ['qwertyuiop12', 'password: is easy to guess; use several unrelated words'],
    ['iloveyou2024', 'password: is easy to guess; use several unrelated words'],
    ['ada.lovelace1', 'password: is easy to guess; use several unrelated words'],
    ['carillon1234', 'password: is easy to guess; use several unrelated words'],
    ['p4ssw0rdp4ssw0rd', 'password: is easy to guess; use several unrelated words'],
    ['k7#Qz!9pLm2w', 'k7#Qz!9pLm2w'],
    ['blue kettle over tram', 'blue kettle over tram'],
  ])('parses the password %j as %j', async (password, taken) => {
    const own = { email: 'ada.Lovelace@b.example', name: 'Countess Ada L' };
    const parsed = readNewPassword(password, own).catch((error: ServiceError) =>
      read(() => {
        throw error;
      }),
    );
    expect(await parsed).toBe(taken);
  });

  test('refuses every common password of 12 characters or more in the shipped list (ASVS 6.2.4)', async () => {
    const common = dictionary['passwords-common'].filter((word) => [...word].length >= 12);
    expect(common.length).toBeGreaterThan(300);
    for (const password of common)
      await expect(readNewPassword(password, { email: 'ada@b.example', name: 'Ada' }), password).rejects.toThrow(
        ServiceError,
      );
  }, 60_000);

  test('accepts 64 small letters of unrelated words (ASVS 6.2.5, 6.2.9)', async () => {
    const password = 'kettletramwindowbadgersaddlemarblefennelorchardtwinegravelpillow';
    expect(password).toHaveLength(64);
    expect(await readNewPassword(password, { email: 'ada@b.example', name: 'Ada' })).toBe(password);
  });

  describe('the address of a company account', () => {
    const claims: CompanyClaims = {
      ...{
        issuer: 'i',
        subject: 's',
        email: 'Ada@B.Example',
        emailVerification: 'verified',
        username: 'ada@b.example',
      },
      name: undefined,
      groups: undefined,
    };
    const rules: CompanyRules = {
      domains: ['b.example'],
      firstRole: undefined,
      emailTrust: 'verified',
      groupRoles: [],
    };
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
    const own = ['session.enter', 'session.factors', 'session.own'];
    expect(permissionsOf('analyst')).toEqual([...own, 'overview.read']);
    for (const role of roles)
      for (const permission of Object.keys(permissions) as Permission[])
        expect(mayDo(role, permission)).toBe(permissionsOf(role).includes(permission));
    expect(mayDo('marketer', 'campaigns.write')).toBe(true);
    expect(mayDo('developer', 'campaigns.write')).toBe(false);
  });

  describe('access', () => {
    const access: Access = { installation: ['analyst'], workspaces: { a: ['marketer', 'developer'] } };
    const may = (permission: Permission, workspaceId?: string) => isPermitted(access, { permission, workspaceId });

    test('adds the roles of the installation to those of a workspace, and keeps those of other workspaces apart', () => {
      expect(rolesIn(access, 'a')).toEqual(['marketer', 'analyst', 'developer']);
      expect(rolesIn(access, 'b')).toEqual(['analyst']);
      expect(rolesIn({ installation: [], workspaces: {} }, 'constructor')).toEqual([]);
      expect([may('campaigns.write', 'a'), may('keys.read', 'a'), may('overview.read', 'a')]).toEqual([
        true,
        true,
        true,
      ]);
      expect([may('campaigns.write', 'b'), may('keys.read', 'b'), may('overview.read', 'b')]).toEqual([
        ...[false, false, true],
      ]);
    });

    test('opens what concerns all workspaces only by a role of the installation', () => {
      const own: Access = { installation: [], workspaces: { a: ['owner'] } };
      for (const [permission, { on }] of Object.entries(permissions) as [Permission, { on: string }][]) {
        expect(isPermitted(own, { permission, workspaceId: 'a' }), permission).toBe(on !== 'installation');
        expect(isPermitted(own, { permission, workspaceId: 'b' }), permission).toBe(false);
        expect(isPermitted(own, { permission, workspaceId: undefined }), permission).toBe(on === 'account');
      }
    });

    test('adds a role that groups gave to the one that an owner assigned', () => {
      const workspaceRoles = [{ workspaceId: 'a', role: null, groupRole: 'marketer' as const }];
      expect(accessOf({ role: 'analyst', groupRole: 'developer', workspaceRoles })).toEqual({
        installation: ['analyst', 'developer'],
        workspaces: { a: ['marketer'] },
      });
    });
  });

  describe('roles by groups', () => {
    test.each([
      ['staff=analyst', { group: 'staff', role: 'analyst', workspace: undefined }],
      ['/shop/marketing=marketer@shop-1', { group: '/shop/marketing', role: 'marketer', workspace: 'shop-1' }],
      ['cn=admins,ou=x=owner@shop', { group: 'cn=admins,ou=x', role: 'owner', workspace: 'shop' }],
      ['staff=owner', { fault: expect.stringContaining('must name a workspace') }],
      ['staff=admin', { fault: expect.stringContaining('must end with one of the roles') }],
      ['=analyst', { fault: expect.stringContaining('group=role') }],
      ['staff', { fault: expect.stringContaining('group=role') }],
      ['staff=analyst@', { fault: expect.stringContaining('group=role') }],
    ])('parse %s as %j', (text, parsed) => expect(parseGroupRole(text)).toEqual(parsed));

    test('give the first role of each place, and none in a workspace that does not exist', () => {
      const texts = ['a=analyst', 'b=developer', 'a=marketer@shop', 'b=analyst@shop', 'a=owner@gone'];
      const groupRoles = texts.map((text) => parseGroupRole(text) as GroupRole);
      const granted = grantRoles(groupRoles, { groups: ['b', 'a'], idsOf: new Map([['shop', '1']]) });
      expect(granted).toEqual({ installation: 'analyst', workspaces: new Map([['1', 'marketer']]) });
      const none = grantRoles(groupRoles, { groups: ['c'], idsOf: new Map() });
      expect(none).toEqual({ installation: null, workspaces: new Map() });
    });

    test.each([
      [{ groups: ['a', 1, 'b'] }, 'groups', ['a', 'b']],
      [{ groups: 'a' }, 'groups', ['a']],
      [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
      [{ 'https://x.example/groups': ['a'] }, 'https://x.example/groups', ['a']],
      [{ _claim_names: { groups: 'src1' } }, 'groups', undefined],
      [{}, 'constructor.name', undefined],
    ])('are read from %j by the name %s', (claims, name, groups) => expect(readGroups(claims, name)).toEqual(groups));
  });
});

type Row = { name: string; token?: object; key?: object; milliseconds: number; state: string };

describe('tokens', () => {
  const kinds = Object.keys(secretPrefixes) as SecretKind[];

  test('assigns a secret to exactly one kind', () => {
    for (const kind of kinds) {
      const secret = makeSecret(kind);
      expect(secret).toHaveLength(47);
      expect(kinds.filter((candidate) => isSecret(candidate, secret))).toEqual([kind]);
      expect(isSecret(kind, `${secret}A`)).toBe(false);
      expect(isSecret(kind, `${secret.slice(0, -1)}\n`)).toBe(false);
    }
    expect(new Set(Object.values(secretPrefixes)).size).toBe(kinds.length);
  });

  test('never matches a missing hash, not even with the zeros it is compared with', () => {
    const hash = hashSecret('x');
    expect(hashesEqual(hash, hashSecret('x'))).toBe(true);
    expect(hashesEqual(hash, hashSecret('y'))).toBe(false);
    expect(hashesEqual(undefined, Buffer.alloc(32))).toBe(false);
  });

  test('separates the parts of a limit subject', () => {
    expect(limitSubject(['a', 'bc'])).not.toEqual(limitSubject(['ab', 'c']));
    expect(limitSubject(['a,b'])).not.toEqual(limitSubject(['a', 'b']));
    expect(limitSubject(['\ud800'])).toHaveLength(32);
  });

  test.each([
    ['oauth2-01.push.example', '01'],
    ['API-101.Push.Example', '101'],
    ['pushapi-06.push.example', '06'],
    ['oauth2-07.push.example', undefined],
    ['oauth2-1.push.example', undefined],
    ['sdk-01.push.example', undefined],
    ['oauth2-01.push.example.evil.test', undefined],
    ['oauth2-01.pushxexample', undefined],
    ['oauth2-01.a.push.example', undefined],
    ['localhost', undefined],
  ])('maps the host %s to the data center %s (decision D1)', (host, dataCenter) => {
    expect(dataCenterOfHost(host, 'push.example')).toBe(dataCenter);
    expect(dataCenterOfHost(host, undefined)).toBeUndefined();
  });

  const expiresAt = new Date('2026-03-01T12:00:00Z');
  const token = { expiresAt, revokedAt: null, keyGeneration: 2 };
  const key = { archivedAt: null, generation: 2 };
  const day = 24 * 60 * 60 * 1000;

  test.each<Row>([
    { name: 'before its expiry', milliseconds: -1, state: 'live' },
    { name: 'at its expiry', milliseconds: 0, state: 'expired' },
    { name: 'within 24 hours', milliseconds: day - 1, state: 'expired' },
    { name: 'after 24 hours', milliseconds: day, state: 'invalid' },
    { name: 'revoked', token: { revokedAt: expiresAt }, milliseconds: -1, state: 'invalid' },
    { name: 'revoked and expired', token: { revokedAt: expiresAt }, milliseconds: 1, state: 'invalid' },
    { name: 'of an archived key', key: { archivedAt: expiresAt }, milliseconds: -1, state: 'invalid' },
    { name: 'of an older secret', key: { generation: 3 }, milliseconds: -1, state: 'invalid' },
  ])('reports a token $name as $state (decision D13, D14)', (row) => {
    const at = new Date(expiresAt.getTime() + row.milliseconds);
    expect(stateOfToken({ ...token, ...row.token }, { ...key, ...row.key }, at)).toBe(row.state);
  });
});

describe('keys', () => {
  describe('the settings of a key (decision D15, fact 1)', () => {
    const fault = (settings: Record<string, unknown>): unknown => {
      try {
        assertKeySettings(settings);
        return undefined;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return [error.code, error.context];
      }
    };
    const refused = (field: string, reason: string) => ['PARAMETER_INVALID', { field, reason }];
    const badName = refused('name', 'must have 1 to 100 characters');
    const badText = refused('name', 'must be well-formed Unicode without NUL');
    const badMinutes = refused('accessTokenMinutes', 'must be a whole number from 5 to 60');

    test.each<[object, unknown]>([
      [{}, undefined],
      [{ name: 'a' }, undefined],
      [{ name: '😀'.repeat(100) }, undefined],
      [{ name: '' }, badName],
      [{ name: '   ' }, badName],
      [{ name: '😀'.repeat(101) }, badName],
      [{ name: 'a\0' }, badText],
      [{ name: 'a\ud800' }, badText],
      [{ scopes: ['push'] }, undefined],
      [{ scopes: [...knownScopes] }, undefined],
      [{ scopes: [] }, refused('scopes', 'must name at least one scope')],
      [
        { scopes: ['push', 'PUSH'] },
        refused(
          'scopes',
          'must be some of data, segmentation, push, campaign, offering, decision-policy, inform, dashboard-analyze',
        ),
      ],
      [{ accessTokenMinutes: 5 }, undefined],
      [{ accessTokenMinutes: 60 }, undefined],
      [{ accessTokenMinutes: 4 }, badMinutes],
      [{ accessTokenMinutes: 61 }, badMinutes],
      [{ accessTokenMinutes: 15.5 }, badMinutes],
      [{ accessTokenMinutes: Number.NaN }, badMinutes],
    ])('are checked: %j', (settings, expected) => {
      expect(fault(settings as Record<string, unknown>)).toEqual(expected);
    });
  });

  test('accepts the secret of a key as a password on the routes of its scopes, but not of an OAuth key (decision D20)', () => {
    const opening = keyKinds.filter((kind) => opensAsPassword({ kind, scopes: ['data', 'push'] }, 'push'));
    expect(opening).toEqual(['data', 'push', 'campaigns']);
    expect(opensAsPassword({ kind: 'data', scopes: ['data', 'segmentation'] }, 'push')).toBe(false);
    expect(opensAsPassword({ kind: 'push', scopes: [] }, 'push')).toBe(false);
  });

  describe('secrets', () => {
    test('are a prefix and 32 random bytes in base64url', () => {
      const asked: number[] = [];
      const secret = makeSecret('push', (bytes) => {
        asked.push(bytes);
        return Buffer.alloc(bytes, 0xff);
      });
      expect(secret).toBe(`cpk_${'_'.repeat(42)}8`);
      expect(asked).toEqual([32]);
    });

    test('show their prefix and their last four characters', () => {
      expect(hintOfSecret('cpk_abcdefghijklmnop')).toBe('cpk_…mnop');
    });

    test('contain letters, digits, dashes and underscores', () => {
      const secret = makeSecret('data');
      expect(isSecret('data', secret)).toBe(true);
      for (const other of ['|', ':', ' ', 'é', '\n'])
        expect(isSecret('data', `${secret.slice(0, 20)}${other}${secret.slice(21)}`)).toBe(false);
      expect(isSecret('data', ` ${secret.slice(0, -1)}`)).toBe(false);
      expect(isSecret('data', secret.slice(0, -1))).toBe(false);
    });
  });

  test('accepts a workspace id of 1 to 64 letters, digits, dashes and underscores', () => {
    for (const id of ['A', 'shop_DEBUG', 'x-1', 'x'.repeat(64)]) expect(isWorkspaceId(id)).toBe(true);
    for (const id of ['', 'a b', 'a|b', 'a\0', 'a\n', '\na', 'é', 'x'.repeat(65)])
      expect(isWorkspaceId(id)).toBe(false);
  });

  test.each<[host: string, dataCenter: string | undefined, isUnknown: boolean]>([
    ['oauth2-01.push.example', '01', false],
    ['oauth2-01.push.example.', '01', false],
    ['api-07.push.example', undefined, true],
    ['PUSHAPI-1.push.example', undefined, true],
    ['oauth2-.push.example', undefined, true],
    ['oauth2.push.example', undefined, false],
    ['xoauth2-07.push.example', undefined, false],
    ['x.api-07.push.example', undefined, false],
    ['oauth2-07.other.example', undefined, false],
    ['push.example', undefined, false],
  ])('maps the host %s to the data center %s, which is unknown: %s (decision D1)', (host, dataCenter, isUnknown) => {
    expect(dataCenterOfHost(host, 'Push.Example')).toBe(dataCenter);
    expect(namesUnknownDataCenter(host, 'Push.Example')).toBe(isUnknown);
    expect(namesUnknownDataCenter(host, undefined)).toBe(false);
  });
});

describe('objects that a logged call created', () => {
  const id = 'a'.repeat(24);
  const other = 'b'.repeat(24);
  const call = { method: 'POST', path: '/', status: 200, requestBody: null, responseBody: null };

  test.each([
    [{ route: '/v2.1/transaction/sendpush', responseBody: `{"status":"Success","cid":"${id}"}` }, [['campaign', id]]],
    [{ route: '/v2.1/transaction/sendpush', responseBody: '{"status":"Fail","cid":""}' }, []],
    [{ route: '/v5/campaigns', responseBody: `{"data":{"id":"${id}"}}` }, [['campaign', id]]],
    [{ route: '/v1/campaigns', responseBody: `{"campaign_id":"${id}"}` }, [['campaign', id]]],
    [{ route: '/v5/campaigns/:id', path: `/v5/campaigns/${id}` }, [['campaign', id]]],
    [{ route: '/v2/custom-segments/file-segment', responseBody: `{"cs_id":"${id}"}` }, [['segment', id]]],
    [{ route: '/v3/custom-segments', responseBody: `{"data":{"id":"${id}"}}` }, [['segment', id]]],
    [{ route: '/v1/customer/:id', requestBody: '{"customer_id":"ada"}' }, [['user', 'ada']]],
    [{ route: '/v1/customer/:id', requestBody: '{"customer_id":"ada"}', status: 400 }, []],
    [{ route: '/v1/customer/:id', requestBody: '{"customer_id":""}' }, []],
    [{ route: '/v1/customer/:id', requestBody: '[{"customer_id":"ada"}]' }, []],
    [{ route: '/v1/customer/:id', requestBody: 'null' }, []],
    [{ route: '/v1/device', requestBody: '{"customer_id":"ada"}' }, [['user', 'ada']]],
    [{ route: '/v1/event/:id', requestBody: '{"customer_id":"ada"}' }, [['user', 'ada']]],
    [{ route: '/v1/customers/export', requestBody: '{"customer_id":"ada"}' }, []],
    [{ route: '/v2/other', requestBody: '{"customer_id":"ada"}', responseBody: `{"cid":"${id}","cs_id":"${id}"}` }, []],
    [{ route: '/v2.1/transaction/sendpush/status', responseBody: `{"cid":"${id}"}` }, []],
    [{ route: '/v3/custom-segments/:id', path: `/v3/custom-segments/${id}` }, [['segment', id]]],
    [{ route: '/v3/custom-segments/:id', path: '/v3/custom-segments/a' }, []],
    [
      { route: '/v5/campaigns/:id', path: `/v5/campaigns/${id}`, responseBody: `{"data":{"id":"${id}"}}` },
      [['campaign', id]],
    ],
    [
      {
        route: '/v5/campaigns/:id/clone',
        path: `/v5/campaigns/${id}/clone`,
        responseBody: `{"data":{"id":"${other}"}}`,
      },
      [
        ['campaign', other],
        ['campaign', id],
      ],
    ],
    [
      { route: '/v1/campaigns/custom-segments', responseBody: `{"campaign_id":"${id}","cs_id":"${id}"}` },
      [
        ['campaign', id],
        ['segment', id],
      ],
    ],
    [{ route: '/v5/campaigns', responseBody: '{"data":{"id":"short"}}' }, []],
    // The beginning of a body.
    [{ route: '/v1/customer/:id', requestBody: '{"customer_id":"ada","attributes":{"a' }, []],
  ])('finds for %j: %j', (more, made) => {
    expect(findMade({ ...call, ...more }).map(({ kind, id }) => [kind, id])).toEqual(made);
  });
});

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
