import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { sourceOfAddress } from '../domain/access/rate-limits.ts';
import type { LimitWindow } from '../domain/access/rate-limits.ts';
import { isOutage } from '../domain/database-faults.ts';
import { ServiceError } from '../domain/errors.ts';
import { eventUuid } from '../domain/events/event-streams.ts';
import { reportDigest, selectNewReports } from '../domain/events/interactions.ts';
import type {
  InteractionKind,
  InteractionSubject,
  InteractionTokens,
  StoredInteractionKind,
} from '../domain/events/interactions.ts';
import { localeName } from '../domain/experiments/variants.ts';
import { reportLimits, maxReports } from '../domain/limits/delivery.ts';
import { interactionsDays } from '../domain/limits/retention.ts';
import { keptSince, retentionTime } from '../domain/operations/retention.ts';
import { addLearned } from '../storage/campaigns/variations.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import { setBadgeCount } from '../storage/devices/device-badges.ts';
import {
  addCampaignInteractions,
  addDeviceReports,
  addRunInteractions,
  findCountedReports,
  findReportedRuns,
  holdReports,
} from '../storage/ledger/interactions.ts';
import type { DeviceReport } from '../storage/ledger/interactions.ts';
import { markReports } from '../storage/outbox/stream-marks.ts';
import type { ReportMark } from '../storage/outbox/stream-marks.ts';
import { findErasedDevices } from '../storage/users/erasures.ts';
import { makeGroupCommit } from './group-commit.ts';
import { makeLimitBursts } from './limits.ts';
import type { LimitBursts } from './limits.ts';

export type InteractionDependencies = {
  database: Database;
  clock: Clock;
  tokens: InteractionTokens;
  /** Overrides the documented limits. */
  limits?: Partial<Record<keyof typeof reportLimits, LimitWindow>>;
  /** How many days the reports of a run are kept. */
  keptDays?: number;
};

export type ReportCommand = {
  token: string;
  kind: InteractionKind;
  /** The button. */
  action?: string;
  /** For an impression: the message arrived with a lower priority than it was sent with. */
  isLowered?: boolean;
  /** The device's own id of the report: reports with the same id count once. */
  reportId?: string;
  /** Address of the caller, or of the trusted proxy's client. */
  address: string;
};

export type BadgeCommand = { token: string; count: number; address: string };

export type ClickCommand = { clickToken: string; to: string; address: string };

/** Receives what devices report about messages sent to them. The token in the message is the credential. */
export function makeInteractionReports({
  database,
  clock,
  tokens,
  limits: given = {},
  keptDays = interactionsDays,
}: InteractionDependencies) {
  const { refuseUnknown, limitReport } = makeReportLimits({ ...reportLimits, ...given }, clock);
  const record = makeGroupCommit<ReceivedReport, boolean>(
    (reports) => {
      const now = retentionTime({ now: clock.now(), realNow: clock.realNow() });
      return recordInteractions({ database, since: keptSince(now, keptDays) }, reports);
    },
    { batchItems: 500, waitingItems: 20_000, batchesAtOnce: 1 },
  );

  /**
   * Verifies the token before anything is counted: a caller without one must not use up the limit of an address that many
   * phones share. Only wrong tokens are counted here, by address.
   */
  function prove(address: string, open: () => InteractionSubject | undefined): InteractionSubject {
    const subject = open();
    return subject ?? refuseUnknown(address);
  }

  async function count(
    subject: InteractionSubject,
    { address, ...report }: Omit<ReceivedReport, 'subject' | 'at'> & { address: string },
  ): Promise<void> {
    limitReport(subject, address);
    if (!(await record({ ...report, subject, at: clock.now() })))
      throw new ServiceError('INTERACTION_TOKEN_UNKNOWN', { detail: 'the run is no longer known' });
  }

  return {
    /** @throws ServiceError INTERACTION_TOKEN_UNKNOWN, INTERACTION_RATE_LIMITED, OVERLOADED */
    async report({
      token,
      kind,
      action,
      isLowered,
      reportId,
      address,
    }: ReportCommand): Promise<{ workspaceId: string }> {
      const subject = prove(address, () => tokens.open(token));
      await count(subject, { kind, action: action ?? null, isLowered, digest: reportDigest(reportId), address });
      return { workspaceId: subject.workspaceId };
    },

    /**
     * Stores the badge count that an app reports, so that the next message counts on from it.
     *
     * @throws ServiceError INTERACTION_TOKEN_UNKNOWN, INTERACTION_RATE_LIMITED
     */
    async setBadge({ token, count, address }: BadgeCommand): Promise<{ workspaceId: string }> {
      const subject = prove(address, () => tokens.open(token));
      limitReport(subject, address);
      const { workspaceId, bucket, deviceId } = subject;
      await setBadgeCount(database, { workspaceId, bucket, deviceId, count });
      return { workspaceId };
    },

    /**
     * Proves that the address was in the message, and counts a click. A proven click always gets the user to the address:
     * beyond the limits of token and address, under overload, while the database is down and when the run is no longer kept, it
     * is left uncounted.
     *
     * @throws ServiceError INTERACTION_TOKEN_UNKNOWN, INTERACTION_RATE_LIMITED
     */
    async click({ clickToken, to, address }: ClickCommand): Promise<{ workspaceId: string; uncounted?: string }> {
      const subject = prove(address, () => tokens.openClick(clickToken, to));
      const { workspaceId } = subject;
      try {
        await count(subject, { kind: 'click', action: null, digest: reportDigest(randomUUID()), address });
        return { workspaceId };
      } catch (error) {
        if (isOutage(error)) return { workspaceId, uncounted: 'STORAGE_UNAVAILABLE' };
        if (!(error instanceof ServiceError)) throw error;
        return { workspaceId, uncounted: error.code };
      }
    },
  };
}

