/**
 * Top-level names that no server on the internet can have: special-use names (RFC 6761, RFC 6762, RFC 7686, RFC 8375,
 * RFC 9476), `internal`, which is reserved for private networks (ICANN, 2024), and names that routers and offices assign.
 */
const privateNames: ReadonlySet<string> = new Set([
  ...['invalid', 'example', 'test', 'localhost', 'local', 'onion', 'alt', 'internal'],
  ...['localdomain', 'lan', 'home', 'corp', 'intranet', 'private'],
]);

/** Top-level names that never resolve, not even in a private network. */
const deadNames: ReadonlySet<string> = new Set(['invalid', 'example', 'onion', 'alt']);

/** The push service of the sandbox's phones. No other host has this name, so no message for them leaves the machine. */
export const simulatedPushHost = 'push.simulator.invalid';

/** True for a host name that can have an address on the internet; false for an IP address or a single label. Pure. */
export function isPublicName(host: string): boolean {
  const labels = labelsOf(host);
  const top = labels.at(-1)!;
  return (
    labels.length >= 2 &&
    labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) &&
    // The last label of a name is never a number (RFC 3696 §2); such a host is an address.
    !/^\d/.test(top) &&
    !privateNames.has(top) &&
    labels.slice(-2).join('.') !== 'home.arpa'
  );
}

/** Returns the reserved top-level name of a host that never has an address, such as `.invalid`; otherwise undefined. Pure. */
export function deadNameOf(host: string): string | undefined {
  const top = labelsOf(host).at(-1)!;
  return deadNames.has(top) ? `.${top}` : undefined;
}

function labelsOf(host: string): string[] {
  return host.toLowerCase().replace(/\.$/, '').split('.');
}

/** The origin where the browsers of a sandbox subscribe. The simulator serves it. */
export const simulatedPushOrigin = `https://${simulatedPushHost}`;

/** Hosts where browsers subscribe: Chrome and browsers based on it, Firefox, Safari, Edge. `*.` matches all subdomains. */
export const pushServiceHosts = [
  'fcm.googleapis.com',
  'jmt17.google.com',
  '*.push.services.mozilla.com',
  '*.push.apple.com',
  '*.notify.windows.com',
] as const;

/**
 * True if a subscription's origin belongs to a browser's own push service, or to the sandbox. Any other host was chosen by
 * the device, and its owner can make it respond with anything. Pure.
 */
export function isKnownPushService(origin: string): boolean {
  if (origin === simulatedPushOrigin) return true;
  const { hostname } = new URL(origin);
  return pushServiceHosts.some((pattern) => matchesHost(hostname, pattern));
}

/** True if a lower-case host name matches a pattern: `example.com` itself, `*.example.com` for all its subdomains, `*` for any host. Pure. */
export function matchesHost(name: string, pattern: string): boolean {
  return pattern === '*' || name === pattern || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)));
}
