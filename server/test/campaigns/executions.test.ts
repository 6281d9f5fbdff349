import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCampaignBundle, versions } from './campaign-bundle.ts';
import type { CampaignBundle, Version } from './campaign-bundle.ts';

let bundle: CampaignBundle;
beforeAll(async () => {
  bundle = await makeCampaignBundle();
});
afterAll(() => bundle.end());

const recurring = { delivery_type: 'PERIODIC', status: 'ACTIVE' };
const dataOf = (answer: any) => answer.json().data ?? answer.json();
const idOf = (version: Version, row: any) => (version === 'V1' ? row.campaign_id : row.id);

describe('executions of a recurring campaign (interface 4.6, decision D43)', () => {
  test('V1 answers child ids, sent times and statuses, newest first, and how many there are', async () => {
    const parent = await bundle.insert(recurring);
    const at = new Date('2026-06-24T14:30:18.908Z');
    const sent = await bundle.insertRun(parent, { created_at: at, started_at: at });
    const waiting = {
      status: 'QUEUED',
      started_at: null,
      ended_at: null,
      created_at: new Date('2026-06-25T00:00:00Z'),
    };
    const queued = await bundle.insertRun(parent, waiting);
    expect((await bundle.executions('V1', parent)).json()).toEqual({
      executions: [
        { campaign_id: queued, sent_time: null, status: 'SCHEDULED' },
        { campaign_id: sent, sent_time: '2026-06-24T14:30:18.908000', status: 'SENT' },
      ],
      total_instances: 2,
    });
    expect((await bundle.executions('V5', parent)).json()).toEqual({
      response_id: expect.stringMatching(/^[a-z]{8}$/),
      type: 'campaign',
      data: {
        executions: [
          { id: queued, campaign_id: parent, sent_time: null, status: 'SCHEDULED' },
          { id: sent, campaign_id: parent, sent_time: '2026-06-24T14:30:18.908000', status: 'SENT' },
        ],
        total_instances: 2,
      },
    });
  });

  test.each(versions)('%s: every status of a run is an upper-case word (decision D44)', async (version) => {
    const parent = await bundle.insert({ delivery_type: 'EVENT_TRIGGERED', status: 'ACTIVE' });
    const open = { ended_at: null };
    const reason = { status_reason: 'why' };
    await bundle.insertRun(parent, { status: 'QUEUED', ...open, started_at: null });
    await bundle.insertRun(parent, { status: 'SENDING', ...open });
    await bundle.insertRun(parent, { status: 'PAUSED', ...open, ...reason });
    await bundle.insertRun(parent, { status: 'SENT' });
    for (const status of ['FAILED', 'STOPPED', 'MISSED']) await bundle.insertRun(parent, { status, ...reason });
    const words = dataOf(await bundle.executions(version, parent)).executions.map((row: any) => row.status);
    expect(words).toEqual(['MISSED', 'STOPPED', 'FAILED', 'SENT', 'PAUSED', 'SENDING', 'SCHEDULED']);
  });

  test.each(versions)('%s: what failed or was missed says why and when it was due, additively', async (version) => {
    const parent = await bundle.insert(recurring);
    const on = (day: number) => ({ started_at: null, moment: new Date(Date.UTC(2026, 5, day, 14, 30)) });
    await bundle.insertRun(parent, { status: 'SENT', ...on(21) });
    await bundle.insertRun(parent, { status: 'FAILED', ...on(22), status_reason: 'the segment is archived' });
    const late = 'found 3 h late';
    const missed = await bundle.insertRun(parent, { status: 'MISSED', ...on(23), status_reason: late });
    const said = (row: any) => [row.status, row.status_reason, row.planned_time];
    expect(dataOf(await bundle.executions(version, parent)).executions.map(said)).toEqual([
      ['MISSED', late, '2026-06-23T14:30:00.000000'],
      ['FAILED', 'the segment is archived', '2026-06-22T14:30:00.000000'],
      ['SENT', undefined, '2026-06-21T14:30:00.000000'],
    ]);
    const fields = version === 'V1' ? { id: missed } : { ids: [missed] };
    const found = await bundle.search(version, { include_child_campaigns: true, campaign_fields: fields });
    expect(dataOf(found).campaigns.map(said)).toEqual([['MISSED', late, '2026-06-23 14:30:00.000000']]);
  });

  test.each(versions)(
    '%s: a campaign that failed says why in search, and when it was due if it missed that',
    async (version) => {
      const name = `Failed in ${version}`;
      const failed = await bundle.insert({ name, status: 'FAILED', status_reason: 'the segment is archived' });
      await bundle.insertRun(failed, { status: 'FAILED', status_reason: 'the segment is archived' });
      const missed = await bundle.insert({ name, status: 'FAILED', status_reason: 'MISSED: found 3 h late' });
      const moment = new Date('2026-06-23T14:30:00Z');
      await bundle.insertRun(missed, { status: 'MISSED', started_at: null, moment, status_reason: 'found 3 h late' });
      await bundle.insert({ name });
      const { campaigns } = dataOf(await bundle.search(version, { campaign_fields: { name } }));
      expect(campaigns.map((row: any) => [row.status, row.status_reason, row.planned_time])).toEqual([
        ['SENT', undefined, undefined],
        ['FAILED', 'MISSED: found 3 h late', '2026-06-23 14:30:00.000000'],
        ['FAILED', 'the segment is archived', undefined],
      ]);
    },
  );

  test.each(versions)('%s: pages to the last, ties by id, the total on each', async (version) => {
    const parent = await bundle.insert({ ...recurring, delivery_type: 'BUSINESS_EVENT_TRIGGERED' });
    const at = new Date('2026-07-01T00:00:00Z');
    for (let index = 0; index < 5; index += 1) await bundle.insertRun(parent, { created_at: at });
    const pages = await Promise.all([1, 2, 3, 4].map((page) => bundle.executions(version, parent, { limit: 2, page })));
    expect(pages.map((page) => dataOf(page).executions.length)).toEqual([2, 2, 1, 0]);
    expect(pages.map((page) => dataOf(page).total_instances)).toEqual([5, 5, 5, 5]);
    const ids = pages.flatMap((page) => dataOf(page).executions.map((row: any) => idOf(version, row)));
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
  });

  test.each(versions)("%s: any version's id names the whole campaign", async (version) => {
    const first = await bundle.insert({ ...recurring, status: 'RETIRED', version_number: 1 });
    const second = await bundle.insert({ ...recurring, version_number: 2, version_of: first });
    const runs = [await bundle.insertRun(first), await bundle.insertRun(second)];
    for (const id of [first, second]) {
      const { executions, total_instances } = dataOf(await bundle.executions(version, id));
      expect([executions.map((row: any) => idOf(version, row)), total_instances]).toEqual([runs.toReversed(), 2]);
      if (version === 'V5') expect(executions[0].campaign_id).toBe(first);
    }
  });

  test('the page sizes are those of the version (decision D41)', async () => {
    const parent = await bundle.insert(recurring);
    const status = async (version: Version, limit: number) =>
      (await bundle.executions(version, parent, { limit })).statusCode;
    expect([await status('V1', 100), await status('V1', 101)]).toEqual([200, 400]);
    expect([await status('V5', 15), await status('V5', 16)]).toEqual([200, 400]);
  });

  test('an unknown field is warned of (decision D5)', async () => {
    const parent = await bundle.insert(recurring);
    for (const version of versions) {
      const answer = await bundle.executions(version, parent, { campaign_fields: {} });
      expect([answer.statusCode, answer.headers['x-svc-warning']]).toEqual([200, 'unknown field "campaign_fields"']);
    }
  });
});

