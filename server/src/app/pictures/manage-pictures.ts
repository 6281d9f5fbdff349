import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxListedPictures, pictureUploadWindows } from '../../domain/limits/pictures.ts';
import { findAddressFault, pictureKey, picturePath } from '../../domain/pictures.ts';
import type { AddressFault, ObjectStore, PreparedPicture } from '../../domain/pictures.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  insertPicture,
  insertPictureFile,
  listPictures as listStored,
  listUsedPictureNames,
  lockPicture,
  markPictureRemoved,
  notePictureStored,
  sumPictureBytes,
} from '../../storage/pictures.ts';
import type { StoredPicture } from '../../storage/pictures.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { countCall } from '../segments/segment-limits.ts';
import { requireWorkspace } from '../workspaces.ts';

export type PictureDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Throws ServiceError PICTURE_UNREADABLE, OVERLOADED. */
  prepare: (file: Buffer) => Promise<PreparedPicture>;
  /** Undefined: the files are in the database. */
  objects: ObjectStore | undefined;
  /** Space for the pictures of a workspace. */
  maxBytes: number;
  publicUrl: string | undefined;
  /** A sandbox also uses pictures that only this machine can load. */
  isSandbox: boolean;
};

/** A picture with its public address. */
export type Picture = Omit<StoredPicture, 'name'> & { url: string };

export type PictureList = {
  pictures: Picture[];
  /** The picture that older ones come before; null if there are none. */
  next: string | null;
  usedBytes: number;
  maxBytes: number;
  fault: AddressFault | undefined;
  /** False if pictures would have addresses that no phone can load. */
  mayUpload: boolean;
};

/** `origin` is where the console was called, for a sandbox without a public address. */
type Call = { workspaceId: string; origin: string };

/** Lists a page of the pictures of a workspace, newest first; `before` is the last of the page before. @throws ServiceError NOT_FOUND */
export async function listPictures(
  deps: PictureDependencies,
  { workspaceId, origin, before }: Call & { before?: string | undefined },
): Promise<PictureList> {
  const { database, maxBytes, publicUrl } = deps;
  await requireWorkspace(database, workspaceId);
  const [stored, usedBytes] = await Promise.all([
    listStored(database, { workspaceId, before, limit: maxListedPictures + 1 }),
    sumPictureBytes(database, workspaceId),
  ]);
  const page = stored.slice(0, maxListedPictures);
  return {
    pictures: page.map((picture) => withAddress(picture, publicUrl ?? origin)),
    next: stored.length > page.length ? page.at(-1)!.id : null,
    ...{ usedBytes, maxBytes },
    fault: findAddressFault(publicUrl),
    mayUpload: isAddressUsable(deps),
  };
}

/**
 * Stores an uploaded picture, resized and without metadata. A file that the workspace has already is stored once.
 *
 * @throws ServiceError NOT_FOUND, PICTURE_ADDRESS_UNKNOWN, PICTURE_UNREADABLE, PICTURE_SPACE_FULL, PICTURE_RATE_LIMITED,
 * PICTURE_STORE_UNAVAILABLE, OVERLOADED
 */
export async function uploadPicture(
  deps: PictureDependencies,
  { actor, workspaceId, origin, file }: Call & { actor: Actor; file: Buffer },
): Promise<Picture> {
  const { database, clock, publicUrl } = deps;
  await requireWorkspace(database, workspaceId);
  if (!isAddressUsable(deps)) throw new ServiceError('PICTURE_ADDRESS_UNKNOWN');
  // Before the work, which takes a second of a core.
  const call = { operation: 'picture-upload', workspaceId, windows: pictureUploadWindows, at: clock.now() };
  const refused = await countCall(database, call);
  if (refused) throw new ServiceError('PICTURE_RATE_LIMITED', refused);
  const { bytes, ...shape } = await deps.prepare(file);
  const createdAt = clock.now();
  const picture = {
    ...{ id: makeId(createdAt), name: randomBytes(16).toString('hex') },
    ...{ ...shape, bytes: bytes.length, createdBy: actor.name, createdAt },
  };
  const stored = await storePicture(deps, { workspaceId, picture, bytes, actor });
  return withAddress(stored, publicUrl ?? origin);
}

type Storing = { workspaceId: string; picture: StoredPicture; bytes: Buffer; actor: Actor };

/**
 * Stores the record, then the file in the object store, then that the file is there. A process that dies between two of these
 * steps leaves a record by which the job `remove-pictures` finds the file.
 */
async function storePicture(
  { database, clock, log, objects, maxBytes }: PictureDependencies,
  { workspaceId, picture, bytes, actor }: Storing,
): Promise<StoredPicture> {
  const { id, createdAt } = picture;
  const outcome = await inTransaction(database, async (tx) => {
    const inserted = await insertPicture(tx, {
      ...{ ...picture, workspaceId, maxBytes, isExternal: objects !== undefined, storedAt: objects ? null : createdAt },
      digest: createHash('sha256').update(bytes).digest(),
    });
    if (inserted.outcome !== 'stored') return inserted;
    if (!objects) await insertPictureFile(tx, { id, workspaceId, bytes });
    const { width, height } = picture;
    const detail = { width, height, bytes: bytes.length };
    await audit(tx, { actor, workspaceId, action: 'picture.upload', object: { id }, detail, at: clock.realNow() });
    return inserted;
  });
  if (outcome.outcome === 'full') throw new ServiceError('PICTURE_SPACE_FULL');
  if (outcome.outcome === 'known') return outcome.picture;
  if (!objects) return picture;
  try {
    await objects.put(pictureKey({ workspaceId, name: picture.name }), { bytes, mediaType: picture.mediaType });
  } catch (error) {
    log.error({ err: error }, 'picture not stored');
    await markPictureRemoved(database, { workspaceId, id, at: clock.now() });
    throw unavailable(error);
  }
  if (!(await notePictureStored(database, { workspaceId, id, at: clock.now() })))
    throw unavailable(new Error('the record was removed while the file was stored'));
  return picture;
}

/**
 * Removes a picture that no template, and nothing that can still be sent, contains. Its file is deleted by the job `remove-pictures`.
 *
 * @throws ServiceError NOT_FOUND, PICTURE_IN_USE
 */
export async function removePicture(
  { database, clock }: Pick<PictureDependencies, 'database' | 'clock'>,
  { actor, workspaceId, id }: { actor: Actor; workspaceId: string; id: string },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const picture = await lockPicture(tx, { workspaceId, id });
    if (!picture) throw new ServiceError('NOT_FOUND', { detail: 'no such picture' });
    if ((await listUsedPictureNames(tx, workspaceId)).includes(picture.name)) throw new ServiceError('PICTURE_IN_USE');
    await markPictureRemoved(tx, { workspaceId, id, at: clock.now() });
    await audit(tx, { actor, workspaceId, action: 'picture.remove', object: { id }, at: clock.realNow() });
  });
}

function isAddressUsable({ isSandbox, publicUrl }: PictureDependencies): boolean {
  return isSandbox || publicUrl !== undefined;
}

function withAddress({ name, ...picture }: StoredPicture, origin: string): Picture {
  return { ...picture, url: `${origin}${picturePath({ name, mediaType: picture.mediaType })}` };
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('PICTURE_STORE_UNAVAILABLE', {
    detail: (cause as Error).message,
    retryAfterSeconds: 5,
    cause,
  });
}
