import { importJWK, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { makeSimulatedCredentials } from '../../../src/app/sandbox/make-simulated-credentials.ts';
import { makeManualClock } from '../../../src/clock.ts';
import { makeVapidAuthorizations } from '../../../src/engine/delivery/webpush/vapid-authorization.ts';

const now = new Date('2026-11-21T12:00:00Z');

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
  const [, , credential] = await makeSimulatedCredentials('abcdef123456');
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
  const [, , credential] = await makeSimulatedCredentials('abcdef123456');
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
  const [, , credential] = await makeSimulatedCredentials('abcdef123456');
  const clock = makeManualClock(new Date(now.getTime() + 24 * 3_600_000));
  const authorizations = makeVapidAuthorizations({ clock });
  authorizations.get(credential, 'https://push.example.net');
  clock.anchor(now);
  const { payload } = await readVapid(authorizations.get(credential, 'https://push.example.net'), now);
  expect(payload.exp! - now.getTime() / 1000).toBeLessThanOrEqual(24 * 3600);
});

test('one that a push service refuses is replaced once, and its successor only after twenty minutes', async () => {
  const [, , credential] = await makeSimulatedCredentials('abcdef123456');
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
