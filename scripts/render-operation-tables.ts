import { join } from 'node:path';
import { operations } from '../client/src/generated/operations.ts';

const root = join(import.meta.dirname, '..');

type Row = { method: string; path: string; key: string; query: readonly string[]; headers: readonly string[] };
type Operation = Row & { id: string; isSafe: boolean };

/**
 * Renders how each operation is called in Go, PHP, Ruby and Java, from the same table as that of the client for TypeScript.
 * What is not in the table is written by hand, because it is the same for every operation: credentials, retries and errors.
 *
 * @returns the text of each file, by its path
 */
export function renderOperationTables(): Record<string, string> {
  const rows = (Object.entries(operations) as [string, Row][]).map(([id, row]) => ({
    ...row,
    id,
    isSafe: isSafe(row),
  }));
  return {
    [join(root, 'client-go/operations.go')]: renderGo(rows),
    [join(root, 'client-php/src/Operations.php')]: renderPhp(rows),
    [join(root, 'client-ruby/lib/carillon/operations.rb')]: renderRuby(rows),
    [join(root, 'client-java/src/org/carillon/client/Operation.java')]: renderJava(rows),
  };
}

/** A repeat changes nothing: it carries an Idempotency-Key, or only reads. */
function isSafe({ method, path, headers }: Row): boolean {
  const reads = /\/(search|meta|executions|validate|preview|export|campaign-stats)$/.test(path);
  return method === 'GET' || reads || headers.includes('Idempotency-Key');
}

const generated = 'Generated from the OpenAPI document by `npm run client:types`; edits are lost.';
const quoted = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(', ');

function renderGo(rows: Operation[]): string {
  const width = Math.max(...rows.map(({ id }) => id.length));
  const names = rows.map(({ id }) => `\t${capital(id).padEnd(width)} OperationID = "${id}"\n`);
  const table = rows.map(
    ({ id, method, path, key, query, headers, isSafe: safe }) =>
      `\t${capital(id)}: {"${method}", "${path}", "${key}", ${goList(query)}, ${goList(headers)}, ${safe}},\n`,
  );
  return (
    `// Code generated from the OpenAPI document by npm run client:types. DO NOT EDIT.\n\npackage carillon\n\n` +
    `// OperationID names an operation of the API document.\ntype OperationID string\n\n` +
    `// The operations of the API document.\nconst (\n${names.join('')})\n\n` +
    `// How an operation is called. In names of headers, * stands for the abbreviation of the installation.\n` +
    `type operation struct {\n\tmethod, path, key string\n\tquery, headers    []string\n\tisSafe            bool\n}\n\n` +
    `var operations = map[OperationID]operation{\n${alignGo(table)}}\n`
  );
}

const goList = (words: readonly string[]): string => (words.length === 0 ? 'nil' : `[]string{${quoted(words)}}`);

/** gofmt aligns the values of a map by its longest key. */
function alignGo(lines: string[]): string {
  const width = Math.max(...lines.map((line) => line.indexOf(':')));
  return lines.map((line) => line.replace(': {', `:${' '.repeat(width - line.indexOf(':') + 1)}{`)).join('');
}

const capital = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);

function renderPhp(rows: Operation[]): string {
  const single = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(', ')}]`;
  const table = rows.map(
    ({ id, method, path, key, query, headers, isSafe: safe }) =>
      `        '${id}' => ['${method}', '${path}', '${key}', ${single(query)}, ${single(headers)}, ${safe}],\n`,
  );
  return (
    `<?php\n\n// ${generated}\n\ndeclare(strict_types=1);\n\nnamespace Carillon;\n\n` +
    `/** How each operation is called. \`*\` stands for the abbreviation of the installation. */\nfinal class Operations\n{\n` +
    `    /** Method, path, kind of key, query, headers, and whether a repeat changes nothing. */\n` +
    `    public const TABLE = [\n${table.join('')}    ];\n}\n`
  );
}

function renderRuby(rows: Operation[]): string {
  const table = rows.map(
    ({ id, method, path, key, query, headers, isSafe: safe }) =>
      `    "${id}" => Operation.new("${method}", "${path}", "${key}", [${quoted(query)}], [${quoted(headers)}], ${safe}),\n`,
  );
  return (
    `# frozen_string_literal: true\n\n# ${generated}\n\nmodule Carillon\n` +
    `  # How an operation is called. \`*\` stands for the abbreviation of the installation.\n` +
    `  Operation = Struct.new(:http_method, :path, :key, :query, :headers, :safe)\n\n` +
    `  OPERATIONS = {\n${table.join('')}  }.freeze\nend\n`
  );
}

function renderJava(rows: Operation[]): string {
  const constants = rows.map(
    ({ id, method, path, key, query, headers, isSafe: safe }) =>
      `    ${upper(id)}("${id}", "${method}", "${path}", "${key}", List.of(${quoted(query)}), List.of(${quoted(headers)}), ${safe})`,
  );
  const members = ['id', 'method', 'path', 'key'].map((name) => `    final String ${name};\n`).join('');
  const assigned = ['id', 'method', 'path', 'key', 'query', 'headers', 'isSafe'].map(
    (name) => `        this.${name} = ${name};\n`,
  );
  return (
    `// ${generated}\npackage org.carillon.client;\n\nimport java.util.List;\n\n` +
    `/** The operations of the API document. {@code *} stands for the abbreviation of the installation. */\n` +
    `public enum Operation {\n${constants.join(',\n')};\n\n${members}` +
    `    final List<String> query;\n    final List<String> headers;\n    /** A repeat changes nothing. */\n    final boolean isSafe;\n\n` +
    `    Operation(String id, String method, String path, String key, List<String> query, List<String> headers, boolean isSafe) {\n` +
    `${assigned.join('')}    }\n\n    /** Its name in the API document. */\n    public String id() {\n        return id;\n    }\n}\n`
  );
}

const upper = (id: string): string => id.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
