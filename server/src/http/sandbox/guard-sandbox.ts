import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { isLocalCaller } from '../caller-address.ts';
import { isNavigation, refuseCrossSite } from '../refuse-cross-site.ts';

export type SandboxGuard = {
  /** Who may call: programs on this machine, or everybody who reaches the port. */
  access: 'local' | 'network';
  /** Names under which the sandbox may be called besides those of this machine and its neighbours; `*.` for those below. */
  allowedHosts: readonly string[];
};

/**
 * Keeps strangers out of the sandbox's own routes, which ask for no credentials, so that curl and tests call them as they
 * are. Callers on other machines are refused unless the setting lets them in. So is a page of the web that is open in a
 * browser on this machine: neither its own origin passes nor a name of its own that it points at this machine (DNS
 * rebinding), after which the browser takes it for one of our pages.
 */
export function guardSandbox(server: FastifyInstance, { access, allowedHosts }: SandboxGuard): void {
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  server.addHook('onRequest', async (request) => {
    if (access === 'local' && !isLocalCaller(request))
      throw new ServiceError('SANDBOX_NOT_LOCAL', {
        reason:
          'set CARILLON_SANDBOX_ACCESS=network on the server to open these routes to everybody who reaches its port',
      });
    // The header that the browser wrote, not what a proxy made of it: a page may write any X-Forwarded-Host.
    const name = (request.headers.host ?? '').replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
    if (!isUnpublished(name) && !isListed(name, allowed))
      throw new ServiceError('HOST_NOT_SERVED', {
        reason: 'a sandbox answers to names that CARILLON_ALLOWED_HOSTS lists, to addresses and to local names',
      });
    if (!isNavigation(request)) refuseCrossSite(request);
  });
}

/**
 * What no stranger can point here, so that no list is needed: an address, which is no name at all; a name of one label, as
 * containers and search domains have; names that are reserved from the public DNS (RFC 6761 §6; ICANN's `internal`).
 */
function isUnpublished(name: string): boolean {
  const address = name.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) !== 0 || /^[a-z0-9_-]+$/.test(name) || /\.(?:localhost|test|internal)$/.test(name);
}

function isListed(name: string, allowed: readonly string[]): boolean {
  return allowed.some((one) => (one.startsWith('*.') ? name.endsWith(one.slice(1)) : name === one));
}
