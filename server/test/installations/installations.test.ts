import { generateKeyPairSync } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addIdentityKey, removeIdentityKey } from '../../src/app/installations/app-access.ts';
import { archiveKey } from '../../src/app/keys/keys.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { findSelectedUsers } from '../../src/storage/users/users.ts';
import { triggered } from '../triggers/trigger-bundle.ts';
import { makeInstallationBundle, secretOf } from './installation-bundle.ts';
import type { InstallationBundle, Phone } from './installation-bundle.ts';

let bundle: InstallationBundle;
let phones = 0;
const newPhone = (): Phone => ({ id: `installation-of-test-${(phones += 1)}`, secret: secretOf(String(phones % 10)) });

beforeAll(async () => {
  bundle = await makeInstallationBundle();
});
afterAll(() => bundle?.stop());

const actor = { kind: 'system', name: 'a test' } as const;
const registered = async (body: object = {}): Promise<Phone> => {
  const phone = newPhone();
  const answer = await bundle.register(phone, body);
  expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ signed_in: false })]);
  return phone;
};
const signedIn = async (customerId: string): Promise<Phone> => {
  const phone = await registered();
  expect((await bundle.signIn(phone, customerId)).body).toMatchObject({ signed_in: true });
  return phone;
};
const onAndroid = (name: string) => ({ basic_details: { name, platforms: ['ANDROID'] } });
const deviceOf = async (phone: Phone): Promise<string | undefined> =>
  (await bundle.devices()).find((device) => device.includes(` token-${phone.id} `));

describe('an installation', () => {
  test('is anonymous until a token proves its user, and again after logout', async () => {
    const phone = await registered({ locale: 'de', time_zone: 'Europe/Berlin' });
    expect(await deviceOf(phone)).toBe(`anonymous token-${phone.id} ACTIVE`);
    expect((await bundle.signIn(phone, 'lena')).body).toEqual({
      ...{ installation_id: phone.id, signed_in: true, opted_in: true, can_receive: true },
    });
    expect(await deviceOf(phone)).toBe(`lena token-${phone.id} ACTIVE`);
    expect(await bundle.attributes('lena')).toEqual({ 'app:time_zone': 'Europe/Berlin' });
    expect((await bundle.signOut(phone)).body).toMatchObject({ signed_in: false, can_receive: true });
    expect(await deviceOf(phone)).toBe(`anonymous token-${phone.id} ACTIVE`);
    // A repeat changes nothing.
    expect((await bundle.signOut(phone)).body).toMatchObject({ signed_in: false });
    expect(await deviceOf(phone)).toBe(`anonymous token-${phone.id} ACTIVE`);
  });

  test('is refreshed by the same registration, with a rotated push token and without one', async () => {
    const phone = await signedIn('mira');
    await bundle.register(phone, { push_token: `token-${phone.id}-2` });
    expect((await bundle.devices()).filter((device) => device.startsWith('mira'))).toEqual([
      `mira token-${phone.id}-2 ACTIVE`,
    ]);
    const { body } = await bundle.register(phone, { push_token: null });
    expect(body).toMatchObject({ signed_in: true, can_receive: false });
    expect((await bundle.devices()).filter((device) => device.startsWith('mira'))).toEqual([]);
  });

  test('opts out and in again', async () => {
    const phone = await registered();
    const change = (body: object) =>
      bundle.app('PATCH', `/v1/app/installations/${phone.id}`, { secret: phone.secret, body });
    expect((await change({ opted_in: false })).body).toMatchObject({ opted_in: false });
    expect(await deviceOf(phone)).toBe(`anonymous token-${phone.id} OPTED_OUT`);
    // A change of something else keeps the choice.
    expect((await change({ app_version: '2' })).body).toMatchObject({ opted_in: false });
    expect((await change({ opted_in: true })).body).toMatchObject({ opted_in: true });
    expect(await deviceOf(phone)).toBe(`anonymous token-${phone.id} ACTIVE`);
  });

  test('moves from one user to another without a logout between them', async () => {
    const phone = await signedIn('nils');
    await bundle.signIn(phone, 'olga');
    expect(await deviceOf(phone)).toBe(`olga token-${phone.id} ACTIVE`);
  });

  test('gives what its anonymous user did to the user who signs in', async () => {
    const phone = await registered();
    await bundle.report(phone, [{ id: 'before-login', type: 'event', name: 'Browsed' }]);
    await bundle.signIn(phone, 'pia');
    expect(await bundle.events('pia')).toEqual(['Browsed']);
  });

  test('receives pushes for its user, and none from the logout on', async () => {
    await bundle.live(triggered({}, onAndroid('Come back')));
    const phone = await signedIn('quinn');
    await bundle.track('quinn', 'Left');
    expect(await bundle.deliverDue()).toEqual([`token-${phone.id}`]);
    await bundle.signOut(phone);
    bundle.clock.advance(60_000);
    await bundle.track('quinn', 'Left');
    expect(await bundle.deliverDue()).toEqual([]);
  });

  test('ends with its erased user; its app registers again', async () => {
    const phone = await signedIn('rosa');
    await bundle.report(phone, [{ id: 'rosas-event', type: 'event', name: 'Browsed' }]);
    const [user] = await bundle.database`select bucket, id from users where customer_id = 'rosa'`;
    await bundle.database`
      insert into erasures (id, workspace_id, customer_digest, state, bucket, user_ids, requested_at, due_at)
      values ('e00000000000000000000001', ${bundle.workspaceId}, sha256('rosa'), 'PENDING', ${user!.bucket as number},
        ${JSON.stringify([[user!.bucket, user!.id]])}::text::jsonb, ${bundle.clock.now()}, ${bundle.clock.now()})`;
    await makeEraseDueUsers(bundle).runOnce(bundle.clock.now());
    const [left] = await bundle.database`
      select (select count(*) from installations where id = ${phone.id}) as installations,
        (select count(*) from app_event_ids where installation_id = ${phone.id}) as events`;
    expect(left).toEqual({ installations: 0, events: 0 });
    expect((await bundle.signOut(phone)).status).toBe(401);
    expect((await bundle.register(phone)).body).toMatchObject({ signed_in: false });
  });
});

