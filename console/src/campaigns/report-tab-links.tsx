import { getRouteApi } from '@tanstack/react-router';
import { TabLink, TabLinks } from '../parts/tab-links.tsx';
import { reportTabs } from './report-search.ts';
import type { ReportTab } from './report-search.ts';

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
