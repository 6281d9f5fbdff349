import { setImmediate } from 'node:timers/promises';
import { inject } from 'vitest';
import { inTransaction } from '../../../src/storage/database.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeManualClock } from '../../../src/clock.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import type { CredentialsOfApps, FoundCredentials } from '../../../src/domain/credentials/credentials.ts';
import type { ProviderCredentials, ProviderName } from '../../../src/domain/delivery/providers.ts';
import { providerOf } from '../../../src/domain/delivery/providers.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import type { DeliverySettings } from '../../../src/domain/campaigns/delivery-settings.ts';
import type { PushAudience } from '../../../src/domain/push.ts';
import type { Timing } from '../../../src/domain/timing/timing.ts';
import { bucketOf } from '../../../src/domain/users/users.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { makeInteractionTokens } from '../../../src/domain/events/interactions.ts';
import { makeLog } from '../../../src/log.ts';
import { storeAndSend, storePushes } from '../../../src/app/push/store-pushes.ts';
import type { PushToStore, StoredPush } from '../../../src/app/push/store-pushes.ts';
import type { OwnRuns } from '../../../src/storage/runs/named-runs.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { makeSingleBatch } from '../../../src/providers/batch.ts';
import { makeDeliverToDevices } from '../../../src/engine/fan-out/deliver-to-devices.ts';
import { makeEndRuns } from '../../../src/engine/fan-out/end-runs.ts';
import { makeCutAudiences } from '../../../src/engine/fan-out/cut-audiences.ts';
import { makeReleaseRuns } from '../../../src/engine/fan-out/runs.ts';
import { makePersonaliseDevices } from '../../../src/engine/fan-out/compose-message.ts';
import { makeRetryDeliveries } from '../../../src/engine/fan-out/retry-deliveries.ts';
import { makeSendWindow } from '../../../src/engine/fan-out/send-window.ts';
import { chunkLeaseMilliseconds, makeLease } from '../../../src/engine/jobs/leased-job.ts';
import { makeNamedRunSender, startNamedRuns } from '../../../src/engine/fan-out/send-named-runs.ts';
import type { NamedRunSender } from '../../../src/engine/fan-out/send-named-runs.ts';
import { makeWindowTurns, startChunkWorkers } from '../../../src/engine/fan-out/work-chunks.ts';
import { makeEvidence } from '../../../src/engine/governor/provider-evidence.ts';
import { makeGovernor } from '../../../src/engine/governor/governor.ts';
import { releaseCheckedKeys } from '../../../src/storage/limits/governor.ts';
import { continueMendedRuns } from '../../../src/storage/runs/run-refusals.ts';
import { claimChunks } from '../../../src/storage/runs/chunks.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { findRunsToSend, sumRunCounts } from '../../../src/storage/runs/run-states.ts';
import { createTestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

export const start = new Date('2026-03-01T12:00:00Z');
/** How due deliveries are claimed: buckets together, or one by one, which is the only way on a cluster. */
export type ClaimedBy = 'many buckets' | 'one bucket';
export const claimedBy: readonly ClaimedBy[] =
  inject('workerUrls') === null ? ['many buckets', 'one bucket'] : ['one bucket'];
export type Sent = { deviceId: string; pushId: string; collapseId: string; messageId: string };
export type FanOutBundle = Awaited<ReturnType<typeof makeFanOutBundle>>;

export type AcceptOptions = {
  segmentId?: string;
  targetUsers?: [number, string][];
  /** Audience `User`: whom to look up when a schedule fires. */
  audience?: PushAudience;
  timing?: Timing;
  platforms?: Platform[];
  ttlSeconds?: number;
  settings?: Partial<DeliverySettings>;
  /** `options` of every platform's content. */
  options?: object;
  /** Of the node that accepts it; it sends what it has room for. */
  ownRuns?: OwnRuns;
  /** Wraps the transaction. */
  storing?: (store: () => Promise<StoredPush[]>) => Promise<StoredPush[]>;
  /** Collects for whom the doorbell is rung. */
  rings?: string[];
};

/** Enough to tell the accounts apart; nothing is sent with them. */
const simulatedCredentials = {
  fcm: { projectId: 'shop', simulated: true },
  apns: { teamId: 'TEAM1', simulated: true },
} as ProviderCredentials;

const platforms: Platform[] = ['ANDROID', 'IOS', 'WEB'];

/**
 * The engine on a database of its own, a clock that stands, and a provider whose answers the test gives. What real
 * providers answer is tested against the simulators in test/engine/delivery.
 */
export async function makeFanOutBundle() {
  const test = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const lines: Record<string, unknown>[] = [];
  const log = makeLog(
    { level: 'info', pretty: false },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const workspaceId = await insertTestWorkspace(database, start);
  const sent: Sent[] = [];
  const messages: Message[] = [];
  let answer: (device: Sent, nth: number) => Outcome | Promise<Outcome> = () => ({ kind: 'accepted' });
  let version = '';
  const found = (credentials: ProviderCredentials, provider: ProviderName): FoundCredentials => ({
    credentials,
    name: { provider, appId: 'default', version },
  });
  let find: CredentialsOfApps['find'] = (device) => found(simulatedCredentials, providerOf(device));
  const makeDeliver = () =>
    makeDeliverToDevices({
      clock,
      log,
      governor: makeGovernor({ database, clock, log, pause: async () => {} }),
      evidence: makeEvidence({ database, clock, log }),
      random: () => 0.5,
      interactionTokens: makeInteractionTokens(Buffer.alloc(32, 1)),
      phoneDefaults: { dataPrefix: 'svc', publicUrl: undefined },
      loadCredentials: async () => ({ find: (device) => find(device), apps: [] }),
      delivery: {
        openBatch: makeSingleBatch(async ({ message, device }) => {
          const request: Sent = {
            deviceId: device.deviceId,
            pushId: device.pushId,
            collapseId: message.identity.collapseId,
            messageId: message.identity.id,
          };
          sent.push(request);
          messages.push(message);
          return answer(request, sent.length);
        }),
      },
    });
  const outcomes = makeOutcomeBuffer({ log, pause: () => setImmediate() });
  let isBroken: (pushId: string) => boolean = () => false;
  const personalise = makePersonaliseDevices({ database });
  const personaliseDevices: typeof personalise = (run, devices) => {
    if (devices.some(({ pushId }) => isBroken(pushId))) throw new TypeError('a page cannot be made');
    return personalise(run, devices);
  };
  const deliverToDevices = makeDeliver();
  const onOtherNode = makeDeliver();
  const releaseRuns = makeReleaseRuns({ database, log, wakeWorkers: () => {} });
  const cutAudiences = makeCutAudiences({ database, clock, log, wakeWorkers: () => {} });
  const makeWindow = (windowDevices: number, node: 'one' | 'other' = 'one') =>
    makeSendWindow({
      ...{ database, clock, log, windowDevices, personaliseDevices, outcomes },
      deliverToDevices: node === 'one' ? deliverToDevices : onOtherNode,
    });

  return {
    ...test,
    clock,
    workspaceId,
    outcomes,
    log,
    /** A page with such a device fails as a whole. */
    breakPages(next: typeof isBroken) {
      isBroken = next;
    },
    sent,
    /** What the provider was asked to send, in the order of `sent`. */
    messages,
    /** Which apps have a credential; all of them unless said. */
    credentials(next: (device: Parameters<CredentialsOfApps['find']>[0]) => ProviderCredentials | undefined) {
      find = (device) => {
        const credentials = next(device);
        return credentials && found(credentials, providerOf(device));
      };
    },
    simulatedCredentials,
    answer(next: typeof answer) {
      answer = next;
    },

    /** Devices made at the clock's time, one a user, platforms in turn. */
    addDevices(count: number, prefix = 'user'): Promise<void> {
      return this.addDevicesOf(Array.from({ length: count }, (_, number) => `${prefix}-${number}`));
    },

    /** The same of users that are named. */
    async addDevicesOf(customerIds: readonly string[]): Promise<void> {
      const at = clock.now();
      const rows = customerIds.map((customerId, number) => ({
        customerId,
        bucket: bucketOf(customerId),
        id: makeId(at),
        platform: platforms[number % 3]!,
      }));
      await database`
        insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
        select ${workspaceId}, row.bucket, row.id, row.customer_id, ${at}, ${at}
        from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => row.customerId)}::text[]) as row (bucket, id, customer_id)`;
      await database`
        insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
          created_at, updated_at)
        select ${workspaceId}, row.bucket, row.id, row.id, 'phone', row.platform, 'push-' || row.customer_id, 'ACTIVE',
          ${at}, ${at}, ${at}
        from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => row.customerId)}::text[], ${rows.map((row) => row.platform)}::text[])
          as row (bucket, id, customer_id, platform)`;
    },

    /** Stores a campaign of the push API, as an accepted request does. */
    async accept(options: AcceptOptions = {}) {
      const at = clock.now();
      const [campaignId, runId] = [makeId(at), makeId(at)];
      const { storing = (store) => store(), rings = [] } = options;
      const ring = (bell = 'fan-out'): void => void rings.push(bell);
      const workers = { doorbell: { ring }, ownRuns: options.ownRuns };
      const text = { title: 'T', message: 'M', ...(options.options ? { options: options.options } : {}) };
      await storeAndSend<PushToStore, StoredPush>(
        workers,
        [
          {
            responseId: crypto.randomUUID(),
            workspaceId,
            name: `Campaign ${runId}`,
            signedBy: 'test',
            command: {
              requestId: 'r',
              platforms: options.platforms ?? platforms,
              audience: options.audience ?? { kind: 'all-users' },
              content: {
                ANDROID: { ...text, richContent: [], additionalActions: [] },
                IOS: { ...text, enableBadge: false, richContent: [], additionalActions: [] },
                WEB: { ...text, redirectUrl: 'https://a.b/', iconUrl: 'https://a.b/i.png', autoDismiss: false },
              },
              timing: options.timing ?? { kind: 'soon' },
              tags: [],
              conversionGoals: [],
              settings: options.settings ?? {},
            } as never,
            segmentId: options.segmentId,
            targetUsers: options.targetUsers,
            existing: undefined,
            campaignId,
            runId,
            at,
            sendUntil: new Date(at.getTime() + (options.ttlSeconds ?? 86_400) * 1000),
          },
        ],
        {
          store: (claimed) => storing(() => inTransaction(database, (tx) => storePushes(tx, claimed))),
          isSentNow: () => true,
        },
      );
      return { campaignId, runId };
    },

    /** What the log says. */
    lines,
    /** Releases runs that are due, and counts those with large audiences to the end. */
    async release(): Promise<number> {
      const released = await releaseRuns.runOnce(clock.now());
      while ((await cutAudiences.runOnce(clock.now())) > 0);
      return released;
    },
    /** Of the credentials, as the database would say it. */
    version(next: string) {
      version = next;
    },
    /** Whatever was mended goes on. */
    mend: async () => {
      await releaseCheckedKeys(database, clock.now());
      return continueMendedRuns(database, clock.now());
    },
    end: () => makeEndRuns({ database, clock, log }).runOnce(clock.now()),
    retry: (by: ClaimedBy = claimedBy[0]!) =>
      makeRetryDeliveries({
        database,
        clock,
        log,
        personaliseDevices,
        deliverToDevices,
        outcomes,
        isCluster: async () => by === 'one bucket',
        onSettled: () => {},
      }).runOnce(clock.now()),

    /** Claims one chunk under an owner's name, as a worker does. */
    async claim(owner: string, lastLane: 0 | 1 = 1) {
      const [chunk] = await claimChunks(database, {
        owner,
        lastLane,
        limit: 1,
        at: clock.now(),
        ...makeLease(clock, chunkLeaseMilliseconds),
      });
      return chunk;
    },
    async run(runId: string): Promise<RunToSend> {
      return (await findRunsToSend(database, [runId]))[0]!;
    },
    sendWindow: makeWindow(10),

    /** `node`: what it knows of providers is its own, and what both share is in the database. */
    startWorkers(
      options: {
        owner?: string;
        windowDevices?: number;
        parallelChunks?: number;
        node?: 'one' | 'other';
        /** `in batches`: as a node does. A test without named users saves the statements. */
        namedRuns?: 'in batches';
      } = {},
    ) {
      const working = {
        ...{ database, clock, log, outcomes, turns: makeWindowTurns(), onChunkEnded: () => {}, onRunsEnded: () => {} },
        owner: options.owner ?? 'worker',
        sendWindow: makeWindow(options.windowDevices ?? 50, options.node),
      };
      const { parallelChunks = 4 } = options;
      const slots = { parallelChunks, transactionalChunks: 2 };
      if (!options.namedRuns) return startChunkWorkers({ ...working, ...slots });
      const chunks = startChunkWorkers({ ...working, ...slots, namedRuns: 'apart' });
      const named = startNamedRuns({
        ...{ ...working, personaliseDevices, windowDevices: options.windowDevices ?? 50, onChunksLeft: chunks.wake },
        deliverToDevices: options.node === 'other' ? onOtherNode : deliverToDevices,
      });
      return {
        wake() {
          named.wake();
          chunks.wake();
        },
        async stop() {
          await Promise.all([named.stop(), chunks.stop()]);
        },
      };
    },

    /** Sends batches of runs to named users, step by step. */
    makeNamedSender(
      owner = 'worker',
      { isStopping = (): boolean => false, onFreed = (): unknown => undefined } = {},
    ): NamedRunSender {
      const sending = { database, clock, log, outcomes, turns: makeWindowTurns(), windowDevices: 50 };
      const own = {
        owner,
        personaliseDevices,
        deliverToDevices,
        onRunsEnded() {},
        onChunkEnded() {},
        onChunksLeft() {},
      };
      return makeNamedRunSender({ ...sending, ...own }, { isStopping, onFreed });
    },

    /** Workers that run until no chunk is open, then stop. */
    async work(options: { owner?: string; windowDevices?: number; nodes?: 1 | 2 } = {}): Promise<void> {
      const own = { ...options, namedRuns: 'in batches' } as const;
      const workers = this.startWorkers(own);
      const others = options.nodes === 2 ? this.startWorkers({ ...own, owner: 'other', node: 'other' }) : undefined;
      for (;;) {
        const [row] = await database`
          select count(*) as open from chunks join runs on runs.id = chunks.run_id
          where chunks.state in ('READY', 'CLAIMED') and runs.status = 'SENDING'`;
        if (row!.open === 0) break;
        workers.wake();
        others?.wake();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await Promise.all([workers.stop(), others?.stop()]);
    },
    /** Until a throttled run has nothing to do at the clock's instant, or nothing at all. */
    async settled(runId: string, workers: { wake(): void }[]): Promise<void> {
      for (;;) {
        for (const worker of workers) worker.wake();
        const [row] = await database`
          select count(*) as due from chunks
          where run_id = ${runId} and (state = 'CLAIMED' or (state = 'READY' and not_before <= ${clock.now()}))`;
        if (row!.due === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    async ledger(runId: string): Promise<{ outcome: string; devices: number }[]> {
      const rows = await database`
        select outcome, count(*) as devices from readable_deliveries as deliveries where run_id = ${runId} group by outcome order by outcome`;
      return [...rows] as never;
    },
    async counters(runId: string): Promise<Record<string, number>> {
      const totals: Record<string, number> = {};
      for (const { outcome, devices } of await sumRunCounts(database, runId)) {
        if (devices !== 0) totals[outcome] = (totals[outcome] ?? 0) + devices;
      }
      return totals;
    },
    async states(campaignId: string) {
      const [row] = await database`
        select campaigns.status as campaign, runs.status as run, runs.status_reason as reason
        from campaigns join runs on runs.campaign_id = campaigns.id where campaigns.id = ${campaignId}`;
      return row as unknown as { campaign: string; run: string; reason: string | null };
    },
    async userOf(customerId: string): Promise<[number, string]> {
      const [row] = await database`select bucket, id from users where customer_id = ${customerId}`;
      return [row!.bucket, row!.id];
    },
    drop: () => test.drop(),
  };
}
