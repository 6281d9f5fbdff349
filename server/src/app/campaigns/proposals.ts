import { differencesOf } from '../../domain/campaign-document/differences.ts';
import type { Difference } from '../../domain/campaign-document/differences.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { whyNotApprovable } from '../../domain/campaigns/proposals.ts';
import type { ProposalKind } from '../../domain/campaigns/proposals.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxPendingProposals, maxShownProposals, proposalDays } from '../../domain/limits/campaigns.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { standardAttributes } from '../../domain/users/standard-attributes.ts';
import { findAgentDraft } from '../../storage/campaigns/agent-drafts.ts';
import { findAuthoredCampaign, lockAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import {
  countPendingProposals,
  decideProposal,
  findProposal,
  insertProposal,
  listProposals as listStored,
  lockProposal,
  withdrawProposals,
} from '../../storage/campaigns/proposals.ts';
import type { Proposal } from '../../storage/campaigns/proposals.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { lockWorkspace } from '../../storage/workspaces.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { refuseAgents } from './agent-work.ts';
import type { AuthoringDependencies } from './authoring.ts';
import { nameIn, publishDraft } from './create-campaign.ts';
import { requirePrepared } from './prepare-campaign.ts';
import { testInTransaction } from './test-campaign.ts';

type Deps = Pick<AuthoringDependencies, 'database' | 'clock'>;
type Key = { workspaceId: string; id: string };

export type ProposalCommand = {
  actor: Actor;
  workspaceId: string;
  campaignId: string;
  /** Why the agent proposes it; the person reads it. */
  note: string;
  asked: { kind: 'PUBLISH' } | { kind: 'TEST'; customerIds: string[] };
};

/**
 * Stores a copy of a draft that an agent proposes to publish or to test, until a person decides. It replaces the earlier proposal of its
 * kind for the draft. A draft that could not go live now is rejected, so that the agent can correct it.
 *
 * @throws ServiceError ACCOUNT_NOT_PERMITTED, CAMPAIGN_NOT_FOUND, CAMPAIGN_NOT_DRAFT, CAMPAIGN_REQUEST_INVALID, PROPOSALS_LIMITED
 */
export function propose(
  { database, clock }: Deps,
  { actor, workspaceId, campaignId, note, asked }: ProposalCommand,
): Promise<{ id: string; expiresAt: Date }> {
  if (actor.kind !== 'account' || !actor.agent?.mayPropose)
    throw new ServiceError('ACCOUNT_NOT_PERMITTED', { detail: 'only agents propose; people publish' });
  const { tokenId } = actor.agent;
  const at = clock.realNow();
  const { kind } = asked;
  return inTransaction(database, async (tx) => {
    const draft = await lockAuthoredCampaign(tx, { workspaceId, id: campaignId });
    if (!draft) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    if (draft.status !== 'DRAFT' || draft.parts === null) throw new ServiceError('CAMPAIGN_NOT_DRAFT');
    const { parts } = draft;
    if (kind === 'PUBLISH') await requirePrepared(tx, { workspaceId, parts, now: clock.now(), start: 'to come' });
    // Two agents at the limit must not both pass it. After the draft, like an approval, whose new rows refer to the workspace.
    await lockWorkspace(tx, workspaceId);
    await withdrawProposals(tx, { campaignId, kind, at, by: actor.name, reason: 'another proposal took its place' });
    if ((await countPendingProposals(tx, workspaceId)) >= maxPendingProposals)
      throw new ServiceError('PROPOSALS_LIMITED');
    const id = makeId(at);
    const expiresAt = new Date(at.getTime() + proposalDays * 86_400_000);
    const base = (await findAgentDraft(tx, { workspaceId, campaignId }))?.base;
    await insertProposal(tx, {
      ...{ id, workspaceId, campaignId, kind, tokenId, agentName: actor.name, note, parts, proposedAt: at, expiresAt },
      // A draft that no agent changed is proposed as a person left it.
      base: base === undefined ? parts : base,
      customerIds: asked.kind === 'TEST' ? asked.customerIds : null,
    });
    const object = { id: campaignId, ...nameIn(parts) };
    await audit(tx, { actor, workspaceId, action: 'proposal.create', object, detail: { proposal: id, kind }, at });
    return { id, expiresAt };
  });
}

export type ShownProposal = Omit<Proposal, 'base' | 'parts'> & {
  campaignName: string;
  /** Why it cannot be approved; undefined if it can. */
  fault: string | undefined;
};

/** Lists those that wait, then the newest. */
export async function listProposals({ database, clock }: Deps, workspaceId: string): Promise<ShownProposal[]> {
  const found = await listStored(database, { workspaceId, limit: maxShownProposals });
  const at = clock.realNow();
  return found.map(({ base: _base, draft, ...proposal }) => {
    const { parts: _parts, ...shown } = proposal;
    return { ...shown, fault: whyNotApprovable(proposal, { draft, at }) };
  });
}

export type ReadProposal = ShownProposal & {
  /** The draft as it was proposed. */
  parts: CampaignParts;
  /** What agents changed since the draft was last in a person's hands; everything, for a draft that an agent created. */
  changes: Difference[];
  /** What was changed after it was proposed. */
  changesSince: Difference[];
};

/** @throws ServiceError NOT_FOUND */
export async function readProposal({ database, clock }: Deps, key: Key): Promise<ReadProposal> {
  const proposal = await findProposal(database, key);
  if (!proposal) throw new ServiceError('NOT_FOUND');
  const { base, ...shown } = proposal;
  const { workspaceId } = key;
  const draft = await findAuthoredCampaign(database, { workspaceId, id: proposal.campaignId });
  const fault = whyNotApprovable(proposal, { draft, at: clock.realNow() });
  const { parts } = proposal;
  return {
    ...{ ...shown, fault, campaignName: nameIn(draft?.parts ?? parts).name ?? '' },
    changes: differencesOf(base ?? {}, parts),
    changesSince: draft?.parts && draft.status === 'DRAFT' ? differencesOf(parts, draft.parts) : [],
  };
}

type Decided = Key & { actor: Actor };

/**
 * Sends what was proposed, in the transaction of the decision: the draft is locked and must still be equal to the proposal.
 *
 * @throws ServiceError NOT_FOUND, PROPOSAL_CLOSED, ACCOUNT_NOT_PERMITTED, CAMPAIGN_REQUEST_INVALID
 */
export function approveProposal(
  { database, clock }: Deps,
  { actor, delaySeconds, ...key }: Decided & { delaySeconds: number },
): Promise<{ id: string; campaignId: string; kind: ProposalKind }> {
  refuseAgents(actor);
  const realAt = clock.realNow();
  const { workspaceId } = key;
  return inTransaction(database, async (tx) => {
    const { proposal, draft } = await lockBoth(tx, key);
    const { id, campaignId, kind, parts, customerIds } = proposal;
    const fault = whyNotApprovable(proposal, { draft, at: realAt });
    if (fault !== undefined) throw new ServiceError('PROPOSAL_CLOSED', { reason: fault });
    await decideProposal(tx, { id, state: 'APPROVED', at: realAt, by: actor.name, reason: null });
    const at = clock.now();
    const object = { id: campaignId, ...nameIn(parts) };
    const entry = { actor, workspaceId, object, at: realAt };
    const detail = { proposal: id, kind, agent: proposal.agentName };
    await audit(tx, { ...entry, action: 'proposal.approve', detail });
    switch (kind) {
      case 'PUBLISH': {
        // The person approved this draft, so also the last change by an agent that is in it.
        const seenChange = (await findAgentDraft(tx, { workspaceId, campaignId }))?.changeId;
        const by = { actor, seenChange, updatedBy: actor.name, delaySeconds };
        await publishDraft(tx, { workspaceId, id: campaignId, parts, ...by, at, realAt });
        await audit(tx, { ...entry, action: 'campaign.publish', detail });
        break;
      }
      case 'TEST':
        await testInTransaction(tx, {
          ...{ actor, workspaceId, source: { draftId: campaignId }, platform: undefined, at, realAt },
          ...{ identifier: standardAttributes.uid.selector, values: customerIds ?? [] },
          shown: { variation: undefined, locale: undefined },
        });
        break;
      default:
        return unknownCase(kind);
    }
    return { id, campaignId, kind };
  });
}

/** @throws ServiceError NOT_FOUND, PROPOSAL_CLOSED, ACCOUNT_NOT_PERMITTED */
export async function refuseProposal(
  { database, clock }: Deps,
  { actor, reason, ...key }: Decided & { reason: string },
): Promise<void> {
  refuseAgents(actor);
  const at = clock.realNow();
  const { workspaceId } = key;
  await inTransaction(database, async (tx) => {
    const { proposal } = await lockBoth(tx, key);
    const { id, campaignId, kind, parts } = proposal;
    if (proposal.state !== 'PENDING')
      throw new ServiceError('PROPOSAL_CLOSED', { reason: `it is ${proposal.state.toLowerCase()}` });
    await decideProposal(tx, { id, state: 'REFUSED', at, by: actor.name, reason: reason === '' ? null : reason });
    const object = { id: campaignId, ...nameIn(parts) };
    const detail = { proposal: id, kind, agent: proposal.agentName };
    await audit(tx, { actor, workspaceId, action: 'proposal.refuse', object, detail, at });
  });
}

/** Locks the draft, then the proposal, as every change of either does. @throws ServiceError NOT_FOUND */
async function lockBoth(tx: Transaction, key: Key) {
  const found = await findProposal(tx, key);
  const draft = found && (await lockAuthoredCampaign(tx, { workspaceId: key.workspaceId, id: found.campaignId }));
  const proposal = await lockProposal(tx, key);
  if (!proposal) throw new ServiceError('NOT_FOUND');
  return { proposal, draft };
}
