import { getRouteApi } from '@tanstack/react-router';
import type { CampaignReport } from '../../api/generated/campaign-answers.ts';
import { RouteLink, TabLink, TabLinks } from '../../parts/links.tsx';
import { useMay } from '../../session/use-session.ts';
import { countText } from './figures.ts';
import { reportTabs } from './report-search.ts';
import type { ReportTab, ReportSearch } from './report-search.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

/** The tabs of a report. A choice made in one tab stays when the user opens another. */
export function ReportTabLinks({ tabs }: { tabs: readonly ReportTab[] }) {
  const { workspaceId, campaignId } = route.useParams();
  const { tab: current = 'summary', ...rest } = route.useSearch();
  return (
    <TabLinks label="Report">
      {tabs.map((tab) => (
        <TabLink
          key={tab}
          to="/w/$workspaceId/campaigns/$campaignId"
          params={{ workspaceId, campaignId }}
          search={tab === 'summary' ? rest : { ...rest, tab }}
          resetScroll={false}
          isCurrent={tab === current}
        >
          {reportTabs[tab]}
        </TabLink>
      ))}
    </TabLinks>
  );
}

type DeliveryCountProps = { count: number; of: { platform?: string; outcome?: string; code?: string } };

/** A number of devices, linked to their rows in the delivery log for users who may see them. */
export function DeliveryCount({ count, of: { code, ...of } }: DeliveryCountProps) {
  const { workspaceId, campaignId } = route.useParams();
  const maySee = useMay('people.read');
  if (count === 0 || !maySee) return countText(count);
  // Without a provider's code the outcome is shown instead, and no row has it as its code.
  const search = { campaign: campaignId, ...of, ...(code !== undefined && code !== of.outcome && { code }) };
  return (
    <RouteLink to="/w/$workspaceId/deliveries" params={{ workspaceId }} search={search}>
      {countText(count)}
    </RouteLink>
  );
}

type ReportCountProps = { count: number; of: Pick<ReportSearch, 'kind' | 'platform'> };

/** A number of devices that saw or clicked the campaign, linked to them for users who may see them. */
export function ReportCount({ count, of }: ReportCountProps) {
  const { workspaceId, campaignId } = route.useParams();
  const { kind: _kind, platform: _platform, after: _after, ...search } = route.useSearch();
  const maySee = useMay('people.read');
  if (count === 0 || !maySee) return countText(count);
  return (
    <RouteLink
      to="/w/$workspaceId/campaigns/$campaignId"
      params={{ workspaceId, campaignId }}
      search={{ ...search, ...of, tab: 'reports' }}
      activeProps={{}}
    >
      {countText(count)}
    </RouteLink>
  );
}

/** The campaign's audience, with a segment by its name. */
export function CampaignAudience({ campaign }: Pick<CampaignReport, 'campaign'>) {
  const { workspaceId } = route.useParams();
  if (campaign.audience === 'ALL_USERS') return 'All people';
  if (campaign.audience === 'USER') return 'Named people';
  const { segmentId, segmentName } = campaign;
  if (segmentId === null) return 'A segment';
  return (
    <>
      Segment{' '}
      <RouteLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId }}>
        {segmentName ?? segmentId}
      </RouteLink>
    </>
  );
}
