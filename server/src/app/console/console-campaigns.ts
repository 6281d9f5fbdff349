import { inTransaction } from '../../storage/database.ts';
import { mergeParts } from '../../domain/campaign-document/merge-parts.ts';
import { partNames } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignAction } from '../../domain/campaigns/campaign-states.ts';
import { ServiceError } from '../../domain/errors.ts';
import { variationName } from '../../domain/experiments/variants.ts';
import { findSearchSettings } from '../../storage/campaigns/campaign-search.ts';
import { findCampaignRecord } from '../../storage/campaigns/campaigns.ts';
import { readListedFigures } from '../../storage/campaigns/listed-figures.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import type { AuthoringDependencies } from '../campaigns/authoring-dependencies.ts';
import { changeInTransaction, retryChanges } from '../campaigns/change-campaign-state.ts';
import { nameWinner } from '../campaigns/name-winner.ts';
import { makeCampaignTotals } from '../campaigns/campaign-totals.ts';
import { createDraft } from '../campaigns/draft-campaigns.ts';
import { searchCampaigns } from '../campaigns/search-campaigns.ts';
import type { CampaignSearchRequest } from '../campaigns/search-campaigns.ts';
import { makeCampaignReport } from './campaign-report.ts';
import type { CampaignKey } from './campaign-report.ts';
import { makeConsoleTemplates } from './console-templates.ts';
import { makeConsoleViews } from './console-views.ts';
import { readCalendar } from './read-calendar.ts';
import type { CalendarQuestion } from './read-calendar.ts';
import { readCampaignFigures } from './read-campaign-figures.ts';
import type { FiguresQuestion } from './read-campaign-figures.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';
import { maxCampaignNameCharacters } from '../../domain/campaigns/limits.ts';

type By = { by: SignedIn };

/** Campaigns as the console finds, explains and changes them. */
export function makeConsoleCampaigns(deps: AuthoringDependencies) {
  const { database, clock } = deps;
  const totals = makeCampaignTotals({ database, clock });
  return {
    report: makeCampaignReport(deps),
    templates: makeConsoleTemplates(deps),
    views: makeConsoleViews(deps),

    /** @throws ServiceError NOT_FOUND */
    calendar: (question: CalendarQuestion) => readCalendar({ database, clock }, question),

    /** @throws ServiceError CAMPAIGN_NOT_FOUND */
    figures: (question: FiguresQuestion) => readCampaignFigures({ database }, question),

    /** @throws ServiceError NOT_FOUND */
    async settings(workspaceId: string) {
      await requireWorkspace(database, workspaceId);
      return findSearchSettings(database, workspaceId);
    },

    /** The search of V5, with the figures of each; undefined of those without a run. */
    async search(request: Omit<CampaignSearchRequest, 'version'>) {
      const { campaigns } = await searchCampaigns({ database, totals }, { ...request, version: 'V5' });
      const figures = new Map((await readListedFigures(database, campaigns)).map((found) => [found.id, found]));
      return campaigns.map((campaign) => ({ campaign, figures: figures.get(campaign.id) }));
    },

    /**
     * Everybody who was not sent to yet gets this variation; null: what their share says.
     *
     * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID, CAMPAIGN_REQUEST_INVALID
     */
    async nameWinner({ by, variation, workspaceId, id }: CampaignKey & By & { variation: number | null }) {
      const { campaign } = await nameWinner(deps, {
        ...{ workspaceId, id, requestedBy: by.name, idempotencyKey: undefined, rawBody: '' },
        choice: variation === null ? { kind: 'none' } : { kind: 'variation', variation },
        noteWinner: (tx, { campaign: { name }, winner }) => {
          const detail = { variation: winner === null ? null : variationName(winner) };
          const entry = { object: { id, name }, detail, at: clock.realNow() };
          return audit(tx, { actor: by, workspaceId, action: 'campaign.winner', ...entry });
        },
      });
      return { variation: campaign.winner };
    },

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
          const line = { actor: by, workspaceId, object, detail, at: clock.realNow() };
          await audit(tx, { ...line, action: `campaign.${action}` });
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
        const line = { actor: by, workspaceId, object, detail: { of: id }, at: clock.realNow() };
        await audit(tx, { ...line, action: 'campaign.clone' });
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
