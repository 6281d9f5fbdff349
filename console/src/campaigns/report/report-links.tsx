import { getRouteApi } from '@tanstack/react-router';
import type { CampaignReport } from '../../api/generated/campaign-answers.ts';
import { RouteLink, TabLink, TabLinks } from '../../parts/links.tsx';
import { useMay } from '../../session/use-session.ts';
import { countText } from './figures.ts';
import { reportTabs } from './report-search.ts';
import type { ReportTab, ReportSearch } from './report-search.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

/** The parts of a report. What was chosen in one stays chosen when another is looked at. */
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

/** A number of devices that leads to their rows in the delivery log, for whoever may see whose they are. */
export function DeliveryCount({ count, of: { code, ...of } }: DeliveryCountProps) {
  const { workspaceId, campaignId } = route.useParams();
  const maySee = useMay('people.read');
  if (count === 0 || !maySee) return countText(count);
  // Where the provider gave no word the outcome stands for it, and no row has that as its code.
  const search = { campaign: campaignId, ...of, ...(code !== undefined && code !== of.outcome && { code }) };
  return (
    <RouteLink to="/w/$workspaceId/deliveries" params={{ workspaceId }} search={search}>
      {countText(count)}
    </RouteLink>
  );
}

type ReportCountProps = { count: number; of: Pick<ReportSearch, 'kind' | 'platform'> };

/** A number of devices that saw or clicked it, which leads to them, for whoever may see whose they are. */
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

/** Whom a campaign is for, a segment by its name. */
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
