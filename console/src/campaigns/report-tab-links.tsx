import { Group } from '@mantine/core';
import { Link, getRouteApi } from '@tanstack/react-router';
import views from '../parts/views.module.css';
import styles from '../parts/tab-links.module.css';
import { reportTabs } from './report-search.ts';
import type { ReportTab } from './report-search.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

/** The parts of a report. What was chosen in one stays chosen when another is looked at. */
export function ReportTabLinks({ tabs }: { tabs: readonly ReportTab[] }) {
  const { workspaceId, campaignId } = route.useParams();
  const { tab: current = 'summary', ...rest } = route.useSearch();
  return (
    <Group component="nav" gap="lg" className={`${views.views} ${styles.tabs}`} {...{ 'aria-label': 'Report' }}>
      {tabs.map((tab) => (
        <Link
          key={tab}
          to="/w/$workspaceId/campaigns/$campaignId"
          params={{ workspaceId, campaignId }}
          search={tab === 'summary' ? rest : { ...rest, tab }}
          activeOptions={{ exact: true }}
          activeProps={{}}
          resetScroll={false}
          aria-current={tab === current ? 'page' : undefined}
          className={`${views.view} ${styles.tab}`}
        >
          {reportTabs[tab]}
        </Link>
      ))}
    </Group>
  );
}
