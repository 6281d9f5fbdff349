import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isOutage } from '../../domain/outage.ts';
import { reportDigest } from '../../domain/interactions/interaction.ts';
import type { InteractionKind } from '../../domain/interactions/interaction.ts';
import type { InteractionSubject, InteractionTokens } from '../../domain/interactions/interaction-token.ts';
import { reportLimits } from '../../domain/interactions/limits.ts';
import type { ReportLimit } from '../../domain/interactions/limits.ts';
import { interactionsDays } from '../../domain/retention/limits.ts';
import { keptSince, retentionTime } from '../../domain/retention/retention-days.ts';
import { sourceOfAddress } from '../../domain/limits/source-address.ts';
import type { Database } from '../../storage/database.ts';
import { setBadgeCount } from '../../storage/devices/device-badges.ts';
import { makeWorkTogether } from '../push/work-together.ts';
import { makeLimitReports } from './limit-reports.ts';
import { recordInteractions } from './record-interactions.ts';
import type { ReceivedReport } from './record-interactions.ts';

export type InteractionDependencies = {
  database: Database;
  clock: Clock;
  tokens: InteractionTokens;
  limits?: Record<'token' | 'address', ReportLimit>;
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
  limits = reportLimits,
  keptDays = interactionsDays,
}: InteractionDependencies) {
  const ofToken = makeLimitReports(limits.token, { clock, what: 'token' });
  const ofAddress = makeLimitReports(limits.address, { clock, what: 'address' });
  const record = makeWorkTogether<ReceivedReport, boolean>(
    (reports) => {
      const now = retentionTime({ now: clock.now(), realNow: clock.realNow() });
      return recordInteractions({ database, since: keptSince(now, keptDays) }, reports);
    },
    { batchItems: 500, waitingItems: 20_000, batchesAtOnce: 1 },
  );

  /** The address's limit comes first, so that guesses at tokens are limited too. */
  function prove(address: string, open: () => InteractionSubject | undefined): InteractionSubject {
    ofAddress.check(sourceOfAddress(address));
    const subject = open();
    if (!subject) throw new ServiceError('INTERACTION_TOKEN_UNKNOWN', { detail: 'not issued by this installation' });
    return subject;
  }

  async function count(subject: InteractionSubject, report: Omit<ReceivedReport, 'subject' | 'at'>): Promise<void> {
    ofToken.check(`${subject.runId}:${subject.deviceId}`);
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
      await count(subject, { kind, action: action ?? null, isLowered, digest: reportDigest(reportId) });
      return { workspaceId: subject.workspaceId };
    },

    /**
     * Takes over what an app says that stands on its icon, so that the next message counts on from it.
     *
     * @throws ServiceError INTERACTION_TOKEN_UNKNOWN, INTERACTION_RATE_LIMITED
     */
    async setBadge({ token, count, address }: BadgeCommand): Promise<{ workspaceId: string }> {
      const { workspaceId, bucket, deviceId, runId } = prove(address, () => tokens.open(token));
      ofToken.check(`${runId}:${deviceId}`);
      await setBadgeCount(database, { workspaceId, bucket, deviceId, count });
      return { workspaceId };
    },

    /**
     * Proves that the address travelled with the message and counts a click. A person is never stranded: beyond the
     * token's limit, under overload, while the database is away and when the run is kept no more, the click is left
     * uncounted.
     *
     * @throws ServiceError INTERACTION_TOKEN_UNKNOWN, INTERACTION_RATE_LIMITED
     */
    async click({ clickToken, to, address }: ClickCommand): Promise<{ workspaceId: string; uncounted?: string }> {
      const subject = prove(address, () => tokens.openClick(clickToken, to));
      const { workspaceId } = subject;
      try {
        await count(subject, { kind: 'click', action: null, digest: reportDigest(randomUUID()) });
        return { workspaceId };
      } catch (error) {
        if (isOutage(error)) return { workspaceId, uncounted: 'STORAGE_UNAVAILABLE' };
        if (!(error instanceof ServiceError)) throw error;
        return { workspaceId, uncounted: error.code };
      }
    },
  };
}

export type InteractionReports = ReturnType<typeof makeInteractionReports>;
