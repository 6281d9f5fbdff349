import ipaddr from 'ipaddr.js';
import { isPlainIpv4 } from './rate-limits.ts';

/** Apps make the id of an installation: at least 96 random bits, so that nobody guesses one. */
export function isInstallationId(text: string): boolean {
  return /^[A-Za-z0-9_-]{16,64}$/.test(text);
}

/** 256 random bits in base64url. */
export function isInstallationSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/**
 * Returns an origin in its canonical form. Undefined if the text is no origin of a site: browsers offer push only to secure
 * origins, which are https and this machine.
 */
export function canonicalOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, protocol, hostname, href } = new URL(text);
  if (href !== `${origin}/`) return undefined;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname)) ? origin : undefined;
}

/** True for a site on the developer's own machine. */
export function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopbackName(new URL(origin).hostname);
}

function isLoopbackName(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]' || hostname.endsWith('.localhost')
  );
}

/** Returns the network that new installations are counted against: the /24 of an IPv4 address, the /64 of an IPv6 address. */
export function networkOfAddress(address: string): string {
  if (isPlainIpv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return networkOfAddress(parsed.toString());
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
