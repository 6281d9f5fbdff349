import type { LightMyRequestResponse } from 'fastify';
import { join } from 'node:path';
import type { AuthoringLimits } from '../../src/app/campaigns/authoring.ts';
import { makeCampaignTotals } from '../../src/app/campaigns/search-campaigns.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeAcceptPush } from '../../src/app/push/accept-push.ts';
import { makeAdmitPush } from '../../src/app/push/admit-push.ts';
import { documentedSegmentLimits } from '../../src/app/segments/segment-limits.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeId } from '../../src/domain/ids.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { makeDoorbell } from '../../src/engine/doorbell.ts';
import { makeFireDueCampaigns } from '../../src/engine/scheduler.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { businessEventRoutes } from '../../src/http/business-events.ts';
import { campaignRoutes } from '../../src/http/campaigns/routes.ts';
import { inboxStatsRoutes } from '../../src/http/campaigns/inbox-stats.ts';
import { explainRoutes } from '../../src/http/explain.ts';
import { pushRoutes } from '../../src/http/push/routes.ts';
import { segmentRoutes } from '../../src/http/segments/routes.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { makeFanOutBundle } from '../engine/fan-out/fan-out-bundle.ts';
import { measureForTests } from '../push/measure-for-tests.ts';

export type AuthoringBundle = Awaited<ReturnType<typeof makeAuthoringBundle>>;
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
type Sending = { headers?: Record<string, string> };

/** No test but that of the limits meets them. */
const wide: AuthoringLimits = { creations: [{ events: 1_000, seconds: 60 }] };

