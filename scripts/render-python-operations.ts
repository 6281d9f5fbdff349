import { join } from 'node:path';
import { operations } from '../client/src/generated/operations.ts';

/** The file of the Python client that is generated. */
export const pythonOperationsFile = join(import.meta.dirname, '..', 'client-python/src/carillon_client/operations.py');

type Row = { method: string; path: string; key: string; query: readonly string[]; headers: readonly string[] };

/** Renders how each operation is called in Python, from the same table as that of the client for TypeScript. */
export function renderPythonOperations(): string {
  const rows = Object.entries(operations) as [string, Row][];
  const ids = rows.map(([id]) => `    "${id}",\n`).join('');
  const table = rows.map(([id, row]) => renderRow(id, row)).join('');
  return `${heading}OperationId = Literal[\n${ids}]\n\n${comment}OPERATIONS: Dict[OperationId, Operation] = {\n${table}}\n`;
}

const heading = `"""Generated from the OpenAPI document by \`npm run client:types\`; edits are lost."""

from typing import Dict, Literal, NamedTuple, Tuple


class Operation(NamedTuple):
    method: str
    path: str
    #: Kind of the key that the operation accepts: data, campaigns, push or none.
    key: str
    #: Names of the parameters in the path, in the query and in headers that the client fills in.
    path_names: Tuple[str, ...]
    query: Tuple[str, ...]
    headers: Tuple[str, ...]


`;

const comment = '#: How each operation is called. ``*`` stands for the abbreviation of the installation.\n';

function renderRow(id: string, { method, path, key, query, headers }: Row): string {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const values = [JSON.stringify(method), JSON.stringify(path), JSON.stringify(key)];
  return `    "${id}": Operation(\n        ${[...values, tuple(names), tuple(query), tuple(headers)].join(', ')}\n    ),\n`;
}

function tuple(words: readonly string[]): string {
  const quoted = words.map((word) => JSON.stringify(word));
  return quoted.length === 1 ? `(${quoted[0]},)` : `(${quoted.join(', ')})`;
}
