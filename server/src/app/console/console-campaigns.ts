import { inTransaction } from '../../storage/database.ts';
import { mergeParts } from '../../domain/campaign-document/merge-parts.ts';
import { partNames } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignAction } from '../../domain/campaigns/campaign-states.ts';
import { ServiceError } from '../../domain/errors.ts';
import { findSearchSettings } from '../../storage/campaigns/campaign-search.ts';
import { findCampaignRecord } from '../../storage/campaigns/campaigns.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import type { AuthoringDependencies } from '../campaigns/authoring-dependencies.ts';
import { changeInTransaction, retryChanges } from '../campaigns/change-campaign-state.ts';
import { makeCampaignTotals } from '../campaigns/campaign-totals.ts';
import { createDraft } from '../campaigns/draft-campaigns.ts';
import { listCampaignMeta } from '../campaigns/search-campaigns.ts';
import type { CampaignSearchRequest } from '../campaigns/search-campaigns.ts';
import { makeCampaignReport } from './campaign-report.ts';
import type { CampaignKey } from './campaign-report.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';
import { maxCampaignNameCharacters } from '../../domain/campaigns/limits.ts';

type By = { by: SignedIn };

/** Campaigns as the console finds, explains and changes them. */
export function makeConsoleCampaigns(deps: AuthoringDependencies) {
  const { database, clock } = deps;
  const totals = makeCampaignTotals({ database, clock });
  return {
    report: makeCampaignReport(deps),

    /** @throws ServiceError NOT_FOUND */
    async settings(workspaceId: string) {
      await requireWorkspace(database, workspaceId);
      return findSearchSettings(database, workspaceId);
    },

    /** The search of V5, with what the light list says of each. */
    search: (request: Omit<CampaignSearchRequest, 'version'>) =>
      listCampaignMeta({ database, totals }, { ...request, version: 'V5' }),

    /** @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID */
    async change({ by, action, workspaceId, id }: CampaignKey & By & { action: CampaignAction }): Promise<void> {
      await retryChanges(() =>
        inTransaction(database, async (tx) => {
          const at = clock.now();
          const campaign = await findCampaignRecord(tx, { workspaceId, id });
          if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
          const change = { workspaceId, campaignId: id, action, by: by.name };
          const changed = await changeInTransaction(tx, change, at);
          if (changed.kind !== 'changed')
            throw new ServiceError('CAMPAIGN_ACTION_INVALID', {
              field: action.toUpperCase(),
              reason: `campaign that is ${campaign.status}`,
            });
          const object = { id, name: campaign.name };
          const detail = { from: campaign.status, to: changed.status };
          await audit(tx, { actor: by, workspaceId, action: `campaign.${action}`, object, detail, at });
        }),
      );
    },

    /**
     * A draft with the parts of another campaign, named as a copy.
     *
     * @throws ServiceError CAMPAIGN_REQUEST_INVALID, CAMPAIGN_CREATION_LIMITED
     */
    async clone({ by, workspaceId, id, name, parts: of }: CampaignKey & By & { name: string; parts: CampaignParts }) {
      const named = [...partNames, 'channel', 'campaign_delivery_type'];
      const parts = Object.fromEntries(Object.entries(of).filter(([part]) => named.includes(part)));
      return await inTransaction(database, async (tx) => {
        const at = clock.now();
        const draft = await createDraft(tx, {
          workspaceId,
          createdBy: by.name,
          parts: mergeParts(parts, { basic_details: { name: nameOfCopy(name) } }),
          limits: deps.limits,
          at,
        });
        const object = { id: draft.id, name: nameOfCopy(name) };
        await audit(tx, { actor: by, workspaceId, action: 'campaign.clone', object, detail: { of: id }, at });
        return draft;
      });
    },
  };
}

export type ConsoleCampaigns = ReturnType<typeof makeConsoleCampaigns>;

function nameOfCopy(name: string): string {
  const suffix = ' (copy)';
  return [...name].slice(0, maxCampaignNameCharacters - suffix.length).join('') + suffix;
}
