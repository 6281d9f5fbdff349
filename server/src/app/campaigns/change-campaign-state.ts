import type { Clock } from '../../clock.ts';
import { statusAfter, whyNotAllowed } from '../../domain/campaigns/campaign.ts';
import type { CampaignAction, CampaignStatus, SearchVersion, StatusAction } from '../../domain/campaigns/campaign.ts';
import { isDeadlock } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import { nextOccurrences } from '../../domain/timing/occurrences.ts';
import { fromStoredTiming } from '../../domain/timing/timing.ts';
import { ringAfterCommit } from '../../engine/doorbell.ts';
import { findNewestVersionId } from '../../storage/campaigns/authored-campaigns.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  countOpenRuns,
  findParentCampaign,
  pauseCampaignRuns,
  rescheduleWaitingRuns,
  resumeCampaignRuns,
  stopCampaignRuns,
  expireWaitingDeliveries,
} from '../../storage/runs/campaign-runs.ts';
import { forgetCampaignRefusals } from '../../storage/runs/run-refusals.ts';
import { findCampaignSummary, moveCampaign } from '../../storage/campaigns/campaigns.ts';
import type { CampaignMove, CampaignSummary } from '../../storage/campaigns/campaigns.ts';
import { listenSince, freeHeldTriggers } from '../../storage/triggers.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { answerOnce } from '../idempotency.ts';
import type { AnswerOnceDependencies } from '../idempotency.ts';
import { refuseAgents } from './agent-work.ts';
import type { AuthoringCaller } from './authoring.ts';

export type CampaignChange = {
  workspaceId: string;
  campaignId: string;
  action: CampaignAction;
  /** The requester, whose name is part of the reason that is shown. */
  actor: Actor;
};

export type ChangedCampaign =
  | { kind: 'changed'; status: CampaignStatus }
  | { kind: 'not-found' }
  /** The campaign's state does not allow the change. */
  | { kind: 'not-allowed'; status: CampaignStatus };

/** Another transaction interfered; `retryChanges` retries. */
export class ChangedMeanwhileError extends Error {}

// A fire, an end or a join may interfere; each is one short transaction.
const maxAttempts = 5;

/**
 * Pauses, resumes or stops a campaign, with its runs, in one transaction. A paused campaign does not fire: a recurring
 * one continues with its next occurrence; a one-time one keeps its occurrence and follows the rules for late ones. A
 * stop ends open runs permanently; deliveries waiting for another attempt become EXPIRED with code STOPPED.
 */
export async function changeCampaignState(
  { database, clock }: { database: Database; clock: Clock },
  change: CampaignChange,
): Promise<ChangedCampaign> {
  return retryChanges(() => inTransaction(database, (tx) => changeInTransaction(tx, change, clock)));
}

/** Does the same for a caller that requires the change. @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID */
export async function requireCampaignChange(
  deps: { database: Database; clock: Clock },
  change: CampaignChange,
): Promise<void> {
  const changed = await changeCampaignState(deps, change);
  switch (changed.kind) {
    case 'changed':
      return;
    case 'not-found':
      throw new ServiceError('CAMPAIGN_NOT_FOUND');
    case 'not-allowed':
      throw new ServiceError('CAMPAIGN_ACTION_INVALID', {
        field: change.action.toUpperCase(),
        reason: `campaign that is ${changed.status}`,
      });
    default:
      return unknownCase(changed);
  }
}

/** Retries when another transaction interfered; `work` is a whole transaction. */
export async function retryChanges<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isPassing = error instanceof ChangedMeanwhileError || isDeadlock(error);
      if (!isPassing || attempt >= maxAttempts) throw error;
    }
  }
}

/**
 * Makes the change within the caller's transaction. The caller must use retryChanges, because the change may be rolled back.
 */
export async function changeInTransaction(
  tx: Transaction,
  change: CampaignChange,
  clock: Pick<Clock, 'now' | 'realNow'>,
): Promise<ChangedCampaign> {
  refuseAgents(change.actor);
  const at = clock.now();
  const campaign = await findCampaignSummary(tx, { workspaceId: change.workspaceId, id: change.campaignId });
  if (!campaign) return { kind: 'not-found' };
  const kind = campaign.deliveryType === 'ONE_TIME' ? 'one-time' : 'recurring';
  const to = statusAfter(change.action, { kind, status: campaign.status, hasOccurrence: campaign.nextAt !== null });
  if (to === undefined) return { kind: 'not-allowed', status: campaign.status };
  const move = { id: campaign.id, workspaceId: change.workspaceId, from: campaign.status, to, at };
  await applyChange(tx, { change, campaign, move });
  const { actor, workspaceId, action } = change;
  const entry = { object: { id: campaign.id, name: campaign.name }, detail: { from: campaign.status, to } };
  await audit(tx, { ...entry, actor, workspaceId, action: `campaign.${action}`, at: clock.realNow() });
  return { kind: 'changed', status: to };
}

type Application = {
  change: CampaignChange;
  campaign: CampaignSummary;
  move: Omit<CampaignMove, 'reason' | 'nextAt'>;
};

