import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importCampaignsFile } from '../../src/app/import/import-campaigns.ts';
import { makeAuthoringBundle } from '../campaigns/authoring-bundle.ts';
import type { AuthoringBundle } from '../campaigns/authoring-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

let bundle: AuthoringBundle;
let folder: string;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  await bundle.addDevices(3);
  folder = await mkdtemp(join(tmpdir(), 'carillon-import-'));
});
afterAll(async () => {
  await bundle.close();
  await rm(folder, { recursive: true });
});

let files = 0;
async function load(lines: readonly (object | string)[], { gzip = false, workspaceId = bundle.workspaceId } = {}) {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const path = join(folder, `file-${(files += 1)}.ndjson${gzip ? '.gz' : ''}`);
  await writeFile(path, gzip ? gzipSync(text) : text);
  const seen: number[] = [];
  const result = await importCampaignsFile(bundle, {
    workspaceId,
    path,
    onProgress: ({ lines: count }) => void seen.push(count),
  });
  const rejectsPath = `${path}.rejects.ndjson`;
  const rejects = existsSync(rejectsPath)
    ? (await readFile(rejectsPath, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
  return { ...result, seen, rejects };
}

const sms = (more: object = {}) => ({
  campaign_id: '6a1d8c3292d59351fe910b13',
  channel: 'SMS',
  campaign_delivery_type: 'ONE_TIME',
  status: 'Sent',
  created_by: 'ada@example.com',
  created_at: '2024-07-04 08:00:54.847000',
  updated_at: '2024-07-04 09:00:00.000000',
  sent_time: '2024-07-04 08:01:00',
  basic_details: { name: 'Summer by SMS', tags: ['summer'] },
  campaign_content: { content: { sms: { message: 'Hello' } } },
  scheduling_details: { delivery_type: 'ASAP' },
  connector: { name: 'x' },
  sender_name: 'Shop',
  ...more,
});
const search = async (version: 'v1' | 'v5', fields: object) => {
  const body = { request_id: 'r', limit: 15, page: 1, campaign_fields: fields };
  const answer = (await bundle.call('POST', `/${version}/campaigns/search`, body)).json();
  return (answer.data ?? answer).campaigns;
};

test('a record is found as the interface says: SMS by V5 when asked, never by V1; parts as they were', async () => {
  expect(await load([sms()])).toMatchObject({ lines: 1, campaigns: 1, known: 0, rejected: 0 });
  const name = 'summer by';
  expect(await search('v5', { name, channels: ['SMS'] })).toEqual([
    {
      id: '6a1d8c3292d59351fe910b13',
      campaign_id: '6a1d8c3292d59351fe910b13',
      status: 'SENT',
      channel: 'SMS',
      campaign_delivery_type: 'ONE_TIME',
      created_by: 'ada@example.com',
      created_at: '2024-07-04 08:00:54.847000',
      updated_at: '2024-07-04 09:00:00.000000',
      sent_time: '2024-07-04 08:01:00.000000',
      basic_details: { name: 'Summer by SMS', tags: ['summer'] },
      campaign_content: { content: { sms: { message: 'Hello' } } },
      scheduling_details: { delivery_type: 'ASAP' },
      connector: { name: 'x' },
      sender_name: 'Shop',
    },
  ]);
  expect(await search('v5', { name })).toEqual([]);
  expect(await search('v1', { name, channels: ['SMS'] })).toEqual([]);
  await load([sms({ campaign_id: 'e'.repeat(24), channel: 'EMAIL', basic_details: { name: 'Summer by mail' } })]);
  expect((await search('v1', { name })).map(({ channel }: any) => channel)).toEqual(['EMAIL']);
});

test('the same file again adds nothing; a longer one adds what is new, and ids of other services are kept apart', async () => {
  const lines = [
    sms({ campaign_id: '12345678901', basic_details: { name: 'Numbered' } }),
    sms({ campaign_id: undefined, basic_details: { name: 'Unnamed' } }),
  ];
  expect(await load(lines)).toMatchObject({ campaigns: 2, known: 0 });
  expect(await load(lines, { gzip: true })).toMatchObject({ campaigns: 0, known: 2 });
  const more = sms({ campaign_id: 'x', basic_details: { name: 'New' } });
  expect(await load([...lines, more, more])).toMatchObject({ lines: 4, campaigns: 1, known: 3, rejected: 0 });
});

test('refused lines are reported with number and reason, the others are stored', async () => {
  const result = await load([
    'no json',
    '[]',
    sms({ channel: 'FAX' }),
    sms({ status: 'ACTIVE' }),
    '',
    sms({ status: 'DRAFT' }),
    sms({ campaign_delivery_type: 'PERIODIC', status: 'SENT' }),
    sms({ created_at: 'yesterday' }),
    sms({ created_at: '2999-01-01' }),
    sms({ basic_details: {} }),
    sms({ created_by: undefined }),
    sms({ campaign_id: 'good', basic_details: { name: 'Good one' } }),
    `{"name": "${'x'.repeat(130 * 1024)}"}`,
  ]);
  expect(result).toMatchObject({ lines: 13, campaigns: 1, rejected: 11 });
  expect(result.rejects).toEqual([
    { line: 1, reason: 'not JSON' },
    { line: 2, reason: 'not a JSON object' },
    { line: 3, reason: "'channel' must be one of PUSH, EMAIL, SMS" },
    { line: 4, reason: "'status' must be one of SENT, STOPPED, FAILED, ARCHIVED" },
    { line: 6, reason: "'status' must be one of SENT, STOPPED, FAILED, ARCHIVED" },
    { line: 7, reason: "'status' must be one of RETIRED, STOPPED, FAILED, ARCHIVED" },
    { line: 8, reason: "'created_at' must be a time such as 2024-07-04 08:00:54.847000" },
    { line: 9, reason: "'created_at' is in the future" },
    { line: 10, reason: "'basic_details.name' is not found" },
    { line: 11, reason: "'created_by' is not found" },
    { line: 13, reason: 'the line is longer than 128 KB' },
  ]);
});

test("an id of another workspace's campaign, or of one that was made here, is refused", async () => {
  const other = await insertTestWorkspace(bundle.database, bundle.clock.now());
  const made = await bundle.draft();
  expect((await load([sms()], { workspaceId: other })).rejects).toEqual([
    { line: 1, reason: "'id' is that of another campaign" },
  ]);
  expect((await load([sms({ campaign_id: made })])).rejected).toBe(1);
  expect((await bundle.get(made)).status).toBe('DRAFT');
});

test('a folder whose name looks compressed is refused as one that does not is', async () => {
  const path = join(folder, 'folder.gz');
  await mkdir(path);
  const loading = importCampaignsFile(bundle, { workspaceId: bundle.workspaceId, path, onProgress: () => {} });
  await expect(loading).rejects.toThrow('EISDIR');
});

test('a record is never sent, whatever is tried', async () => {
  const id = 'd'.repeat(24);
  await load([sms({ campaign_id: id, channel: 'PUSH', basic_details: { name: 'History', platforms: ['ANDROID'] } })]);
  for (const action of ['PUBLISH', 'STOP', 'RESUME', 'PAUSE'])
    expect((await bundle.act(id, action)).statusCode).toBe(422);
  const change = { request_id: 'r', updated_by: 'ada', basic_details: { name: 'X' } };
  expect((await bundle.call('PATCH', `/v1/campaigns/${id}`, change)).statusCode).toBe(409);
  const pushed = await bundle.push({ campaignName: 'History' });
  expect(pushed).not.toBe(id);
  await bundle.fire();
  await bundle.deliver();
  expect(await bundle.runs(id)).toEqual([]);
});

test('thousands of lines are stored in batches, with progress after each', async () => {
  const lines = Array.from({ length: 2_500 }, (_, index) => sms({ campaign_id: `many-${index}`, name: 'Many' }));
  const result = await load(lines);
  expect([result.campaigns, result.seen, result.bytes]).toEqual([2_500, [1_000, 2_000, 2_500], result.totalBytes]);
  expect(result.rejects).toEqual([]);
});
