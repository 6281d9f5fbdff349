import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { matchesHost, pushServiceHosts } from '../domain/delivery/push-services.ts';
import { isLoopback } from './proxy.ts';
import type { OutgoingProxy } from './proxy.ts';

export type RouteTarget = {
  /** A name or an address, without brackets. */
  host: string;
  port: number;
  /** A user chose the host, so the addresses that it resolves to must be allowed (decision D29). */
  isGuarded: boolean;
};

/** How to reach a host. `host` is the host to connect to, or to request from the proxy. */
export type Route = { host: string; proxy: OutgoingProxy | undefined };

export type RouteRules = {
  allowedNetworks: readonly string[];
  proxy?: OutgoingProxy | undefined;
  resolver?: Resolver;
};

/**
 * Returns the route to a host: directly or through the proxy. The address check is the same either way: the proxy is asked for
 * the address that was checked here, not for a name that it might resolve differently.
 *
 * @throws AddressBlockedError, or the resolver's error
 */
export async function findRoute({ host, port, isGuarded }: RouteTarget, rules: RouteRules): Promise<Route> {
  const proxy = rules.proxy?.isFor({ host, port }) ? rules.proxy : undefined;
  if (!isGuarded) return { host, proxy };
  if (proxy?.resolvesNames) {
    assertHostAllowed(host, proxy.hosts);
    return { host, proxy };
  }
  const address = await resolveAllowedAddress(host, rules);
  // A loopback address that the operator allowed means this machine, not the proxy's.
  return { host: address, proxy: isLoopback(address) ? undefined : proxy };
}

/** The host may not be called. The message names neither the address nor the service there. */
export class AddressBlockedError extends Error {
  override readonly name: string = 'AddressBlockedError';
}

export type Resolver = (host: string) => Promise<{ address: string }[]>;

const resolveAll: Resolver = (host) => lookup(host, { all: true, verbatim: true });

/**
 * Resolves a host and returns the one address to connect to. Every address must be allowed. Otherwise a name with one public
 * and one private address could reach the private one by chance. The caller connects to the returned address, never to the
 * name, so the name cannot be rebound in between.
 *
 * @throws AddressBlockedError, or the resolver's error
 */
export async function resolveAllowedAddress(
  host: string,
  { allowedNetworks, resolver = resolveAll }: { allowedNetworks: readonly string[]; resolver?: Resolver },
): Promise<string> {
  const answers = await resolver(host.replace(/^\[|\]$/g, ''));
  for (const { address } of answers) {
    if (!decideAddress(address, allowedNetworks).allowed)
      throw new AddressBlockedError('this address may not be called');
  }
  const [first] = answers;
  if (!first) throw new AddressBlockedError('this host has no address');
  return first.address;
}

/** The host may not be called by its name. The message does not name the host. */
export class HostNotAllowedError extends AddressBlockedError {
  override readonly name = 'HostNotAllowedError';
}

/**
 * Checks that a name chosen by a user may be passed to a proxy that resolves it. No address can be checked here in that case,
 * and the proxy may be in a network with internal hosts. So only hosts that the operator listed, or a push service, are
 * allowed.
 *
 * @param hosts `example.com`, `*.example.com` for all below it, `*` for any name of two parts
 * @throws HostNotAllowedError
 */
export function assertHostAllowed(host: string, hosts: readonly string[]): void {
  const name = host.toLowerCase().replace(/\.$/, '');
  const isName = isIP(name) === 0 && name.includes('.');
  if (!isName || ![...pushServiceHosts, ...hosts].some((pattern) => matchesHost(name, pattern)))
    throw new HostNotAllowedError('this host may not be called through the proxy');
}

export type UrlDecision = { allowed: true; url: URL } | { allowed: false; reason: string };

const portOfScheme: Record<string, string> = { 'http:': '80', 'https:': '443' };

/**
 * Decides whether a URL chosen by a user may be called at all, before anything is resolved: http or https, no credentials, the
 * scheme's default port unless the operator allowed networks. A host that is an address in any notation (decimal, octal, short,
 * mapped) is decided here, because `new URL` has already normalised it. A name is decided when connecting.
 */
export function decideUrl(text: string, allowedNetworks: readonly string[]): UrlDecision {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { allowed: false, reason: 'not a URL' };
  }
  const ownPort = portOfScheme[url.protocol];
  if (ownPort === undefined) return { allowed: false, reason: 'scheme' };
  if (url.username !== '' || url.password !== '') return { allowed: false, reason: 'credentials in the URL' };
  if (url.port !== '' && url.port !== ownPort && allowedNetworks.length === 0)
    return { allowed: false, reason: 'port' };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host)) {
    const decision = decideAddress(host, allowedNetworks);
    if (!decision.allowed) return decision;
  }
  return { allowed: true, url };
}

export type AddressDecision = { allowed: true } | { allowed: false; reason: string };

/**
 * Networks that are not the public internet although `ipaddr.js` classifies them as unicast, or whose meaning an attacker can
 * choose: IPv4-compatible IPv6, a cloud's platform address in public space, NAT64, 6to4, Teredo, shared address space.
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
 * Decides whether an outgoing call may connect to an address chosen by a user (decision D29): only public unicast, plus the
 * networks in the operator's allow-list.
 *
 * @param address the address to connect to, as the resolver returned it
 * @param allowedNetworks CIDR ranges that the operator allowed
 */
export function decideAddress(address: string, allowedNetworks: readonly string[]): AddressDecision {
  if (!ipaddr.isValid(address)) return { allowed: false, reason: 'not an address' };
  // ::ffff:127.0.0.1 is 127.0.0.1; `process` unwraps mapped addresses.
  const parsed = ipaddr.process(address);
  if (allowedNetworks.some((network) => isIn(parsed, parseNetwork(network)))) return { allowed: true };
  const range = parsed.range();
  if (range !== 'unicast') return { allowed: false, reason: range };
  if (deniedNetworks.some((network) => isIn(parsed, network as Network))) return { allowed: false, reason: 'reserved' };
  return { allowed: true };
}

/** @throws if the text is not a network. Used to validate settings at the start */
export function parseNetwork(network: string): Network {
  return ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`);
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

/** Returns the result of `work`, or throws the signal's reason if that comes first. */
export async function before<T>(limit: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(limit.reason);
  if (limit.aborted) stop();
  limit.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    // A signal may live as long as the process.
    limit.removeEventListener('abort', stop);
  }
}
