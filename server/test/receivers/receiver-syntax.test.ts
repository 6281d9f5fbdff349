import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';
import { readRepositoryFiles } from '../repository-files.ts';

/** The part of web-tree-sitter that is used here; it is installed for FULL=1 alone. */
type Node = { isError: boolean; isMissing: boolean; startPosition: { row: number }; text: string; children: Node[] };
type TreeSitter = {
  Parser: {
    new (): { setLanguage(language: unknown): void; parse(text: string): { rootNode: Node } };
    init(): Promise<void>;
  };
  Language: { load(bytes: Uint8Array): Promise<unknown> };
};

const languages = { '.kt': 'kotlin', '.swift': 'swift' } as const;

function faultsOf(node: Node): string[] {
  const own = node.isError || node.isMissing ? [`line ${node.startPosition.row + 1}: ${node.text.slice(0, 80)}`] : [];
  return [...own, ...node.children.flatMap(faultsOf)];
}

test.skipIf(process.env.FULL !== '1')(
  'the receivers of Android and iOS are Kotlin and Swift without a fault of syntax (FULL=1)',
  async () => {
    const modules = await installTools(join(import.meta.dirname, 'tools'));
    const entry = join(modules, 'web-tree-sitter', 'tree-sitter.js');
    const { Parser, Language } = (await import(pathToFileURL(entry).href)) as TreeSitter;
    await Parser.init();
    const parse = async (extension: keyof typeof languages) => {
      const grammar = join(modules, 'tree-sitter-wasms', 'out', `tree-sitter-${languages[extension]}.wasm`);
      const parser = new Parser();
      parser.setLanguage(await Language.load(await readFile(grammar)));
      const read = (text: string) => faultsOf(parser.parse(text).rootNode);
      // One that finds nothing anywhere finds nothing here either.
      expect(read('class {')).not.toEqual([]);
      const files = readRepositoryFiles([extension]).filter(({ path }) => path.startsWith('receivers/'));
      return files.map(({ path, text }) => ({ path, faults: read(text) }));
    };
    const read = [...(await parse('.kt')), ...(await parse('.swift'))];
    expect(read.length).toBeGreaterThan(15);
    expect(read.filter(({ faults }) => faults.length > 0)).toEqual([]);
  },
  600_000,
);
