import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { listPictures, removePicture, uploadPicture } from '../../app/pictures/manage-pictures.ts';
import type { PictureDependencies } from '../../app/pictures/manage-pictures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxPictureUploadBytes } from '../../domain/limits/pictures.ts';
import { consoleApi as api, serviceOrigin } from './access.ts';
import { changeOf, Id, idOf, Workspace, workspaceOf } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const Picture = Type.Object({
  id: Type.String(),
  url: described(Type.String(), 'The public address.'),
  mediaType: oneOf(['image/jpeg', 'image/png']),
  width: Type.Number(),
  height: Type.Number(),
  bytes: Type.Number(),
  createdBy: Type.String(),
  createdAt: Type.String(),
});

export const PictureList = Type.Object({
  pictures: described(Type.Array(Picture), 'Newest first, at most 60.'),
  next: described(orNull(Type.String()), 'The id to pass as `before` for older pictures; null if there are none.'),
  usedBytes: Type.Number(),
  maxBytes: Type.Number(),
  fault: described(
    orNull(oneOf(['NO_PUBLIC_URL', 'NOT_HTTPS'])),
    'Why phones cannot load the pictures: the public address is not set, or is not https.',
  ),
  mayUpload: Type.Boolean({ description: 'False if no phone could load an uploaded picture.' }),
});

export const UploadedPicture = Type.Object({ picture: Picture });

export type ConsolePictureRouteDependencies = { pictures: PictureDependencies };

/** Routes for the pictures that users of the composer upload. */
export function consolePictureRoutes(server: FastifyInstance, { pictures }: ConsolePictureRouteDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'campaigns.write' as const };
  const callOf = (request: FastifyRequest) => ({
    workspaceId: workspaceOf(request),
    origin: serviceOrigin(request, pictures.publicUrl),
  });

  const page = Type.Object({ ...Workspace.properties, before: Type.Optional(Id.properties.id) });
  const listing = { schema: { ...schema, querystring: page, response: { 200: PictureList } }, config };
  server.get(`${api}/pictures`, listing, async (request) => {
    const { fault = null, ...list } = await listPictures(pictures, {
      ...callOf(request),
      before: (request.query as Static<typeof page>).before,
    });
    return { ...list, fault };
  });
  server.delete(`${api}/pictures/:id`, { schema: { ...schema, params: Id }, config }, async (request, reply) => {
    await removePicture(pictures, { ...changeOf(request), id: idOf(request) });
    return reply.code(204).send();
  });
  // In a separate scope, which accepts a file and no other body. The bytes decide about the format, not the header.
  server.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: maxPictureUploadBytes },
      (_request: FastifyRequest, body: Buffer, done: (error: null, body: Buffer) => void) => done(null, body),
    );
    const uploading = {
      schema: { ...schema, response: { 201: UploadedPicture } },
      config,
      bodyLimit: maxPictureUploadBytes,
    };
    uploads.post(`${api}/pictures`, uploading, async (request, reply) => {
      const file = request.body as Buffer | undefined;
      if (file === undefined || file.length === 0) throw new ServiceError('BODY_EMPTY');
      const picture = await uploadPicture(pictures, { ...callOf(request), actor: request.signedIn, file });
      return reply.code(201).send({ picture });
    });
  });
}
