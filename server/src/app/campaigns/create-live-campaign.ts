import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import { makeId } from '../../domain/ids.ts';
import { insertAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring-dependencies.ts';
import { countCreation } from './count-creation.ts';
import { liveColumns, statusOf, startSending, storeAudience } from './go-live.ts';
import { listenForEvents } from './listen-for-events.ts';
import { requirePrepared } from './prepare-campaign.ts';
import { takeRequestId } from './take-request-id.ts';

export type LiveCommand = AuthoringCaller & { parts: CampaignParts; createdBy: string; requestId: string | undefined };

/**
 * Creates a campaign that is live immediately, as V1 does: it is sent, or scheduled (fact 6.1).
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
