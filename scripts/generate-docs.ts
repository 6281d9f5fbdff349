/**
 * Writes the generated sections of every page in docs/ and docs/decisions/. Run it after the source of a table changed; a test
 * fails until then.
 */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fillSections, renderSections } from './render-docs.ts';

const folder = join(import.meta.dirname, '..', 'docs');
const sections = await renderSections();
for (const name of [...(await readdir(folder)), 'decisions/README.md']) {
  if (!name.endsWith('.md')) continue;
  const path = join(folder, name);
  const page = await readFile(path, 'utf8');
  const filled = fillSections(page, sections);
  if (filled === page) continue;
  await writeFile(path, filled);
  process.stdout.write(`docs/${name} written\n`);
}
