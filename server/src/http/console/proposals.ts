import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { readAgentChange } from '../../app/campaigns/agent-work.ts';
import type { AuthoringDependencies } from '../../app/campaigns/authoring.ts';
import {
  approveProposal,
  listProposals,
  propose,
  readProposal,
  refuseProposal,
} from '../../app/campaigns/proposals.ts';
import type { ShownProposal } from '../../app/campaigns/proposals.ts';
import type { Difference } from '../../domain/campaign-document/differences.ts';
import { proposalKinds, proposalStates } from '../../domain/campaigns/proposals.ts';
import { revealInvisible } from '../../domain/content/invisible-characters.ts';
import { maxProposalNoteCharacters, maxProposedTestUsers } from '../../domain/limits/campaigns.ts';
import { maxCustomerIdBytes } from '../../domain/limits/users.ts';
import { presentV5Error } from '../campaigns/v5-answers.ts';
import { presentDefaultError, toServiceError } from '../route/errors.ts';
import { consoleApi as api } from './access.ts';
import { changeOf, closed, Id, id, keyOf, Workspace, workspaceId, workspaceOf } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const ProposalKind = oneOf(proposalKinds);

export const Proposal = Type.Object({
  id: Type.String(),
  kind: ProposalKind,
  state: oneOf(proposalStates),
  fault: described(orNull(Type.String()), 'Why the proposal cannot be approved; null if it can.'),
  campaignId: Type.String(),
  campaignName: Type.String(),
  agentName: Type.String({ description: 'The token, and the account whose rights it has.' }),
  note: Type.String({ description: 'What the agent wrote; it is not checked.' }),
  customerIds: described(orNull(Type.Array(Type.String())), 'The users of a test that waits for a decision.'),
  proposedAt: Type.String(),
  expiresAt: Type.String(),
  decidedAt: orNull(Type.String()),
  decidedBy: orNull(Type.String()),
  reason: orNull(Type.String()),
});

export const ProposalList = Type.Object({
  proposals: described(Type.Array(Proposal), 'Those that wait first, then the newest.'),
});

export const ProposalChange = Type.Object({
  path: Type.String({ description: 'A member of the campaign, such as `basic_details.name`.' }),
  before: described(orNull(Type.String()), 'The earlier value as text; null if there was none.'),
  after: described(orNull(Type.String()), 'The later value as text; null if it was removed.'),
});

export const ProposalDetail = Type.Object({
  proposal: Proposal,
  campaign: described(Type.Record(Type.String(), Type.Unknown()), 'The draft as it was proposed, as V5 returns it.'),
  changes: described(
    Type.Array(ProposalChange),
    'What agents changed since a person last had the draft; everything, for a draft that an agent created.',
  ),
  changesSince: described(
    Type.Array(ProposalChange),
    'What was changed after it was proposed. It then cannot be approved.',
  ),
});

export const CreatedProposal = Type.Object({
  id: Type.String(),
  expiresAt: Type.String(),
  next: Type.String({ description: 'What has to happen now, for the agent.' }),
});

export const ApprovedProposal = Type.Object({ campaignId: Type.String(), kind: ProposalKind });

export const AgentChange = Type.Object({
  change: described(
    orNull(Type.Object({ id: Type.String(), agentName: Type.String(), changedAt: Type.String() })),
    'The last change of the draft by an agent; null if there is none since it was last published.',
  ),
});

const note = Type.String({ maxLength: maxProposalNoteCharacters });
const customerIds = Type.Array(Type.String({ minLength: 1, maxLength: maxCustomerIdBytes }), {
  minItems: 1,
  maxItems: maxProposedTestUsers,
});
const NewProposal = Type.Object({ note, customerIds: Type.Optional(customerIds) }, closed);
const Refusal = Type.Object({ reason: note }, closed);
const Approving = Type.Object({
  workspaceId,
  delaySeconds: Type.Optional(Type.String({ pattern: '^([0-5]?[0-9]|60)$' })),
});
const OfCampaign = Type.Object({ id });

type ProposalRouteDependencies = { composer: AuthoringDependencies };

