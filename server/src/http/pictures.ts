import type { FastifyRequest } from 'fastify';
import type { OpenedPicture } from '../app/pictures/serve-pictures.ts';
import { ServiceError } from '../domain/errors.ts';
import { pictureCacheDays } from '../domain/limits/pictures.ts';
import { parsePictureFile } from '../domain/pictures.ts';
import type { PictureType } from '../domain/pictures.ts';
import type { RouteFamily } from './server/build-server.ts';

export type PictureRouteDependencies = {
  openPicture: (asked: { name: string; mediaType: PictureType }) => Promise<OpenedPicture>;
};

// Devices make millions of calls, and the API log is for integrators.
const hidden = { schema: { hide: true }, config: { isUnrecorded: true } };

/**
 * The public addresses of uploaded pictures. They need no credential, because phones and push services have none: 128 random bits
 * in the address are the protection. What an address shows never changes.
 */
export function pictureRoutes({ openPicture }: PictureRouteDependencies): RouteFamily {
  return async (server) => {
    server.get('/pictures/:file', hidden, async (request: FastifyRequest<{ Params: { file: string } }>, reply) => {
      // Caches must not keep an error; a picture has another value below.
      reply.header('cache-control', 'no-store');
      const asked = parsePictureFile(request.params.file);
      if (!asked) throw new ServiceError('NOT_FOUND', { detail: 'no name of a picture' });
      const tag = `"${asked.name}"`;
      const { mediaType, bytes } = await openPicture(asked);
      reply.headers({
        'cache-control': `public, max-age=${pictureCacheDays * 86_400}, immutable`,
        'content-security-policy': "default-src 'none'; sandbox",
        // Sites and service workers of every origin show them.
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
        etag: tag,
      });
      if (request.headers['if-none-match'] === tag) return reply.code(304).send();
      return reply.type(mediaType).send(bytes);
    });
  };
}
