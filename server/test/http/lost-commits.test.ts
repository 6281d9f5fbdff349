import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from '../console/signed-in-client.ts';
import { isPoolerInstalled, startPooler } from '../start-pooler.ts';
import { startCommitCutter } from '../rig/commit-cutter.ts';
import type { CommitCutter, CutPlan, CutWay } from '../rig/commit-cutter.ts';
import type { Front } from '../rig/installation.ts';

// The connection to the database is cut at a commit, and whoever waits for the response is told the truth. The torture
// test `lost-commits` does the same at length.

/** Cuts the commit of this number, and lets all others through. */
const only = (number: number, way: CutWay): CutPlan => {
  let seen = 0;
  return () => ((seen += 1) === number + 1 ? way : undefined);
};
/** Cuts every other commit: the question after each one passes. */
const everyOther = (way: CutWay): CutPlan => {
  let seen = 0;
  return () => ((seen += 1) % 2 === 1 ? way : undefined);
};
const none: CutPlan = () => undefined;

type Call = Parameters<CarillonBundle['call']>;

describe('a route that writes', () => {
  let bundle: CarillonBundle;
  let cutter: CommitCutter;
  let cookie: string;
  beforeAll(async () => {
    // No worker: only what the calls commit is counted.
    bundle = await startCarillonBundle(
      { CARILLON_ROLE: 'api' },
      {
        async startFront(url) {
          cutter = await startCommitCutter(url);
          return { environment: { DATABASE_URL: cutter.url }, close: () => cutter.close() };
        },
      },
    );
    ({ cookie } = await openSignedInClient(bundle));
  });
  beforeEach(() => bundle.database`truncate limit_windows, limit_counters, limit_marks`);
  afterEach(() => cutter.follow(none));
  afterAll(() => bundle.stop());

  const text = { title: 'Hello', message: 'There' };
  const campaign = (name: string) => ({
    channel: 'PUSH',
    campaign_delivery_type: 'ONE_TIME',
    created_by: 'ada@example.com',
    basic_details: { name, platforms: ['ANDROID'] },
    campaign_content: { content: { push: { android: { basic_details: text } } } },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  });
  const data = () => ({ headers: bundle.basic() });
  const campaigns = () => ({
    headers: { ...bundle.basic(bundle.keys.campaigns), 'svc-appkey': bundle.workspaceId },
  });
  const segments = () => ({ headers: { ...bundle.basic(), 'svc-appkey': bundle.workspaceId } });
  const dbName = async () => ({
    'svc-dbname': (await bundle.database`select db_name as name from workspaces`)[0]!.name,
  });

  /** One call, with names of its own where it makes something. */
  const routes: [string, (name: string, number: number) => Call | Promise<Call>][] = [
    ['V5 draft', (name) => ['POST', '/v5/campaigns', { ...campaigns(), body: campaign(name) }]],
    [
      'V1 campaign, with its request_id',
      (name) => [
        'POST',
        '/v1/campaigns',
        {
          ...campaigns(),
          body: {
            ...campaign(name),
            request_id: name,
            delivery_controls: { bypass_dnd: true },
            advanced: { platform_level_priority: { android_specific_priority: { send_with_priority: 'HIGH' } } },
          },
        },
      ],
    ],
    [
      'file segment',
      async (name) => [
        'POST',
        '/v2/custom-segments/file-segment',
        {
          headers: { ...segments().headers, ...(await dbName()) },
          body: {
            name,
            attribute_name: 'u_em',
            attribute_type: 'string',
            file_url: 'https://example.com/a.csv',
            callback_url: 'https://example.com/',
            emails: [],
            expiry_time: 30,
          },
        },
      ],
    ],
    [
      'filter segment',
      (name, number) => [
        'POST',
        '/v3/custom-segments',
        {
          ...segments(),
          body: {
            name,
            included_filters: {
              filter_operator: 'and',
              filters: [
                {
                  filter_type: 'user_attributes',
                  name: 'age',
                  data_type: 'double',
                  operator: 'greaterThan',
                  value: number,
                },
              ],
            },
          },
        },
      ],
    ],
    [
      'user',
      (name) => [
        'POST',
        `/v1/customer/${bundle.workspaceId}`,
        { ...data(), body: { type: 'customer', customer_id: name, attributes: { city: 'Oslo' } } },
      ],
    ],
    [
      'events in bulk',
      (name) => [
        'POST',
        `/v1/transition/${bundle.workspaceId}`,
        {
          ...data(),
          body: { type: 'transition', elements: [{ type: 'event', customer_id: 'ada', actions: [{ action: name }] }] },
        },
      ],
    ],
    [
      'business event',
      (name) => [
        'POST',
        '/v1.0/business_event',
        {
          ...campaigns(),
          body: {
            event_name: name,
            event_attributes: [{ attribute_name: 'a', attribute_data_type: 'string' }],
            created_by: 'ada',
          },
        },
      ],
    ],
    [
      'key made in the console',
      (name) => [
        'POST',
        `/console/api/keys?workspaceId=${bundle.workspaceId}`,
        { headers: { cookie }, body: { kind: 'data', name } },
      ],
    ],
  ];

  test.each(routes)('reports a stored request as stored, once: %s', async (kind, make) => {
    const before = cutter.cuts().answered;
    const call = await make(`${kind} answered`, 1);
    cutter.follow(everyOther('answered'));
    const answer = await bundle.call(...call);
    expect([answer.status, answer.text]).toEqual([expect.toBeOneOf([200, 201, 202]), expect.anything()]);
    expect(cutter.cuts().answered).toBeGreaterThan(before);
  });

  test.each(routes)(
    'returns 503 with Retry-After if nothing was stored, and accepts the repeat: %s',
    async (kind, make) => {
      let refused = 0;
      for (const number of [0, 1]) {
        await bundle.database`truncate limit_windows, limit_counters, limit_marks`;
        const call = await make(`${kind} unheard ${number}`, number + 100);
        cutter.follow(only(number, 'unheard'));
        const answer = await bundle.call(...call);
        cutter.follow(none);
        if (answer.status === 503) {
          refused += 1;
          expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
          expect((await bundle.call(...call)).status).toBeLessThan(300);
        } else expect([answer.status, answer.text]).toEqual([expect.toBeOneOf([200, 201, 202]), expect.anything()]);
      }
      expect(refused).toBeGreaterThan(0);
    },
  );

  test.each(['answered', 'unanswered', 'unheard'] as const)(
    'counts a token request once, whose count is cut off: %s',
    async (way) => {
      cutter.follow(only(0, way));
      const { accessToken } = await bundle.token();
      cutter.follow(none);
      expect(accessToken).toMatch(/^cat_/);
      const [row] = await bundle.database<{ events: number }[]>`
        select sum(cardinality(events))::int as events from limit_windows where operation = 'token'`;
      expect(row).toEqual({ events: 1 });
    },
  );

  test('returns only working tokens, and 503 if a token was not stored', async () => {
    cutter.follow(everyOther('answered'));
    const { accessToken, refreshToken } = await bundle.token();
    cutter.follow(none);
    const ask = () =>
      bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
        headers: { authorization: `Bearer ${accessToken}` },
        body: { type: 'customer', customer_id: 'by token', attributes: {} },
      });
    expect((await ask()).status).not.toBe(401);
    const form = { grant_type: 'refresh_token', client_id: bundle.workspaceId, refresh_token: refreshToken };
    const refresh = () => fetch(`${bundle.url}/v1/oauth/refresh`, { method: 'POST', body: new URLSearchParams(form) });
    cutter.follow(everyOther('unheard'));
    const refused = await refresh();
    cutter.follow(none);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true]);
    expect((await refresh()).status).toBe(200);
  });
});

