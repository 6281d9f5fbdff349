import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import { signPush } from '../src/index.ts';
import { installTools } from './install-tools.ts';

const run = promisify(execFile);
const programs = join(import.meta.dirname, 'generated');
const minutes = 60_000;

describe.skipIf(process.env.FULL !== '1')('clients that others generate from the document (FULL=1)', () => {
  let bundle: CarillonBundle;
  let folder: string;
  let modules: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    modules = await installTools();
    folder = await mkdtemp(join(tmpdir(), 'carillon-generated-'));
    await symlink(modules, join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    await writeFile(join(folder, 'openapi.json'), await (await fetch(`${bundle.url}/openapi.json`)).text());
  }, 15 * minutes);
  afterAll(async () => {
    await bundle?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const runTool = (path: string, words: string[]) =>
    run(process.execPath, [join(modules, path), ...words], { cwd: folder, env: { PATH: process.env.PATH } });

  /** Compiles a program of the folder, which holds no cast, and runs what came of it against the node. */
  async function compileAndRun(name: string): Promise<unknown> {
    const text = await readFile(join(programs, `${name}.mts`), 'utf8');
    expect(text).not.toMatch(/\bas (?!const)|\bany\b|@ts-|!\.|!;|!\)/);
    await writeFile(join(folder, `${name}.mts`), text);
    const compilerOptions = { strict: true, skipLibCheck: true, module: 'nodenext', target: 'es2022', types: ['node'] };
    const lib = ['es2023', 'dom', 'dom.iterable'];
    const settings = { compilerOptions: { ...compilerOptions, lib }, files: [`${name}.mts`] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const told = await runTool('typescript/bin/tsc', []).catch((error: { stdout: string }) => error);
    expect(told.stdout).toBe('');
    const campaignName = `Made by ${name}`;
    const { workspaceId, keys, url } = bundle;
    const [{ dbName }] = (await bundle.database`
      select db_name as "dbName" from workspaces where id = ${workspaceId}`) as unknown as [{ dbName: string }];
    const signature = await signPush({ workspaceId, campaignName, pushKey: keys.push });
    const given = { url, workspaceId, dbName, keys, campaignName, signature };
    const { stdout } = await run(process.execPath, [join(folder, `${name}.mjs`)], {
      cwd: folder,
      env: { PATH: process.env.PATH, SETTINGS: JSON.stringify(given) },
    });
    return JSON.parse(stdout);
  }

  const expected = {
    token: expect.stringMatching(/^cat_/),
    cid: expect.stringMatching(/^[0-9a-f]{24}$/),
    segment: expect.stringContaining('accepted'),
    found: expect.any(Array),
    refused: { status: 400, message: expect.any(String) },
  };

  test(
    'openapi-fetch does token, push v2.1, file segment and search without a cast',
    async () => {
      await runTool('openapi-typescript/bin/cli.js', ['openapi.json', '-o', 'openapi.d.ts']);
      expect(await compileAndRun('by-openapi-fetch')).toEqual(expected);
    },
    5 * minutes,
  );

  test(
    'so does a client that @hey-api/openapi-ts writes whole',
    async () => {
      // It writes imports as the module system of the settings wants them.
      await writeFile(join(folder, 'tsconfig.json'), '{"compilerOptions":{"module":"nodenext"}}');
      await runTool('@hey-api/openapi-ts/bin/run.js', ['-i', 'openapi.json', '-o', 'hey', '--no-log-file']);
      expect(await compileAndRun('by-openapi-ts')).toEqual(expected);
    },
    5 * minutes,
  );

  test(
    'everything that openapi-typescript, @hey-api/openapi-ts, kubb and orval write compiles without an error',
    async () => {
      await writeFile(join(folder, 'tsconfig.json'), '{"compilerOptions":{"module":"nodenext"}}');
      await runTool('openapi-typescript/bin/cli.js', ['openapi.json', '-o', 'all/paths.d.ts']);
      await runTool('@hey-api/openapi-ts/bin/run.js', ['-i', 'openapi.json', '-o', 'all/hey', '--no-log-file']);
      const orval = { input: './openapi.json', output: { target: './all/orval.ts', client: 'fetch', mode: 'single' } };
      await writeFile(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify({ carillon: orval })};`);
      await runTool('orval/dist/bin/orval.mjs', ['--config', 'orval.config.mjs']);
      await copyFile(join(programs, 'kubb.config.mjs'), join(folder, 'kubb.config.mjs'));
      await runTool('@kubb/cli/bin/kubb.cjs', ['generate', '--config', 'kubb.config.mjs']);
      const compilerOptions = {
        ...{ strict: true, noEmit: true, skipLibCheck: true, module: 'esnext', moduleResolution: 'bundler' },
        ...{
          target: 'es2022',
          lib: ['es2023', 'dom', 'dom.iterable'],
          types: ['node'],
          allowImportingTsExtensions: true,
        },
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['all/**/*.ts'] }));
      const { stdout } = await runTool('typescript/bin/tsc', ['--listFilesOnly']);
      for (const written of ['all/paths.d.ts', 'all/hey/types.gen.ts', 'all/orval.ts', 'all/kubb/index.ts'])
        expect(stdout).toContain(written);
      const told = await runTool('typescript/bin/tsc', []).catch((error: { stdout: string }) => error);
      expect(told.stdout).toBe('');
    },
    10 * minutes,
  );
});
