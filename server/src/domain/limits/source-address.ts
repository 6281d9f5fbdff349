import ipaddr from 'ipaddr.js';

/**
 * What guesses are counted against: an IPv4 address, or the /64 of an IPv6 address, because one caller commonly owns
 * all 2^64 addresses of it (decision D19).
 */
export function sourceOfAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
