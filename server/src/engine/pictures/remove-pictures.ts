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
  listSentPictureNames,
  listUsedPictureNames,
  notePictureUses,
  removeUnusedPictures,
} from '../../storage/pictures.ts';
import type { LeftoverPicture, StartedRun, WorkspaceToLookUp } from '../../storage/pictures.ts';
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
/** Runs whose contents one statement searches: a few megabytes. */
const runsPerPage = 5_000;
/** A run is visible after it started, by the time that its transaction takes and by which the clocks of nodes differ. */
const marginMilliseconds = 3_600_000;

/**
 * The job that looks up once a day which pictures were sent since the day before, and which ones templates and what can still be
 * sent contain; removes those that were not used for the days of their retention; and deletes the files of removed pictures and
 * of uploads that failed. A file that the object store does not delete is tried again with the next run.
 */
export function makeRemovePictures({ database, clock, log, objects, keptDays }: RemovePicturesDependencies): Job {
  /** The workspaces whose look-up failed since the job last waited. */
  const faults = new Map<string, unknown>();

  async function lookUpNext(now: Date): Promise<number> {
    const before = new Date(now.getTime() - dayMilliseconds);
    for (;;) {
      const due = await findWorkspaceToLookUp(database, { before, except: [...faults.keys()] });
      if (due === undefined) return 0;
      try {
        await lookUp(due, now);
        return 1;
      } catch (error) {
        // It stays the one that waits the longest, and must not block the others.
        faults.set(due.workspaceId, error);
        log.error({ workspaceId: due.workspaceId, err: error }, 'pictures not looked up');
      }
    }
  }

  async function lookUp({ workspaceId, lookedUpAt }: WorkspaceToLookUp, now: Date): Promise<void> {
    const since = new Date(lookedUpAt.getTime() - marginMilliseconds);
    const sent = await listSent(database, { workspaceId, since });
    await inTransaction(database, async (tx) => {
      const used = await listUsedPictureNames(tx, workspaceId);
      await notePictureUses(tx, { workspaceId, names: [...new Set([...sent, ...used])], at: now });
      const removed = await removeUnusedPictures(tx, { workspaceId, before: keptSince(now, keptDays), at: now });
      if (removed > 0) log.info({ workspaceId, removed }, 'unused pictures removed');
    });
  }

  return {
    name: 'remove-pictures',
    intervalMilliseconds: 600_000,
    async runOnce(at) {
      // A sandbox clock that is ahead must not remove pictures.
      const now = retentionTime({ now: at, realNow: clock.realNow() });
      const done = (await lookUpNext(now)) + (await deleteLeftovers({ database, log, objects }, now));
      if (done > 0 || faults.size === 0) return done;
      // Nothing else is left to do. The job counts as failed, and tries these again after its interval.
      const [fault] = faults.values();
      faults.clear();
      throw fault;
    },
  };
}

/**
 * Lists what was sent since the look-up before: pushes and campaigns that are sent at once begin and end between two look-ups.
 * Not in one transaction, because a day may have millions of them.
 */
async function listSent(
  database: Database,
  { workspaceId, since }: { workspaceId: string; since: Date },
): Promise<Set<string>> {
  const sent = new Set<string>();
  let after: StartedRun | undefined = { startedAt: since.toISOString(), id: '' };
  while (after) {
    const page = await listSentPictureNames(database, { workspaceId, after, limit: runsPerPage });
    for (const name of page.names) sent.add(name);
    after = page.last;
  }
  return sent;
}

type Deleting = Pick<RemovePicturesDependencies, 'database' | 'log' | 'objects'>;

/** Returns false if the file is still there. The next run tries again. */
async function deleteFile(
  { database, log, objects }: Deleting,
  { workspaceId, id, name, isExternal }: LeftoverPicture,
): Promise<boolean> {
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

/** Deletes the files of removed pictures and of uploads that failed. @returns how many */
async function deleteLeftovers(deps: Deleting, now: Date): Promise<number> {
  const storingBefore = new Date(now.getTime() - pictureStoringMinutes * 60_000);
  let deleted = 0;
  for (let after = ''; ;) {
    const leftovers = await listLeftoverPictures(deps.database, { storingBefore, after, limit: batch });
    for (const picture of leftovers) if (await deleteFile(deps, picture)) deleted += 1;
    if (leftovers.length < batch) return deleted;
    after = leftovers.at(-1)!.id;
  }
}