/** Routes for what agents propose. Agents propose and read; only a person's session opens those that decide (decision 0103). */
export function proposalRoutes(server: FastifyInstance, { composer }: ProposalRouteDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const mayRead = { permission: 'overview.read' as const };
  const config = { permission: 'campaigns.write' as const };
  void server.register(async (scope) => {
    scope.setErrorHandler((thrown, request, reply) => {
      const error = toServiceError(thrown, request);
      // An agent corrects the faults; the page lists them.
      if (error.code === 'CAMPAIGN_REQUEST_INVALID') return presentV5Error(error, { request, reply });
      return presentDefaultError(error, reply);
    });
    const listing = { schema: { ...schema, response: { 200: ProposalList } }, config: mayRead };
    scope.get(`${api}/proposals`, listing, async (request) => ({
      proposals: (await listProposals(composer, workspaceOf(request))).map(presentProposal),
    }));
    const reading = { schema: { ...schema, params: Id, response: { 200: ProposalDetail } }, config: mayRead };
    scope.get(`${api}/proposals/:id`, reading, async (request) => {
      const { parts, changes, changesSince, ...proposal } = await readProposal(composer, keyOf(request));
      return {
        proposal: presentProposal(proposal),
        campaign: parts,
        changes: changes.map(presentChange),
        changesSince: changesSince.map(presentChange),
      };
    });
    const asking = { ...schema, params: OfCampaign, response: { 200: AgentChange } };
    scope.get(`${api}/campaigns/:id/agent-change`, { schema: asking, config: mayRead }, async (request) => {
      const change = await readAgentChange(composer, keyOf(request));
      if (!change) return { change: null };
      const { changeId, agentName, changedAt } = change;
      return { change: { id: changeId, agentName, changedAt: changedAt.toISOString() } };
    });
    const proposing = { ...schema, params: OfCampaign, body: NewProposal, response: { 201: CreatedProposal } };
    scope.post(`${api}/campaigns/:id/proposals`, { schema: proposing, config }, async (request, reply) => {
      const { note: written, customerIds: users } = request.body as Static<typeof NewProposal>;
      const asked = users === undefined ? { kind: 'PUBLISH' as const } : { kind: 'TEST' as const, customerIds: users };
      const { id: campaignId } = keyOf(request);
      const made = await propose(composer, { ...changeOf(request), campaignId, note: written, asked });
      return reply.code(201).send({ ...made, expiresAt: made.expiresAt.toISOString(), next: waiting });
    });
    decisionRoutes(scope, { composer });
  });
}

const waiting =
  'Nothing is sent yet. A person must approve it under Proposals in the console. A change of the draft ends it.';

function decisionRoutes(server: FastifyInstance, { composer }: ProposalRouteDependencies): void {
  const config = { permission: 'campaigns.write' as const };
  const approving = { hide: true, querystring: Approving, params: Id, response: { 200: ApprovedProposal } };
  server.post(`${api}/proposals/:id/approve`, { schema: approving, config }, async (request) => {
    const { delaySeconds = '0' } = request.query as Static<typeof Approving>;
    const command = { ...keyOf(request), actor: request.signedIn, delaySeconds: Number(delaySeconds) };
    const { campaignId, kind } = await approveProposal(composer, command);
    return { campaignId, kind };
  });
  const refusing = { hide: true, querystring: Workspace, params: Id, body: Refusal };
  server.post(`${api}/proposals/:id/refuse`, { schema: refusing, config }, async (request, reply) => {
    const { reason } = request.body as Static<typeof Refusal>;
    await refuseProposal(composer, { ...keyOf(request), actor: request.signedIn, reason: reason.trim() });
    return reply.code(204).send();
  });
}

function presentProposal({ fault, proposedAt, expiresAt, decidedAt, ...proposal }: ShownProposal) {
  return {
    ...proposal,
    fault: fault ?? null,
    note: revealInvisible(proposal.note),
    campaignName: revealInvisible(proposal.campaignName),
    proposedAt: proposedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  };
}

/** Invisible characters are written out: the person must see all of what is sent. */
function presentChange({ path, before, after }: Difference) {
  return { path: revealInvisible(path), before: textOf(before), after: textOf(after) };
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  return revealInvisible(typeof value === 'string' ? value : JSON.stringify(value));
}
