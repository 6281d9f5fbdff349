import { createReadStream, existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import { createBrotliDecompress } from 'node:zlib';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteFamily } from './server/build-server.ts';

const hidden = { schema: { hide: true }, config: { isUnrecorded: true } };
/**
 * Allows only files of this address; the pages contain no inline styles or scripts. Requests are not upgraded to https, so
 * that the pages also work over plain http.
 */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const headers = {
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Serves the documentation that `npm run docs` built. In a clone it may be built while the node is running, so each request
 * checks whether it exists.
 */
export function docsRoutes(folder: string): RouteFamily {
  return async (server) => {
    await server.register(fastifyStatic, {
      root: folder,
      prefix: '/docs/',
      serve: false,
      cacheControl: false,
      preCompressed: true,
      setHeaders: (response) => {
        for (const [name, value] of Object.entries(headers)) response.header(name, value);
      },
    });
    server.get('/docs', hidden, (_request, reply) => reply.redirect('/docs/'));
    server.get('/docs/*', hidden, (request: FastifyRequest<{ Params: { '*': string } }>, reply: FastifyReply) => {
      if (!isThere(folder, 'index.html')) return replyNotBuilt(reply);
      const path = request.params['*'];
      if (!/^[A-Za-z0-9_./-]*$/.test(path) || /(^|\/)\./.test(path)) return replyMissing(reply);
      // A page is a folder; without the trailing slash its relative links would be wrong.
      if (!/\.[a-z0-9]+$/i.test(path) && path !== '' && !path.endsWith('/')) return reply.redirect(`/docs/${path}/`);
      const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
      if (!isThere(folder, file)) return replyMissing(reply);
      if (isKeptPlain(folder, file) || /\bbr\b/.test(request.headers['accept-encoding'] ?? ''))
        return reply.sendFile(file);
      return sendDecompressed(reply, { folder, file });
    });
  };
}

function isThere(folder: string, file: string): boolean {
  return isKeptPlain(folder, file) || existsSync(join(folder, `${file}.br`));
}

function isKeptPlain(folder: string, file: string): boolean {
  return existsSync(join(folder, file));
}

/** A package contains texts only compressed, as every browser accepts them; other clients get them decompressed. */
function sendDecompressed(reply: FastifyReply, { folder, file }: { folder: string; file: string }): FastifyReply {
  const type = contentTypes[extname(file)];
  if (type === undefined) return replyMissing(reply);
  const text = createReadStream(join(folder, `${file}.br`)).pipe(createBrotliDecompress());
  return reply.headers(headers).header('vary', 'accept-encoding').type(type).send(text);
}

/** The types of the texts that `npm run docs` compresses. */
const contentTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** A reader gets a page with a way back, in the style of the site, not an error of the API. */
function replyMissing(reply: FastifyReply): FastifyReply {
  return reply.code(404).headers(headers).type(contentTypes['.html']!).send(missingPage);
}

const missingPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Page not found · Carillon</title>
    <link rel="icon" href="/docs/assets/favicon.svg">
    <link rel="stylesheet" href="/docs/assets/site.css">
  </head>
  <body>
    <main class="text missing">
      <h1>Page not found</h1>
      <p>The documentation has no page at this address. It may have moved.</p>
      <p><a href="/docs/">Go to the documentation</a></p>
    </main>
  </body>
</html>
`;

function replyNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .header('retry-after', '5')
    .type('text/plain')
    .send(
      'The documentation has not been built yet. npm start builds it during the first start; npm run docs builds it at any time.\n',
    );
}
