import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { accept, toUser } from './client-node.ts';
import type { ClientNode, PublicClient } from './client-node.ts';

const stats = '/core-services/v1/campaign-stats';
const search = '/core-services/v1/campaigns/search';
const meta = '/core-services/v1/campaigns/meta';

const today = () => new Date().toISOString().slice(0, 10);
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const days = (from: string, to: string) => ({
  ...{
    request_id: `r-${from}`,
    start_date: from,
    end_date: to,
    attribution_type: 'CLICK_THROUGH',
    metric_type: 'TOTAL',
  },
});

/** Sends one message to one phone, and waits until it is counted. Returns the campaign's id. */
async function sendOne(node: ClientNode, name: string): Promise<string> {
  const customerId = `reader-of-${name.replaceAll(' ', '-')}`;
  await node.addPhone(customerId);
  const push = {
    ...{ ...node.signed(name), ...toUser(customerId), campaignTags: ['daily'] },
    payload: { ANDROID: { title: `Title of ${name}`, message: `Text of ${name}` } },
  };
  const { cid } = accept(await node.send('POST /v2/transaction/sendpush', push));
  await node.counted(cid);
  return cid;
}

const performanceOf = (platforms: any) =>
  platforms?.ALL_PLATFORMS?.locales?.all_locale?.variations?.all_variations?.performance_stats;

const attributeFilter = (name: string, value: string) => ({
  ...{ filter_type: 'user_attributes', name, data_type: 'string', operator: 'in', value: [value] },
  ...{ negate: false, case_sensitive: false, category: 'Tracked Custom Attribute' },
});

