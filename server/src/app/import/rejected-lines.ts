import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

const mostRejectsKept = 10_000;

/** The refused lines of a file, at most 10,000, in `<file>.rejects.ndjson`; made when there is a first one. */
export function makeRejectedLines(filePath: string) {
  const path = `${filePath}.rejects.ndjson`;
  let handle: FileHandle | undefined;
  let kept = 0;
  return {
    async add(reject: { line: number; reason: string }): Promise<void> {
      if (kept >= mostRejectsKept) return;
      kept += 1;
      handle ??= await open(path, 'w');
      await handle.write(`${JSON.stringify(reject)}\n`);
    },
    async close(): Promise<void> {
      await handle?.close();
    },
  };
}
