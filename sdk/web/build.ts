import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const folder = import.meta.dirname;
const plainWorker = join(folder, '..', '..', 'client', 'browser', 'carillon-service-worker.js');

/**
 * Builds the files of the package, minified: a module for pages, one with the element of the inbox, and the service worker, which is the client's plain worker
 * followed by the part that knows installations.
 *
 * @returns their texts by name
 */
export async function buildWebSdk(): Promise<
  Record<'carillon.js' | 'carillon-inbox.js' | 'carillon-service-worker.js', string>
> {
  const page = await bundle(join(folder, 'src', 'index.ts'), { format: 'es' });
  const inbox = await bundle(join(folder, 'src', 'inbox-element.ts'), { format: 'es' });
  const worker = await bundle(join(folder, 'src', 'worker.ts'), {
    format: 'iife',
    intro: await readFile(plainWorker, 'utf8'),
  });
  return { 'carillon.js': page, 'carillon-inbox.js': inbox, 'carillon-service-worker.js': worker };
}

async function bundle(input: string, output: { format: 'es' | 'iife'; intro?: string }): Promise<string> {
  const build = await rolldown({ input });
  const { output: chunks } = await build.generate({ ...output, minify: true });
  await build.close();
  return chunks[0].code;
}

if (process.argv[1] === import.meta.filename) {
  const dist = join(folder, 'dist');
  await mkdir(dist, { recursive: true });
  for (const [name, text] of Object.entries(await buildWebSdk())) await writeFile(join(dist, name), text);
  await copyFile(join(folder, '..', '..', 'LICENSE'), join(folder, 'LICENSE'));
}
