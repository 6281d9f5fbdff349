/** Writes the types of the console's responses. Run it after a shape of a route changed; a test fails until then. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { consoleTypesFolder, renderConsoleTypes } from './render-console-types.ts';

const files = await renderConsoleTypes();
await mkdir(consoleTypesFolder, { recursive: true });
for (const name of await readdir(consoleTypesFolder)) if (!(name in files)) await rm(join(consoleTypesFolder, name));
for (const [name, text] of Object.entries(files)) await writeFile(join(consoleTypesFolder, name), text);
process.stdout.write(`${Object.keys(files).length} files written to ${consoleTypesFolder}\n`);
