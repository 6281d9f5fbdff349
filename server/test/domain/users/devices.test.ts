import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { providersOf } from '../../../src/domain/delivery/providers.ts';
import { parseDeviceAttributes } from '../../../src/domain/users/device-attributes.ts';
import {
  addressHash,
  describeSuspicion,
  deviceIdentifiersOf,
  deviceNameKinds,
  isDroppedSuspect,
  nextSuspicion,
  pushIdValue,
} from '../../../src/domain/users/devices.ts';

type Json = Record<string, unknown>;

const android = { platform: 'ANDROID', push_id: 'token:1' };
const ios = { platform: 'iOS', push_id: 'ab'.repeat(32) };
const keys = { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: Buffer.alloc(16, 1).toString('base64url') };
const subscription = { endpoint: 'https://push.example.net/1', keys };
const web = { platform: 'web', push_id: subscription };

const refusal = (attributes: Json) => read(attributes).refused;

/** What a device is read as that says nothing beside its platform and its address. */
const unsaid = {
  ...{ provider: null, pushIdType: null, isOptedOut: false, isProvisional: false },
  ...{ model: null, appVersion: null, osVersion: null, gaid: null, idfv: null, locale: null, badgeCount: null },
};

describe('a device (fact 5)', () => {
  test.each([
    [{ push_id: 'token:1' }, 'platform'],
    [{}, 'platform'],
    [{ platform: 'ANDROID' }, 'push_id'],
    [{ platform: 'ANDROID', push_id: null }, 'push_id'],
    [{ platform: 'ANDROID', push_id: '' }, 'push_id'],
  ])('reports what is missing in %j', (attributes, missing) => {
    expect(read(attributes)).toEqual({ missing });
  });

  test('needs only platform and address', () => {
    expect(read(android)).toEqual({ ...unsaid, platform: 'ANDROID', pushId: 'token:1' });
    expect(read(ios)).toEqual({ ...unsaid, platform: 'IOS', pushId: ios.push_id });
    expect(read(web)).toEqual({ ...unsaid, platform: 'WEB', pushId: JSON.stringify(subscription) });
  });

  test.each(['andro', 'I OS', 'Webb', 7, null, '', ['ANDROID']])(
    'may not have the platform %j, which is misspelled',
    (platform) => {
      expect(refusal({ ...android, platform })).toBe('platform: is not a valid platform.');
    },
  );

  test('is rejected as unreachable if it is a television', () => {
    expect(refusal({ ...android, platform: 'TV' })).toBe('platform: TV devices cannot be reached by this service.');
  });
});

describe('the provider of a device', () => {
  test.each([undefined, null, '', 'fcm'])('is stored as none if it is the usual one: %j', (provider) => {
    expect(read({ ...android, push_provider: provider }).provider).toBeNull();
  });

  test('is stored if it is another provider of the platform', () => {
    expect(read({ ...android, push_provider: 'hms' }).provider).toBe('hms');
    expect(read({ ...ios, push_provider: 'fcm' }).provider).toBe('fcm');
  });

  test('is rejected with the supported ones if it does not serve the platform', () => {
    expect(refusal({ ...android, push_provider: 'apns' })).toBe(
      `push_provider: must be ${providersOf.ANDROID.join(' or ')} on ANDROID`,
    );
    expect(refusal({ ...ios, push_provider: 'hms' })).toBe('push_provider: must be apns or fcm on iOS');
    expect(refusal({ ...web, push_provider: 'hms' })).toBe('push_provider: must be webpush or fcm on web');
  });

  test('must name an app by a valid id', () => {
    for (const none of [undefined, null, ''])
      expect(read({ ...android, app_id: none })).toEqual({ ...unsaid, platform: 'ANDROID', pushId: 'token:1' });
    expect(read({ ...android, app_id: 'courier' }).appId).toBe('courier');
    for (const appId of [7, 'a b', 'x'.repeat(65), ['courier']])
      expect(refusal({ ...android, app_id: appId })).toBe('attributes.app_id: must be the id of an app');
  });
});

describe("Firebase's installation ids", () => {
  const installation = { ...android, push_id_type: 'fid', push_id: 'cZ_-56789012345678901d' };

  test('are 22 characters of base64url, if the device says so', () => {
    expect(read(installation)).toMatchObject({ pushIdType: 'fid', pushId: installation.push_id });
    expect(read({ ...ios, ...installation, platform: 'iOS', push_provider: 'fcm' })).toMatchObject({
      provider: 'fcm',
      pushIdType: 'fid',
    });
  });

  test.each(['x'.repeat(21), 'x'.repeat(23), `${'x'.repeat(21)}:`, [installation.push_id]])('are not %j', (id) => {
    expect(refusal({ ...installation, push_id: id })).toBe('push_id: is not a Firebase installation id');
  });

  test.each([undefined, null, '', 'token'])('are not assumed without the kind: %j', (type) => {
    expect(read({ ...android, push_id_type: type })).toMatchObject({ pushIdType: null, pushId: 'token:1' });
  });

  test('are rejected with another kind of address, or at another provider', () => {
    expect(refusal({ ...android, push_id_type: 'FID' })).toBe('push_id_type: must be token or fid');
    expect(refusal({ ...installation, push_provider: 'hms' })).toBe(
      'push_id_type: can be fid only with push_provider fcm',
    );
    expect(refusal({ ...ios, push_id_type: 'fid' })).toBe('push_id_type: can be fid only with push_provider fcm');
  });
});