/** Limits reports per token and address, and wrong tokens per address. */
function makeReportLimits(limits: Record<keyof typeof reportLimits, LimitWindow>, clock: Clock) {
  const ofToken = makeLimitBursts(limits.token, { clock });
  const ofAddress = makeLimitBursts(limits.address, { clock });
  const ofUnknownToken = makeLimitBursts(limits.unknownToken, { clock });
  return {
    /** @throws ServiceError INTERACTION_RATE_LIMITED, otherwise INTERACTION_TOKEN_UNKNOWN */
    refuseUnknown(address: string): never {
      refuseOver(ofUnknownToken, { subject: sourceOfAddress(address), what: 'unknown tokens of the address' });
      throw new ServiceError('INTERACTION_TOKEN_UNKNOWN', { detail: 'not issued by this installation' });
    },
    /** @throws ServiceError INTERACTION_RATE_LIMITED */
    limitReport({ runId, deviceId }: InteractionSubject, address: string): void {
      refuseOver(ofAddress, { subject: sourceOfAddress(address), what: 'address' });
      refuseOver(ofToken, { subject: `${runId}:${deviceId}`, what: 'token' });
    },
  };
}

/** @throws ServiceError INTERACTION_RATE_LIMITED */
function refuseOver(limit: LimitBursts, { subject, what }: { subject: string; what: string }): void {
  const over = limit(subject);
  if (over) throw new ServiceError('INTERACTION_RATE_LIMITED', { ...over, detail: `limit of the ${what}` });
}

export type InteractionReports = ReturnType<typeof makeInteractionReports>;

export type ReceivedReport = {
  subject: InteractionSubject;
  kind: InteractionKind;
  action: string | null;
  isLowered?: boolean | undefined;
  digest: Buffer;
  at: Date;
};

/**
 * Counts a batch of reports in one transaction. Repeats, in the batch or of earlier reports, count once. Reports of erased
 * users' devices, and of runs that began before `since`, do not count.
 *
 * @returns for each report, true if its run is known
 */
export async function recordInteractions(
  { database, since }: { database: Database; since: Date },
  received: ReceivedReport[],
): Promise<boolean[]> {
  const ids = [...new Set(received.map(({ subject }) => subject.runId))];
  const runs = new Map((await findReportedRuns(database, { ids, since })).map((run) => [run.id, run]));
  const reports = received.map(({ subject, kind, action, isLowered, digest }): DeviceReport | undefined => {
    const run = runs.get(subject.runId);
    if (run?.workspaceId !== subject.workspaceId) return undefined;
    const { variant = { variation: 0, locale: 0 }, ...message } = subject;
    const reported = { variation: variant.variation, locale: localeName(run.locales ?? undefined, variant) };
    return { ...message, ...reported, campaignId: run.campaignId, kind: storedKinds[kind], action, isLowered, digest };
  });
  const known = await withoutErased(
    database,
    reports.filter((report) => report !== undefined),
  );
  if (known.length > 0) {
    await inTransaction(database, async (tx) => {
      await holdReports(tx, known);
      const counted = await findCountedReports(tx, known);
      const { fresh, firsts, gains, runGains } = selectNewReports({ reports: known, counted, most: maxReports });
      if (fresh.length === 0) return;
      await addDeviceReports(tx, { reports: fresh, at: received[0]!.at });
      await addCampaignInteractions(tx, gains);
      await addRunInteractions(tx, runGains);
      const clicks = firsts.filter(
        ({ kind, runId, variation }) => kind === 'CLICK' && variation > 0 && runs.get(runId)!.learnsBy === 'CLICKS',
      );
      await addLearned(
        tx,
        clicks.map(({ workspaceId, runId, bucket, variation }) => ({
          ...{ workspaceId, runId, bucket, variation },
          ...{ trials: 0, successes: 1 },
        })),
      );
      await markReports(tx, { marks: fresh.flatMap(markOf), at: received[0]!.at });
    });
  }
  return reports.map((report) => report !== undefined);
}

/** Returns the marks for the workspace's event streams, which do not include impressions. */
function markOf({ kind, digest, variation, locale, ...report }: DeviceReport): ReportMark[] {
  const { bucket, workspaceId, runId, deviceId, platform, action } = report;
  if (kind === 'IMPRESSION') return [];
  const streamed = kind === 'CLICK' ? ('clicked' as const) : ('cleared' as const);
  const uuid = eventUuid([streamed, runId, deviceId, digest.toString('hex')]);
  const content = { variation: variation || null, locale: locale || null };
  return [{ workspaceId, runId, bucket, kind: streamed, deviceId, platform, action, uuid, ...content }];
}

async function withoutErased(database: Database, reports: DeviceReport[]): Promise<DeviceReport[]> {
  if (reports.length === 0) return [];
  const erased = await findErasedDevices(database, reports);
  return reports.filter(({ deviceId }) => !erased.has(deviceId));
}

const storedKinds: Record<InteractionKind, StoredInteractionKind> = {
  impression: 'IMPRESSION',
  click: 'CLICK',
  close: 'CLOSE',
};
