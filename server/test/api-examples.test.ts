import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describePublicRoutes } from '../../scripts/list-routes.ts';
import { makeClientCode } from '../../scripts/site/make-client-code.ts';
import { readClientCall } from '../../scripts/site/render-api-pages.ts';
import type { ApiDocument } from '../../scripts/site/render-api-pages.ts';
import { operations } from '../../client/src/generated/operations.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const isMissing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined;

describe('the examples of the API reference', () => {
  type Code = NonNullable<ReturnType<typeof makeClientCode>>;
  let folder: string;
  const examples = new Map<string, Code>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-examples-'));
    const { paths } = (await describePublicRoutes()).document as unknown as ApiDocument;
    for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
      const code = makeClientCode(readClientCall(operation));
      if (code) examples.set(operation.operationId, code);
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const list = (language: keyof Code): string[] => [...examples.values()].map((code) => code[language]);

  test('exist for every operation that the clients call alone', () => {
    const alone = Object.entries(operations).filter(
      ([id, { path }]) =>
        !/^\/(?:v1\/app|segment)\//.test(path) && (id === 'sendPushV21' || !id.startsWith('sendPush')),
    );
    expect([...examples.keys()].sort()).toEqual(alone.map(([id]) => id).sort());
  });

  test('in TypeScript match the types of the client', async () => {
    const client = join(root, 'client', 'src', 'index.ts');
    const bodies = list('TypeScript').map((code) => `{\n${code}\n}`);
    const head = `import type { CarillonClient } from ${JSON.stringify(client)};\nexport async function all(carillon: CarillonClient) {`;
    const file = join(folder, 'examples.ts');
    await writeFile(file, `${head}\n${bodies.join('\n')}\n}\n`);
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
    const more = ['--allowImportingTsExtensions', '--lib', 'es2024,dom,dom.iterable'];
    const { stdout } = await run(process.execPath, [compiler, ...options, ...more, file], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  }, 120_000);

  test.skipIf(isMissing('python3'))('in Python are valid', async () => {
    const file = join(folder, 'examples.py');
    await writeFile(file, list('Python').join('\n'));
    await run('python3', ['-m', 'py_compile', file]);
  });

  test.skipIf(isMissing('php'))('in PHP are valid', async () => {
    const file = join(folder, 'examples.php');
    await writeFile(file, `<?php\n${list('PHP').join('\n')}\n`);
    expect((await run('php', ['-l', file])).stdout).toContain('No syntax errors');
  });

  test.skipIf(isMissing('go') || process.env.FULL !== '1')(
    'in Go compile with the client (FULL=1)',
    async () => {
      const replaced = `replace carillon => ${join(root, 'client-go')}`;
      await writeFile(join(folder, 'go.mod'), `module examples\n\ngo 1.19\n\nrequire carillon v0.0.0\n\n${replaced}\n`);
      const bodies = list('Go').map((code) => `{\n${code.replace(/^(\w+), err := /, '_, err = ')}\n}`);
      const head = 'package examples\n\nimport (\n"context"\n\n"carillon"\n)\n';
      const opening = 'func all(ctx context.Context, client *carillon.Client) (err error) {';
      await writeFile(join(folder, 'examples.go'), `${head}\n${opening}\n${bodies.join('\n')}\nreturn err\n}\n`);
      const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOPROXY: 'off' };
      await run('go', ['vet', '.'], { cwd: folder, env });
    },
    120_000,
  );
});