describe('an identity token', () => {
  const attempt = async (token: string | undefined) => {
    const phone = await registered();
    const body = token === undefined ? { user_id: 'ada' } : { identity_token: token };
    const url = `/v1/app/installations/${phone.id}/identify`;
    const answer = await bundle.app('POST', url, { secret: phone.secret, body });
    expect(await deviceOf(phone)).toBe(`${answer.status === 200 ? 'ada' : 'anonymous'} token-${phone.id} ACTIVE`);
    return answer.status === 200 ? 'accepted' : `${answer.status} ${answer.body.title}`;
  };
  const inSeconds = (seconds: number): number => Math.floor(bundle.clock.realNow().getTime() / 1000) + seconds;

  test('is required in production, whatever user id is sent', async () => {
    expect(await attempt(undefined)).toBe('401 The identity token is required.');
  });

  test('tolerates a minute between the clocks', async () => {
    expect(await attempt(await bundle.sign({ iat: inSeconds(-3_600), exp: inSeconds(-55) }))).toBe('accepted');
    expect(await attempt(await bundle.sign({ iat: inSeconds(-3_600), exp: inSeconds(-65) }))).toBe(
      '401 The identity token has expired.',
    );
  });

  test.each<[string, () => Promise<string>, string]>([
    ['of more than 24 hours', () => bundle.sign({ exp: inSeconds(25 * 3_600) }), 'is valid for more than 24 hours.'],
    ['of another workspace', () => bundle.sign({ aud: 'another' }), 'has an `aud` that is not the workspace id.'],
    ['without an expiry', () => bundle.sign({ exp: undefined }), 'has a missing or invalid `exp`.'],
    ['without a user', () => bundle.sign({ sub: undefined }), 'has a missing or invalid `sub`.'],
    ['for a placeholder', () => bundle.sign({ sub: 'null' }), 'has a `sub` that is a reserved value.'],
    ['of an unknown key', () => bundle.sign({}, { kid: 'other' }), 'has a `kid` that is not a key of the workspace.'],
    ['that is no token', async () => 'no.token.', 'is not a JWT.'],
  ])('%s is refused', async (_what, make, reason) => {
    expect(await attempt(await make())).toBe(`401 The identity token ${reason}`);
  });

  test('cannot choose its algorithm: none, and a public key used as a secret, are refused', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const own = { actor, workspaceId: bundle.workspaceId };
    const added = await addIdentityKey(bundle.deps, { ...own, algorithm: 'ES256', publicKey: pem });
    const claims = { sub: 'ada', aud: bundle.workspaceId, exp: inSeconds(600) };
    const signed = (alg: string, key: Parameters<SignJWT['sign']>[0]) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid: added.id }).sign(key);
    expect(await attempt(await signed('ES256', privateKey))).toBe('accepted');
    const confused = 'is not signed with ES256, the algorithm of its key.';
    expect(await attempt(await signed('HS256', new TextEncoder().encode(pem)))).toBe(
      `401 The identity token ${confused}`,
    );
    // The library does not write a kid into an unsecured token, so its header is replaced.
    const [, payload] = new UnsecuredJWT(claims).encode().split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', kid: added.id })).toString('base64url');
    expect(await attempt(`${header}.${payload}.`)).toBe(`401 The identity token ${confused}`);
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    expect(await attempt(await signed('ES256', stranger))).toBe('401 The identity token has a wrong signature.');
    // Two keys are valid at a time, so a third waits for the removal of one.
    await expect(
      addIdentityKey(bundle.deps, { ...own, algorithm: 'HS256', publicKey: undefined }),
    ).rejects.toMatchObject({
      code: 'PARAMETER_INVALID',
    });
    expect(await attempt(await bundle.sign())).toBe('accepted');
    await removeIdentityKey(bundle.deps, { ...own, id: added.id });
    expect(await attempt(await signed('ES256', privateKey))).toMatch(/^401 /);
  });
});

