import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

// A smaller file would not travel in fewer packets.
const minBytes = 1_400;
// The slowest would take ten times as long for 8 % less.
const quality = 7;

/** Beside each text the same compressed by Brotli, which every browser reads, so that a node compresses nothing itself. */
export async function compressFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = entries.filter((entry) => entry.isFile() && /\.(js|css|html|svg|json|txt)$/.test(entry.name));
  await Promise.all(texts.map(({ parentPath, name }) => compressFile(join(parentPath, name))));
}

async function compressFile(path: string): Promise<void> {
  const plain = await readFile(path);
  if (plain.length < minBytes) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(plain, { params }));
}