describe('a node whose connections are cut at the commits of 100 concurrent pushes', () => {
  const content = {
    targetPlatform: ['ANDROID', 'IOS'],
    payload: { ANDROID: { title: 'Hello', message: 'There' }, IOS: { title: 'Hello', message: 'There' } },
    campaignDelivery: { type: 'soon' },
  };
  const toUser = (attributeValue: string) => ({
    targetAudience: 'User',
    targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
  });
  let cutter: CommitCutter;

  /** Through a pooler in transaction mode, where there is one. */
  async function startFront(url: string): Promise<Front> {
    const pooler = isPoolerInstalled
      ? await startPooler(url, { mode: 'transaction', roundRobin: true, sessions: 4 })
      : undefined;
    cutter = await startCommitCutter(pooler?.url ?? url);
    return {
      environment: {
        DATABASE_URL: cutter.url,
        ...(pooler && { CARILLON_DATABASE_POOLER: 'transaction', CARILLON_DATABASE_DIRECT_URL: url }),
      },
      async close() {
        await cutter.close();
        await pooler?.stop();
      },
    };
  }

  test('accepts, stores and sends every push once', { timeout: 60_000 }, async () => {
    const bundle = await startCarillonBundle({}, { startFront });
    const { database } = bundle;
    cutter.follow(everyOther('answered'));
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        bundle.push({
          ...content,
          campaignName: n % 4 === 1 ? 'Lost: shared' : `Lost: ${n}`,
          ...(n % 4 === 0 ? { targetAudience: 'All Users' } : toUser(n % 2 === 0 ? 'ada' : 'grace')),
        }),
      ),
    );
    cutter.follow(none);
    expect(
      answers.filter((answer) => answer.json().status !== 'Success').map(({ status, text }) => [status, text]),
    ).toEqual([]);
    expect(cutter.cuts().answered).toBeGreaterThan(2);
    const stored = await database<{ id: string }[]>`select response_id as id from push_requests`;
    expect(stored.map(({ id }) => id).sort()).toEqual(answers.map((answer) => answer.json().responseId).sort());
    await until(async () => (await database`select 1 from runs where status in ('QUEUED', 'SENDING')`).length === 0);
    // 25 to the two of the demo's users who have such a phone, 75 to one of them.
    expect(
      (await database`select outcome, count(*) from readable_deliveries as deliveries group by outcome`)[0],
    ).toEqual({
      outcome: 'ACCEPTED',
      count: 125,
    });
    const { ANDROID, IOS } = (await bundle.call('GET', '/sandbox/counters')).json();
    expect(ANDROID.received + IOS.received).toBe(125);
    await bundle.stop();
  });

  test.each(['unheard', 'unanswered', 'answered'] as const)(
    'stores a push that joins a sending campaign as its response says, once: %s',
    { timeout: 60_000 },
    async (way) => {
      // Through a pooler it is a transaction, as everything there.
      const front = async (url: string): Promise<Front> => {
        cutter = await startCommitCutter(url);
        return { environment: { DATABASE_URL: cutter.url }, close: () => cutter.close() };
      };
      const bundle = await startCarillonBundle({ CARILLON_ROLE: 'api' }, { startFront: front });
      const { database } = bundle;
      const push = (name: string) => bundle.push({ ...content, ...toUser(name), campaignName: 'One-time password' });
      await push('ada');
      await database`update runs set status = 'SENDING', started_at = created_at`;
      await database`update campaigns set status = 'SENDING'`;
      const before = (await database`select response_id from push_requests`).length;
      let left = 1;
      cutter.follow((kind) => (kind === 'statement' && left-- > 0 ? way : undefined));
      const answer = await push('grace');
      expect(cutter.cuts()[way]).toBe(1);
      cutter.follow(none);
      const stored = await database<{ id: string }[]>`select response_id as id from push_requests`;
      const isStored = stored.length > before;
      expect(answer.json().status === 'Success', answer.text).toBe(isStored);
      if (way === 'answered') expect(stored.map(({ id }) => id)).toContain(answer.json().responseId);
      await bundle.stop();
    },
  );
});
