import { isDeepStrictEqual } from 'node:util';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { mergeParts, startOf, whatMayNotChange } from '../../domain/campaign-document/changes.ts';
import { isEditable } from '../../domain/campaigns/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxCampaignVersions } from '../../domain/limits/campaigns.ts';
import { fromStoredTiming } from '../../domain/timing/timing.ts';
import type { StoredTiming } from '../../domain/timing/timing.ts';
import {
  findNewestVersionId,
  lockAuthoredCampaign,
  relabelCampaign,
  updateAuthoredCampaign,
  insertAuthoredCampaign,
  retireVersion,
} from '../../storage/campaigns/authored-campaigns.ts';
import type { AuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { findSearchSettings } from '../../storage/campaigns/campaign-search.ts';
import { dropWinner, inheritWinner } from '../../storage/campaigns/variations.ts';
import type { Transaction } from '../../storage/database.ts';
import { hasOpenRuns } from '../../storage/runs/campaign-runs.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { answerOnce } from '../idempotency.ts';
import { refuseAgents } from './agent-work.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring.ts';
import { nameIn, publishDraft } from './create-campaign.ts';
import { liveColumns, storeAudience, listenForEvents, statusOf } from './go-live.ts';
import { invalidCampaign, requirePrepared } from './prepare-campaign.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

export type EditCommand = AuthoringCaller & {
  /** Any version's id, or the campaign's own. */
  id: string;
  change: CampaignParts;
  updatedBy: string;
};

/**
 * Changes a campaign that was created through the campaign API, as V1 does (fact 6.3). A draft goes live. A scheduled campaign
 * keeps its kind of schedule. A live one keeps its audience and start. An ended one cannot be changed. In a workspace with
 * versioning, a change to a live recurring campaign, except to name and tags, creates a new document.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_NOT_EDITABLE, CAMPAIGN_REQUEST_INVALID
 */
export async function editCampaign(deps: AuthoringDependencies, command: EditCommand): Promise<{ id: string }> {
  const { actor, workspaceId, idempotencyKey: key, rawBody, updatedBy } = command;
  refuseAgents(actor);
  const [at, realAt] = [deps.clock.now(), deps.clock.realNow()];
  return answerOnce(deps, { workspaceId, operation: `campaign:edit:${command.id}`, key, rawBody, at }, async (tx) => {
    const campaign = await lockNewest(tx, command);
    const parts = mergeParts(campaign.parts, command.change);
    const id = await editNewest(tx, { actor, workspaceId, campaign, parts, updatedBy, at, realAt });
    const object = { id, ...nameIn(command.change) };
    const detail = { status: campaign.status };
    await audit(tx, { actor, workspaceId, action: 'campaign.change', object, detail, at: realAt });
    return { id };
  });
}

/** @returns the id of the document that holds the change */
async function editNewest(tx: Transaction, edit: LiveEdit): Promise<string> {
  const { actor, workspaceId, campaign, parts, updatedBy, at, realAt } = edit;
  switch (campaign.status) {
    case 'DRAFT':
      await publishDraft(tx, { actor, workspaceId, id: campaign.id, parts, updatedBy, at, realAt });
      return campaign.id;
    case 'SCHEDULED':
    case 'ACTIVE':
    case 'PAUSED':
      if (!isEditable(campaign)) break;
      return editLive(tx, edit);
    default:
      break;
  }
  throw notEditable(`it is ${campaign.status}`);
}

async function lockNewest(tx: Transaction, { workspaceId, id }: EditCommand): Promise<LiveEdit['campaign']> {
  const newest = await findNewestVersionId(tx, { workspaceId, id });
  const campaign = newest === undefined ? undefined : await lockAuthoredCampaign(tx, { workspaceId, id: newest });
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  const { parts } = campaign;
  if (parts === null) throw notEditable('it was not made through the campaign API');
  return { ...campaign, parts };
}

/** @returns the id of the document that holds the change */
async function editLive(tx: Transaction, edit: LiveEdit): Promise<string> {
  const { workspaceId, campaign, parts, at } = edit;
  const isWaiting = campaign.status === 'SCHEDULED';
  const frozen = whatMayNotChange({ before: campaign.parts, after: parts, state: isWaiting ? 'waiting' : 'live' });
  if (frozen.length > 0) throw invalidCampaign(frozen);
  const start = isWaiting ? 'to come' : 'as it was';
  const prepared = await requirePrepared(tx, { workspaceId, parts, now: at, start });
  if (isDeepStrictEqual(withoutLabels(campaign.parts), withoutLabels(parts))) {
    const { name, tags } = prepared.definition;
    await relabelCampaign(tx, { ...edit, id: campaign.id, name, tags });
    return campaign.id;
  }
  if (!isWaiting) requireSameStart(campaign, prepared);
  const { versioning } = await findSearchSettings(tx, workspaceId);
  if (!isWaiting && versioning === 'on') return publishVersion(tx, { edit, prepared });
  await rewrite(tx, { edit, prepared });
  return campaign.id;
}

async function rewrite(
  tx: Transaction,
  { edit, prepared }: { edit: LiveEdit; prepared: PreparedCampaign },
): Promise<void> {
  const { workspaceId, campaign, updatedBy, at } = edit;
  // A run reads its campaign until it ends; its content must not change halfway.
  if (await hasOpenRuns(tx, campaign.id)) throw notEditable('a run of it is under way');
  const isDue = campaign.nextAt !== null && campaign.nextAt <= at;
  if (isDue && campaign.status === 'SCHEDULED') throw notEditable('its occurrence has come');
  const owner = { workspaceId, campaignId: campaign.id, createdBy: campaign.createdBy, at };
  const segmentId = await storeAudience(tx, prepared, owner);
  const statusColumns = statusAfterEdit(edit, prepared);
  const { variants } = prepared.definition;
  await dropWinner(tx, { id: campaign.id, percents: variants && !variants.learning ? variants.percents : null });
  await updateAuthoredCampaign(tx, {
    ...liveColumns(prepared, { ...statusColumns, segmentId }),
    id: campaign.id,
    workspaceId,
    updatedBy,
    at,
  });
}

function requireSameStart(campaign: AuthoredCampaign, { timing }: PreparedCampaign): void {
  if (startOf(fromStoredTiming(campaign.timing as StoredTiming)) === startOf(timing)) return;
  throw invalidCampaign([{ field: 'scheduling_details.start_time', reason: 'cannot be changed once it is live' }]);
}

/** Removes the parts that are changed on a version itself (fact 6.3). */
function withoutLabels(parts: CampaignParts): CampaignParts {
  const { name: _name, tags: _tags, team: _team, ...details } = (parts.basic_details ?? {}) as Record<string, unknown>;
  return { ...parts, basic_details: details };
}

/**
 * Stores a change as a separate version: a new document with the next number, under the campaign's own id. The old version is
 * retired; its open runs end as they began.
 *
 * @returns the id of the new document
 * @throws ServiceError CAMPAIGN_NOT_EDITABLE
 */
async function publishVersion(
  tx: Transaction,
  { edit, prepared }: { edit: LiveEdit; prepared: PreparedCampaign },
): Promise<string> {
  const { workspaceId, campaign, updatedBy, at } = edit;
  const number = (campaign.versionNumber ?? 1) + 1;
  if (number > maxCampaignVersions) throw notEditable(`it has ${maxCampaignVersions} versions`);
  const status = statusAfterEdit(edit, prepared);
  await retireVersion(tx, { workspaceId, id: campaign.id, reason: `version ${number} took its place`, updatedBy, at });
  const id = makeId(at);
  const { createdBy } = campaign;
  const segmentId = await storeAudience(tx, prepared, { workspaceId, campaignId: id, createdBy, at });
  const columns = liveColumns(prepared, { ...status, segmentId });
  const version = { of: campaign.campaignId, number };
  await insertAuthoredCampaign(tx, { ...columns, id, workspaceId, version, createdBy, at });
  await inheritWinner(tx, { from: campaign.id, to: id });
  await listenForEvents(tx, prepared, { workspaceId, campaignId: campaign.campaignId, versionId: id, at });
  return id;
}

/** A locked live campaign with its changed parts. */
type LiveEdit = {
  actor: Actor;
  workspaceId: string;
  campaign: AuthoredCampaign & { parts: CampaignParts };
  parts: CampaignParts;
  updatedBy: string;
  at: Date;
  realAt: Date;
};

/**
 * An occurrence that is due but has not fired yet is not lost: it fires with the new data. A campaign that is sent as soon as possible waits
 * only for the time in which it can be recalled.
 */
function statusAfterEdit({ campaign, at }: LiveEdit, { timing }: PreparedCampaign) {
  const { nextAt } = statusOf(timing, at);
  const isDue = campaign.status === 'ACTIVE' && campaign.nextAt !== null && campaign.nextAt <= at;
  return { status: campaign.status, nextAt: isDue || timing.kind === 'soon' ? campaign.nextAt : nextAt };
}

function notEditable(reason: string): ServiceError {
  return new ServiceError('CAMPAIGN_NOT_EDITABLE', { reason });
}
