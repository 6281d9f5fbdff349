import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import type { ProposalKind, ProposalState } from '../../domain/campaigns/proposals.ts';
import type { CampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { Queryable } from '../database.ts';

export type Proposal = {
  id: string;
  campaignId: string;
  kind: ProposalKind;
  state: ProposalState;
  agentName: string;
  note: string;
  base: CampaignParts | null;
  parts: CampaignParts;
  /** Null unless it is a test that waits for a decision. */
  customerIds: string[] | null;
  proposedAt: Date;
  expiresAt: Date;
  decidedAt: Date | null;
  decidedBy: string | null;
  reason: string | null;
};

export type NewProposal = Pick<
  Proposal,
  'id' | 'campaignId' | 'kind' | 'agentName' | 'note' | 'base' | 'parts' | 'customerIds' | 'proposedAt' | 'expiresAt'
> & { workspaceId: string; tokenId: string };

/** Inserts a proposal that waits. The caller holds the lock of its draft and has withdrawn the earlier one of its kind. */
export async function insertProposal(tx: Queryable, proposal: NewProposal): Promise<void> {
  const row = {
    id: proposal.id,
    workspace_id: proposal.workspaceId,
    campaign_id: proposal.campaignId,
    kind: proposal.kind,
    state: 'PENDING',
    token_id: proposal.tokenId,
    agent_name: proposal.agentName,
    note: proposal.note,
    base: proposal.base === null ? null : tx.json(proposal.base),
    parts: tx.json(proposal.parts),
    customer_ids: proposal.customerIds,
    proposed_at: proposal.proposedAt,
    expires_at: proposal.expiresAt,
  };
  await tx`insert into agent_proposals ${tx(row)}`;
}

const columns = (tx: Queryable) => tx`
  id, campaign_id as "campaignId", kind, state, agent_name as "agentName", note, base, parts,
  customer_ids as "customerIds", proposed_at as "proposedAt", expires_at as "expiresAt", decided_at as "decidedAt",
  decided_by as "decidedBy", reason`;

type Key = { workspaceId: string; id: string };

/** Index: primary key. */
export async function findProposal(tx: Queryable, { workspaceId, id }: Key): Promise<Proposal | undefined> {
  const [row] = await tx<Proposal[]>`
    select ${columns(tx)} from agent_proposals where id = ${id} and workspace_id = ${workspaceId}`;
  return row;
}

/** Locks a proposal until the transaction ends. The caller holds the lock of its draft. Index: primary key. */
export async function lockProposal(tx: Queryable, { workspaceId, id }: Key): Promise<Proposal | undefined> {
  const [row] = await tx<Proposal[]>`
    select ${columns(tx)} from agent_proposals where id = ${id} and workspace_id = ${workspaceId} for update`;
  return row;
}

export type ListedProposal = Proposal & {
  campaignName: string;
  draft: { status: CampaignStatus; parts: CampaignParts };
};

/** Those that wait first, then the newest. Index: agent_proposals_newest. */
export async function listProposals(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<ListedProposal[]> {
  return tx<ListedProposal[]>`
    select proposal.*, campaigns.name as "campaignName",
      jsonb_build_object('status', campaigns.status, 'parts', campaigns.parts) as draft
    from (
      select ${columns(tx)} from agent_proposals where workspace_id = ${workspaceId}
      order by (state = 'PENDING') desc, id desc limit ${limit}
    ) as proposal
    join campaigns on campaigns.id = proposal."campaignId"
    order by (proposal.state = 'PENDING') desc, proposal.id desc`;
}

/** Index: agent_proposals_newest. */
export async function countPendingProposals(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count from agent_proposals where workspace_id = ${workspaceId} and state = 'PENDING'`;
  return row!.count;
}

type Decision = { at: Date; by: string; reason: string | null };

/** Ends a proposal, and forgets the users of a test. The caller holds its lock. Index: primary key. */
export async function decideProposal(
  tx: Queryable,
  { id, state, at, by, reason }: Decision & { id: string; state: 'APPROVED' | 'REFUSED' },
): Promise<void> {
  await tx`
    update agent_proposals
    set state = ${state}, decided_at = ${at}, decided_by = ${by}, reason = ${reason}, customer_ids = null
    where id = ${id} and state = 'PENDING'`;
}

/** Ends the proposals of a campaign that wait, of one kind or of all. Index: agent_proposals_pending. */
export async function withdrawProposals(
  tx: Queryable,
  { campaignId, kind, at, by, reason }: Decision & { campaignId: string; kind?: ProposalKind },
): Promise<void> {
  await tx`
    update agent_proposals
    set state = 'WITHDRAWN', decided_at = ${at}, decided_by = ${by}, reason = ${reason}, customer_ids = null
    where campaign_id = ${campaignId} and state = 'PENDING' and kind = coalesce(${kind ?? null}, kind)`;
}

/** Ends the proposals of a revoked token that wait, in all workspaces. At most a few wait, so there is no index. */
export async function withdrawProposalsOfToken(
  tx: Queryable,
  { tokenId, at, by, reason }: Decision & { tokenId: string },
): Promise<void> {
  await tx`
    update agent_proposals
    set state = 'WITHDRAWN', decided_at = ${at}, decided_by = ${by}, reason = ${reason}, customer_ids = null
    where token_id = ${tokenId} and state = 'PENDING'`;
}

/** Ends proposals that have expired, and forgets the users of tests. At most 50 wait in a workspace, so there is no index. */
export async function withdrawExpiredProposals(tx: Queryable, at: Date): Promise<number> {
  const { count } = await tx`
    update agent_proposals
    set state = 'WITHDRAWN', decided_at = expires_at, reason = 'it has expired', customer_ids = null
    where state = 'PENDING' and expires_at <= ${at}`;
  return count;
}

/** Deletes proposals that were made before `before`, oldest first. Index: agent_proposals_age. */
export async function deleteOldProposals(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { count } = await tx`
    delete from agent_proposals
    where id in (select id from agent_proposals where proposed_at < ${before} order by proposed_at limit ${limit})`;
  return count;
}
