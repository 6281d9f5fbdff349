import type { FastifyReply } from 'fastify';

/** For answers that no browser should show: it must not guess their type, and nothing in them may load, run or be framed. */
export const dataHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;

const yearOfHttps = 'max-age=31536000; includeSubDomains';

/**
 * Adds the headers that restrict a browser which opens an answer (OWASP ASVS 3.4). Pages have set their own policy before. A
 * script gets none: the policy of a worker's script would apply to the worker.
 */
export function restrictBrowser(reply: FastifyReply, { isSecure }: { isSecure: boolean }): void {
  reply.header('x-content-type-options', dataHeaders['x-content-type-options']);
  const isScript = String(reply.getHeader('content-type') ?? '').includes('javascript');
  if (!isScript && !reply.hasHeader('content-security-policy'))
    reply.header('content-security-policy', dataHeaders['content-security-policy']);
  if (isSecure && !reply.hasHeader('strict-transport-security')) reply.header('strict-transport-security', yearOfHttps);
}
