import type { RouteFamily } from './build-server.ts';

/** A person who opens the address of the service in a browser is led to the console; for other callers there is nothing. */
export const homeRoute: RouteFamily = async (server) => {
  server.get('/', { schema: { hide: true }, config: { isUnrecorded: true } }, (request, reply) => {
    const accepts = request.headers.accept ?? '';
    if (!/\btext\/html\b/i.test(accepts)) return reply.callNotFound();
    // The same address answers others in another way.
    return reply.header('vary', 'Accept').redirect('/console/');
  });
};
