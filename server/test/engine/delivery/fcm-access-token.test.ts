import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { FcmCredential } from '../../../src/domain/providers/fcm.ts';
import { makeFcmAccessTokens } from '../../../src/providers/fcm/provider.ts';
import type { Http2Transport } from '../../../src/providers/http2/transport.ts';

const now = new Date('2026-11-21T12:00:00Z');
const target = { key: 'fcm', origin: 'https://oauth2.googleapis.com', isGuarded: false };
const credential = {
  clientEmail: 'a@shop.iam.gserviceaccount.com',
  privateKeyId: 'KEY1',
  privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
} as FcmCredential;

/** Google's token service as a transport: each question has a token of its own. */
function makeBundle() {
  const clock = makeManualClock(now);
  let asked = 0;
  const transport = {
    request: async () => {
      asked += 1;
      const body = JSON.stringify({ access_token: `token-${asked}`, expires_in: 3600 });
      return { kind: 'answer', status: 200, headers: {}, body };
    },
  } as unknown as Http2Transport;
  const tokens = makeFcmAccessTokens({ clock, transport });
  return { clock, tokens, get: () => tokens.get(credential, target), asked: () => asked };
}

test('messages that are refused with one token fetch one other, however many they are', async () => {
  const { tokens, get, asked } = makeBundle();
  const [first] = await Promise.all(Array.from({ length: 100 }, get));
  expect([first, asked()]).toEqual([{ token: 'token-1' }, 1]);
  for (let message = 0; message < 100; message += 1) {
    tokens.forget(credential, 'token-1');
    expect(await get()).toEqual({ token: 'token-2' });
  }
});

test('a token that was fetched while the clock was ahead is fetched anew when the clock is right again', async () => {
  const { clock, get } = makeBundle();
  clock.advance(30 * 24 * 3_600_000);
  await get();
  clock.anchor(now);
  expect(await get()).toEqual({ token: 'token-2' });
  clock.setOffset(30 * 24 * 3_600_000);
  expect(await get()).toEqual({ token: 'token-2' });
});

test('a key that cannot sign is refused each time, and a right one of the same name then serves', async () => {
  const { tokens, get } = makeBundle();
  const broken = { ...credential, privateKey: 'no key' };
  await expect(tokens.get(broken, target)).rejects.toThrow();
  await expect(tokens.get(broken, target)).rejects.toThrow();
  expect(await get()).toEqual({ token: 'token-1' });
});
