import { ECDH, createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import * as ece from 'http_ece';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Message } from '../../../src/domain/content/message.ts';
import { makeLog } from '../../../src/log.ts';
import {
  encryptBatch,
  encryptWebPush,
  maxPlainBytes,
  packMessages,
  unpackResults,
} from '../../../src/providers/webpush/encrypt.ts';
import type { PlainMessage } from '../../../src/providers/webpush/encrypt.ts';
import { makeWebPushEncryption } from '../../../src/providers/webpush/encryption-pool.ts';
import type { WebPushEncryptionOptions } from '../../../src/providers/webpush/encryption-pool.ts';
import { planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import { decryptWebPush, makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { anyText } from '../../any-text.ts';
import vectors from '../../fixtures/ecdh-p256.json' with { type: 'json' };
import { propertyRuns } from '../../property-runs.ts';
import { makeMessage } from './make-message.ts';

describe('encryption', () => {
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

  // Values of RFC 8291 §5 and Appendix A.
  const example = {
    plain: 'When I grow up, I want to be a watermelon',
    p256dh: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
    browserPrivateKey: bytes('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
    auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
    salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
    senderPrivateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
    message:
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl' +
      '7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  };

  test('reproduces the example of RFC 8291 §5 byte for byte', () => {
    const message = encryptWebPush(Buffer.from(example.plain), example, example);
    expect(message.toString('base64url')).toBe(example.message);
  });

  test('produces messages that the simulated browser reads, as it reads the example of RFC 8291 §5', () => {
    const ecdh = createECDH('prime256v1');
    ecdh.setPrivateKey(example.browserPrivateKey);
    expect(ecdh.getPublicKey().equals(example.p256dh)).toBe(true);
    const browser = { ecdh, auth: example.auth };
    expect(decryptWebPush(bytes(example.message), browser).toString()).toBe(example.plain);
    // Any one bit that differs, in the header or in the record, and nothing is read.
    for (const at of [0, 21, 85, 86, bytes(example.message).length - 1]) {
      const changed = bytes(example.message);
      changed[at]! ^= 1;
      expect(() => decryptWebPush(changed, browser)).toThrow();
    }
  });

  const makeBrowser = () => {
    const ecdh = createECDH('prime256v1');
    ecdh.generateKeys();
    return { ecdh, auth: randomBytes(16) };
  };

  test('produces texts of any script and length that an independent library decrypts', () => {
    const text = fc
      .tuple(anyText({ maxLength: 200 }), fc.nat(4_000))
      .map(([piece, length]) => Buffer.from(piece.padEnd(length, piece || '.')).subarray(0, maxPlainBytes));
    const edges = [0, 1, 15, 16, 17, 3_992, maxPlainBytes].map((length): [Buffer] => [randomBytes(length)]);
    fc.assert(
      fc.property(text, (plain) => {
        const browser = makeBrowser();
        const message = encryptWebPush(plain, { p256dh: browser.ecdh.getPublicKey(), auth: browser.auth });
        expect(message.length).toBe(86 + plain.length + 1 + 16);
        expect(message.length).toBeLessThanOrEqual(4096);
        expect(decryptElsewhere(message, browser).equals(plain)).toBe(true);
        expect(decryptWebPush(message, browser).equals(plain)).toBe(true);
      }),
      { seed: 8291, numRuns: propertyRuns(300), examples: edges },
    );
  });

  test('encrypts a payload of 3,993 bytes to 4,096, and rejects one of 3,994 before sending', () => {
    const pushId = makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: 'browser' });
    const plan = (textLength: number) => {
      const message = makeMessage('WEB', '0');
      return planWebPushRequest({
        message: { ...message, content: { ...message.content, message: 'x'.repeat(textLength) } } as Message,
        device: { deviceId: '0', platform: 'WEB', pushId },
        credential: {} as never,
      });
    };
    const bodyLength = (textLength: number): number => {
      const planned = plan(textLength);
      if (!('plan' in planned)) return 0;
      return encryptWebPush(planned.plan.body, planned.plan.encryptFor!).length;
    };
    const longest = 4096 - bodyLength(0);
    expect(bodyLength(longest)).toBe(4096);
    expect(plan(longest + 1)).toEqual({
      outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail: '3994 bytes; Web Push takes 3993' },
    });
  });

  test('uses a new salt and key for each message to one browser', () => {
    const browser = createECDH('prime256v1');
    const keys = { p256dh: browser.generateKeys(), auth: randomBytes(16) };
    const [first, second] = [encryptWebPush(Buffer.from('x'), keys), encryptWebPush(Buffer.from('x'), keys)];
    expect(first.subarray(0, 16).equals(second.subarray(0, 16))).toBe(false);
    expect(first.subarray(21, 86).equals(second.subarray(21, 86))).toBe(false);
  });

  test('rejects a key that is not a point of the curve', () => {
    expect(() => encryptWebPush(Buffer.from('x'), { p256dh: Buffer.alloc(65, 4), auth: randomBytes(16) })).toThrow();
  });

  /** Decrypts with a library that has nothing of ours. */
  function decryptElsewhere(message: Buffer, { ecdh, auth }: ReturnType<typeof makeBrowser>): Buffer {
    const authSecret = auth.toString('base64url');
    return ece.decrypt(message, { version: 'aes128gcm', privateKey: ecdh, dh: undefined, authSecret });
  }
});

describe('batch encryption', () => {
  const browsers = Array.from({ length: 4 }, () => {
    const ecdh = createECDH('prime256v1');
    return { ecdh, auth: randomBytes(16), p256dh: ecdh.generateKeys() };
  });
  // Around the lengths at which one byte of the length is not enough, and the longest (RFC 8291 §4).
  const lengths = [0, 1, 255, 256, 257, 3993];
  const messages: PlainMessage[] = lengths.map((length, number) => {
    const { p256dh, auth } = browsers[number % browsers.length]!;
    return { plain: Buffer.alloc(length, number + 1), keys: { p256dh, auth } };
  });

  const encrypt = (given: readonly PlainMessage[]) => unpackResults(encryptBatch(packMessages(given)), given);

  test('encrypts every message for its own browser, with the length of RFC 8188 §2', () => {
    for (const [number, encrypted] of encrypt(messages).entries()) {
      expect(encrypted).toHaveLength(lengths[number]! + 103);
      const { ecdh, auth } = browsers[number % browsers.length]!;
      expect(decryptWebPush(encrypted!, { ecdh, auth }).equals(messages[number]!.plain)).toBe(true);
    }
  });

  test('omits only the message whose key is not a point, at any position', () => {
    const bad = { p256dh: Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]), auth: randomBytes(16) };
    for (const place of messages.keys()) {
      const given = messages.map((message, number) => (number === place ? { ...message, keys: bad } : message));
      expect(encrypt(given).map((encrypted) => encrypted === undefined)).toEqual(
        messages.map((_message, number) => number === place),
      );
    }
  });

  test('packs a batch into one buffer, which may begin at any offset', () => {
    const packed = packMessages(messages);
    expect(packed).toHaveLength(lengths.reduce((sum, length) => sum + length + 2 + 65 + 16, 0));
    const within = new Uint8Array(packed.length + 7);
    within.set(packed, 7);
    const results = encryptBatch(within.subarray(7));
    const moved = new Uint8Array(results.length + 5);
    moved.set(results, 5);
    const [, , , , , longest] = unpackResults(moved.subarray(5), messages);
    const { ecdh, auth } = browsers[5 % browsers.length]!;
    expect(decryptWebPush(longest!, { ecdh, auth }).equals(messages[5]!.plain)).toBe(true);
  });

  test('returns no results for an empty batch', () => {
    expect(encrypt([])).toEqual([]);
  });
});

