import { makeInteractionReports } from '../../src/app/interactions.ts';
import { makeManualClock } from '../../src/clock.ts';
import type { Platform } from '../../src/domain/content/content.ts';
import { makeId } from '../../src/domain/ids.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import type { reportLimits } from '../../src/domain/limits/delivery.ts';
import type { LimitWindow } from '../../src/domain/access/rate-limits.ts';
import type { CompletedCall } from '../../src/http/server/build-server.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { interactionRoutes } from '../../src/http/interactions.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { listCampaignInteractions } from '../../src/storage/ledger/interactions.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

export const start = new Date('2026-03-01T12:00:00Z');
export const address = 'https://shop.example/ünïcode?a=1&b=2';

const generous: Record<keyof typeof reportLimits, LimitWindow> = {
  token: { events: 10_000, seconds: 60 },
  address: { events: 100_000, seconds: 60 },
  unknownToken: { events: 100_000, seconds: 60 },
};

/** The routes with their use cases and a database of their own; a clock that stands; the server's usual limits or wide ones. */
export async function makeInteractionBundle(limits = generous) {
  const test = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const tokens = makeInteractionTokens(Buffer.alloc(32, 7));
  const recorded: CompletedCall[] = [];
  const makeServer = () =>
    buildServer(
      {
        log: makeLog({ level: 'silent', pretty: false }),
        clock,
        trustProxy: false,
        onCall: (call) => recorded.push(call),
      },
      [
        interactionRoutes({
          vendorHeaders: makeVendorHeaders('SVC'),
          interactions: makeInteractionReports({ database, clock, tokens, limits }),
        }),
      ],
    );
  const server = await makeServer();
  // Another node of the same installation.
  const secondServer = await makeServer();
  const workspaceId = await insertTestWorkspace(database, start);

  async function addCampaign(workspace = workspaceId): Promise<string> {
    const id = makeId(start);
    await database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        created_by, created_at, updated_at)
      values (${id}, ${workspace}, 'C', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{WEB}', '{}', '{}', 'SENT', 'test',
        ${start}, ${start})`;
    return id;
  }

  return {
    ...test,
    clock,
    server,
    secondServer,
    tokens,
    workspaceId,
    recorded,
    addCampaign,
    addWorkspace: () => insertTestWorkspace(database, start),
    async addRun(campaignId: string, workspace = workspaceId): Promise<string> {
      const id = makeId(start);
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
        values (${id}, ${workspace}, ${campaignId}, 1, 'SENT', '2026-03-01', ${start}, ${start}, ${start}, ${start})`;
      return id;
    },
    pass: (runId: string, options: { device?: number; platform?: Platform; workspaceId?: string } = {}) =>
      tokens.issue(
        {
          workspaceId: options.workspaceId ?? workspaceId,
          runId,
          bucket: (options.device ?? 0) % 256,
          deviceId: (options.device ?? 0).toString(16).padStart(24, '0'),
          platform: options.platform ?? 'WEB',
        },
        address,
      ),
    post: (body: unknown, options: { from?: string; headers?: Record<string, string>; second?: true } = {}) =>
      (options.second ? secondServer : server).inject({
        method: 'POST',
        url: '/v1/interactions',
        headers: { 'content-type': 'application/json', ...options.headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
        ...(options.from === undefined ? {} : { remoteAddress: options.from }),
      }),
    click: (clickToken: string, to: string, from = '127.0.0.1') =>
      server.inject({
        method: 'GET',
        url: `/v1/click/${clickToken}?to=${encodeURIComponent(to)}`,
        remoteAddress: from,
      }),
    /** `WEB CLICK` → [total, unique devices]. */
    async figures(campaignId: string, workspace = workspaceId): Promise<Record<string, [number, number]>> {
      const rows = await listCampaignInteractions(database, { workspaceId: workspace, campaignId });
      return Object.fromEntries(rows.map((row) => [`${row.platform} ${row.kind}`, [row.total, row.uniqueDevices]]));
    },
    async stop() {
      await server.close();
      await secondServer.close();
      await test.drop();
    },
  };
}

export type InteractionBundle = Awaited<ReturnType<typeof makeInteractionBundle>>;
