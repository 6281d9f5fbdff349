import type { Clock } from '../../clock.ts';
import type { LimitWindow } from '../../domain/limits/sliding-window.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { campaignCreationWindows } from '../../domain/campaigns/limits.ts';
import type { CampaignTotals } from './campaign-totals.ts';

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