describe('encryption threads', () => {
  const keys = { p256dh: createECDH('prime256v1').generateKeys(), auth: randomBytes(16) };
  const batchBytes = (count: number): number => count * (2 + 65 + 16 + 1);

  /** A thread that takes its work and does none of it. */
  const idle = new URL('data:text/javascript,setInterval(() => {}, 1e6)');
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  /** How many bytes each thread was handed, batch by batch. */
  let handed: Map<Worker, number[]>;
  let threads: Worker[];
  const ends: (() => Promise<void>)[] = [];
  const note = (worker: Worker): void => void threads.push(worker);
  beforeEach(() => {
    handed = new Map();
    threads = [];
    process.on('worker', note);
    vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, packed: Uint8Array) {
      handed.set(this, [...(handed.get(this) ?? []), packed.length]);
    });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  });
  afterEach(async () => {
    process.off('worker', note);
    vi.useRealTimers();
    vi.restoreAllMocks();
    for (const end of ends.splice(0)) await end();
  });

  const batches = () => threads.map((thread) => handed.get(thread) ?? []);

  test('get a batch of sixteen concurrent messages, but not one of fifteen', async () => {
    const { add, allHere } = start(1);
    add(15);
    await allHere();
    expect(threads).toEqual([]);
    add(16);
    await turn();
    expect(batches()).toEqual([[batchBytes(16)]]);
  });

  test('hold at most 256 messages in batches of 32; eight others per turn are encrypted on the main thread', async () => {
    const { add, done } = start(1);
    add(256 + 20);
    await turn();
    expect(batches()).toEqual([Array.from({ length: 8 }, () => batchBytes(32))]);
    expect(done()).toBe(8);
    await turn();
    expect(done()).toBe(16);
    await turn();
    await turn();
    expect(done()).toBe(20);
    expect(batches()[0]).toHaveLength(8);
  });

  test('share batches so that the least busy thread gets the next one', async () => {
    const { add } = start(2);
    add(5 * 32);
    await turn();
    expect(batches().map(({ length }) => length)).toEqual([3, 2]);
    add(1);
    await turn();
    expect(batches()[1]).toEqual([batchBytes(32), batchBytes(32), batchBytes(1)]);
  });

  describe('ended threads', () => {
    test('include one that was stuck for thirty seconds, and its messages are encrypted on the main thread', async () => {
      const { add, all } = start(1);
      add(40);
      await turn();
      // What it was handed first may be on its way at the first look.
      vi.advanceTimersByTime(60_000);
      await all();
      expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
    });

    test('include all after closing, and no other is started', async () => {
      const { add, allHere, all, encryption } = start(2);
      add(64);
      await turn();
      expect(threads).toHaveLength(2);
      await encryption.close();
      await all();
      add(40);
      await allHere();
      expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
    });
  });

  test('are not replaced for a minute if one exits on its own; the main thread encrypts instead', async () => {
    const { add, allHere, all } = start(1, new URL(`data:text/javascript,${encodeURIComponent('process.exit(1)')}`));
    add(20);
    await turn();
    expect(threads).toHaveLength(1);
    await all();
    add(20);
    await allHere();
    vi.advanceTimersByTime(59_999);
    add(20);
    await allHere();
    expect(threads).toHaveLength(1);
    vi.advanceTimersByTime(1);
    add(20);
    await turn();
    expect(threads).toHaveLength(2);
    await all();
  });

  function start(count: number, script = idle) {
    const encryption = makeWebPushEncryption({
      ...{ log: makeLog({ level: 'silent', pretty: false }), threads: count, script },
    });
    ends.push(() => encryption.close());
    let [added, done] = [0, 0];
    /** Hands in messages of one byte, all at once. */
    const add = (messages: number): void => {
      for (let number = 0; number < messages; number += 1) {
        const plain = Buffer.from([number % 256]);
        added += 1;
        void encryption.encrypt({ plain, keys }).then((encrypted) => {
          // Header, delimiter and tag (RFC 8188 §2); that browsers read them is tried elsewhere.
          if (encrypted.length === plain.length + 103) done += 1;
        });
      }
    };
    /** Until each has its own: what is encrypted here takes some turns, and to learn that a thread has ended some time. */
    const allIn = async (milliseconds: number): Promise<void> => {
      const until = performance.now() + milliseconds;
      for (let turns = 0; done < added && (turns < 100 || performance.now() < until); turns += 1) await turn();
      expect(done).toBe(added);
    };
    return { encryption, add, done: () => done, allHere: () => allIn(0), all: () => allIn(5_000) };
  }
});

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

