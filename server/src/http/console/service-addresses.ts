import type { FastifyRequest } from 'fastify';

/**
 * Returns the origin for what a user copies from the console, such as a curl command: the public URL where one is set, else
 * the origin of the request.
 */
export function serviceOrigin(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `${request.protocol}://${request.host}`;
}

/**
 * Returns the address of a one-time link, which signs in whoever opens it: at the public URL, else a path. A path is
 * completed by the console with the origin that its page was loaded from; the Host header of a request may be forged, and
 * would send the code to a host of somebody else's.
 */
export function oneTimeAddress(path: string, publicUrl: string | undefined): string {
  return publicUrl === undefined ? path : `${publicUrl}${path}`;
}
