import type { Platform } from '../../domain/campaigns/content.ts';
import type { StoredInteractionKind } from '../../domain/interactions/interaction.ts';
import type { Queryable } from '../database.ts';
import { runsInSpan } from './campaign-stats.ts';
import type { AskedRuns, NumbersOfVariant } from './campaign-stats.ts';

/** Of one kind of report. */
type ReportNumbers = NumbersOfVariant & {
  campaignId: string;
  platform: Platform;
  kind: StoredInteractionKind;
  total: number;
  /** Each once, whatever its device reported of others. */
  messages: number;
};

export type InteractionNumbers = ReportNumbers & { uniqueDevices: number };

/** What devices reported of the campaigns, over all their runs. Index: campaign_interactions primary key. */
export async function findInteractionNumbers(
  tx: Queryable,
  { workspaceId, campaignIds }: { workspaceId: string; campaignIds: string[] },
): Promise<InteractionNumbers[]> {
  return tx<InteractionNumbers[]>`
    select campaign_id as "campaignId", platform, kind, variation, locale, sum(total)::bigint as total,
      sum(unique_devices)::bigint as "uniqueDevices", sum(messages)::bigint as messages
    from campaign_interactions
    where workspace_id = ${workspaceId} and campaign_id = any(${campaignIds})
    group by campaign_id, platform, kind, variation, locale`;
}

export type RunInteractionNumbers = ReportNumbers;

/** The same of the runs in a span. Indexes: runs_campaign, run_interactions primary key. */
export async function sumRunInteractions(tx: Queryable, asked: AskedRuns): Promise<RunInteractionNumbers[]> {
  return tx<RunInteractionNumbers[]>`
    with asked as materialized (${runsInSpan(tx, asked)})
    select asked.campaign_id as "campaignId", reported.platform, reported.kind, reported.variation, reported.locale,
      sum(reported.total)::bigint as total, sum(reported.messages)::bigint as messages
    from asked
    join run_interactions as reported on reported.run_id = asked.id
    group by asked.campaign_id, reported.platform, reported.kind, reported.variation, reported.locale`;
}
