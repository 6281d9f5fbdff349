import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand, runProcess } from './run-command.ts';

let bundle: CarillonBundle;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-watch-'));
  bundle = await startCarillonBundle({ CARILLON_SEGMENT_USERS_PER_DAY: '3' });
});
afterAll(async () => {
  await bundle?.stop();
  await rm(folder, { recursive: true, force: true });
});

const create = (name: string, ...from: string[]) => {
  const what = ['--attribute', 'uid', '--type', 'string', '--expiry-days', '5'];
  return runCommand(bundle, ['segments', 'create', '--name', name, ...what, ...from, '--watch']);
};

test('a segment is watched until it is filled, and a file with too many users for the day ends with 2', async () => {
  const file = join(folder, 'users.csv');
  await writeFile(file, 'ada\nnobody\n');
  const filled = await create('Watched', '--file', file);
  expect([filled.code, filled.stdout]).toEqual([0, expect.stringMatching(/Lines +2\nProcessed +2\nUsers +1\n$/)]);
  expect(filled.stderr).toContain('SUCCEEDED, 2 lines\n');
  await writeFile(file, 'ada\ngrace\nlinus\ntim\n');
  const failed = await create('Watched in vain', '--file', file);
  expect([failed.code, failed.stderr]).toEqual([2, expect.stringContaining('The segment is not filled: ')]);
});

async function pushNow(campaignName: string): Promise<string> {
  const answer = await bundle.push({
    ...{ campaignName, targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
    payload: { ANDROID: { title: 'Title', message: 'Text' } },
    campaignDelivery: { type: 'soon' },
  });
  return answer.json().cid;
}

test('a campaign is watched until it sends nothing any more; one that is not there is refused', async () => {
  const cid = await pushNow('Watched campaign');
  const watched = await runProcess(bundle, ['campaigns', 'watch', cid]);
  expect(watched).toMatchObject({ code: 0, stdout: `Campaign   ${cid}\nStatus     SENT\n` });
  expect(watched.stderr).toMatch(/^SENT, run [0-9a-f]{24} SENT$/m);
  const unknown = await runCommand(bundle, ['campaigns', 'watch', 'x']);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('There is no campaign x')]);
});

test('a campaign that is paused is watched no longer: it waits for somebody', async () => {
  const cid = await pushNow('Paused campaign');
  await runCommand(bundle, ['campaigns', 'watch', cid]);
  await bundle.database`update campaigns set status = 'PAUSED', status_reason = 'Somebody said so' where id = ${cid}`;
  const watched = await runCommand(bundle, ['campaigns', 'watch', cid]);
  expect(watched).toMatchObject({ code: 0, stdout: `Campaign   ${cid}\nStatus     PAUSED: Somebody said so\n` });
});
