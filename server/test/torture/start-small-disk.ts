import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type SmallDisk = {
  path: string;
  /** Until nothing can be written any more. */
  fill(): Promise<void>;
  empty(): Promise<void>;
  remove(): Promise<void>;
};

const piece = Buffer.alloc(1_048_576);

/** A file system of its own in memory, of so many megabytes. @returns why there can be none, where mounting is refused */
export async function startSmallDisk(megabytes: number): Promise<SmallDisk | { refused: string }> {
  const path = await mkdtemp(join(tmpdir(), 'carillon-disk-'));
  try {
    // Passable: as root the database runs as another account.
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', path]);
  } catch (error) {
    await rm(path, { recursive: true });
    return { refused: (error as Error).message.trim().replaceAll('\n', ' ') };
  }
  const filling = join(path, 'filling');
  return {
    path,
    async fill() {
      const file = await open(filling, 'a');
      try {
        // What is left of the last piece is written before the next is refused. A disk has an end, and so has this.
        for (;;) await file.write(piece);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        await file.close();
      }
    },
    empty: () => rm(filling, { force: true }),
    async remove() {
      await run('umount', ['--lazy', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
