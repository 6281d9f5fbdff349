/**
 * Parses sources and prints what it finds as JSON: `find-syntax-faults.ts <node_modules> <grammar> <file>…`. A process of
 * its own, to be started with `--liftoff-only`: V8's optimizing compiler runs out of its arena over these grammars, at a
 * moment of its own choice, and takes the whole process with it (nodejs/node issue 63421).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What is printed. One parser that finds nothing in nonsense finds nothing in the files either. */
export type FoundFaults = { ofNonsense: string[]; files: { path: string; faults: string[] }[] };

/** The part of web-tree-sitter that is used here; it is installed for FULL=1 alone. */
type Node = { isError: boolean; isMissing: boolean; startPosition: { row: number }; text: string; children: Node[] };
type TreeSitter = {
  Parser: {
    new (): { setLanguage(language: unknown): void; parse(text: string): { rootNode: Node } };
    init(): Promise<void>;
  };
  Language: { load(bytes: Uint8Array): Promise<unknown> };
};

function faultsOf(node: Node): string[] {
  const own = node.isError || node.isMissing ? [`line ${node.startPosition.row + 1}: ${node.text.slice(0, 80)}`] : [];
  return [...own, ...node.children.flatMap(faultsOf)];
}

const [modules, grammar, ...paths] = process.argv.slice(2);
const entry = join(modules!, 'web-tree-sitter', 'tree-sitter.js');
const { Parser, Language } = (await import(pathToFileURL(entry).href)) as TreeSitter;
await Parser.init();
const parser = new Parser();
const bytes = await readFile(join(modules!, 'tree-sitter-wasms', 'out', `tree-sitter-${grammar}.wasm`));
parser.setLanguage(await Language.load(bytes));
const read = (text: string) => faultsOf(parser.parse(text).rootNode);
const files: FoundFaults['files'] = [];
for (const path of paths) files.push({ path, faults: read(await readFile(path, 'utf8')) });
process.stdout.write(JSON.stringify({ ofNonsense: read('class {'), files } satisfies FoundFaults));
