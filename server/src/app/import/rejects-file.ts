import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

const maxKept = 10_000;

/** A line of a file that could not be taken. */
export type Reject = { line: number; reason: string };

export type Rejects = {
  add(rejects: Reject[]): Promise<void>;
  close(): Promise<void>;
};

/** The file of refused lines, made when there is a first one; a continued import adds to it. The first 10,000 are kept. */
export function makeRejectsFile(path: string, { isContinued }: { isContinued: boolean }): Rejects {
  let handle: FileHandle | undefined;
  let kept = 0;
  return {
    async add(rejects) {
      const taken = rejects.slice(0, maxKept - kept);
      if (taken.length === 0) return;
      kept += taken.length;
      handle ??= await open(path, isContinued ? 'a' : 'w');
      await handle.write(taken.map((reject) => `${JSON.stringify(reject)}\n`).join(''));
    },
    async close() {
      await handle?.close();
    },
  };
}
