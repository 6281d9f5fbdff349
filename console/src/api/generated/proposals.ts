// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type AgentChange = {
  /** The last change of the draft by an agent; null if there is none since it was last published. */
  change: {
    id: string;
    agentName: string;
    changedAt: string;
  } | null;
};

export type ApprovedProposal = {
  campaignId: string;
  kind: ProposalKind;
};

export type CreatedProposal = {
  id: string;
  expiresAt: string;

  /** What has to happen now, for the agent. */
  next: string;
};

export type Proposal = {
  id: string;
  kind: ProposalKind;
  state: 'PENDING' | 'APPROVED' | 'REFUSED' | 'WITHDRAWN';

  /** Why the proposal cannot be approved; null if it can. */
  fault: string | null;
  campaignId: string;
  campaignName: string;

  /** The token, and the account whose rights it has. */
  agentName: string;

  /** What the agent wrote; it is not checked. */
  note: string;

  /** The users of a test that waits for a decision. */
  customerIds: string[] | null;
  proposedAt: string;
  expiresAt: string;
  decidedAt: string | null;
  decidedBy: string | null;
  reason: string | null;
};

export type ProposalChange = {
  /** A member of the campaign, such as `basic_details.name`. */
  path: string;

  /** The earlier value as text; null if there was none. */
  before: string | null;

  /** The later value as text; null if it was removed. */
  after: string | null;
};

export type ProposalDetail = {
  proposal: Proposal;

  /** The draft as it was proposed, as V5 returns it. */
  campaign: Record<string, unknown>;

  /** What agents changed since a person last had the draft; everything, for a draft that an agent created. */
  changes: ProposalChange[];

  /** What was changed after it was proposed. It then cannot be approved. */
  changesSince: ProposalChange[];
};

export type ProposalKind = 'PUBLISH' | 'TEST';

export type ProposalList = {
  /** Those that wait first, then the newest. */
  proposals: Proposal[];
};
