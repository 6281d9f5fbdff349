import { assertHostAllowed } from './decide-host-name.ts';
import { isLoopback } from './is-loopback.ts';
import type { OutgoingProxy } from './outgoing-proxy.ts';
import { resolveAllowedAddress } from './resolve-allowed-address.ts';
import type { Resolver } from './resolve-allowed-address.ts';

export type RouteTarget = {
  /** A name or an address, without brackets. */
  host: string;
  port: number;
  /** The host was chosen by somebody else: what it resolves to must be allowed (decision D29). */
  isGuarded: boolean;
};

/** How to reach a host: `host` is what to connect to, or what the proxy is asked for. */
export type Route = { host: string; proxy: OutgoingProxy | undefined };

export type RouteRules = {
  allowedNetworks: readonly string[];
  proxy?: OutgoingProxy | undefined;
  resolver?: Resolver;
};

/**
 * Directly or through the proxy. The guard of addresses is the same either way: the proxy is asked for the address that
 * was checked here, not for a name that it would resolve to another one.
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
  // This machine, opened by the operator: its loopback is not that of the proxy.
  return { host: address, proxy: isLoopback(address) ? undefined : proxy };
}