describe('addresses', () => {
  test.each([
    [7, 'must be a text'],
    ['x'.repeat(4_097), 'must have at most 4096 characters'],
    ['to ken', 'is not a device token'],
    ['tokené', 'is not a device token'],
    ['token\n', 'is not a device token'],
    [' token', 'is not a device token'],
  ])('are up to 4,096 printable ASCII characters for Firebase, not %j', (id, reason) => {
    expect(refusal({ ...android, push_id: id })).toBe(`push_id: ${reason}`);
  });

  test('may have the maximum length, and keep their case', () => {
    expect(read({ ...android, push_id: 'X'.repeat(4_096) }).pushId).toBe('X'.repeat(4_096));
    expect(read({ ...android, push_id: '!~' }).pushId).toBe('!~');
  });

  test('are hexadecimal for Apple, stored in lower case', () => {
    expect(read({ ...ios, push_id: 'AB'.repeat(32) }).pushId).toBe('ab'.repeat(32));
    expect(read({ ...ios, push_id: '0aF'.repeat(6).slice(0, 16) }).pushId).toBe('0af0af0af0af0af0');
    expect(read({ ...ios, push_id: 'a'.repeat(200) }).pushId).toBe('a'.repeat(200));
    for (const id of ['a'.repeat(15), 'a'.repeat(201), `${'a'.repeat(20)}g`, `g${'a'.repeat(20)}`])
      expect(refusal({ ...ios, push_id: id })).toBe('push_id: is not an APNs device token (hexadecimal)');
  });

  test('are Firebase’s tokens for an iPhone that Firebase reaches', () => {
    expect(read({ ...ios, push_provider: 'fcm', push_id: 'G:h' }).pushId).toBe('G:h');
  });

  test('are one text for a subscription, sent as object or JSON, with any other members', () => {
    const stored = JSON.stringify(subscription);
    const more = {
      expirationTime: null,
      keys: { auth: keys.auth, more: 1, p256dh: keys.p256dh },
      ...{ endpoint: subscription.endpoint },
    };
    for (const sent of [subscription, stored, more, JSON.stringify(more)])
      expect(read({ ...web, push_id: sent }).pushId).toBe(stored);
  });

  const bytes = (count: number) => Buffer.alloc(count, 4).toString('base64url');
  test.each<[unknown]>([
    ['{'],
    ['null'],
    [7],
    [{}],
    [{ ...subscription, endpoint: 7 }],
    [{ ...subscription, endpoint: 'push.example' }],
    [{ ...subscription, endpoint: 'http://push.example/1' }],
    [{ ...subscription, endpoint: `https://push.example.net/${'x'.repeat(2_024)}` }],
    [{ endpoint: subscription.endpoint }],
    [{ ...subscription, keys: { p256dh: keys.p256dh } }],
    [{ ...subscription, keys: { auth: keys.auth } }],
    [{ ...subscription, keys: { ...keys, p256dh: bytes(64) } }],
    [{ ...subscription, keys: { ...keys, p256dh: bytes(66) } }],
    [{ ...subscription, keys: { ...keys, auth: bytes(15) } }],
    [{ ...subscription, keys: { ...keys, auth: bytes(17) } }],
  ])('are not %j', (sent) => {
    expect(refusal({ ...web, push_id: sent })).toBe(
      'push_id: is not a PushSubscription with endpoint, keys.p256dh and keys.auth',
    );
  });

  test.each([
    ['https://permanently-removed.invalid/fcm/send/x', '.invalid'],
    ['https://PERMANENTLY-REMOVED.INVALID./x', '.invalid'],
    ['https://simulator.invalid/x', '.invalid'],
    ['https://push.example/x', '.example'],
    ['https://push.alt/x', '.alt'],
    ['https://abcdef.onion/x', '.onion'],
  ])('are rejected if the endpoint is unreachable: %s', (endpoint, name) => {
    expect(refusal({ ...web, push_id: { ...subscription, endpoint } })).toBe(
      `push_id: is a subscription that cannot be reached: its endpoint is below ${name}, where no host exists. Unsubscribe the browser and subscribe it again`,
    );
  });

  test.each([
    // The phones of the sandbox.
    'https://push.simulator.invalid/push/1',
    'https://invalid.example.com/x',
    // Within a network the operator may have opened them; what they resolve to is judged when a message is sent.
    'https://localhost:8443/x',
    'https://push.test/x',
    'https://ntfy.local/x',
    'https://ntfy.lan/x',
    'https://192.0.2.1/x',
  ])('are accepted if the endpoint may be reachable: %s', (endpoint) => {
    expect(read({ ...web, push_id: { ...subscription, endpoint } }).pushId).toContain(endpoint);
  });

  test('have an endpoint of at most 2,048 characters', () => {
    const endpoint = `https://push.example.net/${'x'.repeat(2_023)}`;
    expect(read({ ...web, push_id: { ...subscription, endpoint } }).pushId).toContain(endpoint);
  });
});

