import { createDecipheriv, createECDH, ECDH, hkdfSync, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encryptWebPush } from '../../../src/providers/webpush/encrypt.ts';
import { planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import vectors from '../../fixtures/ecdh-p256.json' with { type: 'json' };
import { makeMessage } from './delivery-bundle.ts';
import { propertyRuns } from '../../property-runs.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const number = (value: bigint): Buffer => hex(value.toString(16).padStart(64, '0'));
const point = (x: bigint | Buffer, y: bigint | Buffer, form = 4): Buffer =>
  Buffer.concat([Buffer.from([form]), ...[x, y].map((part) => (typeof part === 'bigint' ? number(part) : part))]);

// P-256 (SEC 2 §2.4.2): the field's prime, and the base point as an example of a good key.
const prime = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const baseX = 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n;
const baseY = 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n;
/** The y of a point with this x, whichever of the two. */
const yOf = (x: bigint): Buffer =>
  (
    ECDH.convertKey(
      Buffer.concat([Buffer.from([2]), number(x)]),
      'prime256v1',
      undefined,
      undefined,
      'uncompressed',
    ) as Buffer
  ).subarray(33);

const otherCurve = (curve: string): Buffer => createECDH(curve).generateKeys();

type Row = [what: string, key: Buffer];
const badKeys: Row[] = [
  // Each pair of 0, 1, p−1 and p; none is on the curve (Wycheproof 332 to 347, CVE-2015-7940).
  ...[0n, 1n, prime - 1n, prime].flatMap((x) =>
    [0n, 1n, prime - 1n, prime].map((y): Row => [
      `x ${x === 0n ? 0 : x === 1n ? 1 : x === prime ? 'p' : 'p-1'}, y ${y === 0n ? 0 : y === 1n ? 1 : y === prime ? 'p' : 'p-1'}`,
      point(x, y),
    ]),
  ),
  ['nothing', Buffer.alloc(0)],
  ['the point at infinity, one byte (SEC 1 §2.3.3)', Buffer.from([0])],
  ['the point at infinity, padded', Buffer.alloc(65)],
  ['only the form', Buffer.from([4])],
  ['a good point, compressed (Wycheproof 2)', Buffer.concat([Buffer.from([3]), number(baseX)])],
  [
    'a compressed x with no point (Wycheproof 349)',
    hex('02fd4bf61763b46581fd9174d623516cf3c81edd40e29ffa2777fb6cb0ae3ce535'),
  ],
  [
    'a point of low order on the twist, compressed (Wycheproof 350)',
    hex('03efdde3b32872a9effcf3b94cbf73aa7b39f9683ece9121b9852167f4e3da609b'),
  ],
  ['a good point, hybrid form 6 (X9.62)', point(baseX, baseY, 6)],
  ['a good point, hybrid form 7 (X9.62)', point(baseX, baseY, 7)],
  ['a good point with form 5', point(baseX, baseY, 5)],
  ['a good point without its form', point(baseX, baseY).subarray(1)],
  ['a good point, one byte short', point(baseX, baseY).subarray(0, 64)],
  ['a good point, one byte long', Buffer.concat([point(baseX, baseY), Buffer.alloc(1)])],
  ['a good point twice', Buffer.concat([point(baseX, baseY), point(baseX, baseY)])],
  ['x and y the wrong way round', point(baseY, baseX)],
  ['y one too large', point(baseX, baseY + 1n)],
  ['x one too large', point(baseX + 1n, baseY)],
  ['one bit of y', point(baseX, baseY ^ (1n << 200n))],
  ['a point of x 0, written as p', point(prime, yOf(0n))],
  ['the largest numbers that fit', point(2n ** 256n - 1n, 2n ** 256n - 1n)],
  ['a point of secp256k1', otherCurve('secp256k1')],
  ['a point of brainpoolP256r1', otherCurve('brainpoolP256r1')],
  ['a point of P-224', otherCurve('secp224r1')],
  ['a point of P-384', otherCurve('secp384r1')],
  [
    'a key with its ASN.1 around it (RFC 5480)',
    Buffer.concat([hex('3059301306072a8648ce3d020106082a8648ce3d030107034200'), point(baseX, baseY)]),
  ],
  ['all bytes 4', Buffer.alloc(65, 4)],
];

const planFor = (p256dh: string | Buffer, auth = Buffer.alloc(16, 1).toString('base64url')) =>
  planWebPushRequest({
    message: makeMessage('WEB', '0'),
    device: {
      deviceId: '0',
      platform: 'WEB',
      pushId: JSON.stringify({
        endpoint: 'https://push.example/x',
        keys: { p256dh: typeof p256dh === 'string' ? p256dh : p256dh.toString('base64url'), auth },
      }),
    },
    credential: {} as never,
  });
const dead = { outcome: { kind: 'gone', code: 'INVALID_SUBSCRIPTION' } };

describe('a key that no browser made is a dead device, never an exception', () => {
  test.each(badKeys)('%s', (_what, key) => expect(planFor(key)).toEqual(dead));

  test('what is no base64url of 65 bytes', () => {
    const good = point(baseX, baseY);
    const texts = [
      '',
      ' ',
      '=',
      'null',
      good.toString('hex'),
      '\0',
      'é'.repeat(40),
      'BA',
      good.toString('base64url').slice(1),
    ];
    for (const text of texts) expect(planFor(text)).toEqual(dead);
    for (const keys of [null, {}, [], 'x', 7, { p256dh: 7, auth: {} }, { p256dh: good.toString('base64url') }]) {
      const pushId = JSON.stringify({ endpoint: 'https://push.example/x', keys });
      const device = { deviceId: '0', platform: 'WEB' as const, pushId };
      expect(planWebPushRequest({ message: makeMessage('WEB', '0'), device, credential: {} as never })).toEqual(dead);
    }
  });

  test('an auth secret of any length but 16', () => {
    for (const length of [0, 1, 15, 17, 32])
      expect(planFor(point(baseX, baseY), randomBytes(length).toString('base64url'))).toEqual(dead);
    expect(planFor(point(baseX, baseY))).toHaveProperty('plan');
  });

  test('bytes by chance', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (rest) => {
        expect(planFor(Buffer.concat([Buffer.from([4]), rest]))).toEqual(dead);
      }),
      { seed: 256, numRuns: propertyRuns(300) },
    );
  });
});

