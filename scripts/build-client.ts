/**
 * Builds `client/dist`: JavaScript, types and maps. npm runs it when it packs the client, because Node cannot import TypeScript
 * from `node_modules`. Within this repository the sources are imported directly.
 */
import { copyFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const client = join(root, 'client');

await rm(join(client, 'dist'), { recursive: true, force: true });
const path = join(client, 'tsconfig.build.json');
const { options, fileNames } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path, (name) => ts.sys.readFile(name)).config,
  ts.sys,
  dirname(path),
);
const program = ts.createProgram(fileNames, options);
const { diagnostics } = program.emit(undefined, (name, text) => {
  // Types keep the names of the sources, which are elsewhere. ".js" has the same length as ".ts", so the maps stay correct.
  const isTypes = name.endsWith('.d.ts');
  ts.sys.writeFile(name, isTypes ? text.replace(/((?:from |import\()['"]\.[^'"]*)\.ts(?=['"])/g, '$1.js') : text);
});
const found = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
if (found.length > 0) {
  process.stderr.write(
    ts.formatDiagnostics(found, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => '\n',
    }),
  );
  process.exit(1);
}
await copyFile(join(root, 'LICENSE'), join(client, 'LICENSE'));
