import fastifyStatic from '@fastify/static';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';

const hidden = { schema: { hide: true }, config: { isUnrecorded: true } };

/** The built console. An address of one of its screens is answered with the page, which finds the screen itself. */
export function serveConsoleFiles(server: FastifyInstance, folder: string): void {
  server.get('/console', hidden, (_request, reply) => reply.redirect('/console/'));
  if (!existsSync(join(folder, 'index.html'))) {
    server.get('/console/*', hidden, (_request: FastifyRequest, reply: FastifyReply) =>
      reply
        .code(503)
        .type('text/plain')
        .send('The console is not built: run "npm run build -w console" and start again.\n'),
    );
    return;
  }
  // A route for each existing file; other paths are screens or unknown.
  server.register(fastifyStatic, {
    root: folder,
    prefix: '/console/',
    wildcard: false,
    cacheControl: false,
    // The build leaves each file beside it as Brotli and gzip: a quarter of the bytes, and nothing is compressed while somebody waits.
    preCompressed: true,
    setHeaders: (response, path) => {
      // Asset names carry a hash of their content and never change; the page itself is revalidated each time.
      response.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
  server.get('/console/*', hidden, (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0]!;
    // Screens have neither dots nor escapes in their addresses; a file that is not there is not a page.
    if (!/^\/console\/(?!api\/|assets\/)[A-Za-z0-9_/-]*$/.test(path)) throw new ServiceError('ROUTE_NOT_FOUND');
    return reply.sendFile('index.html');
  });
}
