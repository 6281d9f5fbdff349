import { simulatedPushHost } from '../hosts/reserved-names.ts';

/** Where the browsers of a sandbox subscribe: the simulator answers. */
export const simulatedPushOrigin = `https://${simulatedPushHost}`;

/** Hosts where browsers subscribe: Chrome and what is built on it, Firefox, Safari, Edge. `*.` stands for all names below. */
export const pushServiceHosts = [
  'fcm.googleapis.com',
  'jmt17.google.com',
  '*.push.services.mozilla.com',
  '*.push.apple.com',
  '*.notify.windows.com',
] as const;

/**
 * True if a subscription's origin belongs to a browser's own push service, or to the sandbox. Any other host was chosen
 * by the device, and can answer whatever its owner likes. Pure.
 */
export function isKnownPushService(origin: string): boolean {
  if (origin === simulatedPushOrigin) return true;
  const { hostname } = new URL(origin);
  return pushServiceHosts.some((pattern) => matchesHost(hostname, pattern));
}

/** True if a lower-case host name matches a pattern: `example.com`, `*.example.com` for all below it, `*` for any. Pure. */
export function matchesHost(name: string, pattern: string): boolean {
  return pattern === '*' || name === pattern || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)));
}