describe('an unusual but good key gives the right secret', () => {
  const auth = Buffer.alloc(16, 2);
  const salt = Buffer.alloc(16, 3);

  /** Opens a message with the agreed secret that the vector names, not with a key agreement of our own. */
  function openWithSecret(message: Buffer, { shared, browser }: { shared: Buffer; browser: Buffer }): string {
    const sender = message.subarray(21, 86);
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), browser, sender]);
    const secret = Buffer.from(hkdfSync('sha256', shared, auth, info, 32));
    const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16));
    const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
    const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(message.subarray(-16));
    return Buffer.concat([decipher.update(message.subarray(86, -16)), decipher.final()]).toString();
  }

  test.each(vectors.agreements)('case $case: $about', (vector) => {
    const browser = hex(vector.public);
    const message = encryptWebPush(
      Buffer.from('text'),
      { p256dh: browser, auth },
      { salt, senderPrivateKey: hex(vector.private) },
    );
    expect(openWithSecret(message, { shared: hex(vector.shared), browser })).toBe('text\u0002');
    expect(planFor(browser)).toHaveProperty('plan');
  });

  test.each<Row>([
    ['the base point', point(baseX, baseY)],
    ['the base point, negated', point(baseX, prime - baseY)],
    ['the point of x 0', point(0n, yOf(0n))],
  ])('%s', (_what, key) => expect(planFor(key)).toHaveProperty('plan'));
});