/** Changes runs before their campaign, as workers do, to avoid deadlocks. The campaign's row then decides. */
export async function applyChange(tx: Transaction, { change, campaign, move }: Application): Promise<void> {
  const { id: campaignId } = campaign;
  const { at } = move;
  let nextAt = campaign.nextAt;
  switch (change.action) {
    case 'pause':
      await pauseCampaignRuns(tx, { campaignId, reason: 'the campaign is paused' });
      break;
    case 'resume':
      nextAt = occurrenceToResumeWith(campaign, at);
      await forgetCampaignRefusals(tx, { campaignId, at });
      await resumeCampaignRuns(tx, campaignId);
      await listenAgain(tx, { change, campaign, at });
      if (nextAt && campaign.deliveryType === 'PERIODIC')
        await rescheduleWaitingRuns(tx, { campaignId, dueAt: nextAt });
      ringAfterCommit(tx, 'fan-out');
      break;
    case 'stop':
      nextAt = null;
      await freeTriggers(tx, { change, campaign });
      await expireWaitingDeliveries(tx, campaignId);
      await stopCampaignRuns(tx, { campaignId, reason: 'the campaign was stopped', at });
      break;
    default:
      return unknownCase(change.action);
  }
  const reason =
    change.action === 'resume' ? null : `${change.action === 'pause' ? 'paused' : 'stopped'} by ${change.actor.name}`;
  if (!(await moveCampaign(tx, { ...move, reason, nextAt }))) throw new ChangedMeanwhileError(campaignId);
  // Detects runs created after the statements on runs and before the campaign's lock.
  if (change.action === 'resume') return;
  const { underWay, waiting } = await countOpenRuns(tx, campaignId);
  if (underWay > 0 || (change.action === 'stop' && waiting > 0)) throw new ChangedMeanwhileError(campaignId);
}

/** Events during the pause start nothing. Triggers that became due during it are sent, unless it is too late. */
async function listenAgain(
  tx: Transaction,
  { change, campaign, at }: Omit<Application, 'move'> & { at: Date },
): Promise<void> {
  if (campaign.deliveryType !== 'EVENT_TRIGGERED') return;
  await listenSince(tx, { versionId: campaign.id, at });
  await freeTriggers(tx, { change, campaign });
}

/** Frees the triggers that a pause held; they are decided when a worker next reads them. */
async function freeTriggers(tx: Transaction, { change, campaign }: Omit<Application, 'move'>): Promise<void> {
  if (campaign.deliveryType !== 'EVENT_TRIGGERED') return;
  const parent = await findParentCampaign(tx, { workspaceId: change.workspaceId, id: campaign.id });
  await freeHeldTriggers(tx, parent!.campaignId);
}

function occurrenceToResumeWith({ deliveryType, timing, nextAt }: CampaignSummary, at: Date): Date | null {
  if (deliveryType !== 'PERIODIC') return nextAt;
  return nextOccurrences(fromStoredTiming(timing), { after: at, count: 1 })[0] ?? null;
}

export type CampaignsAction = AuthoringCaller & {
  version: SearchVersion;
  action: Exclude<StatusAction, 'PUBLISH'>;
  /** Without duplicates. */
  ids: string[];
};

const actionNames: Record<CampaignsAction['action'], CampaignAction> = {
  STOP: 'stop',
  PAUSE: 'pause',
  RESUME: 'resume',
};

/**
 * Stops, pauses or resumes all of the campaigns or none, in one transaction.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID, each with the id concerned
 */
export async function actOnCampaigns(
  deps: AnswerOnceDependencies & { clock: Clock },
  request: CampaignsAction,
): Promise<void> {
  const { clock } = deps;
  const once = {
    workspaceId: request.workspaceId,
    operation: `campaign:status:${request.version === 'V5' ? request.ids[0]! : 'V1'}`,
    key: request.idempotencyKey,
    rawBody: request.rawBody,
    at: clock.now(),
  };
  await retryChanges(() =>
    answerOnce(deps, once, async (tx) => {
      // Sorted by id, so that two requests cannot deadlock.
      for (const asked of [...request.ids].sort()) await actOnOne(tx, { request, asked, clock });
      return {};
    }),
  );
}

type Act = { request: CampaignsAction; asked: string; clock: Clock };

async function actOnOne(tx: Transaction, { request, asked, clock }: Act): Promise<void> {
  const { actor, workspaceId, action, version } = request;
  const named = { workspaceId, id: asked };
  // V1 has one id for all versions; the newest is the one that sends.
  const campaignId = version === 'V1' ? await findNewestVersionId(tx, named) : asked;
  const campaign =
    campaignId === undefined ? undefined : await findCampaignSummary(tx, { workspaceId, id: campaignId });
  if (!campaign || campaignId === undefined) throw new ServiceError('CAMPAIGN_NOT_FOUND', { detail: asked });
  const { deliveryType, status } = campaign;
  const refuse = (reason: string): never => {
    throw new ServiceError('CAMPAIGN_ACTION_INVALID', { field: action, reason, detail: campaignId });
  };
  const reason = whyNotAllowed(action, { version, deliveryType, status });
  if (reason !== undefined) refuse(reason);
  const change = { actor, workspaceId, campaignId, action: actionNames[action] };
  const changed = await changeInTransaction(tx, change, clock);
  if (changed.kind !== 'changed') refuse(`${deliveryType} campaign that is ${status}`);
}
