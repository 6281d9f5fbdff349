import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { OpenedReport } from '../app/stats/report-files.ts';
import { StartError } from '../start/start-errors.ts';

/**
 * Writes the pieces of a file under another name, and gives it its own once all of it is on the disk: what bears the name is whole.
 * Readable by this account only.
 *
 * @throws StartError when the pieces are not the whole file, which went while it was read
 */
export async function writeReportFile(
  { bytes, pieces }: OpenedReport,
  out: string,
): Promise<{ out: string; bytes: number; sha256: string }> {
  const unfinished = `${out}.part`;
  const hash = createHash('sha256');
  let written = 0;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        written += piece.length;
        await file.writeFile(piece);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (written !== bytes)
      throw new StartError('SETTING_INVALID', `The file has ${bytes} bytes, and ${written} could be read.`);
    await rename(unfinished, out);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return { out, bytes, sha256: hash.digest('hex') };
}
