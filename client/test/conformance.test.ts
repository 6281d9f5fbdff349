import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import { languages, withFolder } from './conformance/languages.ts';
import type { Language } from './conformance/languages.ts';
import { cases, playCases } from './conformance/play-cases.ts';
import { operationIds, playOperations } from './conformance/play-operations.ts';
import type { CalledOperation } from './conformance/play-operations.ts';
import { startRecorder } from './conformance/start-recorder.ts';
import type { Recorder } from './conformance/start-recorder.ts';

// Those that need no compiler run always; Go and Java compile, so they run with FULL=1.
const compiled = ['Go', 'Java'];
const root = join(import.meta.dirname, '..', '..');
const isFull = process.env.FULL === '1';

describe('clients in all languages do the same', () => {
  let bundle: CarillonBundle;
  let recorder: Recorder;
  /** Lines of docs/reports/clients.txt. */
  const report = [
    'The clients of all languages, each with its own node (`FULL=1 RECORD=1 npm run test:only -- client/test/conformance.test.ts`)',
    '',
  ];
  /** Of the client for TypeScript, which is the first. */
  let expected: CalledOperation[] | undefined;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    recorder = await startRecorder(bundle.url);
  });
  afterAll(async () => {
    await recorder?.stop();
    await bundle?.stop();
    if (process.env.RECORD === '1') await writeFile(join(root, 'docs/reports/clients.txt'), `${report.join('\n')}\n`);
  });

  const reasonOf = ({ name, missing }: Language): string | undefined =>
    compiled.includes(name) && !isFull ? 'FULL=1 compiles it' : missing();

  for (const language of languages) {
    const { name, prepare } = language;
    const reason = reasonOf(language);
    // Half a minute for each.
    test.skipIf(reason !== undefined || !isFull)(
      `${name} calls every operation with the request of the client for TypeScript, and gets the same reply`,
      async () => {
        // Calls change what a node holds, so each client gets a new one.
        const own = await startCarillonBundle();
        try {
          const called = await withFolder(async (folder) => playOperations(await prepare(folder), own));
          expected ??= called;
          const differing = called.filter((one, at) => !isDeepStrictEqual(one, expected![at]));
          expect(differing).toEqual(expected.filter(({ id }) => differing.some((one) => one.id === id)));
          expect(called.filter(({ request }) => request === undefined)).toEqual([]);
          expect(called.length).toBe(operationIds.length);
          const [program, ...words] = language.version as [string, ...string[]];
          const [version] = spawnSync(program, words, { encoding: 'utf8' }).stdout.split('\n');
          report.push(`${name} (${version})`);
          report.push(
            `  ${called.length} of ${called.length} operations: the request and the reply of the client for TypeScript`,
          );
        } finally {
          await own.stop();
        }
      },
      180_000,
    );
    test.skipIf(reason !== undefined)(
      `${name} passes the recorded cases${reason === undefined ? '' : ` (skipped: ${reason})`}`,
      () =>
        withFolder(async (folder) => {
          // The workspace gives five tokens a minute, and the clients before this one had theirs.
          expect((await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 61 } })).status).toBe(200);
          const { oauth, data, push, campaigns } = bundle.keys;
          const played = await playCases(await prepare(folder), {
            ...{ recorder, workspaceId: bundle.workspaceId, dbName: bundle.block.dbName! },
            keys: { oauthKey: oauth, dataKey: data, pushKey: push, campaignsKey: campaigns },
            async countCampaigns(campaignName) {
              const [row] =
                await bundle.database`select count(*)::int as count from campaigns where name = ${campaignName}`;
              return (row as { count: number }).count;
            },
          });
          expect(played.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
          expect(played.length).toBe(cases.length);
          report.push(`  ${played.length} of ${cases.length} recorded cases`);
        }),
      180_000,
    );
  }

  const hasMypy = spawnSync('python3', ['-m', 'mypy', '--version']).status === 0;
  test.skipIf(!hasMypy)('the types of the client for Python pass mypy --strict', async () => {
    const words = ['-m', 'mypy', '--strict', '--no-incremental', 'src', 'tests/conformance.py'];
    const { stdout } = await promisify(execFile)('python3', words, {
      cwd: join(root, 'client-python'),
      env: { ...process.env, MYPYPATH: 'src' },
    });
    expect(stdout).toContain('Success');
    report.push(`mypy --strict, Python: ${stdout.trim()}`);
  });
});
