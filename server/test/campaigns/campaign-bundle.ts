import { join } from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import { documentedAuthoringLimits } from '../../src/app/campaigns/authoring.ts';
import type { AuthoringLimits } from '../../src/app/campaigns/authoring.ts';
import { makeCampaignTotals } from '../../src/app/campaigns/search-campaigns.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeAcceptPush } from '../../src/app/push/accept-push.ts';
import { makeAdmitPush } from '../../src/app/push/admit-push.ts';
import { makeTokenBatches } from '../../src/app/tokens/prove-clients.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeId } from '../../src/domain/ids.ts';
import { makeDoorbell } from '../../src/engine/doorbell.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { campaignRoutes } from '../../src/http/campaigns/routes.ts';
import { pushRoutes } from '../../src/http/push/routes.ts';
import { tokenRoutes } from '../../src/http/tokens.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { measureForTests } from '../push/measure-for-tests.ts';

export const start = new Date('2026-03-01T12:00:00Z');
export type CampaignBundle = Awaited<ReturnType<typeof makeCampaignBundle>>;
export type Version = 'V1' | 'V5';
export const versions: Version[] = ['V1', 'V5'];

type Sending = { headers?: Record<string, string | undefined>; body?: unknown };
type Keys = { workspaceId: string; key: string };

