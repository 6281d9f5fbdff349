import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCompanySignIn } from '../../src/app/accounts/company-sign-in.ts';
import { isPermitted, roles } from '../../src/domain/access/accounts.ts';
import type { Access } from '../../src/domain/access/accounts.ts';
import { parseGroupRole } from '../../src/domain/access/company-accounts.ts';
import type { GroupRole } from '../../src/domain/access/company-accounts.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

describe('roles per workspace', () => {
  let bundle: AccountsBundle;
  let owner: string;
  let shop: string;
  let other: string;
  beforeEach(async () => {
    bundle = await makeAccountsBundle();
    owner = await bundle.createOwner();
    shop = bundle.workspaceId;
    other = await insertTestWorkspace(bundle.database, start);
  });
  afterEach(() => bundle.end());

  const session = async (cookie: string) => (await bundle.call('GET', 'session', { cookie })).body;
  const get = (cookie: string, path: string) => bundle.call('GET', path, { cookie });
  const joinShop = (email = 'max@example.com', role: (typeof roles)[number] = 'owner') =>
    bundle.join(owner, { email, workspaceRoles: { [shop]: role } });
  const assign = async (email: string, change: { role: string | null; workspaceId?: string }) => {
    const { accounts } = (await get(owner, 'accounts')).body;
    const { id } = accounts.find((account: { email: string }) => account.email === email);
    return bundle.call('PUT', `accounts/${id}/role`, { cookie: owner, body: change });
  };

  test('open every route of the console with its permission, for exactly the roles that have it, in exactly their workspace', async () => {
    const users: { name: string; cookie: string; access: Access }[] = [];
    for (const role of roles) {
      const installation = { installation: [role], workspaces: {} };
      const cookie = role === 'owner' ? owner : await bundle.join(owner, { email: `${role}@example.com`, role });
      users.push({ name: role, cookie, access: installation });
      const inShop = await joinShop(`${role}-of-shop@example.com`, role);
      users.push({
        ...{ name: `${role} of the shop`, cookie: inShop },
        access: { installation: [], workspaces: { [shop]: [role] } },
      });
    }
    const used = new Set<string>();
    for (const { method, url, permission } of bundle.routes) {
      expect(permission, `${method} ${url}`).toBeDefined();
      used.add(permission!);
      // Ids of nothing, so that no user changes what the next one sees; signing out would end the walk.
      if (permission === 'none' || (method === 'DELETE' && url.endsWith('/session'))) continue;
      const path = url.replace('/console/api/', '').replace(/:[A-Za-z]+/g, '0'.repeat(24));
      expect((await bundle.call(method as 'GET', `${path}?workspaceId=${shop}`)).status, `${method} ${url}`).toBe(401);
      for (const workspaceId of [shop, other, undefined]) {
        const asked = workspaceId === undefined ? path : `${path}?workspaceId=${workspaceId}`;
        const where = workspaceId === shop ? 'in the shop' : workspaceId === other ? 'in the other' : 'in no workspace';
        await Promise.all(
          users.map(async ({ name, cookie, access }) => {
            const { status } = await bundle.call(method as 'GET', asked, { cookie });
            const isOpen = isPermitted(access, { permission: permission!, workspaceId });
            expect(status === 403, `${name} ${where}: ${method} ${url} → ${status}`).toBe(!isOpen);
            expect(status, `${name} ${where}: ${method} ${url}`).not.toBe(401);
          }),
        );
      }
    }
    expect(bundle.routes.length).toBeGreaterThan(90);
    for (const one of ['session.own', 'overview.read', 'log.read', 'accounts.manage', 'audit.read'])
      expect(used).toContain(one);
  }, 120_000);

  test('show their user only their workspaces, with what the user may do in each', async () => {
    const cookie = await bundle.join(owner, {
      email: 'max@example.com',
      workspaceRoles: { [shop]: 'marketer', [other]: 'analyst' },
    });
    const { account, workspaces } = await session(cookie);
    expect(account.roles).toEqual([]);
    expect(workspaces.map(({ id, roles: held }: any) => [id, held])).toEqual(
      expect.arrayContaining([
        [shop, ['marketer']],
        [other, ['analyst']],
      ]),
    );
    expect((await session(await joinShop('one@example.com'))).workspaces.map(({ id }: any) => id)).toEqual([shop]);
    expect((await session(owner)).workspaces).toHaveLength(2);
  });

  test('give the same response for a workspace of others and for one that does not exist', async () => {
    const cookie = await joinShop();
    const [foreign, missing] = await Promise.all(
      [other, 'nothing'].map((id) => get(cookie, `overview?workspaceId=${id}`)),
    );
    expect(foreign!.status).toBe(403);
    expect({ ...foreign!.body, requestId: '' }).toEqual({ ...missing!.body, requestId: '' });
    expect((await get(cookie, `overview?workspaceId=${other}&workspaceId=${shop}`)).status).toBe(403);
    expect((await get(cookie, 'overview')).status).toBe(403);
  });

  test('hide the counts, metrics and log lines of all workspaces together', async () => {
    const cookie = await joinShop();
    expect((await get(cookie, `overview?workspaceId=${shop}`)).body.work).toBeNull();
    expect((await get(owner, `overview?workspaceId=${shop}`)).body.work).not.toBeNull();
    for (const path of ['metrics', 'system', 'accounts', 'sandbox'])
      expect((await get(cookie, `${path}?workspaceId=${shop}&span=hour`)).status, path).toBe(403);

    const id = '1'.repeat(24);
    await bundle.database`
      insert into api_log (id, received_at, method, path, route, status, duration_ms, headers)
      values (${id}, ${start}, 'POST', '/v1/customer', '/v1/customer', 401, 1, '{}')`;
    expect((await get(cookie, `calls?workspaceId=${shop}&of=nobody`)).status).toBe(403);
    expect((await get(cookie, `calls/${id}?workspaceId=${shop}`)).status).toBe(404);
    expect((await get(owner, `calls?workspaceId=${shop}&of=nobody`)).body.calls).toHaveLength(1);
    expect((await get(owner, `calls/${id}?workspaceId=${shop}`)).status).toBe(200);
  });

  test('show the owner of a workspace its lines of the audit log, and none of the installation or of others', async () => {
    const cookie = await joinShop();
    await assign('max@example.com', { role: 'marketer', workspaceId: other });
    await assign('max@example.com', { role: 'owner', workspaceId: shop });
    const actions = async (who: string) =>
      (await get(who, `audit?workspaceId=${shop}`)).body.entries.map(({ action }: any) => action);
    expect(await actions(cookie)).toEqual(['account.role']);
    expect(await actions(owner)).toEqual(
      expect.arrayContaining(['account.role', 'invitation.create', 'account.create']),
    );
    const file = await get(cookie, `audit.csv?workspaceId=${shop}`);
    expect(String(file.body).trim().split('\n')).toHaveLength(2);
  });

  test('change with the next click, and disappear when they are taken away', async () => {
    const cookie = await joinShop('max@example.com', 'analyst');
    const search = () => bundle.call('POST', `segments/filter/count?workspaceId=${shop}`, { cookie, body: {} });
    expect((await search()).status).toBe(403);
    const changed = await assign('max@example.com', { role: 'marketer', workspaceId: shop });
    expect(changed.body.account.workspaceRoles).toEqual([{ workspaceId: shop, role: 'marketer', groupRole: null }]);
    expect((await search()).status).not.toBe(403);
    await assign('max@example.com', { role: null, workspaceId: shop });
    expect((await get(cookie, `overview?workspaceId=${shop}`)).status).toBe(403);
    expect((await session(cookie)).workspaces).toEqual([]);
    await assign('max@example.com', { role: 'analyst' });
    expect((await session(cookie)).workspaces).toHaveLength(2);
  });

  test('leave the installation an owner: the owner of a workspace does not count', async () => {
    await joinShop();
    expect((await assign('olga@example.com', { role: null })).body.code).toBe('ACCOUNT_LAST_OWNER');
    expect((await assign('olga@example.com', { role: 'analyst', workspaceId: shop })).status).toBe(200);
  });

  test('are assigned only in workspaces that exist, and an invitation offers at least one', async () => {
    const invite = (body: object) =>
      bundle.call('POST', 'invitations', { cookie: owner, body: { email: 'eve@example.com', ...body } });
    expect((await invite({})).body).toMatchObject({ code: 'PARAMETER_INVALID', field: 'role' });
    expect((await invite({ role: null, workspaceRoles: {} })).status).toBe(400);
    expect((await invite({ workspaceRoles: { nothing: 'analyst' } })).status).toBe(404);
    expect((await invite({ workspaceRoles: { [shop]: 'admin' } })).status).toBe(400);
    await joinShop();
    expect((await assign('max@example.com', { role: 'analyst', workspaceId: 'nothing' })).status).toBe(404);
  });
});