describe('the other attributes of a device', () => {
  test('are read in every spelling of the abbreviation; the first one wins', () => {
    expect(read({ ...android, svc_gaid: 'g' }).gaid).toBe('g');
    expect(read({ ...android, acme_gaid: 'g', svc_gaid: 'h' }).gaid).toBe('g');
    expect(read({ ...android, other_gaid: 'g', gaid: 'h' }).gaid).toBeNull();
  });

  test('ignore null, like every optional member; another spelling may have a value', () => {
    const silent = { acme_push_opted: null, acme_push_provisional_opted: null, acme_gaid: null };
    expect(read({ ...android, ...silent })).toMatchObject({ isOptedOut: false, isProvisional: false, gaid: null });
    const told = { svc_push_opted: 'False', svc_push_provisional_opted: true, svc_gaid: 'g' };
    expect(read({ ...android, ...silent, ...told })).toMatchObject({
      ...{ isOptedOut: true, isProvisional: true, gaid: 'g' },
    });
  });

  test.each([
    [true, { isOptedOut: false, isProvisional: true }],
    ['True', { isOptedOut: false, isProvisional: true }],
    ['TRUE', { isOptedOut: false, isProvisional: true }],
    [false, { isOptedOut: true, isProvisional: false }],
    ['False', { isOptedOut: true, isProvisional: false }],
    ['fAlse', { isOptedOut: true, isProvisional: false }],
  ])('accept opt-ins as booleans or words: %j', (flag, read_) => {
    expect(read({ ...android, svc_push_opted: flag, svc_push_provisional_opted: flag })).toMatchObject(read_);
  });

  test.each(['yes', 'untrue', 'trued', 'unfalse', 'falsely', '', 1])('reject %j as an opt-in', (flag) => {
    expect(refusal({ ...android, svc_push_opted: flag })).toBe('push_opted: must be True or False');
    expect(refusal({ ...android, acme_push_provisional_opted: flag })).toBe(
      'push_provisional_opted: must be True or False',
    );
  });

  test.each([
    ['model', 'model', 'model'],
    ['app_version', 'appVersion', 'app_version'],
    ['os_version', 'osVersion', 'os_version'],
    ['svc_gaid', 'gaid', 'gaid'],
    ['idfv', 'idfv', 'idfv'],
    ['advertising_identifier', 'idfv', 'idfv'],
  ])('accept %s as a text of at most 512 characters', (name, member, shown) => {
    expect(read({ ...android, [name]: 'x'.repeat(512) })[member]).toBe('x'.repeat(512));
    for (const none of [null, '']) expect(read({ ...android, [name]: none })[member]).toBeNull();
    expect(refusal({ ...android, [name]: 'x'.repeat(513) })).toBe(`${shown}: must have at most 512 characters`);
    expect(refusal({ ...android, [name]: 7 })).toBe(`${shown}: must be a text`);
    expect(refusal({ ...android, [name]: 'a\0' })).toBe(`${shown}: must not hold NUL`);
    expect(refusal({ ...android, [name]: '\ud800' })).toBe(`${shown}: must be well-formed Unicode`);
  });

  test('prefer the id for vendors to the advertising id', () => {
    expect(read({ ...ios, idfv: 'v', advertising_identifier: 'a' }).idfv).toBe('v');
  });

  test('store a language in its canonical form', () => {
    expect(read({ ...android, locale: 'pt-br' }).locale).toBe('pt-BR');
    expect(read({ ...android, locale: '' }).locale).toBeNull();
    expect(refusal({ ...android, locale: 'no_tag!' })).toBe('attributes.locale: is no language tag');
    expect(refusal({ ...android, locale: 7 })).toBe('attributes.locale: must be a text');
  });

  test.each([
    [undefined, null],
    [null, null],
    ['', null],
    [0, 0],
    ['0', 0],
    [99_999, 99_999],
    ['99999', 99_999],
  ])('accept the badge number as a text, as in a file: %j', (sent, badgeCount) => {
    expect(read({ ...android, badge_count: sent }).badgeCount).toBe(badgeCount);
  });

  test.each([-1, 100_000, 1.5, '-1', '100000', '1x', 'x1', '1.5', '1e2', ' 5', '5 ', true, []])(
    'reject %j as a badge number',
    (sent) => {
      expect(refusal({ ...android, badge_count: sent })).toBe(
        'attributes.badge_count: must be a whole number from 0 to 99999',
      );
    },
  );
});

