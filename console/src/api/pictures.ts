import { addressOf } from './console-caller.ts';
import type { ConsoleCaller, Key } from './console-caller.ts';
import type { Picture } from './generated/pictures.ts';

export function makePictureCalls({ ask, call }: ConsoleCaller) {
  return {
    /** A page, newest first, with the space that all use and what keeps phones from loading them. */
    list: ({ workspaceId, before }: { workspaceId: string; before?: string | undefined }) =>
      ask('GET pictures', { query: { workspaceId, before } }),
    /** Stores a picture, resized and without metadata. */
    async upload({ workspaceId, file }: { workspaceId: string; file: Blob }): Promise<Picture> {
      const headers = { 'content-type': 'application/octet-stream' };
      const answer = await call(addressOf('pictures', { workspaceId }), { method: 'POST', headers, body: file });
      return ((await answer.json()) as { picture: Picture }).picture;
    },
    /** @throws CarillonError if a template or an unfinished campaign contains it */
    remove: ({ workspaceId, id }: Key) => ask('DELETE pictures/:id', { params: { id }, query: { workspaceId } }),
  };
}
