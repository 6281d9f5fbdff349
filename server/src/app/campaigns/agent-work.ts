import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { deleteAgentDraft, findAgentDraft, noteAgentChange } from '../../storage/campaigns/agent-drafts.ts';
import type { AgentDraft } from '../../storage/campaigns/agent-drafts.ts';
import { withdrawProposals } from '../../storage/campaigns/proposals.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { Actor } from '../accounts/audit.ts';

/**
 * Rejects agents, which change drafts and propose only. The guard of the console opens no route to them that sends, stops or recalls
 * something; this is a second fence for the use cases behind these routes.
 *
 * @throws ServiceError ACCOUNT_NOT_PERMITTED
 */
export function refuseAgents(actor: Actor): void {
  if (actor.kind === 'account' && actor.agent)
    throw new ServiceError('ACCOUNT_NOT_PERMITTED', { detail: 'agents only change drafts and propose' });
}

type Changed = {
  actor: Actor;
  workspaceId: string;
  campaignId: string;
  /** The draft before the change; null if it is new. */
  before: CampaignParts | null;
  at: Date;
};

/** Notes a change by an agent in the transaction of the change. Changes by others are not noted. */
export async function noteDraftChange(tx: Transaction, { actor, at, ...change }: Changed): Promise<void> {
  if (actor.kind !== 'account' || !actor.agent) return;
  await noteAgentChange(tx, { ...change, changeId: makeId(at), agentName: actor.name, at });
}

type Published = {
  actor: Actor;
  workspaceId: string;
  campaignId: string;
  /** The last change by an agent that the person has seen; undefined: none. */
  seenChange: string | undefined;
};

/**
 * Rejects publishing a draft that an agent changed, unless a person publishes it who has seen the last change: programs do not read
 * drafts, and an agent may change a draft while a person composes it. The caller holds the lock of the draft.
 *
 * @throws ServiceError ACCOUNT_NOT_PERMITTED, CAMPAIGN_ACTION_INVALID
 */
export async function requireReviewed(
  tx: Transaction,
  { actor, workspaceId, campaignId, seenChange }: Published,
): Promise<void> {
  refuseAgents(actor);
  const change = await findAgentDraft(tx, { workspaceId, campaignId });
  if (!change || (actor.kind === 'account' && change.changeId === seenChange)) return;
  const reason =
    actor.kind === 'account'
      ? 'draft that an agent has changed since you opened it. Reload the page and review it'
      : 'draft that an agent changed. A person must review and publish it in the console';
  throw new ServiceError('CAMPAIGN_ACTION_INVALID', { field: 'PUBLISH', reason });
}

/** Ends what agents proposed for a draft that is published. */
export async function endAgentWork(
  tx: Transaction,
  { campaignId, actor, at }: { campaignId: string; actor: Actor; at: Date },
): Promise<void> {
  await deleteAgentDraft(tx, campaignId);
  await withdrawProposals(tx, { campaignId, at, by: actor.name, reason: 'the campaign was published' });
}

/** Returns the last change of a draft by an agent; undefined if no agent changed it since it was last published. */
export function readAgentChange(
  { database }: { database: Database },
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<AgentDraft | undefined> {
  return findAgentDraft(database, { workspaceId, campaignId: id });
}
