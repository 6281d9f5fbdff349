import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  await bundle.addDevices(3);
  await bundle.database`update workspaces set campaign_versioning = true`;
});
afterAll(() => bundle.close());

const daily = (name: string) => ({
  basic_details: { name, platforms: ['ANDROID'] },
  campaign_delivery_type: 'PERIODIC',
  scheduling_details: {
    delivery_type: 'AT_FIXED_TIME',
    start_time: '2026-04-01T09:00:00',
    expiry_time: '2026-12-31T09:00:00',
    periodic_details: { sending_frequency: 'DAILY' },
  },
});
const retitle = (title: string) => ({
  campaign_content: { content: { push: { android: { basic_details: { title } } } } },
});
const patch = (id: string, change: object) =>
  bundle.call('PATCH', `/v1/campaigns/${id}`, { request_id: 'r', updated_by: 'grace@example.com', ...change });
const documents = async (name: string, fields: object = {}): Promise<any[]> =>
  (
    await bundle.call('POST', '/v5/campaigns/search', { limit: 15, page: 1, campaign_fields: { name, ...fields } })
  ).json().data.campaigns;
const short = ({ id, campaign_id, version_number, status }: any) => ({ id, campaign_id, version_number, status });

describe('versions of a recurring campaign (fact 6.3)', () => {
  test('a change of a live one is a new document under the same campaign id; the old one is retired', async () => {
    const first = await bundle.live(daily('Versioned'));
    expectStatus(await patch(first, retitle('Second')), 204);
    const found = await documents('versioned');
    const second = found[0].id;
    expect(second).not.toBe(first);
    expect(found.map(short)).toEqual([
      { id: second, campaign_id: first, version_number: 2, status: 'ACTIVE' },
      { id: first, campaign_id: first, version_number: 1, status: 'RETIRED' },
    ]);
    expect((await documents('versioned', { version_number: 2 })).map(({ id }) => id)).toEqual([second]);
    expect([(await bundle.row(first)).content.ANDROID.title, (await bundle.row(second)).content.ANDROID.title]).toEqual(
      ['Title', 'Second'],
    );
    const v1 = await bundle.call('POST', '/v1/campaigns/search', {
      request_id: 'r',
      limit: 5,
      page: 1,
      campaign_fields: { id: first },
    });
    expect(v1.json().campaigns.map((one: any) => [one.campaign_id, one.status])).toEqual([[first, 'ACTIVE']]);
  });

  test('an occurrence is sent once, by the newest version; executions cover all versions', async () => {
    const first = await bundle.live(daily('Executed'));
    bundle.clock.anchor(new Date('2026-04-01T09:00:00Z'));
    await bundle.fire();
    // The run under way is the old version's and ends as it began.
    expectStatus(await patch(first, retitle('Second')), 204);
    await bundle.deliver();
    bundle.clock.anchor(new Date('2026-04-02T09:00:00Z'));
    await bundle.fire();
    await bundle.deliver();
    const [newest] = await documents('executed');
    const executions = async (id: string) =>
      (await bundle.call('POST', `/v5/campaigns/${id}/executions`, { limit: 15, page: 1 })).json().data;
    expect((await executions(first)).total_instances).toBe(2);
    expect(await executions(newest.id)).toEqual(await executions(first));
    expect((await bundle.runs(first)).map(({ status }) => status)).toEqual(['SENT']);
    expect((await bundle.runs(newest.id)).map((run) => [run.moment.toISOString(), run.status])).toEqual([
      ['2026-04-02T09:00:00.000Z', 'SENT'],
    ]);
  });

  test('name and tags change on the version; V1 names the campaign and means the newest', async () => {
    bundle.clock.anchor(new Date('2026-03-20T12:00:00Z'));
    const first = await bundle.live(daily('Labelled'));
    expectStatus(await patch(first, { basic_details: { name: 'Labelled anew', tags: ['t'] } }), 204);
    expect((await documents('labelled')).map(short)).toEqual([
      { id: first, campaign_id: first, version_number: 1, status: 'ACTIVE' },
    ]);
    expectStatus(await patch(first, retitle('Second')), 204);
    const paused = { request_id: 'r', action: 'PAUSE', campaign_ids: [first] };
    expectStatus(await bundle.call('POST', '/v1/campaigns/status', paused), 200);
    // A change of a paused one stays paused.
    expectStatus(await patch(first, retitle('Third')), 204);
    expect((await documents('labelled')).map(({ version_number, status }) => [version_number, status])).toEqual([
      [3, 'PAUSED'],
      [2, 'RETIRED'],
      [1, 'RETIRED'],
    ]);
  });

  test('there are at most fifteen', async () => {
    const first = await bundle.live(daily('Many'));
    for (let version = 2; version <= 15; version += 1) expectStatus(await patch(first, retitle(`V${version}`)), 204);
    const refused = await patch(first, retitle('One too many'));
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      409,
      'The campaign cannot be changed: it has 15 versions.',
    ]);
    const rows = await bundle.database`
      select max(version_number) as newest, count(*) filter (where status = 'ACTIVE') as active
      from campaigns where campaign_id = ${first}`;
    expect(rows[0]).toEqual({ newest: 15, active: 1 });
  });

  test('two concurrent changes are two versions, one after the other', async () => {
    const first = await bundle.live(daily('Together'));
    const answers = await Promise.all([patch(first, retitle('A')), patch(first, retitle('B'))]);
    const statuses = (await documents('together')).map(({ version_number, status }) => [version_number, status]);
    expect(statuses.filter(([, status]) => status === 'ACTIVE')).toHaveLength(1);
    expect(statuses.length).toBe(1 + answers.filter(({ statusCode }) => statusCode === 204).length);
  });

  test('a one-time campaign has no versions', async () => {
    const id = await bundle.live({
      basic_details: { name: 'Once', platforms: ['ANDROID'] },
      scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2026-05-01T09:00:00' },
    });
    expectStatus(await patch(id, retitle('Changed')), 204);
    expect((await documents('once')).map(short)).toEqual([
      { id, campaign_id: id, version_number: 1, status: 'SCHEDULED' },
    ]);
  });
});