/** Dashboards, reports and exports of campaigns and figures, and the segments that they make for their counts. */
export const dashboardClients: readonly PublicClient[] = [
  {
    kind: 'Daily report in Python: figures page by page, then each name',
    breaksOn: 'rows without name and text, or a report that ends early without an error',
    async replay(node) {
      const id = await node.prepare(() => sendOne(node, 'Daily report'));
      const found = new Map<string, any>();
      for (let offset = 0; ; offset += 10) {
        const body = { ...days(daysAgo(6), today()), offset, limit: 10 };
        const { data, total_campaigns: total } = accept(await node.reading(stats, body));
        for (const [campaignId, [entry]] of Object.entries<any>(data))
          found.set(campaignId, performanceOf(entry.platforms));
        if (Object.keys(data).length < 10 || offset + 10 >= total) break;
      }
      expect(found.get(id)).toMatchObject({ attempted: 1, sent: 1, sent_rate: 100 });
      const asked = { include_archive_campaigns: true, include_child_campaigns: true, limit: 1, page: 1 };
      const [campaign] = accept(await node.reading(search, { request_id: 'n-1', campaign_fields: { id }, ...asked }));
      expect(campaign).toMatchObject({ campaign_delivery_type: 'ONE_TIME', basic_details: { tags: ['daily'] } });
      expect(campaign.sent_time.slice(0, 10)).toBe(today());
      const { title, message } = campaign.campaign_content.content.push.android.basic_details;
      expect([title, message]).toEqual(['Title of Daily report', 'Text of Daily report']);
    },
  },
  {
    kind: 'Dashboard in Node: adds up every platform and every locale',
    breaksOn: 'figures that are too high',
    differs: {
      answer: /four times what was sent/,
      because:
        'the total `ALL_PLATFORMS` stands beside the platforms, and both spellings of the locale key (decision 0071); with `--earlier-statistics on` the sum is right',
    },
    async replay(node) {
      const id = await node.prepare(() => sendOne(node, 'Added up'));
      const { data } = accept(await node.reading(stats, { ...days(daysAgo(30), today()), campaign_ids: [id] }));
      let sent = 0;
      for (const { locales } of Object.values<any>(data[id][0].platforms))
        for (const { variations } of Object.values<any>(locales))
          sent += variations.all_variations.performance_stats.sent;
      if (sent === 4) throw new Error('four times what was sent');
      expect(sent).toBe(1);
    },
  },
  {
    kind: 'Export of campaigns to a warehouse, page by page',
    breaksOn: '400 for a page of 15, or campaigns that appear on two pages',
    async replay(node) {
      await node.prepare(async () => {
        for (let index = 0; index < 16; index += 1)
          accept(
            await node.send('POST /v2/transaction/sendpush', {
              ...{ ...node.signed(`Exported ${index}`), ...toUser('nobody-at-all') },
              payload: { ANDROID: { title: 'T', message: 'M' } },
            }),
          );
      });
      const ids: string[] = [];
      for (let page = 1; ; page += 1) {
        const batch = accept(await node.reading(search, { page, limit: 15, request_id: `export-${page}` }));
        ids.push(...batch.map((campaign: any) => campaign.campaign_id));
        if (batch.length < 15) break;
      }
      expect(ids.length).toBeGreaterThan(16);
      expect(new Set(ids).size).toBe(ids.length);
    },
  },
  {
    kind: 'Dashboard in Node: one list for each channel',
    breaksOn: '400 for a channel that the server does not have',
    async replay(node) {
      await node.prepare(() => sendOne(node, 'By channel'));
      const counts: Record<string, number> = {};
      for (const channel of ['PUSH', 'EMAIL', 'SMS']) {
        const body = { campaign_fields: { channels: [channel] }, limit: 15, page: 1, request_id: `req_${channel}` };
        counts[channel] = accept(await node.reading(search, body)).length;
      }
      expect(counts).toMatchObject({ EMAIL: 0, SMS: 0 });
      expect(counts.PUSH).toBeGreaterThan(0);
    },
  },
  {
    kind: 'Metrics dashboard in Python: light list by date, figures by ten ids',
    breaksOn: 'one-time campaigns that it cannot tell from others',
    async replay(node) {
      const id = await node.prepare(() => sendOne(node, 'Light list'));
      const campaign_fields = { created_date: { from_date: daysAgo(1), to_date: today() } };
      const secret = { app_secret_key: node.keys.campaigns, 'svc-appkey': node.workspaceId };
      const headers = { ...node.basic(node.keys.campaigns), ...secret };
      const body = { request_id: 'meta_1', page: 1, limit: 15, campaign_fields };
      const campaigns = accept(await node.send(`POST ${meta}`, body, { headers }));
      expect(campaigns.find((campaign: any) => campaign.campaign_id === id)).toMatchObject({
        ...{ campaign_name: 'Light list', channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', platform: ['ANDROID'] },
        campaign_tags: ['daily'],
      });
      const campaign_ids = campaigns.slice(0, 10).map((campaign: any) => campaign.campaign_id);
      const { data } = accept(
        await node.send(`POST ${stats}`, { ...days(daysAgo(1), today()), campaign_ids }, { headers }),
      );
      expect(performanceOf(data[id][0].platforms).sent).toBe(1);
    },
  },
  {
    kind: 'Statistics of a quarter, in windows of 30 days',
    breaksOn: '400 for a window without campaigns',
    async replay(node) {
      const id = await node.prepare(() => sendOne(node, 'Quarter'));
      let sent = 0;
      for (const [from, to] of [
        [89, 60],
        [59, 30],
        [29, 0],
      ] as const) {
        const { data } = accept(await node.reading(stats, { ...days(daysAgo(from), daysAgo(to)), campaign_ids: [id] }));
        for (const entry of data[id] ?? []) sent += performanceOf(entry.platforms)?.sent ?? 0;
      }
      expect(sent).toBe(1);
    },
  },
  {
    kind: 'Metrics dashboard in Python: segments by country, made again each day',
    breaksOn: '409 without the id of the segment that has the same filters',
    async replay(node) {
      const included_filters = { filter_operator: 'and', filters: [attributeFilter('country', 'GB')] };
      const create = (name: string) =>
        node.segments('POST /v3/custom-segments/', { name, description: 'All of a country', included_filters });
      const first = await create('UK_All_Users_1');
      expect([200, 201]).toContain(first.status);
      const again = await create('UK_All_Users_2');
      expect([again.status, again.json.error.existing_cs_id]).toEqual([409, first.json.data.id]);
    },
  },
  {
    kind: 'Metrics dashboard in Python: segments by what users did',
    breaksOn: 'half of its figures',
    async replay(node) {
      const ordered = {
        ...{ filter_type: 'actions', action_name: 'ORDER', executed: true, execution: { count: 1, type: 'atleast' } },
        primary_time_range: { type: 'inTheLast', value: 60, value_type: 'relative_past', period_unit: 'days' },
        attributes: { filter_operator: 'and', filters: [] },
      };
      const included_filters = { filter_operator: 'and', filters: [attributeFilter('country', 'GB'), ordered] };
      accept(await node.segments('POST /v3/custom-segments/', { name: 'UK_Active_Users_1', included_filters }));
    },
  },
  {
    kind: 'Scheduled function in Java: copies a report file to a bucket',
    breaksOn: '401 for the signature, or a file that does not open',
    async replay(node) {
      const id = await node.prepare(() => sendOne(node, 'In a file'));
      const name = await makeReport(node);
      const bytes = await readReport(node, name);
      const lines = gunzipSync(bytes)
        .toString('utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.find((line) => line.campaign_id === id)).toMatchObject({ campaign_name: 'In a file' });
    },
  },
  {
    kind: 'Sheet automation in Python: unpacks a report file as ZIP',
    breaksOn: 'BadZipFile',
    differs: {
      answer: /the file is no ZIP/,
      because: 'a report file is `application/gzip` (fact 7), with a line of JSON for each campaign',
    },
    async replay(node) {
      await node.prepare(() => sendOne(node, 'In a ZIP'));
      const bytes = await readReport(node, await makeReport(node));
      if (bytes.subarray(0, 2).toString('latin1') !== 'PK') throw new Error('the file is no ZIP');
    },
  },
  {
    kind: 'Dashboard in Node: figures from the routes of the web application',
    breaksOn: 'it shows the status of the answer',
    differs: { answer: /^404 /, because: 'the interface does not have these routes' },
    async replay(node) {
      const id = await node.prepare(() => sendOne(node, 'Inner route'));
      accept(
        await node.send(`GET /v4/campaigns/info/push/${id}?attribution_type=click_through`, undefined, {
          headers: { ...node.basic(node.keys.campaigns), 'svc-appkey': node.workspaceId },
        }),
      );
    },
  },
];

/** Has a file made, as users of the live service do in its web application, and returns its name once it is there. */
function makeReport(node: ClientNode): Promise<string> {
  return node.prepare(async () => {
    const asked = accept(await node.reading('/v1/campaign-reports', days(today(), today())));
    const headers = { ...node.basic(node.keys.campaigns), 'svc-appkey': node.workspaceId };
    await until(async () => {
      const { report_files: files } = accept(await node.send('GET /v1/campaign-reports', undefined, { headers }));
      return files.some((file: any) => file.file_name === asked.file_name && file.state === 'READY');
    });
    return asked.file_name as string;
  });
}

async function readReport(node: ClientNode, name: string): Promise<Buffer> {
  const signature = createHash('sha256').update(`${node.workspaceId}|${name}|${node.keys.campaigns}`).digest('hex');
  return node.download(`/campaign_reports/rest_api/${node.workspaceId}/${name}`, { signature });
}