describe('events and attributes from an app', () => {
  test('count once per id, however often they are sent', async () => {
    const phone = await signedIn('sven');
    const events = [
      { id: 'bought-0001', type: 'event', name: 'Bought', attributes: { price: 4.5 } },
      { id: 'bought-0001', type: 'event', name: 'Bought' },
      { id: 'changed-0001', type: 'set', attributes: { team: 'Kestrels' } },
    ];
    expect((await bundle.report(phone, events)).body).toEqual({ accepted: 2, repeated: 0, refused: [] });
    expect((await bundle.report(phone, events)).body).toEqual({ accepted: 0, repeated: 2, refused: [] });
    expect(await bundle.events('sven')).toEqual(['Bought']);
    expect(await bundle.attributes('sven')).toEqual({ 'app:team': 'Kestrels' });
  });

  test('get the time at which they happened, by a clock that is wrong by a day', async () => {
    const phone = await signedIn('tess');
    const now = bundle.clock.now().getTime();
    const day = 86_400_000;
    const event = { id: 'clock-0001', type: 'event', name: 'Late', time: new Date(now + day - 60_000).toISOString() };
    await bundle.report(phone, [event], { sent_at: new Date(now + day).toISOString() });
    const [stored] = await bundle.database`
      select occurred_at as at from events where name = 'Late'`;
    expect((stored!.at as Date).getTime()).toBe(now - 60_000);
  });

  test('start only the campaigns that accept events from apps', async () => {
    const closed = await bundle.live(triggered({}, onAndroid('Of servers')));
    const open = await bundle.live(triggered({ from_apps: true }, onAndroid('Of apps')));
    const phone = await signedIn('uma');
    await bundle.report(phone, [{ id: 'left-00001', type: 'event', name: 'Left' }]);
    expect([await bundle.triggers(closed), await bundle.triggers(open)]).toEqual([
      expect.not.arrayContaining(['uma WAITING']),
      ['uma WAITING'],
    ]);
  });
});

