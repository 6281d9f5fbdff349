import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { InteractionSubject, InteractionTokens } from '../../src/domain/events/interactions.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { propertyRuns } from '../property-runs.ts';
import { anyText } from '../any-text.ts';

const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
let tokens: InteractionTokens;
beforeEach(() => {
  tokens = makeInteractionTokens(key);
});
const subject: InteractionSubject = {
  workspaceId: 'DEMOWORKSPACE0123456789AB',
  runId: '0199aabbccdd010203040506',
  bucket: 0xab,
  deviceId: '0188aabbccdd0a0b0c0d0e0f',
  platform: 'WEB',
};
const address = 'https://example.com/a?b=1&c=ü';
// Computed by Python's hmac and base64 from the description in interaction-token.ts.
const vector = {
  token: 'AQKrAZmqu8zdAQIDBAUGAYiqu8zdCgsMDQ4PREVNT1dPUktTUEFDRTAxMjM0NTY3ODlBQqerZ8dpK0aRJ9CVr_ed8sI',
  clickProof: 'D8qokPhI3kpfbgjze7IDEw',
};

const anySubject = fc.record({
  workspaceId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  runId: fc.stringMatching(/^[0-9a-f]{24}$/),
  bucket: fc.integer({ min: 0, max: 255 }),
  deviceId: fc.stringMatching(/^[0-9a-f]{24}$/),
  platform: fc.constantFrom('ANDROID' as const, 'IOS' as const, 'WEB' as const),
});

