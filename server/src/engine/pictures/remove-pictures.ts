import type { RealClock } from '../../clock.ts';
import { pictureStoringMinutes } from '../../domain/limits/pictures.ts';
import { keptSince, retentionTime } from '../../domain/operations/retention.ts';
import { pictureKey } from '../../domain/pictures.ts';
import type { ObjectStore } from '../../domain/pictures.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  deletePicture,
  findWorkspaceToLookUp,
  listLeftoverPictures,
  listUsedPictureNames,
  notePictureUses,
  removeUnusedPictures,
} from '../../storage/pictures.ts';
import type { LeftoverPicture } from '../../storage/pictures.ts';
import type { Job } from '../jobs/job.ts';

export type RemovePicturesDependencies = {
  database: Database;
  clock: RealClock;
  log: Logger;
  objects: ObjectStore | undefined;
  keptDays: number;
};

const dayMilliseconds = 86_400_000;
const batch = 100;

/**
 * The job that looks up once a day which pictures templates and unfinished campaigns contain, removes those that none has contained
 * for the days of their retention, and deletes the files of removed pictures and of uploads that failed. A file that the object
 * store does not delete is tried again with the next run.
 */
export function makeRemovePictures({ database, clock, log, objects, keptDays }: RemovePicturesDependencies): Job {
  async function lookUp(now: Date): Promise<number> {
    const workspaceId = await findWorkspaceToLookUp(database, new Date(now.getTime() - dayMilliseconds));
    if (workspaceId === undefined) return 0;
    await inTransaction(database, async (tx) => {
      const names = await listUsedPictureNames(tx, workspaceId);
      await notePictureUses(tx, { workspaceId, names, at: now });
      const removed = await removeUnusedPictures(tx, { workspaceId, before: keptSince(now, keptDays), at: now });
      if (removed > 0) log.info({ workspaceId, removed }, 'unused pictures removed');
    });
    return 1;
  }

  async function deleteFile({ workspaceId, id, name, isExternal }: LeftoverPicture): Promise<boolean> {
    try {
      if (isExternal) {
        if (!objects) throw new Error('the picture is in an object store, and none is set');
        await objects.remove(pictureKey({ workspaceId, name }));
      }
      await deletePicture(database, id);
      return true;
    } catch (error) {
      log.error({ pictureId: id, err: error }, 'picture not deleted');
      return false;
    }
  }

  async function deleteLeftovers(now: Date): Promise<number> {
    const storingBefore = new Date(now.getTime() - pictureStoringMinutes * 60_000);
    let deleted = 0;
    for (let after = ''; ;) {
      const leftovers = await listLeftoverPictures(database, { storingBefore, after, limit: batch });
      for (const picture of leftovers) if (await deleteFile(picture)) deleted += 1;
      if (leftovers.length < batch) return deleted;
      after = leftovers.at(-1)!.id;
    }
  }

  return {
    name: 'remove-pictures',
    intervalMilliseconds: 600_000,
    async runOnce(at) {
      // A sandbox clock that is ahead must not remove pictures.
      const now = retentionTime({ now: at, realNow: clock.realNow() });
      const lookedUp = await lookUp(now);
      return lookedUp + (await deleteLeftovers(now));
    },
  };
}
