import { createECDH } from 'node:crypto';
import { importJWK, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { WebPushCredential } from '../../../src/domain/providers/webpush.ts';
import { makeVapidAuthorizations } from '../../../src/providers/webpush/vapid.ts';

const now = new Date('2026-11-21T12:00:00Z');

function makeSite(): WebPushCredential {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('base64url');
  return {
    provider: 'webpush',
    publicKey,
    privateKey: Buffer.from(ecdh.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
    subject: 'mailto:push@shop.example',
    simulated: false,
  };
}

// The example of RFC 8292 §2.4.
const example =
  'vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsIn' +
  'N1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L' +
  '9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs';

/** Reads the header as a push service does, with a library that has nothing of ours. */
async function readVapid(header: string, currentDate: Date) {
  const [, token, publicKey] = /^vapid t=([^,]+), k=([\w-]+)$/.exec(header)!;
  const point = Buffer.from(publicKey!, 'base64url');
  expect([point.length, point[0]]).toEqual([65, 4]);
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x: x!, y: y! }, 'ES256');
  const { protectedHeader, payload } = await jwtVerify(token!, key, { currentDate, algorithms: ['ES256'] });
  return { protectedHeader, payload, signatureBytes: Buffer.from(token!.split('.')[2]!, 'base64url').length };
}

test('our authorisation is built as the example of RFC 8292 §2.4, and both verify', async () => {
  const credential = makeSite();
  const authorizations = makeVapidAuthorizations({ clock: makeManualClock(now) });
  const theirs = await readVapid(example, new Date(1_453_500_000_000));
  const header = authorizations.get(credential, 'https://push.example.net');
  const ours = await readVapid(header, now);
  expect(theirs).toMatchObject({
    protectedHeader: { typ: 'JWT', alg: 'ES256' },
    payload: { aud: 'https://push.example.net', exp: 1_453_523_768, sub: 'mailto:push@example.com' },
    signatureBytes: 64,
  });
  expect(ours.protectedHeader).toEqual(theirs.protectedHeader);
  expect(Object.keys(ours.payload)).toEqual(Object.keys(theirs.payload));
  expect(ours.signatureBytes).toBe(theirs.signatureBytes);
  expect(ours.payload).toMatchObject({ aud: 'https://push.example.net', sub: credential.subject });
  expect(header.endsWith(`, k=${credential.publicKey}`)).toBe(true);
});

test('it ends within 24 hours (RFC 8292 §2), is the same for every message of half its life, and then another', async () => {
  const credential = makeSite();
  const clock = makeManualClock(now);
  const authorizations = makeVapidAuthorizations({ clock });
  const first = authorizations.get(credential, 'https://push.example.net');
  const { payload } = await readVapid(first, now);
  const seconds = payload.exp! - now.getTime() / 1000;
  expect(seconds).toBeGreaterThan(3600);
  expect(seconds).toBeLessThanOrEqual(24 * 3600);
  expect(authorizations.get(credential, 'https://push.example.net')).toBe(first);
  expect(authorizations.get(credential, 'https://other.example.net')).not.toBe(first);
  clock.advance((seconds / 2) * 1000);
  expect(authorizations.get(credential, 'https://push.example.net')).not.toBe(first);
});

test('one signed while the clock was ahead is not used when the clock is right again', async () => {
  const credential = makeSite();
  const clock = makeManualClock(new Date(now.getTime() + 24 * 3_600_000));
  const authorizations = makeVapidAuthorizations({ clock });
  authorizations.get(credential, 'https://push.example.net');
  clock.anchor(now);
  const { payload } = await readVapid(authorizations.get(credential, 'https://push.example.net'), now);
  expect(payload.exp! - now.getTime() / 1000).toBeLessThanOrEqual(24 * 3600);
});

test('one that a push service refuses is replaced once, and its successor only after twenty minutes', () => {
  const credential = makeSite();
  const clock = makeManualClock(now);
  const authorizations = makeVapidAuthorizations({ clock });
  const origin = 'https://push.example.net';
  const first = authorizations.get(credential, origin);
  const second = authorizations.replace(credential, { origin, refused: first });
  expect(second).not.toBe(first);
  expect(authorizations.replace(credential, { origin, refused: first })).toBe(second);
  expect(authorizations.get(credential, origin)).toBe(second);
  expect(authorizations.replace(credential, { origin, refused: second! })).toBeUndefined();
  clock.advance(21 * 60_000);
  expect(authorizations.replace(credential, { origin, refused: second! })).not.toBe(second);
});

describe('kept tokens', () => {
  const origin = 'https://push.example.net';
  const makeBundle = (at = now) => {
    const credential = makeSite();
    const clock = makeManualClock(at);
    return { clock, credential, authorizations: makeVapidAuthorizations({ clock }) };
  };

  test('a token says whole seconds, and serves for six hours to the millisecond', async () => {
    const { clock, credential, authorizations } = makeBundle(new Date(now.getTime() + 900));
    const first = authorizations.get(credential, origin);
    expect((await readVapid(first, now)).payload.exp).toBe(now.getTime() / 1000 + 12 * 3600);
    clock.advance(6 * 3_600_000 - 1);
    expect(authorizations.get(credential, origin)).toBe(first);
    clock.advance(1);
    expect(authorizations.get(credential, origin)).not.toBe(first);
  });

  test('another contact or another key of the site has another', async () => {
    const { credential, authorizations } = makeBundle();
    const first = authorizations.get(credential, origin);
    const subject = 'mailto:other@example.com';
    expect((await readVapid(authorizations.get({ ...credential, subject }, origin), now)).payload.sub).toBe(subject);
    const other = makeSite();
    expect(authorizations.get(other, origin)).toMatch(new RegExp(`k=${other.publicKey}$`));
    expect(authorizations.get(credential, origin)).toBe(first);
  });

  test('one that is refused is replaced where none is kept, too', () => {
    const { credential, authorizations } = makeBundle();
    expect(authorizations.replace(credential, { origin, refused: 'of another process' })).toMatch(/^vapid t=/);
  });

  test('twenty minutes to the millisecond pass between two replacements, whatever is signed meanwhile', () => {
    const { clock, credential, authorizations } = makeBundle();
    const first = authorizations.get(credential, origin);
    const second = authorizations.replace(credential, { origin, refused: first })!;
    clock.advance(20 * 60_000 - 1);
    expect(authorizations.replace(credential, { origin, refused: second })).toBeUndefined();
    clock.advance(1);
    const third = authorizations.replace(credential, { origin, refused: second })!;
    expect(third).toMatch(/^vapid t=/);
    expect(third).not.toBe(second);
  });
});
