import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderOperationTables } from '../../scripts/render-operation-tables.ts';
import { pythonOperationsFile, renderPythonOperations } from '../../scripts/render-python-operations.ts';
import { clientTypesFolder, renderClientTypes } from '../../scripts/render-client-types.ts';

test('the types of the client are as the document says; npm run client:types writes them', async () => {
  const rendered = await renderClientTypes();
  expect(Object.keys(rendered).sort()).toEqual((await readdir(clientTypesFolder)).sort());
  for (const [name, text] of Object.entries(rendered))
    expect(await readFile(join(clientTypesFolder, name), 'utf8'), name).toBe(text);
});

test('the operations of the Python client are those of the document; npm run client:types writes them', async () => {
  expect(await readFile(pythonOperationsFile, 'utf8')).toBe(renderPythonOperations());
});

test('the operations of the clients for Go, PHP, Ruby and Java are those of the document; npm run client:types writes them', async () => {
  for (const [path, text] of Object.entries(renderOperationTables()))
    expect(await readFile(path, 'utf8'), path).toBe(text);
});
