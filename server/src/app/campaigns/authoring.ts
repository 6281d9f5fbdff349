import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { campaignCreationWindows, campaignCallsPerMinute, campaignCallWindows } from '../../domain/limits/campaigns.ts';
import { takeCampaignRequestId } from '../../storage/campaigns/campaigns.ts';
import type { Database, Transaction, Queryable } from '../../storage/database.ts';
import { findLimitWindows } from '../../storage/limits/sliding-windows.ts';
import type { Actor } from '../accounts/audit.ts';
import { countCall } from '../segments/segment-limits.ts';
import type { CampaignTotals } from './search-campaigns.ts';

export type AuthoringDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  limits: AuthoringLimits;
};

/** Dependencies of the routes for searching and authoring. */
export type CampaignDependencies = AuthoringDependencies & { totals: CampaignTotals };

/** The limits of fact 6.1 and 6.3, unless a test overrides them. Each applies per workspace, both versions together. */
export type AuthoringLimits = {
  /** Created campaigns; a rejected request does not count. */
  creations: readonly LimitWindow[];
};

export const documentedAuthoringLimits: AuthoringLimits = {
  creations: campaignCreationWindows,
};

/** The caller, and how a repeated request is recognised (decision D4). */
export type AuthoringCaller = {
  workspaceId: string;
  actor: Actor;
  idempotencyKey: string | undefined;
  rawBody: string;
};

/**
 * Counts the creation of a campaign (fact 6.1) in the caller's transaction: creations that are rejected or rolled back do not
 * count.
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
  /** Calls left in this minute. */
  remaining: number;
  /** Seconds until the oldest counted call leaves the minute; if refused, until a call would be accepted. */
  resetSeconds: number;
};

/** Counts a call of either version against its workspace's limits and returns what is left of the minute. */
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
 * Reserves V1's `request_id` for an hour (fact 6.1) in the caller's transaction, so that it can be used again immediately after
 * a failure. Undefined reserves nothing.
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