describe('device identifiers', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest();

  test('identifies a user by the address and the advertising ids of a device, as far as they exist', () => {
    const pushId = { attribute: 'device:push_id', type: 'string', value: 't' };
    expect(deviceIdentifiersOf({ pushId: 't' })).toEqual([pushId]);
    expect(deviceIdentifiersOf({ pushId: 't', gaid: null, idfv: '' })).toEqual([pushId]);
    expect(deviceIdentifiersOf({ pushId: 't', gaid: 'g', idfv: 'v' })).toEqual([
      pushId,
      { attribute: 'device:gaid', type: 'string', value: 'g' },
      { attribute: 'device:idfv', type: 'string', value: 'v' },
    ]);
  });

  test('looks up an address of more than 512 bytes by its SHA-256', () => {
    expect(pushIdValue('é'.repeat(256))).toBe('é'.repeat(256));
    const long = `${'é'.repeat(256)}x`;
    expect(pushIdValue(long)).toBe(sha256(long).toString('hex'));
    expect(deviceIdentifiersOf({ pushId: long })[0]!.value).toBe(sha256(long).toString('hex'));
  });

  test('identifies an address over all users by its SHA-256', () => {
    expect(addressHash('é')).toEqual(sha256('é'));
  });

  test('finds devices of a block by address, advertising id or the caller’s own id (fact 5)', () => {
    expect(Object.fromEntries(deviceNameKinds(['acme', 'svc']))).toEqual({
      ...{ acme_gaid: 'gaid', svc_gaid: 'gaid', push_id: 'push-id' },
      ...{ unique_id: 'unique-id', device_unique_id: 'unique-id' },
    });
  });
});

const since = new Date('2026-03-01T12:00:00Z');
const after = (hours: number) => new Date(since.getTime() + hours * 3_600_000);
const first = { code: 'BadDeviceToken', sends: 1, since, lastAt: since };

describe('a suspicion', () => {
  test('starts with its first strike and counts each send', () => {
    expect(nextSuspicion(undefined, { code: 'BadDeviceToken', at: since })).toEqual(first);
    expect(nextSuspicion(first, { code: 'INVALID_ARGUMENT', at: after(1) })).toEqual({
      ...{ code: 'INVALID_ARGUMENT', sends: 2, since, lastAt: after(1) },
    });
  });

  test('counts an unknown host once a day', () => {
    const host = { ...first, code: 'HOST_NOT_FOUND' };
    expect(nextSuspicion(host, { code: 'HOST_NOT_FOUND', at: after(23.9) })).toBe(host);
    expect(nextSuspicion(host, { code: 'HOST_NOT_FOUND', at: after(24) })).toMatchObject({ sends: 2 });
  });

  test.each([
    [2, 100, false],
    [3, 71.9, false],
    [3, 72, true],
    [40, 72, true],
  ])('removes the device after %i sends over %d hours: %s', (sends, hours, isOut) => {
    expect(isDroppedSuspect({ ...first, sends, lastAt: after(hours) })).toBe(isOut);
  });
});

describe('the description of a suspicion', () => {
  const enough = { ...first, sends: 3, lastAt: after(72) };
  const active = { state: 'ACTIVE', isRecovered: false } as const;
  const gone = { state: 'GONE', isRecovered: false } as const;
  test.each([
    { what: 'that a device may leave', suspicion: first, device: active, told: { ...first, hasLeft: false } },
    {
      ...{ what: 'that it has left', suspicion: enough, device: gone },
      told: { ...enough, hasLeft: true },
    },
    {
      ...{ what: 'nothing after a message was accepted', suspicion: first, device: { ...active, isRecovered: true } },
      told: null,
    },
    {
      ...{ what: 'nothing if the provider called it dead', suspicion: first, device: gone },
      told: null,
    },
  ] as const)('exists for $what', ({ suspicion, device, told }) => {
    expect(describeSuspicion(suspicion, device)).toEqual(told);
  });
});

function read(attributes: Json): Json {
  const parsed = parseDeviceAttributes(attributes, ['acme', 'svc']);
  if ('device' in parsed) return { ...parsed.device };
  return 'missing' in parsed
    ? { missing: parsed.missing }
    : { refused: `${parsed.fault.attribute}: ${parsed.fault.reason}` };
}
