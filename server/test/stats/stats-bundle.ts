import type { Platform } from '../../src/domain/content/content.ts';
import type { ConversionGoal } from '../../src/domain/campaigns/conversions.ts';
import type { Variant } from '../../src/domain/experiments/variants.ts';
import { reportDigest } from '../../src/domain/events/interactions.ts';
import type { InteractionKind } from '../../src/domain/events/interactions.ts';
import { recordInteractions } from '../../src/app/interactions.ts';
import { makeId } from '../../src/domain/ids.ts';
import { conversionSettleSeconds } from '../../src/domain/limits/campaigns.ts';
import { makeAttributeConversions } from '../../src/engine/conversions.ts';
import { makeWriteReportFiles } from '../../src/engine/report-files.ts';
import { makeReadReport } from '../../src/start/node/engine.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { reportRoutes } from '../../src/http/stats/reports.ts';
import { statsRoutes } from '../../src/http/stats/stats.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { addRunCounts, ensureDeliveriesPartition, insertDeliveries } from '../../src/storage/ledger/deliveries.ts';
import type { DeliveryOutcome } from '../../src/storage/ledger/deliveries.ts';
import { makeDataBundle, start } from '../data/data-bundle.ts';
import { ledgerRun } from '../ledger-run.ts';

export { start } from '../data/data-bundle.ts';

export type StatsBundle = Awaited<ReturnType<typeof makeStatsBundle>>;

const hour = 3_600_000;

/** A message of a run to one user's device, with how it ended. */
export type Sent = { customerId: string; platform?: Platform; outcome?: DeliveryOutcome; code?: string };

