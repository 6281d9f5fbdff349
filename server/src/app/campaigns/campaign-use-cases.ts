import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database } from '../../storage/pool.ts';
import { findSearchSettings } from '../../storage/campaigns/campaign-search.ts';
import { findLimitWindows } from '../../storage/limits/limit-windows.ts';
import { authenticateKey } from '../keys/authenticate-key.ts';
import type { KeyAuthentication } from '../keys/authenticate-key.ts';
import { countCall } from '../segments/limit-segments.ts';
import { actOnCampaigns } from './act-on-campaigns.ts';
import type { CampaignsAction } from './act-on-campaigns.ts';
import { documentedAuthoringLimits } from './authoring-dependencies.ts';
import type { AuthoringLimits } from './authoring-dependencies.ts';
import { makeCampaignTotals } from './campaign-totals.ts';
import { createLiveCampaign } from './create-live-campaign.ts';
import type { LiveCommand } from './create-live-campaign.ts';
import { makeDraftCampaigns } from './draft-campaigns.ts';
import { editCampaign } from './edit-campaign.ts';
import type { EditCommand } from './edit-campaign.ts';
import { listExecutions } from './list-executions.ts';
import type { ExecutionsRequest } from './list-executions.ts';
import { previewCampaign } from './preview-campaign.ts';
import type { PreviewRequest } from './preview-campaign.ts';
import { getCampaign, listCampaignMeta, searchCampaigns } from './search-campaigns.ts';
import type { CampaignSearchRequest } from './search-campaigns.ts';
import { testCampaign } from './test-campaign.ts';
import type { TestCommand } from './test-campaign.ts';
import { campaignCallsPerMinute, campaignCallWindows } from '../../domain/campaigns/limits.ts';

const operation = 'campaign';

export type CountedCall = {
  outcome: 'counted' | 'refused';
  /** How many more the minute has room for. */
  remaining: number;
  /** Until the oldest counted call leaves the minute; when refused, until a call would pass. */
  resetSeconds: number;
};

/** The campaign use cases with their dependencies bound. */
export function makeCampaignUseCases(parts: {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Fact 6.1 unless a test says otherwise. */
  limits?: AuthoringLimits;
}) {
  const deps = { ...parts, limits: parts.limits ?? documentedAuthoringLimits };
  const { database, clock } = deps;
  const totals = makeCampaignTotals({ database, clock });
  return {
    authenticate: (presented: {
      workspaceId: string;
      secret: string;
      dataCenter: string | undefined;
    }): Promise<KeyAuthentication> => authenticateKey({ database }, { ...presented, at: clock.now() }),
    async count(workspaceId: string): Promise<CountedCall> {
      const at = clock.now();
      const refusal = await countCall(database, { operation, workspaceId, windows: campaignCallWindows, at });
      const subject = createHash('sha256').update(workspaceId).digest();
      const [events] = await findLimitWindows(database, [{ operation, subject }]);
      const inMinute = events!.filter((event) => event.getTime() > at.getTime() - 60_000);
      const oldest = Math.min(at.getTime(), ...inMinute.map((event) => event.getTime()));
      return {
        outcome: refusal ? 'refused' : 'counted',
        remaining: Math.max(0, campaignCallsPerMinute - inMinute.length),
        resetSeconds: refusal?.retryAfterSeconds ?? Math.ceil((oldest + 60_000 - at.getTime()) / 1000),
      };
    },
    settings: (workspaceId: string) => findSearchSettings(database, workspaceId),
    search: (request: CampaignSearchRequest) => searchCampaigns({ database, totals }, request),
    get: (named: { workspaceId: string; id: string }) => getCampaign(deps, named),
    listExecutions: (request: ExecutionsRequest) => listExecutions(deps, request),
    listMeta: (request: CampaignSearchRequest) => listCampaignMeta({ database, totals }, request),
    drafts: makeDraftCampaigns(deps),
    createLive: (command: LiveCommand) => createLiveCampaign(deps, command),
    edit: (command: EditCommand) => editCampaign(deps, command),
    act: (request: CampaignsAction) => actOnCampaigns(deps, request),
    preview: (request: PreviewRequest) => previewCampaign(deps, request),
    test: (command: TestCommand) => testCampaign(deps, command),
  };
}

export type CampaignUseCases = ReturnType<typeof makeCampaignUseCases>;
