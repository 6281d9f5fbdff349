import { isIP } from 'node:net';
import { AddressBlockedError } from './resolve-allowed-address.ts';

/** The host may not be called by its name. The message names no host. */
export class HostNotAllowedError extends AddressBlockedError {
  override readonly name = 'HostNotAllowedError';
}

/** Where browsers subscribe: Chrome and what is built on it, Firefox, Safari, Edge. */
const pushServices = [
  'fcm.googleapis.com',
  'jmt17.google.com',
  '*.push.services.mozilla.com',
  '*.push.apple.com',
  '*.notify.windows.com',
];

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
  if (!isName || ![...pushServices, ...hosts].some((pattern) => isMatch(name, pattern)))
    throw new HostNotAllowedError('this host may not be called through the proxy');
}

function isMatch(name: string, pattern: string): boolean {
  return pattern === '*' || name === pattern || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)));
}
