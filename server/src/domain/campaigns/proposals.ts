import type { CampaignParts } from '../campaign-document/campaign.ts';
import { differencesOf } from '../campaign-document/differences.ts';
import type { CampaignStatus } from './campaign.ts';

/** What an agent can propose for a draft: to publish it, or to send it to a few users as a test. */
export const proposalKinds = ['PUBLISH', 'TEST'] as const;
export type ProposalKind = (typeof proposalKinds)[number];

export const proposalStates = ['PENDING', 'APPROVED', 'REFUSED', 'WITHDRAWN'] as const;
export type ProposalState = (typeof proposalStates)[number];

type Judged = { state: ProposalState; expiresAt: Date; parts: CampaignParts };
type Draft = { status: CampaignStatus; parts: CampaignParts | null };

/**
 * Returns why a proposal can no longer be approved; undefined if it can. What is sent must be what was proposed, so any change of the draft
 * ends it; an equal draft is the same, whoever wrote it. Pure.
 */
export function whyNotApprovable(
  { state, expiresAt, parts }: Judged,
  { draft, at }: { draft: Draft | undefined; at: Date },
): string | undefined {
  if (state !== 'PENDING') return `it is ${state.toLowerCase()}`;
  if (expiresAt <= at) return 'it has expired';
  if (draft?.status !== 'DRAFT') return 'the campaign is not a draft any more';
  const isSame = draft.parts !== null && differencesOf(parts, draft.parts).length === 0;
  return isSame ? undefined : 'the draft was changed after it was proposed';
}
