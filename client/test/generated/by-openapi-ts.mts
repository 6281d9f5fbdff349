import { createFileSegment, generateToken, searchCampaigns, sendPushV21 } from './hey/index.js';
import { client } from './hey/client.gen.js';

const {
  url,
  workspaceId,
  dbName,
  keys,
  campaignName,
  signature,
}: {
  url: string;
  workspaceId: string;
  dbName: string;
  keys: { oauth: string; data: string; push: string; campaigns: string };
  campaignName: string;
  signature: string;
} = JSON.parse(process.env.SETTINGS ?? '');

client.setConfig({ baseUrl: url });
const basic = (key: string): { authorization: string } => ({ authorization: `Basic ${btoa(`${workspaceId}:${key}`)}` });

const token = await generateToken({
  body: { grant_type: 'client_credentials', client_id: workspaceId, client_secret: keys.oauth },
});
if (token.data === undefined) throw new Error(token.error.reason);

const push = await sendPushV21({
  headers: { 'X-SVC-APPKEY': workspaceId, 'X-SVC-PushAPI-Signature': signature, 'X-SVC-Query-Type': 'all users' },
  body: {
    campaignName,
    targetPlatform: ['ANDROID'],
    targetAudience: 'All Users',
    payload: { ANDROID: { title: 'T', message: 'M' } },
    campaignDelivery: { type: 'soon' },
  },
});
if (push.data?.status !== 'Success') throw new Error(JSON.stringify(push.error ?? push.data));

const segment = await createFileSegment({
  headers: { 'SVC-DBNAME': dbName, ...basic(keys.data) },
  body: {
    name: `Readers of ${campaignName}`,
    attribute_name: 'uid',
    attribute_type: 'string',
    file_url: 'https://files.example/members.csv',
    callback_url: 'https://files.example/done',
    expiry_time: 30,
  },
});
if (segment.data === undefined) throw new Error(JSON.stringify(segment.error));

const found = await searchCampaigns({
  headers: basic(keys.campaigns),
  body: { request_id: 'search-1', limit: 5, page: 1, campaign_fields: { name: campaignName } },
});
if (found.data === undefined) throw new Error(JSON.stringify(found.error));

const refused = await generateToken({
  body: { grant_type: 'client_credentials', client_id: workspaceId, client_secret: '' },
});

process.stdout.write(
  JSON.stringify({
    token: token.data.data.access_token,
    cid: push.data.cid,
    segment: segment.data.message,
    found: found.data.data.campaigns.map(({ id }) => id),
    refused: { status: refused.response?.status, message: refused.error?.reason },
  }),
);