/** The campaign, push and segment routes over the engine's bundle: what is made here is sent there. */
export async function makeAuthoringBundle(options: { limits?: AuthoringLimits } = {}) {
  const engine = await makeFanOutBundle();
  const { database, clock, workspaceId } = engine;
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const log = makeLog({ level: 'silent', pretty: false });
  const tokens = makeTokenAuthority({ database, clock, encryption });
  const deps = { database, clock, encryption, tokens, vendorHeaders: makeVendorHeaders('SVC') };
  const authoring = { ...deps, limits: options.limits ?? wide, totals: makeCampaignTotals(deps) };
  const migrationGuideFile = join(import.meta.dirname, '..', '..', '..', 'docs', 'migration-v1-v5.md');
  const server = await buildServer({ log, clock, trustProxy: false }, [
    campaignRoutes({ ...authoring, migrationGuideFile }),
    inboxStatsRoutes(deps),
    explainRoutes(deps),
    businessEventRoutes(deps),
    segmentRoutes({ ...deps, limits: documentedSegmentLimits }),
    pushRoutes({
      ...deps,
      measure: measureForTests,
      admitPush: makeAdmitPush(deps),
      acceptPush: makeAcceptPush({ ...deps, doorbell: makeDoorbell(deps) }),
    }),
  ]);
  const makeKey = async (kind: 'campaigns' | 'data' | 'push', of = workspaceId): Promise<string> =>
    (await createKey({ encryption }, database, { workspaceId: of, kind, name: `Key ${kind}`, at: clock.now() })).secret;
  const basic = (key: string, of = workspaceId) => ({
    authorization: `Basic ${Buffer.from(`${of}:${key}`).toString('base64')}`,
    'svc-appkey': of,
  });
  const own = basic(await makeKey('campaigns'));
  const data = basic(await makeKey('data'));
  const pushKey = await makeKey('push');

  /** The clock moves a second between calls, so that only tests of the limits meet those of a second. */
  async function call(method: Method, url: string, ...[body, sending]: [body?: unknown, sending?: Sending]) {
    clock.advance(1000);
    const contentType = body === undefined ? {} : { 'content-type': 'application/json' };
    return server.inject({
      method,
      url,
      headers: { ...own, ...contentType, ...sending?.headers },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
  }

  const bundle = {
    ...engine,
    server,
    call,
    own,
    basic,
    makeKey,
    /** A draft. @returns its id */
    async draft(body: Record<string, unknown> = {}): Promise<string> {
      return idOf(await call('POST', '/v5/campaigns', campaign(body)));
    },
    /** A draft that is published at once. @returns its id */
    async live(body: Record<string, unknown> = {}): Promise<string> {
      const id = await bundle.draft(body);
      expectStatus(await bundle.act(id, 'PUBLISH'), 200);
      return id;
    },
    act: (id: string, action: string) => call('PATCH', `/v5/campaigns/${id}/status`, { action }),
    async get(id: string): Promise<any> {
      return (await call('GET', `/v5/campaigns/${id}`)).json().data;
    },
    /** The row of a campaign. */
    async row(id: string): Promise<any> {
      return (await database`select * from campaigns where id = ${id}`)[0];
    },
    async runs(campaignId: string): Promise<any[]> {
      return [...(await database`select * from runs where campaign_id = ${campaignId} order by created_at, id`)];
    },
    async push(body: Record<string, unknown>): Promise<string> {
      return (await bundle.callPush(body)).json().cid;
    },
    callPush(body: Record<string, unknown>) {
      const campaignName = String(body.campaignName);
      return call('POST', '/v2/transaction/sendpush', {
        appId: workspaceId,
        signature: signPush({ appId: workspaceId, campaignName, key: pushKey }),
        targetPlatform: ['ANDROID'],
        targetAudience: 'All Users',
        payload: { ANDROID: { title: 'Title', message: 'Text' } },
        campaignDelivery: { type: 'soon' },
        ...body,
      });
    },
    segments: (method: Method, url: string, body?: unknown) => call(method, url, body, { headers: data }),
    /** A file segment of these users, filled. @returns its id */
    async fileSegment(name: string, customerIds: string[]): Promise<string> {
      const id = makeId(clock.now());
      const at = clock.now();
      await database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
          user_count, created_by, created_at, updated_at)
        values (${id}, ${workspaceId}, ${name}, 'FILE', 'READY', 'API', 'uid', 'string', 1, ${customerIds.length},
          'test', ${at}, ${at})`;
      await database`
        insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
        select workspace_id, bucket, ${id}, id, 1 from users where customer_id = any(${customerIds})`;
      return id;
    },
    async setAttribute(customerId: string, attributes: Record<string, unknown>): Promise<void> {
      await database`
        update users set attributes = ${database.json(attributes)} where customer_id = ${customerId}`;
    },
    fire: () => makeFireDueCampaigns({ database, log, lateSendMinutes: 60, onFired() {} }).runOnce(clock.now()),
    /** Releases, sends and ends everything that can be. @returns whom the provider was asked to reach, sorted */
    async deliver(): Promise<string[]> {
      engine.sent.length = 0;
      engine.messages.length = 0;
      while ((await engine.release()) > 0);
      await engine.work();
      while ((await engine.end()) > 0);
      return engine.sent.map(({ pushId }) => pushId.replace('push-', '')).sort();
    },
    async close() {
      await server.close();
      await engine.drop();
    },
  };
  return bundle;
}

export function idOf(answer: LightMyRequestResponse): string {
  expectStatus(answer, 201);
  return answer.json().data.id;
}

export function expectStatus(answer: LightMyRequestResponse, status: number): void {
  if (answer.statusCode !== status) throw new Error(`${answer.statusCode} and not ${status}: ${answer.body}`);
}

export const android = {
  template_type: 'BASIC',
  basic_details: { title: 'Title', message: 'Text', notification_channel: 'news' },
};

/** A campaign to all users, as soon as possible; members given replace its own. */
export function campaign(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    channel: 'PUSH',
    campaign_delivery_type: 'ONE_TIME',
    created_by: 'ada@example.com',
    basic_details: { name: 'Spring sale', platforms: ['ANDROID'], tags: ['sale'] },
    campaign_content: { content: { push: { android } } },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
    ...more,
  };
}

/** The faults of a refusal, `field: reason`. */
export function faultsOf(answer: LightMyRequestResponse): string[] {
  return answer.json().error.details.map((detail: { message: string }) => detail.message);
}
