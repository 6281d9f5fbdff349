import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isOutage } from '../../domain/outage.ts';
import { reportDigest } from '../../domain/interactions/interaction.ts';
import type { InteractionKind } from '../../domain/interactions/interaction.ts';
import type { InteractionSubject, InteractionTokens } from '../../domain/interactions/interaction-token.ts';
import { reportLimits } from '../../domain/interactions/limits.ts';
import { interactionsDays } from '../../domain/retention/limits.ts';
import { keptSince, retentionTime } from '../../domain/retention/retention-days.ts';
import type { LimitWindow } from '../../domain/limits/sliding-window.ts';
import { sourceOfAddress } from '../../domain/limits/source-address.ts';
import type { Database } from '../../storage/database.ts';
import { setBadgeCount } from '../../storage/devices/device-badges.ts';
import { makeLimitBursts } from '../limits/limit-bursts.ts';
import type { LimitBursts } from '../limits/limit-bursts.ts';
import { makeWorkTogether } from '../push/work-together.ts';
import { recordInteractions } from './record-interactions.ts';
import type { ReceivedReport } from './record-interactions.ts';

export type InteractionDependencies = {
  database: Database;
  clock: Clock;
  tokens: InteractionTokens;
  /** The documented ones where they are not given. */
  limits?: Partial<Record<keyof typeof reportLimits, LimitWindow>>;
  /** How long it is kept what was reported of a run. */
  keptDays?: number;
};

export type ReportCommand = {
  token: string;
  kind: InteractionKind;
  /** The button. */
  action?: string;
  /** Of one that was shown: it came with a lower priority than it was sent with. */
  isLowered?: boolean;
  /** The device's own name of the report: one name counts once. */
  reportId?: string;
  /** Address of the caller, or of the trusted proxy's client. */
  address: string;
};

export type BadgeCommand = { token: string; count: number; address: string };

export type ClickCommand = { clickToken: string; to: string; address: string };

/** What devices tell of the messages they were sent. The token that came with the message is the credential. */
export function makeInteractionReports({
  database,
  clock,
  tokens,
  limits: given = {},
  keptDays = interactionsDays,
}: InteractionDependencies) {
  const limits = { ...reportLimits, ...given };
  const ofToken = makeLimitBursts(limits.token, { clock });
  const ofAddress = makeLimitBursts(limits.address, { clock });
  const ofUnknownToken = makeLimitBursts(limits.unknownToken, { clock });
  const record = makeWorkTogether<ReceivedReport, boolean>(
    (reports) => {
      const now = retentionTime({ now: clock.now(), realNow: clock.realNow() });
      return recordInteractions({ database, since: keptSince(now, keptDays) }, reports);
    },
    { batchItems: 500, waitingItems: 20_000, batchesAtOnce: 1 },
  );

  /**
   * Verifies the token before anything is counted: a stranger without one must not use up the limit of an address that
   * many phones share. Only guesses are counted here, by address.
   */
  function prove(address: string, open: () => InteractionSubject | undefined): InteractionSubject {
    const subject = open();
    if (subject) return subject;
    refuseOver(ofUnknownToken, { subject: sourceOfAddress(address), what: 'unknown tokens of the address' });
    throw new ServiceError('INTERACTION_TOKEN_UNKNOWN', { detail: 'not issued by this installation' });
  }

  function limitReport({ runId, deviceId }: InteractionSubject, address: string): void {
    refuseOver(ofAddress, { subject: sourceOfAddress(address), what: 'address' });
    refuseOver(ofToken, { subject: `${runId}:${deviceId}`, what: 'token' });
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
     * Takes over what an app says that stands on its icon, so that the next message counts on from it.
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
     * Proves that the address travelled with the message and counts a click. A person is never stranded: beyond the
     * limits of token and address, under overload, while the database is away and when the run is kept no more, the click
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

/** @throws ServiceError INTERACTION_RATE_LIMITED */
function refuseOver(limit: LimitBursts, { subject, what }: { subject: string; what: string }): void {
  const over = limit(subject);
  if (over) throw new ServiceError('INTERACTION_RATE_LIMITED', { ...over, detail: `limit of the ${what}` });
}

export type InteractionReports = ReturnType<typeof makeInteractionReports>;