describe('a report token', () => {
  test('is the vector, the same every time, and short', () => {
    expect(tokens.issue(subject, address)).toEqual(vector);
    expect(tokens.issue(subject)).toEqual({ token: vector.token });
    expect(tokens.issue({ ...subject, workspaceId: 'A'.repeat(24) }).token).toHaveLength(90);
  });

  test('says which variation and locale its message was, and is another for another', () => {
    const variant = { variation: 9, locale: 51 };
    const own = { ...subject, variant };
    const { token, clickProof } = tokens.issue(own, address);
    expect(tokens.open(token)).toEqual(own);
    expect(tokens.openClick(`${token}.${clickProof}`, address)).toEqual(own);
    const others = [
      subject,
      { ...own, variant: { ...variant, variation: 8 } },
      { ...own, variant: { ...variant, locale: 0 } },
    ];
    expect(new Set([token, ...others.map((other) => tokens.issue(other).token)]).size).toBe(4);
  });

  test('names its message to who holds the key, and nothing to others', () => {
    expect(tokens.open(vector.token)).toEqual(subject);
    expect(makeInteractionTokens(Buffer.alloc(32)).open(vector.token)).toBeUndefined();
    fc.assert(
      fc.property(anySubject, (any) => {
        expect(tokens.open(tokens.issue(any).token)).toEqual(any);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('of another workspace, run, device, bucket or platform is another, and their parts do not combine', () => {
    const others = [
      { workspaceId: 'DEMOWORKSPACE0123456789AC' },
      { runId: '0199aabbccdd010203040507' },
      { deviceId: '0188aabbccdd0a0b0c0d0e0e' },
      { bucket: 0xaa },
      { platform: 'IOS' as const },
    ].map((change) => Buffer.from(tokens.issue({ ...subject, ...change }).token, 'base64url'));
    const own = Buffer.from(vector.token, 'base64url');
    for (const other of others) {
      const mixed = Buffer.concat([other.subarray(0, -16), own.subarray(-16)]);
      expect(tokens.open(mixed.toString('base64url'))).toBeUndefined();
    }
  });

  test('with any bit changed, cut or lengthened is rejected', () => {
    const own = Buffer.from(vector.token, 'base64url');
    for (let bit = 0; bit < own.length * 8; bit += 1) {
      const changed = Buffer.from(own);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(tokens.open(changed.toString('base64url'))).toBeUndefined();
    }
    for (let length = 0; length < vector.token.length; length += 1)
      expect(tokens.open(vector.token.slice(0, length))).toBeUndefined();
    for (const more of ['A', '=', ' ', '\n', '.', 'AAAA']) expect(tokens.open(vector.token + more)).toBeUndefined();
  });

  test('has one spelling, so that a limit cannot be passed by another', () => {
    // The last character carries bits that no byte takes up.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const spelled = [...alphabet].map((last) => vector.token.slice(0, -1) + last);
    expect(spelled.filter((token) => tokens.open(token))).toEqual([vector.token]);
    const padded = Buffer.from(vector.token, 'base64url').toString('base64');
    expect(tokens.open(padded)).toBeUndefined();
  });

  test('is rejected for any other text', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(tokens.open(text)).toBeUndefined();
      }),
      { numRuns: propertyRuns(100) },
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 44, maxLength: 120 }), (bytes) => {
        expect(tokens.open(Buffer.from(bytes).toString('base64url'))).toBeUndefined();
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('is refused for what no message can have', () => {
    for (const change of [{ runId: 'x' }, { deviceId: '' }, { workspaceId: '' }, { workspaceId: 'A'.repeat(65) }])
      expect(() => tokens.issue({ ...subject, ...change })).toThrow(RangeError);
    expect(() => tokens.issue({ ...subject, runId: 'x' })).toThrow(`run x, device ${subject.deviceId}`);
    const largest = { ...subject, workspaceId: 'A'.repeat(64) };
    expect(tokens.open(tokens.issue(largest).token)).toEqual(largest);
  });
});

describe('the proof of a click', () => {
  const click = `${vector.token}.${vector.clickProof}`;

  test('holds for the address of the message and no other', () => {
    expect(tokens.openClick(click, address)).toEqual(subject);
    for (const other of ['https://example.com/', `${address}#x`, address.toUpperCase(), 'https://evil.example', ''])
      expect(tokens.openClick(click, other)).toBeUndefined();
  });

  test('is not a report token, nor the reverse', () => {
    const tokenProof = Buffer.from(vector.token, 'base64url').subarray(-16).toString('base64url');
    expect(tokens.openClick(vector.token, address)).toBeUndefined();
    expect(tokens.openClick(`${vector.token}.`, address)).toBeUndefined();
    expect(tokens.openClick(`${vector.token}.${tokenProof}`, address)).toBeUndefined();
    expect(tokens.openClick(`${click}.${vector.clickProof}`, address)).toBeUndefined();
    expect(tokens.open(click)).toBeUndefined();
    const named = Buffer.from(vector.token, 'base64url').subarray(0, -16);
    const swapped = Buffer.concat([named, Buffer.from(vector.clickProof, 'base64url')]).toString('base64url');
    expect(tokens.open(swapped)).toBeUndefined();
  });

  test('of one device does not serve for another', () => {
    const other = tokens.issue({ ...subject, deviceId: 'f'.repeat(24) }, address);
    expect(tokens.openClick(`${other.token}.${vector.clickProof}`, address)).toBeUndefined();
    expect(tokens.openClick(`${other.token}.${other.clickProof}`, address)).toMatchObject({ deviceId: 'f'.repeat(24) });
  });

  test('follows the address: what was asked for before decides nothing', () => {
    const other = 'https://example.com/other';
    const asked = [address, other, 'app://open', address, undefined, other].map((one) => tokens.issue(subject, one));
    expect(
      asked.map(({ clickProof }) => clickProof && tokens.openClick(`${vector.token}.${clickProof}`, address)),
    ).toEqual([...[subject, undefined, undefined, subject, undefined, undefined]]);
    expect(tokens.openClick(`${vector.token}.${asked[5]!.clickProof}`, other)).toEqual(subject);
  });

  test('holds for an address of many bytes', () => {
    const long = `https://example.com/${'ü€'.repeat(300)}`;
    const { token, clickProof } = tokens.issue(subject, long);
    expect(token).toBe(vector.token);
    expect(tokens.openClick(`${token}.${clickProof}`, long)).toEqual(subject);
  });

  test.each(['http://example.com/', 'HTTPS://EXAMPLE.COM/'])('is made for %s', (other) => {
    const { token, clickProof } = tokens.issue(subject, other);
    expect(tokens.openClick(`${token}.${clickProof}`, other)).toEqual(subject);
  });

  test.each([
    'javascript:alert(1)',
    'javascript:"https://example.com"',
    'app://open',
    'mailto:a@b.c',
    '//example.com',
    '/path',
    'https://',
    'data:,x',
    '',
  ])('is not made for %j, which is no web address', (other) =>
    expect(tokens.issue(subject, other)).toEqual({ token: vector.token }),
  );
});
