import { partNames } from '../../domain/campaign-document/campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { mergeParts } from '../../domain/campaign-document/changes.ts';
import { whyNotAllowed } from '../../domain/campaigns/campaign.ts';
import type { CampaignAction, StatusAction, SearchVersion } from '../../domain/campaigns/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { variationName } from '../../domain/experiments/variants.ts';
import { maxCampaignNameCharacters } from '../../domain/limits/campaigns.ts';
import { findNewestVersionId } from '../../storage/campaigns/authored-campaigns.ts';
import { findSearchSettings, readListedFigures } from '../../storage/campaigns/campaign-search.ts';
import { findCampaignSummary } from '../../storage/campaigns/campaigns.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { audit } from '../accounts/audit.ts';
import type { SignedIn } from '../accounts/audit.ts';
import { makeConsoleViews } from '../accounts/saved-views.ts';
import { answerOnce } from '../idempotency.ts';
import { requireWorkspace } from '../workspaces.ts';
import type { AuthoringDependencies, AuthoringCaller } from './authoring.ts';
import { readCalendar } from './calendar.ts';
import type { CalendarQuestion } from './calendar.ts';
import { readCampaignFigures } from './campaign-figures.ts';
import type { FiguresQuestion } from './campaign-figures.ts';
import { makeCampaignReport } from './campaign-report.ts';
import type { CampaignKey } from './campaign-report.ts';
import { makeConsoleTemplates } from './campaign-templates.ts';
import { changeInTransaction, retryChanges } from './change-campaign-state.ts';
import { createDraft } from './create-campaign.ts';
import { makeCampaignTotals, searchCampaigns } from './search-campaigns.ts';
import type { CampaignSearchRequest } from './search-campaigns.ts';
import { nameWinner } from './winner.ts';

type By = { by: SignedIn };

/** Use cases of the console that find, explain and change campaigns. */
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

    /** Searches as V5 does and adds each campaign's figures; undefined for campaigns without a run. */
    async search(request: Omit<CampaignSearchRequest, 'version'>) {
      const { campaigns } = await searchCampaigns({ database, totals }, { ...request, version: 'V5' });
      const figures = new Map((await readListedFigures(database, campaigns)).map((found) => [found.id, found]));
      return campaigns.map((campaign) => ({ campaign, figures: figures.get(campaign.id) }));
    },

    /**
     * Gives this variation to all users who were not sent to yet; null restores the variations' shares.
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
          const campaign = await findCampaignSummary(tx, { workspaceId, id });
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
     * Creates a draft with the parts of another campaign, named as a copy.
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
      // Sorted by id, so that two requests cannot deadlock.
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
  const campaign =
    campaignId === undefined ? undefined : await findCampaignSummary(tx, { workspaceId, id: campaignId });
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