describe('with the app key alone, a stranger', () => {
  const unknown = { status: 401, code: 'INSTALLATION_UNKNOWN' };
  const refusalOf = ({ status, body }: { status: number; body: any }) => ({ status, code: body.code });

  test('reaches no installation but their own: a wrong secret and an unknown id are one answer', async () => {
    const victim = await signedIn('victoria');
    const url = `/v1/app/installations/${victim.id}`;
    const wrong = { secret: secretOf('x') };
    const texts = new Set<string>();
    for (const [id, path] of [victim.id, 'installation-that-is-not'].flatMap((one) =>
      ['', '/identify', '/logout'].map((end) => [one, `/v1/app/installations/${one}${end}`] as const),
    )) {
      const method = path.endsWith(id) ? 'PATCH' : 'POST';
      const body = path.endsWith('identify')
        ? { identity_token: await bundle.sign({ sub: 'stranger' }) }
        : { opted_in: false };
      const answer = await bundle.app(method, path, { ...wrong, ...(path.endsWith('logout') ? {} : { body }) });
      expect(refusalOf(answer)).toEqual(unknown);
      texts.add(JSON.stringify(answer.body));
    }
    expect(texts.size).toBe(1);
    expect(refusalOf(await bundle.register({ ...victim, ...wrong }, { push_token: 'stolen' }))).toEqual(unknown);
    const events = [{ id: 'forged-0001', type: 'event', name: 'Forged' }];
    expect(refusalOf(await bundle.report({ ...victim, ...wrong }, events))).toEqual(unknown);
    expect(refusalOf(await bundle.app('PATCH', url, { body: { opted_in: false } }))).toEqual(unknown);
    expect(await deviceOf(victim)).toBe(`victoria token-${victim.id} ACTIVE`);
  });

  test('takes nobody’s push token; the app that was reinstalled does, with its old secret', async () => {
    const victim = await signedIn('wanda');
    const stranger = newPhone();
    const held = { status: 409, code: 'PUSH_TOKEN_HELD' };
    const stolen = { push_token: `token-${victim.id}` };
    expect(refusalOf(await bundle.register(stranger, stolen))).toEqual(held);
    const guess = { previous: { installation_id: victim.id, secret: secretOf('x') } };
    expect(refusalOf(await bundle.register(stranger, { ...stolen, ...guess }))).toEqual(held);
    expect(await deviceOf(victim)).toBe(`wanda token-${victim.id} ACTIVE`);
    const previous = { installation_id: victim.id, secret: victim.secret };
    expect((await bundle.register(newPhone(), { ...stolen, previous })).body).toMatchObject({ can_receive: true });
    expect(await deviceOf(victim)).toBe(`anonymous token-${victim.id} ACTIVE`);
  });

  test('takes no push token that a server has registered', async () => {
    const headers = bundle.basic(await bundle.makeKey('data'));
    const send = (url: string, payload: object) =>
      bundle.installationServer.inject({ method: 'POST', url: `${url}/${bundle.workspaceId}`, headers, payload });
    await send('/v1/customer', { type: 'customer', customer_id: 'xaver', attributes: {} });
    const attributes = { platform: 'ANDROID', push_id: 'token-of-xaver' };
    const device = await send('/v1/device', { type: 'device', customer_id: 'xaver', device_id: 'phone', attributes });
    expect(device.statusCode).toBe(200);
    const stolen = await bundle.register(newPhone(), { push_token: 'token-of-xaver' });
    expect(refusalOf(stolen)).toEqual({ status: 409, code: 'PUSH_TOKEN_HELD' });
  });

  test('writes no standard, reserved or unlisted attribute, not even of their own user', async () => {
    const phone = await registered();
    const names = [
      'u_em',
      'email',
      'Email (Standard)',
      'USER_ATTRIBUTE_USER_EMAIL',
      'mobile',
      'plan',
      'device:gaid',
      'app:team',
    ];
    const sets = names.map((name, index) => ({
      id: `set-00000${index}`,
      type: 'set',
      attributes: { [name]: 'victim@example.com' },
    }));
    const { body } = await bundle.report(phone, sets);
    expect(body.accepted).toBe(0);
    expect(body.refused).toHaveLength(names.length);
    // Nor can the workspace allow it.
    const { basic, makeKey } = bundle;
    const authorization = basic(await makeKey('data'));
    for (const name of ['u_em', 'email', 'mobile', 'time_zone', 'device:gaid'])
      expect(
        (
          await bundle.installationServer.inject({
            ...{ method: 'PUT', url: '/v1/app-access', headers: authorization, payload: { attributes: [name] } },
          })
        ).statusCode,
      ).toBe(400);
  });

  test('is selected by no value that an app wrote', async () => {
    const phone = await signedIn('yara');
    await bundle.report(phone, [
      { id: 'select-0001', type: 'set', attributes: { team: 'one-time-password', level: 7 } },
    ]);
    expect(await bundle.attributes('yara')).toMatchObject({ 'app:team': 'one-time-password', 'app:level': 7 });
    // The data API stores the user again, and keeps its other identifiers.
    const data = bundle.basic(await bundle.makeKey('data'));
    const stored = await bundle.installationServer.inject({
      ...{ method: 'POST', url: `/v1/customer/${bundle.workspaceId}`, headers: data },
      payload: { type: 'customer', customer_id: 'yara', attributes: { plan: 'gold' } },
    });
    expect(stored.statusCode).toBe(200);
    const select = (attribute: string, value: string) =>
      findSelectedUsers(bundle.database, {
        workspaceId: bundle.workspaceId,
        selector: { attribute, isCustom: true, values: [value] },
        limit: 5,
      });
    for (const [attribute, value] of [
      ['team', 'one-time-password'],
      ['app:team', 'one-time-password'],
      ['app:level', '7'],
    ] as const)
      expect(await select(attribute, value)).toEqual([]);
    expect(await select('plan', 'gold')).toHaveLength(1);
  });

  test('opens no other route', async () => {
    const { installationServer: server, appKey, workspaceId } = bundle;
    const basic = `Basic ${Buffer.from(`${workspaceId}:${appKey}`).toString('base64')}`;
    for (const authorization of [basic, `Bearer ${appKey}`])
      for (const [method, url] of [
        ['POST', `/v1/customer/${workspaceId}`],
        ['POST', `/v1/customers/export?app_id=${workspaceId}`],
        ['GET', '/v1/app-access'],
        ['GET', '/v1/apps'],
      ] as const) {
        const payload = { type: 'customer', customer_id: 'ada', attributes: {} };
        const headers = { authorization, 'svc-appkey': workspaceId };
        const answer = await server.inject({ method, url, headers, ...(method === 'GET' ? {} : { payload }) });
        expect([url, [401, 403].includes(answer.statusCode)]).toEqual([url, true]);
      }
  });

  test('uses it from listed sites only, and reads the refusal', async () => {
    const send = (origin: string) => bundle.register(newPhone(), {}, { origin });
    const [own, other] = [await send('https://shop.example'), await send('https://evil.example')];
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, 'https://shop.example']);
    expect(refusalOf(other)).toEqual({ status: 403, code: 'APP_ORIGIN_REFUSED' });
    expect(other.headers['access-control-allow-origin']).toBe('https://evil.example');
    const preflight = await bundle.app('OPTIONS', '/v1/app/installations', { key: '', origin: 'https://shop.example' });
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([
      204,
      'authorization, content-type, last-event-id, carillon-installation-secret',
    ]);
  });

  test('floods nobody else’s network, and refreshes are not counted', async () => {
    const flood = async (address: string, count: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let nth = 0; nth < count; nth += 1)
        statuses.push((await bundle.register(newPhone(), { push_token: null }, { address })).status);
      return statuses;
    };
    const known = await registered();
    await bundle.database`
      update limit_windows set events = array_fill(${bundle.clock.now()}::timestamptz, array[300]), last_event_at = ${bundle.clock.now()}
      where operation = 'installation-network'`;
    // Everything so far came from this network.
    expect(await flood('198.51.100.99', 1)).toEqual([429]);
    expect(await flood('198.51.101.7', 1)).toEqual([200]);
    expect((await bundle.register(known)).status).toBe(200);
    await bundle.database`delete from limit_windows`;
  });
});

test('the API log keeps no proof of a user or an installation', async () => {
  const phone = await registered();
  const previous = { installation_id: phone.id, secret: phone.secret };
  await bundle.register(phone, { previous });
  const token = await bundle.sign({ sub: 'zoe' });
  await bundle.app('POST', `/v1/app/installations/${phone.id}/identify`, {
    secret: phone.secret,
    body: { identity_token: token },
  });
  const logged = bundle.calls.map(({ requestBody, headers }) => `${requestBody} ${headers}`).join('\n');
  expect(logged).toContain('[redacted]');
  for (const secret of [token, phone.secret, bundle.appKey]) expect(logged).not.toContain(secret);
});

test('a revoked app key is refused from the next call on', async () => {
  const phone = await registered();
  await archiveKey(bundle, { actor, workspaceId: bundle.workspaceId, keyId: bundle.appKeyId });
  const answer = await bundle.register(phone);
  expect([answer.status, answer.body.code]).toEqual([401, 'APP_KEY_UNKNOWN']);
});