describe('refusals', () => {
  test("404 for an unknown campaign, also for one of another workspace's (reliability R10)", async () => {
    const other = await bundle.makeWorkspace();
    const foreign = await bundle.insert(recurring, other.workspaceId);
    for (const id of ['f'.repeat(24), 'nothing', foreign]) {
      const first = await bundle.executions('V1', id);
      expect([first.statusCode, first.json().error]).toEqual([
        404,
        { code: '404 Not Found', message: 'Campaign not found.', target: 'parent_id', details: [], request_id: 'r-1' },
      ]);
      const fifth = await bundle.executions('V5', id);
      expect([fifth.statusCode, fifth.json().error]).toEqual([
        404,
        { code: 'NOT_FOUND', message: 'Campaign not found.', details: [], request_id: 'r-1' },
      ]);
    }
    expect((await bundle.executions('V5', foreign, { headers: bundle.headersOf(other) })).statusCode).toBe(200);
  });

  test('422 for a campaign that is sent once', async () => {
    const once = await bundle.insert();
    await bundle.insertRun(once);
    const first = await bundle.executions('V1', once);
    expect([first.statusCode, first.json().error.code]).toEqual([422, '422 Unprocessable Entity']);
    const fifth = await bundle.executions('V5', once);
    expect([fifth.statusCode, fifth.json().error.code]).toEqual([422, 'UNPROCESSABLE_ENTITY']);
  });

  test.each(versions)('%s: credentials, limit and page as in search', async (version) => {
    const parent = await bundle.insert(recurring);
    expect((await bundle.executions(version, parent, { headers: { authorization: undefined } })).statusCode).toBe(401);
    for (const field of ['limit', 'page']) {
      const answer = await bundle.executions(version, parent, { [field]: undefined });
      expect([answer.statusCode, answer.json().error.target]).toEqual([400, field]);
    }
  });
});
