import ipaddr from 'ipaddr.js';

export type AddressDecision = { allowed: true } | { allowed: false; reason: string };

/**
 * Networks that `ipaddr.js` calls unicast, or whose meaning an attacker can choose, and that are not the public
 * internet: IPv4-compatible IPv6, a cloud's platform address in public space, NAT64, 6to4, Teredo, shared address
 * space.
 */
const deniedNetworks = [
  '::/96',
  '168.63.129.16/32',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
  '100.64.0.0/10',
  '192.0.0.0/24',
  '198.18.0.0/15',
  'fec0::/10',
].map((network) => ipaddr.parseCIDR(network));

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Whether an outgoing call to an address chosen by somebody else may connect (decision D29): public unicast only, plus
 * whatever the operator's allow-list opens.
 *
 * @param address the address that is about to be connected to, as the resolver gave it
 * @param allowedNetworks CIDR ranges the operator opened
 */
export function decideAddress(address: string, allowedNetworks: readonly string[]): AddressDecision {
  if (!ipaddr.isValid(address)) return { allowed: false, reason: 'not an address' };
  // ::ffff:127.0.0.1 is 127.0.0.1; `process` unpacks what is mapped.
  const parsed = ipaddr.process(address);
  if (allowedNetworks.some((network) => isIn(parsed, parseNetwork(network)))) return { allowed: true };
  const range = parsed.range();
  if (range !== 'unicast') return { allowed: false, reason: range };
  if (deniedNetworks.some((network) => isIn(parsed, network as Network))) return { allowed: false, reason: 'reserved' };
  return { allowed: true };
}

/** @throws if the text is not a network; used to check settings at the start */
export function parseNetwork(network: string): Network {
  return ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`);
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}
