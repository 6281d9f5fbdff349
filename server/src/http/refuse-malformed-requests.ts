import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { namesUnknownDataCenter } from '../domain/tokens/data-center.ts';

/**
 * What no route should have to look at, refused before authentication in the shape of the route that was called: a host
 * that two parties may read differently, a data center that does not exist, and NUL in the address, which no text of the
 * database can hold.
 */
export function refuseMalformedRequests(
  server: FastifyInstance,
  { serviceDomain }: { serviceDomain: string | undefined },
): void {
  server.addHook('onRequest', async (request) => {
    refuseUnclearHost(request);
    if (namesUnknownDataCenter(request.hostname, serviceDomain))
      throw new ServiceError('HOST_NOT_SERVED', { detail: 'no such data center' });
    // In a path or a query NUL can only be written so: the address is ASCII (RFC 3986 §2.1).
    if (request.url.includes('%00')) throw malformed('the address holds NUL');
  });
}

const host = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+;=-]*)(?::\d{0,5})?$/;

/** RFC 9112 §3.2: exactly one Host of the right form, or 400; a proxy may have gone by another than we would. */
function refuseUnclearHost({ raw }: FastifyRequest): void {
  let hosts = 0;
  for (let index = 0; index < raw.rawHeaders.length; index += 2) {
    const name = raw.rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) throw malformed('there are two Host headers');
  if (hosts === 0 && raw.httpVersion !== '1.0') throw malformed('the Host header is missing');
  if (!host.test(raw.headers.host ?? '')) throw malformed('the Host header is no host');
}

function malformed(reason: string): ServiceError {
  return new ServiceError('REQUEST_MALFORMED', { reason });
}
