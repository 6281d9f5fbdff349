import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { until } from '../carillon-bundle.ts';
import type { PublicClient } from './client-node.ts';
import { soon, toUser } from './client-node.ts';

/** Clients that fill segments, get tokens, and read campaigns and statistics. */
export const readingClients: readonly PublicClient[] = [
  {
    kind: 'Segment loader: a file of e-mail addresses, with a callback',
    breaksOn: 'user_count 0, because email is not the standard attribute',
    async replay(node) {
      await node.addPhone('member', { email: 'member@example.com' });
      let said: any;
      const server = createServer((request, response) => {
        let text = '';
        request.on('data', (piece) => (text += piece));
        request.on('end', () => {
          if (request.method === 'POST') said = JSON.parse(text);
          response.writeHead(200, { 'content-type': 'text/csv' }).end('member@example.com\nnobody@example.com\n');
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const answer = await node.segments('POST /v2/custom-segments/file-segment', {
          ...{ name: 'Loader', attribute_name: 'email', attribute_type: 'string', expiry_time: 30 },
          ...{ file_url: `${origin}/users.csv`, callback_url: `${origin}/done`, emails: [] },
        });
        expect([answer.status, answer.json.success]).toEqual([202, true]);
        await until(async () => said);
        expect(said).toMatchObject({ segment_name: 'Loader', status: 201, values_found: 2, user_count: 1 });
      } finally {
        server.close();
      }
    },
  },
  {
    kind: 'Cohort partner: numeric ids, a slash at the end',
    breaksOn: '404 for the slash, 400 for the ids',
    async replay(node) {
      await node.addPhone('50501');
      const parameters = { cohort_name: 'Partner cohort', cohort_id: 'c-1', members: [{ uid: 50_501 }] };
      const body = { action: 'add_members', partner: 'partner', parameters };
      const answer = await node.segments('POST /v1/integrations/cohortsync/', body);
      expect([answer.status, answer.json.status]).toEqual([200, 'success']);
      const [row] = await node.database`
        select count(*)::int as members from segment_members join segments on segments.id = segment_members.segment_id
        where segments.name = 'Partner cohort'`;
      expect(row!.members).toBe(1);
    },
  },
  {
    kind: 'Dashboard of segments',
    breaksOn: '"Invalid bson object-id" for the list with a slash',
    async replay(node) {
      const answer = await node.segments('GET /v3/custom-segments/');
      expect([answer.status, answer.json.type, Array.isArray(answer.json.data)]).toEqual([200, 'custom_segment', true]);
    },
  },
  {
    kind: 'Dashboard of statistics',
    breaksOn: 'zero everywhere: it reads ALL_PLATFORMS and all_locale',
    async replay(node) {
      await node.addPhone('counted');
      const body = {
        ...node.signed('Counted'),
        ...toUser('counted'),
        payload: { ANDROID: { title: 'Counted', message: 'M' } },
      };
      const { cid } = (await node.send('POST /v2/transaction/sendpush', body)).json;
      await node.shows('Counted');
      const day = new Date().toISOString().slice(0, 10);
      const asked = {
        campaign_ids: [cid],
        start_date: day,
        end_date: day,
        attribution_type: 'CLICK_THROUGH',
        metric_type: 'TOTAL',
      };
      const read = async () => {
        const answer = await node.reading('/core-services/v1/campaign-stats', { request_id: 'r', ...asked });
        const box =
          answer.json.data[cid]?.[0]?.platforms?.ALL_PLATFORMS?.locales?.all_locale?.variations?.all_variations;
        return box?.performance_stats;
      };
      await until(async () => (await read())?.sent === 1);
      expect(await read()).toMatchObject({ attempted: 1, sent: 1, failed: 0 });
    },
  },
  {
    kind: 'List of campaigns through V1',
    breaksOn: 'it loops over the answer, which is no array',
    async replay(node) {
      const body = {
        ...{
          campaignName: 'Listed in V1',
          targetPlatform: ['ANDROID'],
          targetAudience: 'All Users',
          campaignDelivery: soon,
        },
        payload: { ANDROID: { title: 'Listed', message: 'M' } },
      };
      const headers = node.signedHeaders('Listed in V1', 'all users');
      await node.send('POST /v2.1/transaction/sendpush', body, { headers });
      const search = { request_id: 'list-1', limit: 10, page: 1, campaign_fields: { name: 'Listed in V1' } };
      const names: string[] = [];
      for (const campaign of (await node.reading('/core-services/v1/campaigns/search', search)).json)
        names.push(campaign.basic_details.name);
      expect(names).toEqual(['Listed in V1']);
    },
  },
  {
    kind: 'OAuth library: a token for the data routes',
    breaksOn: 'a token that is only below data',
    async replay(node) {
      const form = { grant_type: 'client_credentials', client_id: node.workspaceId, client_secret: node.keys.oauth };
      const token = await node.form('/v1/oauth/token', form);
      expect([token.token_type, token.expires_in]).toEqual(['Bearer', 900]);
      const body = { type: 'customer', customer_id: 'by-token', attributes: { a: 1 } };
      const headers = { authorization: `Bearer ${token.access_token}` };
      expect((await node.send(`POST /v1/customer/${node.workspaceId}`, body, { headers })).status).toBe(200);
    },
  },
];
