/** Writes the types of the client for TypeScript, and the operations of those for Python, Go, PHP, Ruby and Java. Run it after a shape of a route changed; a test fails until then. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clientTypesFolder, renderClientTypes } from './render-client-types.ts';

const files = await renderClientTypes();
await mkdir(clientTypesFolder, { recursive: true });
for (const [name, text] of Object.entries(files)) await writeFile(join(clientTypesFolder, name), text);
// It reads a file that was just written.
const { pythonOperationsFile, renderPythonOperations } = await import('./render-python-operations.ts');
await writeFile(pythonOperationsFile, renderPythonOperations());
const { renderOperationTables } = await import('./render-operation-tables.ts');
const tables = renderOperationTables();
for (const [path, text] of Object.entries(tables)) await writeFile(path, text);
process.stdout.write(
  `${Object.keys(files).length} files written to ${clientTypesFolder}, and ${[pythonOperationsFile, ...Object.keys(tables)].join(', ')}\n`,
);
