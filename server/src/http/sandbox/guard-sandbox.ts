import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { isNavigation, refuseCrossSite } from '../refuse-cross-site.ts';

export type SandboxGuard = {
  /** Names under which the sandbox may be called besides those of this machine and its neighbours; `*.` for those below. */
  allowedHosts: readonly string[];
};

/**
 * The sandbox's own routes ask for no credentials, so that curl and tests call them as they are. What must not is a page
 * of the web, open in the browser of somebody whose sandbox runs on the same machine: neither from its own origin nor by
 * pointing a name of its own at this machine (DNS rebinding), after which the browser takes it for one of our pages.
 */
export function guardSandbox(server: FastifyInstance, { allowedHosts }: SandboxGuard): void {
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  server.addHook('onRequest', async (request) => {
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
