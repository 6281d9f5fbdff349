import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';

/**
 * Browsers say where a request comes from; another site's is refused, whatever cookies came along. What is no browser
 * says nothing and passes.
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  const isOwn = site === undefined || site === 'same-origin';
  const isOwnOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host);
  if (!isOwn || !isOwnOrigin) throw new ServiceError('SCOPE_MISSING', { reason: 'a request from another site' });
}

/** Whether a person followed a link or wrote the address: a page is shown then, and the site before cannot read it. */
export function isNavigation({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