describe('roles by groups of the company', () => {
  let bundle: AccountsBundle;
  let owner: string;
  let user: { email: string; groups: readonly string[] | undefined };
  const rules = {
    ...{ domains: ['example.com'], firstRole: undefined, emailTrust: 'verified' as const },
    groupRoles: [] as GroupRole[],
  };
  beforeEach(async () => {
    bundle = await makeAccountsBundle({
      company: (parts) =>
        makeCompanySignIn({
          ...{ ...parts, rules },
          provider: {
            name: 'Example',
            authorize: async ({ state }) => `https://issuer.example/?state=${state}`,
            redeem: async () => ({
              ...{ issuer: 'i', subject: user.email, name: 'Ada', ...user },
              ...{ emailVerification: 'verified', username: undefined },
            }),
          },
        }),
    });
    const dbName = `db_${bundle.workspaceId.toLowerCase()}`;
    const texts = [
      'staff=analyst',
      `shop=marketer@${bundle.workspaceId}`,
      `keys=developer@${dbName}`,
      'later=owner@later',
    ];
    rules.groupRoles = texts.map((text) => parseGroupRole(text) as GroupRole);
    owner = await bundle.createOwner();
    user = { email: 'ada@example.com', groups: ['staff', 'shop'] };
  });
  afterEach(() => bundle.end());

  async function signIn(): Promise<{ cookie: string; refusal: string | undefined }> {
    const begun = await bundle.call('POST', 'company');
    const { state } = Object.fromEntries(new URL(begun.body.location as string).searchParams);
    const path = `company/callback?state=${encodeURIComponent(state!)}&code=c`;
    const ended = await bundle.call('GET', path, { cookie: begun.cookie });
    const cookies = [ended.headers['set-cookie']].flat().map(String);
    const cookie = cookies.find((one) => one.includes('session'))?.split(';', 1)[0] ?? '';
    return { cookie, refusal: /refused=([a-z]+)/.exec(String(ended.headers.location))?.[1] };
  }
  const rolesHeld = async (cookie: string) => {
    const { body } = await bundle.call('GET', 'session', { cookie });
    return [body.account.roles, body.workspaces[0]?.roles ?? []];
  };

  test('open the console without an invitation, in the installation and in workspaces named by id or app id', async () => {
    expect(await rolesHeld((await signIn()).cookie)).toEqual([['analyst'], ['marketer', 'analyst']]);
    user.groups = ['keys'];
    expect(await rolesHeld((await signIn()).cookie)).toEqual([[], ['developer']]);
  });

  test.each([
    ['the user left all of them', []],
    ['their workspaces do not exist', ['later']],
    ['the token has no claim of groups', undefined],
  ])('reject a sign-in and take the roles from open sessions if %s', async (_case, groups) => {
    const { cookie } = await signIn();
    user.groups = groups;
    expect((await signIn()).refusal).toBe('groups');
    expect(await rolesHeld(cookie)).toEqual([[], []]);
    user = { email: 'new@example.com', groups };
    expect((await signIn()).refusal).toBe('unknown');
  });

  test('leave roles that an owner assigned, and the owner of the installation', async () => {
    const { id } = (await bundle.call('GET', 'session', { cookie: (await signIn()).cookie })).body.account;
    const body = { role: 'owner', workspaceId: bundle.workspaceId };
    await bundle.call('PUT', `accounts/${id}/role`, { cookie: owner, body });
    user.groups = [];
    expect(await rolesHeld((await signIn()).cookie)).toEqual([[], ['owner']]);
    user = { email: 'olga@example.com', groups: [] };
    expect(await rolesHeld((await signIn()).cookie)).toEqual([['owner'], ['owner']]);
  });

  test('are in the audit log when they change, and only then', async () => {
    for (const groups of [['staff'], ['staff'], ['staff', 'shop']]) {
      user.groups = groups;
      // Lines of the same instant have no order.
      bundle.clock.advance(1000);
      await signIn();
    }
    const { body } = await bundle.call('GET', `audit?workspaceId=${bundle.workspaceId}`, { cookie: owner });
    const lines = body.entries.filter(({ action }: any) => action === 'account.group-roles');
    expect(lines.map(({ detail }: any) => detail)).toEqual([
      { role: 'analyst', workspaceRoles: { [bundle.workspaceId]: 'marketer' } },
      { role: 'analyst', workspaceRoles: {} },
    ]);
  });
});