/** The routes of events and statistics over one database, and the job that counts conversions. */
export async function makeStatsBundle() {
  const bundle = await makeDataBundle();
  const { database, clock, workspaceId, encryption, tokens } = bundle;
  const log = makeLog({ level: 'silent', pretty: false });
  const server = await buildServer({ log, clock, trustProxy: false }, [
    statsRoutes({ database, clock, tokens, vendorHeaders: makeVendorHeaders('SVC') }),
    reportRoutes({ database, clock, encryption, tokens, vendorHeaders: makeVendorHeaders('SVC') }),
  ]);
  const { secret } = await createKey({ encryption }, database, {
    workspaceId,
    kind: 'campaigns',
    name: 'c',
    at: start,
  });
  const job = makeAttributeConversions({ database, settleSeconds: conversionSettleSeconds });

  return {
    ...bundle,
    server,
    secret,
    reportJob: makeWriteReportFiles({ database, clock, log, readReport: makeReadReport(database) }),
    async addCampaign(
      goals: ConversionGoal[],
      options: { workspace?: string; platforms?: Platform[]; createdAt?: Date } = {},
    ): Promise<string> {
      const { workspace = workspaceId, platforms = ['ANDROID'], createdAt = start } = options;
      const id = makeId(createdAt);
      await database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing,
          status, conversion_goals, created_by, created_at, updated_at)
        values (${id}, ${workspace}, ${id}, 'PUSH_API', 'ONE_TIME', 'ALL_USERS', ${platforms}, '{}', '{}', 'SENT',
          ${database.json(goals)}, 'test', ${createdAt}, ${createdAt})`;
      return id;
    },
    /** A run of the campaign that reached users at a moment, in the ledger as the engine writes it. */
    async addRun(campaignId: string, sent: Sent[], sentAt: Date = start): Promise<string> {
      const runId = makeId(sentAt);
      const day = sentAt.toISOString().slice(0, 10);
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
        values (${runId}, ${workspaceId}, ${campaignId}, 1, 'SENT', ${day}, ${sentAt}, ${sentAt}, ${sentAt}, ${sentAt})`;
      await ensureDeliveriesPartition(database, day);
      const run = { day, ...(await ledgerRun(database, runId)) };
      for (const [number, one] of sent.entries()) {
        const { platform = 'ANDROID', outcome = 'ACCEPTED', code = null } = one;
        const [user] = await database<{ id: string; bucket: number }[]>`
          select id, bucket from users where workspace_id = ${workspaceId} and customer_id = ${one.customerId}`;
        const delivery = {
          bucket: user!.bucket,
          deviceId: number.toString(16).padStart(24, '0'),
          userId: user!.id,
          platform,
          outcome,
          code,
          providerMessageId: null,
          attempts: 1,
          retryAt: outcome === 'WAITING' ? sentAt : null,
        };
        await insertDeliveries(database, { ...run, sentAt, deliveries: [delivery] });
        await addRunCounts(database, [{ workspaceId, runId, bucket: user!.bucket, platform, outcome, devices: 1 }]);
      }
      return runId;
    },
    /** What was counted of a run when it began. */
    async countAudience(runId: string, platforms: { platform: Platform; users: number; installed: number }[]) {
      await database`update runs set audience_platforms = ${database.json(platforms)} where id = ${runId}`;
    },
    /** The device of the nth message of a run reports of it, now; `name` tells a report from a repeat of it. */
    async report(
      runId: string,
      { nth, kind, name = kind, variant }: { nth: number; kind: InteractionKind; name?: string; variant?: Variant },
    ) {
      const deviceId = nth.toString(16).padStart(24, '0');
      const [row] = await database<{ bucket: number; platform: Platform }[]>`
        select bucket, platform from readable_deliveries where run_id = ${runId} and device_id = ${deviceId}`;
      const subject = { workspaceId, runId, deviceId, ...row!, ...(variant ? { variant } : {}) };
      await recordInteractions({ database, since: new Date(0) }, [
        { subject, kind, action: null, digest: reportDigest(name), at: clock.now() },
      ]);
    },
    /** It is so many hours after the start. */
    setHour(hours: number): void {
      clock.anchor(new Date(start.getTime() + hours * hour));
    },
    /** Tracks an event that happens so many hours after the start; the clock is moved there when it is earlier. */
    async track(
      customerId: string,
      { name, afterHours, attributes = {} }: { name: string; afterHours: number; attributes?: Record<string, unknown> },
    ) {
      const at = new Date(start.getTime() + afterHours * hour);
      if (at > clock.now()) clock.anchor(at);
      const action = { action: name, attributes, user_time: at.toISOString(), current_time: at.toISOString() };
      const answer = await bundle.call('/v1/event/', { type: 'event', customer_id: customerId, actions: [action] });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
    /** Looks at all events that have come in so far. @returns how many were looked at */
    async attribute(): Promise<number> {
      clock.advance(conversionSettleSeconds * 1000);
      let taken = 0;
      for (let count = await job.runOnce(clock.now()); count > 0; count = await job.runOnce(clock.now()))
        taken += count;
      return taken;
    },
    job,
    conversions: () =>
      database<{ campaignId: string; goal: number; customerId: string; runId: string; platform: Platform }[]>`
        select conversions.campaign_id as "campaignId", conversions.goal, users.customer_id as "customerId",
          conversions.run_id as "runId", conversions.platform
        from conversions
        join users on users.workspace_id = conversions.workspace_id and users.bucket = conversions.bucket
          and users.id = conversions.user_id
        where conversions.attribution = 'TOTAL_CONVERSIONS'
        order by conversions.campaign_id, conversions.goal, users.customer_id, conversions.event_id`,
    async ask(
      body: Record<string, unknown> = {},
      options: { headers?: Record<string, string | undefined>; url?: string } = {},
    ) {
      const headers = {
        authorization: bundle.basic(secret),
        'svc-appkey': workspaceId,
        'content-type': 'application/json',
        ...options.headers,
      };
      const answer = await server.inject({
        method: 'POST',
        url: options.url ?? '/core-services/v1/campaign-stats',
        headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
          string,
          string
        >,
        payload: JSON.stringify({ ...goodRequest, ...body }),
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.json() as StatsAnswer };
    },
    async end() {
      await server.close();
      await bundle.end();
    },
  };
}

type Variations = {
  performance_stats: Record<string, number>;
  conversion_goal_stats: Record<string, Record<string, number | string>>;
  delivery_funnel: Record<string, number>;
  failure_breakdown?: Record<string, number>;
};
type StatsAnswer = {
  response_id: string;
  total_campaigns: number;
  current_page: number;
  total_pages: number;
  data: Record<
    string,
    [{ platforms: Record<string, { locales: { all_locales: { variations: { all_variations: Variations } } } }> }]
  >;
  title: string;
  description: string;
  code: string;
};

const goodRequest = {
  request_id: 'r1',
  start_date: '2026-02-20',
  end_date: '2026-03-10',
  attribution_type: 'TOTAL_CONVERSIONS',
  metric_type: 'TOTAL',
};

/** The figures of one platform, out of the boxes the answer puts them in (fact 7). */
export function figuresOf(answer: { body: StatsAnswer }, campaignId: string, platform = 'ANDROID'): Variations {
  return answer.body.data[campaignId]![0].platforms[platform]!.locales.all_locales.variations.all_variations;
}
