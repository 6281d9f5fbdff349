import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { pictureMemoryBytes } from '../../domain/limits/pictures.ts';
import { pictureKey } from '../../domain/pictures.ts';
import type { ObjectStore, PictureType } from '../../domain/pictures.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { findServedPicture } from '../../storage/pictures.ts';

export type ServePicturesDependencies = {
  /** Across workspaces: an address names no workspace. */
  database: Database;
  clock: Pick<Clock, 'elapsedMilliseconds'>;
  log: Logger;
  objects: ObjectStore | undefined;
};

export type OpenedPicture = { mediaType: PictureType; bytes: Buffer };
type Kept = { readAt: number; picture: Promise<OpenedPicture | undefined>; bytes: number };

/** A removed picture is served for this long by a node that has it in memory. */
const freshMilliseconds = 60_000;

/**
 * Makes the function that returns the picture of a public address. A campaign makes a million devices ask for one picture within
 * minutes, so a node reads it once and keeps it in memory; devices that ask meanwhile wait for the same read.
 *
 * @returns a function that throws ServiceError NOT_FOUND, PICTURE_STORE_UNAVAILABLE
 */
export function makeServePictures(deps: ServePicturesDependencies) {
  // In the order of their last use.
  const memory = new Map<string, Kept>();
  let keptBytes = 0;

  function drop(name: string, kept: Kept): void {
    if (memory.get(name) !== kept) return;
    memory.delete(name);
    keptBytes -= kept.bytes;
  }

  function read(name: string): Kept {
    const kept: Kept = { readAt: deps.clock.elapsedMilliseconds(), picture: readPicture(deps, name), bytes: 0 };
    memory.set(name, kept);
    kept.picture.then(
      (picture) => {
        // Guessed addresses must not push pictures out.
        if (!picture) return drop(name, kept);
        if (memory.get(name) !== kept) return;
        kept.bytes = picture.bytes.length;
        keptBytes += kept.bytes;
        for (const [other, oldest] of memory) {
          if (keptBytes <= pictureMemoryBytes) break;
          drop(other, oldest);
        }
      },
      () => drop(name, kept),
    );
    return kept;
  }

  return async ({ name, mediaType }: { name: string; mediaType: PictureType }): Promise<OpenedPicture> => {
    let kept = memory.get(name);
    if (kept && deps.clock.elapsedMilliseconds() - kept.readAt > freshMilliseconds) {
      drop(name, kept);
      kept = undefined;
    }
    if (kept) {
      memory.delete(name);
      memory.set(name, kept);
    }
    const picture = await (kept ?? read(name)).picture;
    if (picture?.mediaType !== mediaType) throw new ServiceError('NOT_FOUND', { detail: 'no such picture' });
    return picture;
  };
}

async function readPicture(
  { database, log, objects }: ServePicturesDependencies,
  name: string,
): Promise<OpenedPicture | undefined> {
  const found = await findServedPicture(database, name);
  if (!found) return undefined;
  const { mediaType, isExternal, bytes } = found;
  if (!isExternal) return bytes ? { mediaType, bytes } : undefined;
  try {
    if (!objects) throw new Error('the picture is in an object store, and none is set');
    const file = await objects.get(pictureKey({ workspaceId: found.workspaceId, name }));
    return file && { mediaType, bytes: file };
  } catch (error) {
    log.error({ err: error }, 'picture not read');
    throw new ServiceError('PICTURE_STORE_UNAVAILABLE', {
      detail: (error as Error).message,
      retryAfterSeconds: 5,
      cause: error,
    });
  }
}
