import { whyNotAllowed } from '../../domain/campaigns/allowed-actions.ts';
import type { StatusAction } from '../../domain/campaigns/allowed-actions.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import type { CampaignAction } from '../../domain/campaigns/campaign-states.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Transaction } from '../../storage/database.ts';
import { findNewestVersionId } from '../../storage/campaigns/authored-campaigns.ts';
import { findCampaignRecord } from '../../storage/campaigns/campaigns.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring-dependencies.ts';
import { changeInTransaction, retryChanges } from './change-campaign-state.ts';

export type CampaignsAction = AuthoringCaller & {
  version: SearchVersion;
  action: Exclude<StatusAction, 'PUBLISH'>;
  /** Each once. */
  ids: string[];
};

const actionNames: Record<CampaignsAction['action'], CampaignAction> = {
  STOP: 'stop',
  PAUSE: 'pause',
  RESUME: 'resume',
};

/**
 * Stops, pauses or resumes campaigns, all of them or none, in one transaction.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID, each with the id concerned
 */
export async function actOnCampaigns(deps: AuthoringDependencies, request: CampaignsAction): Promise<void> {
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
      // In order of id, so that two requests never wait in a circle.
      for (const asked of [...request.ids].sort()) await actOnOne(tx, { request, asked, at: clock.now() });
      return {};
    }),
  );
}

type Act = { request: CampaignsAction; asked: string; at: Date };

async function actOnOne(tx: Transaction, { request, asked, at }: Act): Promise<void> {
  const { workspaceId, action, version, requestedBy: by } = request;
  const named = { workspaceId, id: asked };
  // V1 has one id for all versions; the newest is the one that sends.
  const campaignId = version === 'V1' ? await findNewestVersionId(tx, named) : asked;
  const campaign = campaignId === undefined ? undefined : await findCampaignRecord(tx, { workspaceId, id: campaignId });
  if (!campaign || campaignId === undefined) throw new ServiceError('CAMPAIGN_NOT_FOUND', { detail: asked });
  const { deliveryType, status } = campaign;
  const refuse = (reason: string): never => {
    throw new ServiceError('CAMPAIGN_ACTION_INVALID', { field: action, reason, detail: campaignId });
  };
  const reason = whyNotAllowed(action, { version, deliveryType, status });
  if (reason !== undefined) refuse(reason);
  const changed = await changeInTransaction(tx, { workspaceId, campaignId, action: actionNames[action], by }, at);
  if (changed.kind !== 'changed') refuse(`${deliveryType} campaign that is ${status}`);
}
