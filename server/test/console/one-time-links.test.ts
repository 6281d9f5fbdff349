import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { goodPassword, makeAccountsBundle } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

const hour = 3_600_000;
const day = 24 * hour;
let bundle: AccountsBundle;
beforeEach(async () => {
  bundle = await makeAccountsBundle();
});
afterEach(() => bundle.end());

const codeIn = (answer: { body: { link: string } }) => answer.body.link.split('=')[1]!;
const invitee = { email: 'max@example.com', role: 'marketer' };

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

describe('a one-time link that opens nothing', () => {
  test('says that it was used, also when it would have expired since', async () => {
    const { first, invited, linked } = await makeLinks();
    expect(await present.firstOwner(first)).toMatchObject(refused('used'));
    expect((await present.acceptance(codeIn(invited))).status).toBe(204);
    expect((await present.password(codeIn(linked))).status).toBe(204);
    bundle.clock.advance(8 * day);
    expect(await present.invitation(codeIn(invited))).toMatchObject(refused('used'));
    expect(await present.acceptance(codeIn(invited))).toMatchObject(refused('used'));
    expect(await present.password(codeIn(linked))).toMatchObject(refused('used'));
  });

  test('says that it expired, for 30 days, also after another link was made', async () => {
    const { invited, linked } = await makeLinks();
    bundle.clock.advance(7 * day);
    await bundle.createStartLink();
    const fresh = await bundle.call('POST', 'session/password', {
      body: { email: 'olga@example.com', password: goodPassword },
    });
    await bundle.call('POST', 'invitations', { cookie: fresh.cookie, body: { ...invitee, email: 'eva@example.com' } });
    expect(await present.invitation(codeIn(invited))).toMatchObject(refused('expired'));
    expect(await present.password(codeIn(linked))).toMatchObject(refused('expired'));
    bundle.clock.advance(30 * day);
    const later = await bundle.call('POST', 'session/password', {
      body: { email: 'olga@example.com', password: goodPassword },
    });
    await bundle.call('POST', 'invitations', { cookie: later.cookie, body: { ...invitee, email: 'ida@example.com' } });
    expect(await present.invitation(codeIn(invited))).toMatchObject(refused('unknown'));
  });

  test('says that it was withdrawn: by its owner, by another password, by an owner who was first', async () => {
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

  test('is unknown to an installation that did not make it, and as a link of another kind', async () => {
    const { invited } = await makeLinks();
    expect(await present.invitation('A'.repeat(43))).toMatchObject(refused('unknown'));
    expect(await present.password(codeIn(invited))).toMatchObject(refused('unknown'));
  });

  test('opens one session of two browsers that present it at the same moment; the other learns that it was used', async () => {
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

  test('is the public URL, whatever host the request names; so is that of a curl', async () => {
    const { links, curls } = await makeAddresses('https://push.example.com');
    expect(links).toEqual([
      expect.stringMatching(/^https:\/\/push\.example\.com\/console\/#invitation=\S{43}$/),
      expect.stringMatching(/^https:\/\/push\.example\.com\/console\/#new-password=\S{43}$/),
    ]);
    expect(curls.key).toContain('https://push.example.com/');
    expect(curls.key).not.toContain('evil');
    expect(curls.settings).toBe('https://push.example.com');
  });

  test('is a path where there is no public URL, never the host of the request', async () => {
    const { links } = await makeAddresses(undefined);
    expect(links).toEqual([
      expect.stringMatching(/^\/console\/#invitation=\S{43}$/),
      expect.stringMatching(/^\/console\/#new-password=\S{43}$/),
    ]);
  });
});

describe('the session cookie', () => {
  test('is one for each installation, so that two on one host keep their sessions', async () => {
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

  test('of a version that named it without the installation is ignored', async () => {
    const owner = await bundle.createOwner();
    const token = owner.split('=')[1]!;
    expect((await bundle.call('GET', 'session', { cookie: `__Host-carillon_session=${token}` })).status).toBe(401);
    const both = `__Host-carillon_session=${'A'.repeat(43)}; ${owner}`;
    expect((await bundle.call('GET', 'session', { cookie: both })).status).toBe(200);
  });
});
