import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { AuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { statusOf } from './go-live.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

/** A live campaign, locked, with what the change makes of it. */
export type LiveEdit = {
  workspaceId: string;
  campaign: AuthoredCampaign & { parts: CampaignParts };
  parts: CampaignParts;
  updatedBy: string;
  at: Date;
};

/** An occurrence that is due but not fired yet is not lost: it is fired with the new data. */
export function statusAfterEdit({ campaign, at }: LiveEdit, { timing }: PreparedCampaign) {
  const { nextAt } = statusOf(timing, at);
  const isDue = campaign.status === 'ACTIVE' && campaign.nextAt !== null && campaign.nextAt <= at;
  return { status: campaign.status, nextAt: isDue ? campaign.nextAt : nextAt };
}

export function notEditable(reason: string): ServiceError {
  return new ServiceError('CAMPAIGN_NOT_EDITABLE', { reason });
}
