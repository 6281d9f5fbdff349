import { createECDH, hkdfSync } from 'node:crypto';
import type { ECDH } from 'node:crypto';
import { simulatedPushOrigin } from '../../../domain/delivery/push-services.ts';

export type SimulatedBrowser = { ecdh: ECDH; auth: Buffer };

/**
 * The keys of a simulated browser follow from the sandbox's secret and the subscription's id, so the simulator can
 * decrypt for any number of browsers without a store.
 */
export function simulatedBrowser({ secret, id }: { secret: Buffer; id: string }): SimulatedBrowser {
  const ecdh = createECDH('prime256v1');
  // A value of zero or above the group order has a probability of 2^-32 and throws here.
  ecdh.setPrivateKey(Buffer.from(hkdfSync('sha256', secret, '', `browser-key:${id}`, 32)));
  return { ecdh, auth: Buffer.from(hkdfSync('sha256', secret, '', `browser-auth:${id}`, 16)) };
}

/** The JSON text of the PushSubscription that a simulated browser would hand out. */
export function makeSimulatedSubscription({ secret, id }: { secret: Buffer; id: string }): string {
  const { ecdh, auth } = simulatedBrowser({ secret, id });
  return JSON.stringify({
    endpoint: `${simulatedPushOrigin}/push/${encodeURIComponent(id)}`,
    keys: { p256dh: ecdh.getPublicKey('base64url', 'uncompressed'), auth: auth.toString('base64url') },
  });
}
