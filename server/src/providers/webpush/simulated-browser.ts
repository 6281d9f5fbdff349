import { createECDH, hkdfSync, createDecipheriv } from 'node:crypto';
import type { ECDH } from 'node:crypto';
import { simulatedPushOrigin } from '../../domain/delivery/push-services.ts';

type SimulatedBrowser = { ecdh: ECDH; auth: Buffer };

/**
 * Derives the keys of a simulated browser from the sandbox's secret and the subscription's id, so that the simulator can
 * decrypt for any number of browsers without a store.
 */
export function simulatedBrowser({ secret, id }: { secret: Buffer; id: string }): SimulatedBrowser {
  const ecdh = createECDH('prime256v1');
  // A value of zero or above the group order has a probability of 2^-32 and throws here.
  ecdh.setPrivateKey(Buffer.from(hkdfSync('sha256', secret, '', `browser-key:${id}`, 32)));
  return { ecdh, auth: Buffer.from(hkdfSync('sha256', secret, '', `browser-auth:${id}`, 16)) };
}

/** Returns the JSON text of the PushSubscription that a simulated browser would return. */
export function makeSimulatedSubscription({ secret, id }: { secret: Buffer; id: string }): string {
  const { ecdh, auth } = simulatedBrowser({ secret, id });
  return JSON.stringify({
    endpoint: `${simulatedPushOrigin}/push/${encodeURIComponent(id)}`,
    keys: { p256dh: ecdh.getPublicKey('base64url', 'uncompressed'), auth: auth.toString('base64url') },
  });
}

/**
 * Decrypts one message as a browser does (RFC 8291 §3.4, RFC 8188 §2.1). Written separately from the encryption, so that a
 * mistake in one shows in the other.
 *
 * @throws if anything does not match
 */
export function decryptWebPush(body: Buffer, browser: SimulatedBrowser): Buffer {
  const salt = body.subarray(0, 16);
  const recordSize = body.readUInt32BE(16);
  const keyLength = body.readUInt8(20);
  const senderKey = body.subarray(21, 21 + keyLength);
  const record = body.subarray(21 + keyLength);
  // Even an empty text has its delimiter and tag: 17 bytes. A record size below 18 is invalid (RFC 8188 §2.1).
  if (keyLength !== 65 || recordSize < 18 || record.length > recordSize || record.length < 17)
    throw new Error('not one record of aes128gcm');
  const shared = browser.ecdh.computeSecret(senderKey);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), browser.ecdh.getPublicKey(), senderKey]);
  const secret = Buffer.from(hkdfSync('sha256', shared, browser.auth, info, 32));
  const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error('the last record has no end mark');
  return padded.subarray(0, end);
}