describe('an invalid browser key', () => {
  test.each(badKeys)('counts as a dead device, without an exception: %s', (_what, key) =>
    expect(planFor(key)).toEqual(dead),
  );

  test('counts as a dead device if it is not base64url of 65 bytes', () => {
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

  test('counts as a dead device if the auth secret is not 16 bytes long', () => {
    for (const length of [0, 1, 15, 17, 32])
      expect(planFor(point(baseX, baseY), randomBytes(length).toString('base64url'))).toEqual(dead);
    expect(planFor(point(baseX, baseY))).toHaveProperty('plan');
  });

  test('counts as a dead device if it consists of random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (rest) => {
        expect(planFor(Buffer.concat([Buffer.from([4]), rest]))).toEqual(dead);
      }),
      { seed: 256, numRuns: propertyRuns(300) },
    );
  });
});

describe('an unusual but valid key', () => {
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

  test.each(vectors.agreements)('produces the correct secret: case $case: $about', (vector) => {
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
  ])('is accepted: %s', (_what, key) => expect(planFor(key)).toHaveProperty('plan'));
});

describe('encrypted messages', () => {
  const log = makeLog({ level: 'silent', pretty: false });
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const makeBrowser = () => {
    const ecdh = createECDH('prime256v1');
    const p256dh = ecdh.generateKeys();
    const auth = randomBytes(16);
    return { ecdh, auth, keys: { p256dh, auth } };
  };
  const browsers = Array.from({ length: 10 }, makeBrowser);
  const messages = Array.from({ length: 120 }, (_, number) => ({
    browser: browsers[number % browsers.length]!,
    plain: Buffer.from(`message ${number};`.padEnd(number % 30 === 0 ? maxPlainBytes : number, '.')),
  }));

  test.each([0, 1, 2])('are each read by their own browser under a separate key, with %d threads', async (count) => {
    const started = startEncryption({ threads: count });
    await expectAllRead(started);
    expect(started.threads).toHaveLength(count);
  });

  test('start no thread for a single message', async () => {
    const { encryption, threads } = startEncryption({ threads: 2 });
    const { keys } = browsers[0]!;
    expect(decryptWebPush(await encryption.encrypt({ plain: Buffer.from('x'), keys }), browsers[0]!).toString()).toBe(
      'x',
    );
    expect(threads).toEqual([]);
  });

  test('are rejected individually for a key that is not a point of the curve, without ending a thread', async () => {
    const { encryption, threads } = startEncryption({ threads: 1 });
    const bad = { p256dh: Buffer.alloc(65, 4), auth: Buffer.alloc(16) };
    const settled = await Promise.allSettled(
      messages.map(({ plain, browser }, number) =>
        encryption.encrypt({ plain, keys: number % 40 === 7 ? bad : browser.keys }),
      ),
    );
    const refused = settled.flatMap(({ status }, number) => (status === 'rejected' ? [number] : []));
    expect(refused).toEqual(messages.flatMap((_, number) => (number % 40 === 7 ? [number] : [])));
    expect(threads.map(({ threadId }) => threadId > 0)).toEqual([true]);
  });

  test.each([
    ['throws', 'throw new Error("broken")'],
    ['ends', 'process.exit(1)'],
    [
      'throws at its first batch',
      'require("worker_threads").parentPort.on("message", () => { throw new Error("no") })',
    ],
  ])('are all encrypted if a thread %s, and no other is started immediately', async (_what, code) => {
    const started = startEncryption({
      threads: 2,
      script: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    });
    await expectAllRead(started);
    const count = started.threads.length;
    await expectAllRead(started);
    expect(started.threads).toHaveLength(count);
  });

  test('are still completed if closing ends the threads during their work', async () => {
    const started = startEncryption({ threads: 2 });
    const read = expectAllRead(started);
    // The threads start at the end of this turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(started.threads).toHaveLength(2);
    await started.encryption.close();
    expect(started.threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
    await read;
    await expectAllRead(started);
    expect(started.threads).toHaveLength(2);
  });

  test('are encrypted on the main thread if a thread does nothing, and the thread is ended', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const started = startEncryption({
        threads: 1,
        script: new URL('data:text/javascript,setInterval(() => {}, 1e6)'),
      });
      const read = expectAllRead(started);
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(60_000);
      await read;
      expect(started.threads.map(({ threadId }) => threadId)).toEqual([-1]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('start threads again after idle ones were ended', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const started = startEncryption({ threads: 1 });
      await expectAllRead(started);
      const ended = once(started.threads[0]!, 'exit');
      vi.advanceTimersByTime(120_000);
      await ended;
      await expectAllRead(started);
      expect(started.threads).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  /** With the threads that it starts. */
  function startEncryption(options: Omit<WebPushEncryptionOptions, 'log'>) {
    const threads: Worker[] = [];
    const note = (worker: Worker): void => void threads.push(worker);
    process.on('worker', note);
    const encryption = makeWebPushEncryption({ log, ...options });
    ends.push(async () => {
      process.off('worker', note);
      await encryption.close();
    });
    return { encryption, threads };
  }

  /** Each message is encrypted for its own browser, which reads it. */
  async function expectAllRead({ encryption }: Pick<ReturnType<typeof startEncryption>, 'encryption'>): Promise<void> {
    const encrypted = await Promise.all(
      messages.map(({ plain, browser }) => encryption.encrypt({ plain, keys: browser.keys })),
    );
    for (const [number, { plain, browser }] of messages.entries())
      expect(decryptWebPush(encrypted[number]!, browser).equals(plain), `message ${number}`).toBe(true);
    const salts = new Set(encrypted.map((bytes) => bytes.toString('hex', 0, 16)));
    const senders = new Set(encrypted.map((bytes) => bytes.toString('hex', 21, 86)));
    expect([salts.size, senders.size]).toEqual([messages.length, messages.length]);
  }
});
