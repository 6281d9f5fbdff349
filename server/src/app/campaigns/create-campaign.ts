import { partNames, readCampaign } from '../../domain/campaign-document/campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { mergeParts } from '../../domain/campaign-document/changes.ts';
import { whyNotRecalled } from '../../domain/campaigns/campaign.ts';
import { defaultDeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { makeId } from '../../domain/ids.ts';
import { maxCampaignNameCharacters } from '../../domain/limits/campaigns.ts';
import {
  insertAuthoredCampaign,
  findAuthoredCampaign,
  lockAuthoredCampaign,
  updateAuthoredCampaign,
} from '../../storage/campaigns/authored-campaigns.ts';
import type { AuthoredCampaign, AuthoredColumns } from '../../storage/campaigns/authored-campaigns.ts';
import { dropWinner } from '../../storage/campaigns/variations.ts';
import { inTransaction } from '../../storage/database.ts';
import { hasRuns } from '../../storage/runs/campaign-runs.ts';
import { deleteCampaignSegments } from '../../storage/segments/segments.ts';
import type { Transaction } from '../../storage/database.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { answerOnce } from '../idempotency.ts';
import { requireWorkspace } from '../workspaces.ts';
import { endAgentWork, noteDraftChange, refuseAgents, requireReviewed } from './agent-work.ts';
import { countCreation, takeRequestId } from './authoring.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring.ts';
import { liveColumns, statusOf, startSending, storeAudience, listenForEvents } from './go-live.ts';
import { requirePrepared, invalidCampaign, prepareCampaign } from './prepare-campaign.ts';

export type LiveCommand = AuthoringCaller & { parts: CampaignParts; createdBy: string; requestId: string | undefined };

/**
 * Creates a campaign that is live immediately, as V1 does: it is sent or scheduled (fact 6.1).
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID, CAMPAIGN_REQUEST_REPEATED, CAMPAIGN_CREATION_LIMITED
 */
export async function createLiveCampaign(deps: AuthoringDependencies, command: LiveCommand): Promise<{ id: string }> {
  const { workspaceId, createdBy, parts, requestId } = command;
  const at = deps.clock.now();
  const { idempotencyKey: key, rawBody } = command;
  return answerOnce(deps, { workspaceId, operation: 'campaign:create-live', key, rawBody, at }, async (tx) => {
    await takeRequestId(tx, { workspaceId, operation: 'create', requestId, at });
    const prepared = await requirePrepared(tx, { workspaceId, parts, now: at, start: 'to come' });
    await countCreation(tx, { workspaceId, limits: deps.limits, at });
    const id = makeId(at);
    const owner = { workspaceId, campaignId: id, createdBy, at };
    const segmentId = await storeAudience(tx, prepared, owner);
    const columns = liveColumns(prepared, { ...statusOf(prepared.timing, at), segmentId });
    await insertAuthoredCampaign(tx, { ...columns, id, workspaceId, createdBy, at });
    await listenForEvents(tx, prepared, { workspaceId, campaignId: id, versionId: id, at });
    await startSending(tx, prepared, owner);
    return { id };
  });
}

export type DraftCommand = AuthoringCaller & { parts: CampaignParts; createdBy: string };
export type DraftChange = AuthoringCaller & { id: string; change: CampaignParts; updatedBy: string | undefined };

/** Creates a V5 draft (fact 6.1). @throws ServiceError CAMPAIGN_REQUEST_INVALID, CAMPAIGN_CREATION_LIMITED */
export function createDraftCampaign(deps: AuthoringDependencies, command: DraftCommand): Promise<{ id: string }> {
  const { actor, workspaceId, parts } = command;
  return once(deps, { caller: command, operation: 'create' }, async (tx) => {
    const draft = await createDraft(tx, { ...command, limits: deps.limits, at: deps.clock.now() });
    const at = deps.clock.realNow();
    await noteDraftChange(tx, { actor, workspaceId, campaignId: draft.id, before: null, at });
    const object = { id: draft.id, ...nameIn(parts) };
    await audit(tx, { actor, workspaceId, action: 'campaign.create', object, at });
    return draft;
  });
}

/** @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_NOT_DRAFT, CAMPAIGN_REQUEST_INVALID */
export function changeDraftCampaign(deps: AuthoringDependencies, command: DraftChange): Promise<{ id: string }> {
  const { actor, workspaceId, id } = command;
  return once(deps, { caller: command, operation: `change:${id}` }, async (tx) => {
    const draft = await lockDraft(tx, { workspaceId, id });
    const columns = draftColumns(mergeParts(draft.parts, command.change));
    const updatedBy = command.updatedBy ?? actor.name;
    await updateAuthoredCampaign(tx, { ...columns, id, workspaceId, updatedBy, at: deps.clock.now() });
    const at = deps.clock.realNow();
    await noteDraftChange(tx, { actor, workspaceId, campaignId: id, before: draft.parts, at });
    const object = { id, ...nameIn(command.change) };
    const detail = { status: draft.status };
    await audit(tx, { actor, workspaceId, action: 'campaign.change', object, detail, at });
    return { id };
  });
}

/** Returns the faults that would keep the draft from going live now. @throws ServiceError CAMPAIGN_NOT_FOUND */
export async function validateDraftCampaign(
  { database, clock }: Pick<AuthoringDependencies, 'database' | 'clock'>,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<RequestFault[]> {
  const campaign = await findAuthoredCampaign(database, { workspaceId, id });
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  if (!campaign.parts || campaign.status !== 'DRAFT') return [{ field: 'status', reason: 'is not DRAFT' }];
  const asked = { workspaceId, parts: campaign.parts, now: clock.now(), start: 'to come' } as const;
  const prepared = await prepareCampaign(database, asked);
  return 'faults' in prepared ? prepared.faults : [];
}

/**
 * Publishes a draft. One that is sent as soon as possible waits for `delaySeconds`, in which it can be recalled. A draft that an agent
 * changed is published only by a person who has seen the change, `seenChange` (decision 0103).
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID, CAMPAIGN_REQUEST_INVALID
 */
export function publishDraftCampaign(
  deps: AuthoringDependencies,
  command: AuthoringCaller & { id: string; delaySeconds?: number | undefined; seenChange?: string | undefined },
): Promise<{ id: string }> {
  const { actor, workspaceId, id, delaySeconds, seenChange } = command;
  return once(deps, { caller: command, operation: `status:${id}` }, async (tx) => {
    const draft = await lockAuthoredCampaign(tx, { workspaceId, id });
    if (!draft) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    if (draft.status !== 'DRAFT' || !draft.parts) {
      const reason = `${draft.deliveryType} campaign that is ${draft.status}`;
      throw new ServiceError('CAMPAIGN_ACTION_INVALID', { field: 'PUBLISH', reason });
    }
    const by = { actor, seenChange, at: deps.clock.now(), realAt: deps.clock.realNow() };
    await publishDraft(tx, { workspaceId, id, parts: draft.parts, ...by, updatedBy: actor.name, delaySeconds });
    const object = { id, ...nameIn(draft.parts) };
    await audit(tx, { actor, workspaceId, action: 'campaign.publish', object, at: deps.clock.realNow() });
    return { id };
  });
}

/**
 * Makes a published campaign a draft again. Only before its first run: what was handed to a provider cannot be recalled.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID
 */
export function recallCampaign(
  deps: AuthoringDependencies,
  command: AuthoringCaller & { id: string },
): Promise<{ id: string }> {
  const { actor, workspaceId, id } = command;
  refuseAgents(actor);
  return once(deps, { caller: command, operation: `status:${id}` }, async (tx) => {
    const campaign = await lockAuthoredCampaign(tx, { workspaceId, id });
    if (!campaign?.parts) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    const { parts, status, deliveryType, versionNumber } = campaign;
    const reason =
      whyNotRecalled({ deliveryType, status, isRevised: versionNumber !== null }) ??
      ((await hasRuns(tx, id)) ? `${deliveryType} campaign that has begun to be sent` : undefined);
    if (reason !== undefined) throw new ServiceError('CAMPAIGN_ACTION_INVALID', { field: 'RECALL', reason });
    await deleteCampaignSegments(tx, id);
    await dropWinner(tx, { id, percents: null });
    await updateAuthoredCampaign(tx, {
      ...{ ...draftColumns(parts), id, workspaceId },
      ...{ updatedBy: actor.name, at: deps.clock.now() },
    });
    const entry = { object: { id, ...nameIn(parts) }, detail: { from: status, to: 'DRAFT' } };
    await audit(tx, { ...entry, actor, workspaceId, action: 'campaign.recall', at: deps.clock.realNow() });
    return { id };
  });
}

function once(
  deps: AuthoringDependencies,
  { caller, operation }: { caller: AuthoringCaller; operation: string },
  work: (tx: Transaction) => Promise<{ id: string }>,
): Promise<{ id: string }> {
  const { workspaceId, idempotencyKey: key, rawBody } = caller;
  const asked = { workspaceId, operation: `campaign:${operation}`, key, rawBody, at: deps.clock.now() };
  return answerOnce(deps, asked, work);
}

/** Returns the name that parts contain, which an audit log entry about them shows. */
export function nameIn(parts: CampaignParts): { name?: string } {
  const { name } = (parts.basic_details ?? {}) as { name?: unknown };
  return typeof name === 'string' ? { name } : {};
}

type Clone = { actor: Actor; workspaceId: string; id: string; name: string; parts: CampaignParts };

/**
 * Creates a draft with the parts of another campaign, named as a copy.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID, CAMPAIGN_CREATION_LIMITED
 */
export async function cloneCampaign(
  { database, clock, limits }: AuthoringDependencies,
  { actor, workspaceId, id, name: original, parts: of }: Clone,
): Promise<{ id: string }> {
  refuseAgents(actor);
  const name = nameOfCopy(original);
  const parts = mergeParts(authoredParts(of), { basic_details: { name } });
  return await inTransaction(database, async (tx) => {
    const draft = await createDraft(tx, { workspaceId, createdBy: actor.name, parts, limits, at: clock.now() });
    const object = { id: draft.id, name };
    const detail = { of: id };
    await audit(tx, { actor, workspaceId, action: 'campaign.clone', object, detail, at: clock.realNow() });
    return draft;
  });
}

/** Leaves out the requester, which is different for each use of the parts. */
export function authoredParts(parts: CampaignParts): CampaignParts {
  const names = [...partNames, 'channel', 'campaign_delivery_type'];
  return Object.fromEntries(Object.entries(parts).filter(([name]) => names.includes(name)));
}

function nameOfCopy(name: string): string {
  const suffix = ' (copy)';
  return [...name].slice(0, maxCampaignNameCharacters - suffix.length).join('') + suffix;
}

export type NewDraft = Pick<DraftCommand, 'workspaceId' | 'parts' | 'createdBy'> & {
  limits: AuthoringDependencies['limits'];
  at: Date;
};

/**
 * Creates a draft in the caller's transaction.
 *
 * @throws ServiceError NOT_FOUND, CAMPAIGN_REQUEST_INVALID, CAMPAIGN_CREATION_LIMITED
 */
export async function createDraft(tx: Transaction, draft: NewDraft): Promise<{ id: string }> {
  const { workspaceId, createdBy, limits, at } = draft;
  await requireWorkspace(tx, workspaceId);
  const columns = draftColumns(draft.parts);
  await countCreation(tx, { workspaceId, limits, at });
  const id = makeId(at);
  await insertAuthoredCampaign(tx, { ...columns, id, workspaceId, createdBy, at });
  return { id };
}

type PublishedDraft = {
  workspaceId: string;
  id: string;
  parts: CampaignParts;
  actor: Actor;
  seenChange?: string | undefined;
  updatedBy: string;
  at: Date;
  /** Real time, in which proposals of agents are decided. */
  realAt: Date;
  delaySeconds?: number | undefined;
};

/**
 * Moves a campaign from DRAFT to live. The caller holds its lock.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID, CAMPAIGN_ACTION_INVALID for a draft with a change by an agent that was not seen
 */
export async function publishDraft(tx: Transaction, draft: PublishedDraft): Promise<void> {
  const { workspaceId, id, parts, actor, updatedBy, at, realAt, delaySeconds = 0, seenChange } = draft;
  await requireReviewed(tx, { actor, workspaceId, campaignId: id, seenChange });
  const prepared = await requirePrepared(tx, { workspaceId, parts, now: at, start: 'to come' });
  const owner = { workspaceId, campaignId: id, createdBy: updatedBy, at };
  const segmentId = await storeAudience(tx, prepared, owner);
  const status = statusOf(prepared.timing, at, delaySeconds);
  await updateAuthoredCampaign(tx, {
    ...liveColumns(prepared, { ...status, segmentId }),
    id,
    workspaceId,
    updatedBy,
    at,
  });
  await listenForEvents(tx, prepared, { workspaceId, campaignId: id, versionId: id, at });
  await endAgentWork(tx, { campaignId: id, actor, at: realAt });
  // The scheduler starts one that waits.
  if (status.status !== 'SCHEDULED') await startSending(tx, prepared, owner);
}

type Draft = AuthoredCampaign & { parts: CampaignParts };

async function lockDraft(tx: Transaction, named: { workspaceId: string; id: string }): Promise<Draft> {
  const campaign = await lockAuthoredCampaign(tx, named);
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  const { parts } = campaign;
  if (campaign.status !== 'DRAFT' || parts === null) throw new ServiceError('CAMPAIGN_NOT_DRAFT');
  return { ...campaign, parts };
}

/** A draft may lack any part, but existing parts must be valid. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
function draftColumns(parts: CampaignParts): AuthoredColumns {
  const { basics, deliveryType, faults } = readCampaign(parts);
  const wrong = faults.filter(
    ({ field, reason }) => reason !== 'missing' || field === 'channel' || field === 'campaign_delivery_type',
  );
  if (wrong.length > 0) throw invalidCampaign(wrong);
  return {
    name: basics.name,
    deliveryType: deliveryType!,
    audience: 'ALL_USERS',
    segmentId: null,
    businessEventId: null,
    platforms: basics.platforms,
    content: {},
    variants: null,
    timing: undefined,
    tags: basics.tags,
    conversionGoals: [],
    settings: defaultDeliverySettings,
    parts,
    status: 'DRAFT',
    nextAt: null,
  };
}
