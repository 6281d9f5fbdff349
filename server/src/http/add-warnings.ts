import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VendorHeaders } from './vendor-headers.ts';

export type AnsweredCall = { request: FastifyRequest; reply: FastifyReply };

/** Adds to the warning header of a reply, and to what the API log keeps of the call (decision D5). */
export function addWarnings(
  vendorHeaders: Pick<VendorHeaders, 'nameOf'>,
  { request, reply }: AnsweredCall,
  warnings: readonly string[],
): void {
  if (warnings.length === 0) return;
  const name = vendorHeaders.nameOf('x-*-warning');
  const earlier = reply.getHeader(name);
  request.facts.warnings.push(...warnings);
  reply.header(name, [...(earlier === undefined ? [] : [String(earlier)]), ...warnings].join(', '));
}
