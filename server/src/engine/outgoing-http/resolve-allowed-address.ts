import { lookup } from 'node:dns/promises';
import { decideAddress } from './decide-address.ts';

/** The host may not be called. The message names neither the address nor what answers there. */
export class AddressBlockedError extends Error {
  override readonly name: string = 'AddressBlockedError';
}

export type Resolver = (host: string) => Promise<{ address: string }[]>;

const resolveAll: Resolver = (host) => lookup(host, { all: true, verbatim: true });

/**
 * Resolves a host and returns the one address to connect to. Every address must be allowed, because a name with one
 * public and one private address could otherwise reach the private one by chance; the caller connects to the address
 * returned here, never to the name, so the name cannot be rebound in between.
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
