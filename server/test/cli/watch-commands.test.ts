import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeReportFile } from '../../src/cli/commands/report-files.ts';
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

test('a campaign that failed is shown, and its watch ends with 2', async () => {
  const cid = await pushNow('Failed campaign');
  await runCommand(bundle, ['campaigns', 'watch', cid]);
  await bundle.database`update campaigns set status = 'FAILED', status_reason = 'No credential' where id = ${cid}`;
  expect(await runCommand(bundle, ['campaigns', 'watch', cid])).toMatchObject({
    code: 2,
    stdout: `Campaign   ${cid}\nStatus     FAILED: No credential\n`,
    stderr: expect.stringContaining('carillon: The campaign failed: No credential'),
  });
});

test('a report file is asked for, waited for and written, with its size and SHA-256; its signature opens it', async () => {
  const cid = await pushNow('Reported campaign');
  await runCommand(bundle, ['campaigns', 'watch', cid]);
  const out = join(folder, 'report.jsonl.gz');
  const today = new Date().toISOString().slice(0, 10);
  const days = ['--from', today, '--to', today];
  const made = await runCommand(bundle, ['report-files', 'create', ...days, '--out', out]);
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('is READY\n')]);
  const told = Object.fromEntries(made.stdout.split('\n').map((line) => line.split(/ {2,}/)));
  const bytes = await readFile(out);
  expect(told).toMatchObject({ Written: out, Bytes: String(bytes.length) });
  expect(told['SHA-256']).toBe(createHash('sha256').update(bytes).digest('hex'));
  const lines = gunzipSync(bytes).toString().trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).campaign_name)).toContain('Reported campaign');
  const read = await fetch(`${bundle.url}${told.Path}`, { headers: { Signature: told.Signature } });
  expect(Buffer.from(await read.arrayBuffer())).toEqual(bytes);
  expect((await fetch(`${bundle.url}${told.Path}`, { headers: { Signature: '0'.repeat(64) } })).status).toBe(401);

  const listed = await runCommand(bundle, ['report-files', 'list', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject({ file: told.File, state: 'READY', bytes: String(bytes.length) });
  const again = join(folder, 'again.gz');
  const written = await runCommand(bundle, ['report-files', 'download', told.File!, '--out', again, '--json']);
  expect(JSON.parse(written.stdout)).toEqual({
    ...{ file: told.File, out: again, bytes: bytes.length, sha256: told['SHA-256'] },
  });
  expect(await readFile(again)).toEqual(bytes);
});

test('a report file that is not there, or of too many days, is refused, and a file that is cut leaves nothing', async () => {
  const out = join(folder, 'none.gz');
  const unknown = await runCommand(bundle, ['report-files', 'download', 'none', '--out', out]);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no such file, or it is gone')]);
  const days = ['--from', '2026-01-01', '--to', '2026-04-02'];
  const many = await runCommand(bundle, ['report-files', 'create', ...days]);
  expect([many.code, many.stderr]).toEqual([2, expect.stringContaining('must be at most 90 days after start_date')]);
  const pieces = (async function* () {
    yield Buffer.from('half');
  })();
  await expect(writeReportFile({ bytes: 8, pieces }, out)).rejects.toThrow('8 bytes, and 4 could be read');
  expect(await readdir(folder)).not.toContain('none.gz');
  expect(await readdir(folder)).not.toContain('none.gz.part');
});
