import { addDays, localDate } from '../../../src/domain/timing/local-time.ts';
import type { Clock } from '../../../src/clock.ts';
import type { Random } from '../../rig/random.ts';
import type { CallsFileHost } from './file-host.ts';
import type { RecordedNode, RigAnswer, RigCall, RigKey, RigWorkspace } from './recorded-node.ts';

export type Caller = ReturnType<typeof makeCaller>;
type Parts = { node: RecordedNode; random: Random; clock: Clock; host: CallsFileHost; workspace: RigWorkspace };
type Made = { id: string; name: string };
export type CallWith = Omit<RigCall, 'workspace'>;

export const users = Array.from({ length: 8 }, (_, number) => number);
/** Its workspace knows this user, who has no device. */
const deviceless = users.length - 1;
const pageV1 = { request_id: 'r', limit: 100, page: 1 };

/** A caller of one workspace: everything that it may call, and what it learned from the answers. */
export function makeCaller({ node, random, clock, host, workspace }: Parts) {
  const { word, keys } = workspace;
  const campaigns: Made[] = [];
  const segments: Made[] = [];
  const events: string[] = [];
  const extraKeys: RigKey[] = [];
  const tokens: string[] = [];
  const usedBodies = new Map<string, object>();
  let count = 0;
  let lossShare = 0.03;

  const pick = <Item>(items: readonly Item[]): Item => items[random.between(0, items.length - 1)]!;
  const fresh = (noun: string): string => `${word} ${noun} ${(count += 1)}`;
  const customer = (number: number): string => `${word}-user-${number}`;
  const call = (given: CallWith): Promise<RigAnswer> =>
    node.call({ workspace, ...given, ...(random.next() < lossShare ? { isLost: true } : {}) });

  function drawDelivery(): object {
    const share = random.next();
    if (share < 0.75) return { type: 'soon' };
    const today = localDate(clock.now(), 'UTC');
    const us = (date: string) => `${date.slice(5, 7)}/${date.slice(8)}/${date.slice(0, 4)}`;
    const time = `${String(random.between(1, 11)).padStart(2, '0')}:30 ${random.next() < 0.5 ? 'AM' : 'PM'}`;
    if (share < 0.88) return { type: 'later', date: us(addDays(today, random.between(1, 2))), time, timezone: 'UTC' };
    const endDate = us(addDays(today, random.between(1, 3)));
    return { type: 'periodic', time, endDate, timezone: 'UTC', repeatAfter: '1' };
  }

  function drawAudience(): object {
    const share = random.next();
    if (share < 0.4 || (share < 0.6 && segments.length === 0)) return { targetAudience: 'All Users' };
    if (share < 0.6) return { targetAudience: 'Custom Segment', customSegmentName: pick(segments).name };
    return toUser(customer(pick(users)));
  }

  const toUser = (attributeValue: string) => ({
    targetAudience: 'User',
    targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
  });

  function pushBody(campaignName: string, more: object): object {
    const text = { title: `${word} title`, message: `${word} text` };
    return {
      ...{ requestId: fresh('request'), campaignName, targetPlatform: ['ANDROID', 'IOS'] },
      ...{ payload: { ANDROID: text, IOS: text }, campaignDelivery: { type: 'soon' } },
      ...{ campaignTags: [pick(['sale', 'news'])], ...more },
    };
  }

  async function push(body: object, idempotencyKey?: string): Promise<void> {
    const more = idempotencyKey === undefined ? {} : { idempotencyKey };
    const answer = await call({ method: 'POST', path: '/v2.1/transaction/sendpush', key: keys.push, body, ...more });
    if (answer.body.status === 'Success')
      campaigns.push({ id: answer.body.cid, name: (body as { campaignName: string }).campaignName });
  }

  function pushDrawn(): Promise<void> {
    const name = campaigns.length > 0 && random.next() < 0.3 ? pick(campaigns).name : fresh('push');
    const body = pushBody(name, { ...drawAudience(), campaignDelivery: drawDelivery() });
    if (random.next() < 0.75) return push(body);
    const key = `key-${random.between(1, 4)}`;
    const before = usedBodies.get(key);
    const sent = before && random.next() < 0.7 ? before : body;
    usedBodies.set(key, sent);
    return push(sent, key);
  }

  /** Several clients take one name, or one idempotency key, at the same time. */
  function race(): Promise<unknown> {
    const name = fresh('race');
    const to = random.next() < 0.5 ? { targetAudience: 'All Users' } : toUser(customer(pick(users)));
    const body = pushBody(name, to);
    const keyed = random.next() < 0.5 ? fresh('key') : undefined;
    return Promise.all([1, 2, 3].map(() => push(keyed === undefined ? pushBody(name, to) : body, keyed)));
  }

  async function createFilterSegment(): Promise<void> {
    const name = `${word} filter ${random.between(1, 5)}`;
    const filter = { filter_type: 'user_attributes', name: 'age', data_type: 'double', operator: 'greaterThan' };
    const included_filters = { filter_operator: 'and', filters: [{ ...filter, value: (count += 1) }] };
    const body = { name, included_filters };
    const answer = await call({ method: 'POST', path: '/v3/custom-segments', key: keys.data, body });
    if (answer.status === 201) segments.push({ id: answer.body.data.id, name });
  }

  const changeSegment = (change: 'archive' | 'unarchive') => {
    const body = { name: segments.length > 0 ? pick(segments).name : `${word} filter 1` };
    return call({ method: 'PATCH', path: `/v2/custom-segments/${change}`, key: keys.data, body });
  };

  const findSegment = (key: Partial<CallWith> = { key: keys.data }) => {
    const name = segments.length > 0 ? pick(segments).name : `${word} filter 1`;
    return call({ method: 'GET', path: `/v3/custom-segments?name=${encodeURIComponent(name)}`, ...key });
  };

  const readSegment = () => {
    const known = segments.filter(({ id }) => id !== '');
    return known.length > 0 && call({ method: 'GET', path: `/v3/custom-segments/${pick(known).id}`, key: keys.data });
  };

  async function syncCohort(): Promise<void> {
    const number = random.between(1, 2);
    const name = `${word} cohort ${number}`;
    const members = users.filter(() => random.next() < 0.4).map((user) => ({ uid: customer(user) }));
    const parameters = { cohort_name: name, cohort_id: `${word}-${number}`, members };
    const action = random.next() < 0.65 ? 'add_members' : 'remove_members';
    const body = { action, partner: 'rig', parameters };
    const answer = await call({ method: 'POST', path: '/v1/integrations/cohortsync', key: keys.data, body });
    if (answer.status === 200 && !segments.some((known) => known.name === name)) segments.push({ id: '', name });
  }

  async function createFileSegment(): Promise<void> {
    const name = fresh('file');
    const members = users.filter(() => random.next() < 0.6).map(customer);
    const file = { file_url: host.serve(members), callback_url: host.callbackUrl, expiry_time: 30 };
    const body = { name, attribute_name: 'uid', attribute_type: 'string', ...file };
    const path = '/v2/custom-segments/file-segment';
    const answer = await call({ method: 'POST', path, key: keys.data, body });
    if (answer.status < 300) segments.push({ id: answer.body.cs_id, name });
  }

  async function useKeys(): Promise<void> {
    const share = random.next();
    if (extraKeys.length === 0 || share < 0.2) {
      const key = await node.addKey(workspace, { kind: 'data', name: fresh('extra') });
      if (key) extraKeys.push(key);
    } else if (share < 0.4) await node.archiveKey(workspace, pick(extraKeys));
    else await findSegment({ key: pick(extraKeys) });
  }

  async function useTokens(): Promise<void> {
    const share = random.next();
    const client = { client_id: workspace.id, client_secret: keys.oauth.secret };
    if (tokens.length === 0 || share < 0.3) {
      const form = { grant_type: 'client_credentials', ...client };
      const answer = await call({ method: 'POST', path: '/v1/oauth/token', form });
      if (answer.status === 200) tokens.push(answer.body.access_token);
    } else if (share < 0.5)
      await call({ method: 'POST', path: '/v1/oauth/revoke', form: { token: pick(tokens), ...client } });
    else await findSegment({ token: pick(tokens) });
  }

  async function authorCampaign(): Promise<void> {
    const event = events.length > 0 && random.next() < 0.7 ? pick(events) : undefined;
    const name = fresh('authored');
    const details = { name, platforms: ['ANDROID', 'IOS'], tags: [pick(['sale', 'news'])] };
    const text = { template_type: 'BASIC', basic_details: { title: 'Title', message: 'Text' } };
    const android = { ...text, basic_details: { ...text.basic_details, notification_channel: 'news' } };
    const body = {
      ...{ channel: 'PUSH', created_by: `${word}@example.com` },
      campaign_delivery_type: event === undefined ? 'ONE_TIME' : 'BUSINESS_EVENT_TRIGGERED',
      basic_details: event === undefined ? details : { ...details, business_event: event },
      campaign_content: { content: { push: { android, ios: text } } },
      segmentation_details: { is_all_user_campaign: true },
      scheduling_details: { delivery_type: 'ASAP' },
    };
    const answer = await call({ method: 'POST', path: '/v5/campaigns', key: keys.campaigns, body });
    if (answer.status !== 201) return;
    const { id } = answer.body.data;
    campaigns.push({ id, name });
    if (random.next() < 0.85) await act(id, 'PUBLISH');
  }

  const act = (id: string, action: string) =>
    call({ method: 'PATCH', path: `/v5/campaigns/${id}/status`, key: keys.campaigns, body: { action } });

  async function useEvents(): Promise<void> {
    if (events.length === 0 || (events.length < 2 && random.next() < 0.3)) {
      const name = fresh('event').replaceAll(' ', '_');
      const attribute = { attribute_name: 'team', attribute_data_type: 'string' };
      const body = { event_name: name, event_attributes: [attribute], created_by: 'ada' };
      const answer = await call({ method: 'POST', path: '/v1.0/business_event', key: keys.campaigns, body });
      if (answer.status === 200) events.push(name);
      return;
    }
    const body = { event_name: pick(events), event_attributes: {}, triggered_by: 'feed' };
    const path = random.next() < 0.5 ? '/v1.0/business_event/trigger' : '/v5/business-events/triggers';
    await call({ method: 'POST', path, key: keys.campaigns, body });
  }

  /** A question about a campaign of this workspace, or of a `foreign` one. */
  function ask(foreign: readonly Made[]): Promise<unknown> | undefined {
    const asked = foreign.length > 0 && random.next() < 0.12 ? foreign : campaigns;
    if (asked.length === 0) return undefined;
    const { id } = pick(asked);
    return pick([
      () => readCampaign(id),
      () => readExecutions(id),
      () => readStatistics(id),
      () => readExplanation(id, customer(pick(users))),
    ])();
  }

  const get = (path: string) => call({ method: 'GET', path, key: keys.campaigns });
  const post = (path: string, body: object) => call({ method: 'POST', path, key: keys.campaigns, body });
  const readCampaign = (id: string) => get(`/v5/campaigns/${id}`);
  const readExecutions = (id: string) => post(`/v5/campaigns/${id}/executions`, { limit: 15, page: 1 });
  const readExplanation = (id: string, user: string) =>
    get(`/v5/campaigns/${id}/explain?customer_id=${encodeURIComponent(user)}`);
  const readStatistics = (id: string) => {
    const today = localDate(clock.now(), 'UTC');
    const days = { start_date: addDays(today, -14), end_date: addDays(today, 14) };
    const kinds = { attribution_type: 'CLICK_THROUGH', metric_type: 'TOTAL' };
    return post('/v1/campaign-stats', { request_id: fresh('stats'), campaign_ids: [id], ...days, ...kinds });
  };
  const search = (version: 'v1' | 'v5', fields: object, more: object = {}) => {
    const page = version === 'v1' ? pageV1 : { limit: 15, page: 1 };
    return post(`/${version}/campaigns/search`, { ...page, ...more, campaign_fields: fields });
  };

  function drawFields(): object {
    const parts: object[] = [
      { tags: [pick(['sale', 'news'])] },
      { name: pick(['push', 'RACE', 'authored', word, '1']) },
      { channels: ['PUSH'] },
      { created_date: { from_date: clock.now().toISOString().slice(0, 19) } },
      { status: pick([['SENT'], ['SENDING', 'SCHEDULED'], ['ACTIVE'], ['DRAFT']]) },
    ];
    return Object.assign({}, ...parts.filter(() => random.next() < 0.35));
  }
  const searchDrawn = () => search(random.next() < 0.5 ? 'v1' : 'v5', drawFields());

  const happenings: [weight: number, (foreign: readonly Made[]) => unknown][] = [
    [22, pushDrawn],
    [4, race],
    [5, createFilterSegment],
    [5, () => changeSegment(random.next() < 0.5 ? 'archive' : 'unarchive')],
    [3, () => findSegment()],
    [5, readSegment],
    [6, syncCohort],
    [3, createFileSegment],
    [6, useKeys],
    [7, useTokens],
    [5, authorCampaign],
    [6, useEvents],
    [5, () => campaigns.length > 0 && act(pick(campaigns).id, pick(['STOP', 'PAUSE', 'RESUME']))],
    [12, searchDrawn],
    [10, ask],
    [2, () => Promise.all(Array.from({ length: 14 }, searchDrawn))],
    [3, () => saveDevice(pick(users.filter((user) => user !== deviceless)))],
  ];

  function saveDevice(user: number): Promise<unknown> {
    const platform = pick(['ANDROID', 'IOS']);
    const token = fresh('token').replaceAll(' ', '-');
    // An APNs token has only hexadecimal digits.
    const push_id = platform === 'IOS' ? Buffer.from(token.padEnd(32, '-')).toString('hex') : token;
    const attributes = { platform, push_id };
    const body = { type: 'device', customer_id: customer(user), device_id: fresh('device'), attributes };
    return call({ method: 'POST', path: `/v1/device/${workspace.id}`, key: keys.data, body });
  }

  return {
    ...{
      workspace,
      campaigns,
      tokens,
      search,
      readCampaign,
      readExecutions,
      readStatistics,
      readExplanation,
      customer,
    },
    /** Stores the users, all but one with a device. */
    async begin(): Promise<void> {
      for (const user of users) {
        const body = { type: 'customer', customer_id: customer(user), attributes: { age: user } };
        await node.call({ workspace, method: 'POST', path: `/v1/customer/${workspace.id}`, key: keys.data, body });
        if (user !== deviceless) await saveDevice(user);
      }
    },
    /** From now on the caller receives every answer. */
    listen: (): void => void (lossShare = 0),
    /** Makes one call, or a few that belong together. */
    act(foreign: readonly Made[]): unknown {
      let share = random.between(0, happenings.reduce((sum, [weight]) => sum + weight, 0) - 1);
      return happenings.find(([weight]) => (share -= weight) < 0)![1](foreign);
    },
  };
}
