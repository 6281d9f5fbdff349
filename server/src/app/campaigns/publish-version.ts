import { makeId } from '../../domain/ids.ts';
import type { Transaction } from '../../storage/database.ts';
import { insertAuthoredCampaign, retireVersion } from '../../storage/campaigns/authored-campaigns.ts';
import { inheritWinner } from '../../storage/campaigns/campaign-winners.ts';
import { liveColumns, storeAudience } from './go-live.ts';
import { listenForEvents } from './listen-for-events.ts';
import { notEditable, statusAfterEdit } from './live-edit.ts';
import type { LiveEdit } from './live-edit.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { maxCampaignVersions } from '../../domain/campaigns/limits.ts';

/**
 * Makes of a change a version of its own: a new document with the next number, under the campaign's own id. The old one
 * is retired; its open runs end as they began.
 *
 * @returns the id of the new document
 * @throws ServiceError CAMPAIGN_NOT_EDITABLE
 */
export async function publishVersion(
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
