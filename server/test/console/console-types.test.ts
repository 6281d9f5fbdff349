import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { consoleTypesFolder, renderConsoleTypes } from '../../../scripts/render-console-types.ts';

test('the types of the console are as the shapes of its routes say; npm run console:types writes them', async () => {
  const rendered = await renderConsoleTypes();
  expect(Object.keys(rendered).sort()).toEqual((await readdir(consoleTypesFolder)).sort());
  for (const [name, text] of Object.entries(rendered))
    expect(await readFile(join(consoleTypesFolder, name), 'utf8'), name).toBe(text);
});
