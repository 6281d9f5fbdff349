import { isIP } from 'node:net';
import { matchesHost, pushServiceHosts } from '../../domain/delivery/push-services.ts';
import { AddressBlockedError } from './resolve-allowed-address.ts';

/** The host may not be called by its name. The message names no host. */
export class HostNotAllowedError extends AddressBlockedError {
  override readonly name = 'HostNotAllowedError';
}

/**
 * Whether a name that somebody else chose may be handed to a proxy that resolves it. No address can be checked here then,
 * and the proxy may stand where internal hosts answer: hence only hosts that the operator listed, or a push service.
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