/** The campaign and push routes over a database of its own, a workspace with keys, a clock that stands. */
export async function makeCampaignBundle(options: { limits?: AuthoringLimits } = {}) {
  const test = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const log = makeLog({ level: 'silent', pretty: false });
  const tokens = makeTokenAuthority({ database, clock, encryption });
  const deps = { database, clock, encryption, tokens, vendorHeaders: makeVendorHeaders('SVC') };
  const limits = options.limits ?? documentedAuthoringLimits;
  const migrationGuideFile = join(import.meta.dirname, '..', '..', '..', 'docs', 'migration-v1-v5.md');
  const server = await buildServer({ log, clock, trustProxy: false }, [
    campaignRoutes({ ...deps, limits, totals: makeCampaignTotals(deps), migrationGuideFile }),
    tokenRoutes({ ...deps, wait: async () => {}, batches: makeTokenBatches(deps) }),
    pushRoutes({
      ...deps,
      measure: measureForTests,
      admitPush: makeAdmitPush(deps),
      acceptPush: makeAcceptPush({ ...deps, doorbell: makeDoorbell(deps) }),
    }),
  ]);

  async function makeKey(kind: 'campaigns' | 'data' | 'push' | 'oauth', of: string): Promise<string> {
    return (await createKey({ encryption }, database, { workspaceId: of, kind, name: `Key ${kind}`, at: start }))
      .secret;
  }
  async function makeWorkspace(): Promise<Keys> {
    // Ids are made of the time; each workspace is a millisecond younger.
    const id = await insertTestWorkspace(database, new Date(start.getTime() + (workspaces += 1)));
    return { workspaceId: id, key: await makeKey('campaigns', id) };
  }
  let workspaces = 0;
  const own = await makeWorkspace();

  const headersOf = ({ workspaceId, key }: Keys) => ({
    authorization: `Basic ${Buffer.from(`${workspaceId}:${key}`).toString('base64')}`,
    'svc-appkey': workspaceId,
  });

  /** The clock moves between calls, so that only tests of the limits meet them. */
  async function call(method: 'GET' | 'POST' | 'PUT' | 'PATCH', url: string, { headers, body }: Sending = {}) {
    clock.advance(1000);
    const all: Record<string, string | undefined> = {
      ...headersOf(own),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    return server.inject({
      method,
      url,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never,
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  const paths = { V1: '/v1/campaigns', V5: '/v5/campaigns' } as const;
  let rows = 0;

  const bundle = {
    ...test,
    clock,
    server,
    own,
    makeKey,
    makeWorkspace,
    headersOf,
    call,
    /** A search as the version asks it; members given replace its own. */
    search(version: Version, more: Record<string, unknown> = {}, headers?: Sending['headers']) {
      const body = { request_id: 'r-1', limit: 15, page: 1, ...more };
      return call('POST', `${paths[version]}/search`, { body, ...(headers ? { headers } : {}) });
    },
    executions(version: Version, id: string, { headers, ...more }: Record<string, unknown> & Sending = {}) {
      const body = { request_id: 'r-1', limit: 15, page: 1, ...more };
      return call('POST', `${paths[version]}/${id}/executions`, { body, ...(headers ? { headers } : {}) });
    },
    /** Names of what a search finds, in its order. */
    async names(version: Version, filters: Record<string, unknown>, more: Record<string, unknown> = {}) {
      const answer = await bundle.search(version, { ...more, campaign_fields: filters });
      return namesOf(answer);
    },
    /** A campaign as a row; each is a second younger than the one before. */
    async insert(more: Record<string, unknown> = {}, of = own.workspaceId): Promise<string> {
      const at = new Date(start.getTime() + (rows += 1) * 1000);
      const id = makeId(at);
      const row = {
        id,
        workspace_id: of,
        name: `Campaign ${rows}`,
        channel: 'PUSH',
        source: 'PUSH_API',
        delivery_type: 'ONE_TIME',
        audience: 'ALL_USERS',
        platforms: ['ANDROID'],
        content: database.json({}),
        timing: database.json({}),
        tags: [],
        status: 'SENT',
        created_by: 'ada@example.com',
        created_at: at,
        updated_at: at,
        ...more,
      };
      await database`insert into campaigns ${database(row)}`;
      return id;
    },
    async insertRun(campaignId: string, more: Record<string, unknown> = {}, of = own.workspaceId): Promise<string> {
      const at = new Date(start.getTime() + (rows += 1) * 1000);
      const id = makeId(at);
      const row = {
        id,
        workspace_id: of,
        campaign_id: campaignId,
        lane: 1,
        status: 'SENT',
        day: '2026-03-01',
        send_until: at,
        created_at: at,
        started_at: at,
        ended_at: at,
        ...more,
      };
      await database`insert into runs ${database(row)}`;
      return id;
    },
    /** An access token of an OAuth key. */
    async token(): Promise<string> {
      const secret = await makeKey('oauth', own.workspaceId);
      const form = { grant_type: 'client_credentials', client_id: own.workspaceId, client_secret: secret };
      const answer = await call('POST', '/v1/oauth/token', {
        headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      });
      return answer.json().data.access_token;
    },
    setVersioning: (state: 'on' | 'off') =>
      database`update workspaces set campaign_versioning = ${state === 'on'} where id = ${own.workspaceId}`,
    /** A campaign made by the push API. @returns its id */
    async push(body: Record<string, unknown>): Promise<string> {
      const key = await makeKey('push', own.workspaceId);
      const campaignName = String(body.campaignName);
      const answer = await call('POST', '/v2/transaction/sendpush', {
        headers: { authorization: undefined },
        body: {
          appId: own.workspaceId,
          signature: signPush({ appId: own.workspaceId, campaignName, key }),
          targetPlatform: ['ANDROID'],
          targetAudience: 'All Users',
          payload: { ANDROID: { title: 'Title', message: 'Text' } },
          campaignDelivery: { type: 'soon' },
          ...body,
        },
      });
      return answer.json().cid;
    },
    async end() {
      await server.close();
      await test.drop();
    },
  };
  return bundle;
}

/** The campaigns of an answer of either version. */
export function campaignsOf(answer: LightMyRequestResponse): any[] {
  const body = answer.json();
  return body.data?.campaigns ?? body.campaigns ?? body;
}

export function namesOf(answer: LightMyRequestResponse): string[] {
  return campaignsOf(answer).map((campaign) => campaign.basic_details.name);
}
