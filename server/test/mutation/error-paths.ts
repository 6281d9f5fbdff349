import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';

export type ErrorPathMutant = { line: number; kind: 'swallowed' | 'thrown later'; text: string };

/**
 * Changes each place of a source that handles an error: the error is swallowed, as if the handler were empty, and thrown
 * later, after the handler did its work.
 */
export function mutateErrorPaths(source: string): ErrorPathMutant[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const mutants: ErrorPathMutant[] = [];
  const add = (node: ts.Node, changes: Partial<Record<ErrorPathMutant['kind'], string>>): void => {
    const [start, end] = [node.getStart(), node.end];
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    for (const [kind, change] of Object.entries(changes) as [ErrorPathMutant['kind'], string][])
      mutants.push({ line, kind, text: `${source.slice(0, start)}${change}${source.slice(end)}` });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCatchClause(node)) {
      const body = node.block.getText();
      add(node, {
        ...(node.block.statements.length > 0 && { swallowed: 'catch {}' }),
        'thrown later': `catch (laterError) { ${rename(node)}try ${body} finally { throw laterError; } }`,
      });
    }
    if (isCatchCall(node)) {
      const handler = node.arguments[0]!;
      add(handler, {
        ...(!/^\(\w*\) => (\{\s*\}|undefined)$/.test(handler.getText()) && { swallowed: '() => {}' }),
        'thrown later': `async (laterError) => { await (${handler.getText()})(laterError); throw laterError; }`,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
}

/** The error under the name that the handler uses. */
function rename({ variableDeclaration }: ts.CatchClause): string {
  return variableDeclaration ? `const ${variableDeclaration.name.getText()} = laterError; ` : '';
}

function isCatchCall(node: ts.Node): node is ts.CallExpression {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === 'catch' &&
    node.arguments.length === 1
  );
}

type Tried = { root: string; sources: readonly string[]; config: string };

/** Runs the tests on each changed error path of these sources, in a copy of the project. Returns true if all were found. */
export async function tryErrorPaths({ root, sources, config }: Tried): Promise<boolean> {
  const copy = mkdtempSync(join(tmpdir(), 'carillon-error-paths-'));
  try {
    copyProject(root, copy);
    const begun = performance.now();
    if (!(await pass({ copy, config, maxMilliseconds: 600_000 }))) throw new Error('the tests fail without a change');
    const maxMilliseconds = 30_000 + 3 * (performance.now() - begun);
    let [found, missed] = [0, 0];
    for (const source of sources) {
      const original = readFileSync(join(root, source), 'utf8');
      for (const { line, kind, text } of mutateErrorPaths(original)) {
        writeFileSync(join(copy, source), text);
        if (await pass({ copy, config, maxMilliseconds })) {
          missed += 1;
          process.stdout.write(`not found: ${source}:${line} ${kind}\n`);
        } else found += 1;
      }
      writeFileSync(join(copy, source), original);
    }
    process.stdout.write(`${found + missed} error paths changed, ${found} found, ${missed} not found\n`);
    return missed === 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The sources and tests of the server are copied, everything else is the project's. */
function copyProject(root: string, copy: string): void {
  for (const name of readdirSync(root)) if (name !== 'server') symlinkSync(join(root, name), join(copy, name));
  mkdirSync(join(copy, 'server'));
  cpSync(join(root, 'server'), join(copy, 'server'), { recursive: true, verbatimSymlinks: true });
}

async function pass({ copy, config, maxMilliseconds }: { copy: string; config: string; maxMilliseconds: number }) {
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--configLoader', 'native', '--config', config, '--bail', '1'],
    {
      cwd: copy,
      stdio: 'ignore',
    },
  );
  const limit = setTimeout(() => child.kill('SIGKILL'), maxMilliseconds);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  return code === 0;
}
