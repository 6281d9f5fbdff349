import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import { languages, withFolder } from './conformance/languages.ts';
import { cases, playCases } from './conformance/play-cases.ts';
import { startRecorder } from './conformance/start-recorder.ts';
import type { Recorder } from './conformance/start-recorder.ts';

// Those that need no compiler run always; Go and Java compile, so they run with FULL=1.
const compiled = ['Go', 'Java'];
const isFull = process.env.FULL === '1';

describe('clients in all languages do the same', () => {
  let bundle: CarillonBundle;
  let recorder: Recorder;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    recorder = await startRecorder(bundle.url);
  });
  afterAll(async () => {
    await recorder?.stop();
    await bundle?.stop();
  });

  for (const { name, missing, prepare } of languages) {
    const reason = compiled.includes(name) && !isFull ? 'FULL=1 compiles it' : missing();
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
        }),
      180_000,
    );
  }
});
