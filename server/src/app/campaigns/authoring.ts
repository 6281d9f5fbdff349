import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { campaignCreationWindows, campaignCallsPerMinute, campaignCallWindows } from '../../domain/limits/campaigns.ts';
import { takeCampaignRequestId } from '../../storage/campaigns/campaigns.ts';
import type { Database, Transaction, Queryable } from '../../storage/database.ts';
import { findLimitWindows } from '../../storage/limits/sliding-windows.ts';
import { countCall } from '../segments/segment-limits.ts';
import type { CampaignTotals } from './search-campaigns.ts';

export type AuthoringDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  limits: AuthoringLimits;
};

/** Of the routes: what searching and authoring take together. */
export type CampaignDependencies = AuthoringDependencies & { totals: CampaignTotals };

/** Fact 6.1 and 6.3, unless a test says otherwise; each per workspace, both versions together. */
export type AuthoringLimits = {
  /** Campaigns that were made; a refused request does not count. */
  creations: readonly LimitWindow[];
};

export const documentedAuthoringLimits: AuthoringLimits = {
  creations: campaignCreationWindows,
};

/** The caller, and how a repeated request is recognised (decision D4). */
export type AuthoringCaller = {
  workspaceId: string;
  /** Name of the key. */
  requestedBy: string;
  idempotencyKey: string | undefined;
  rawBody: string;
  /** Written with the change, in its transaction: the console's line of the audit log. */
  note?: (tx: Transaction, campaignId: string) => Promise<void>;
};

/**
 * Counts a campaign that is being made (fact 6.1), in the caller's transaction: what is refused or rolled back is not
 * counted.
 *
 * @throws ServiceError CAMPAIGN_CREATION_LIMITED
 */
export async function countCreation(
  tx: Transaction,
  { workspaceId, limits, at }: { workspaceId: string; limits: AuthoringLimits; at: Date },
): Promise<void> {
  const refusal = await countCall(tx, { operation: 'campaign-create', workspaceId, windows: limits.creations, at });
  if (refusal) throw new ServiceError('CAMPAIGN_CREATION_LIMITED', refusal);
}

const operation = 'campaign';

export type CountedCall = {
  outcome: 'counted' | 'refused';
  /** How many more the minute has room for. */
  remaining: number;
  /** Until the oldest counted call leaves the minute; when refused, until a call would pass. */
  resetSeconds: number;
};

/** Counts a call of either version against the limits of its workspace, and says how much of the minute is left. */
export async function countCampaignCall(
  { database, clock }: { database: Queryable; clock: Clock },
  workspaceId: string,
): Promise<CountedCall> {
  const at = clock.now();
  const refusal = await countCall(database, { operation, workspaceId, windows: campaignCallWindows, at });
  const subject = createHash('sha256').update(workspaceId).digest();
  const [events] = await findLimitWindows(database, [{ operation, subject }]);
  const inMinute = events!.filter((event) => event.getTime() > at.getTime() - 60_000);
  const oldest = Math.min(at.getTime(), ...inMinute.map((event) => event.getTime()));
  return {
    outcome: refusal ? 'refused' : 'counted',
    remaining: Math.max(0, campaignCallsPerMinute - inMinute.length),
    resetSeconds: refusal?.retryAfterSeconds ?? Math.ceil((oldest + 60_000 - at.getTime()) / 1000),
  };
}

/**
 * Reserves V1's `request_id` for an hour (fact 6.1), in the caller's transaction: after a failure it may be used again
 * immediately. Undefined reserves nothing.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_REPEATED
 */
export async function takeRequestId(
  tx: Transaction,
  taken: { workspaceId: string; operation: 'create' | 'test'; requestId: string | undefined; at: Date },
): Promise<void> {
  const { requestId } = taken;
  if (requestId === undefined || (await takeCampaignRequestId(tx, { ...taken, requestId }))) return;
  throw new ServiceError('CAMPAIGN_REQUEST_REPEATED', { field: 'request_id' });
}
