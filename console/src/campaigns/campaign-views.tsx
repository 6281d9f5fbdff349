import { Group } from '@mantine/core';
import { Link, getRouteApi } from '@tanstack/react-router';
import views from '../parts/views.module.css';
import { campaignViews } from './campaign-filters.ts';
import styles from '../parts/tab-links.module.css';
import type { CampaignFilters, CampaignView } from './campaign-filters.ts';

const route = getRouteApi('/w/$workspaceId/campaigns');

/** Campaigns by how they stand; the filters go along. */
export function CampaignViews({ filters }: { filters: CampaignFilters }) {
  const { workspaceId } = route.useParams();
  const { view: current = 'all', page: _page, ...rest } = filters;
  return (
    <Group component="nav" gap="lg" className={`${views.views} ${styles.tabs}`} {...{ 'aria-label': 'Views' }}>
      {(Object.keys(campaignViews) as CampaignView[]).map((view) => (
        <Link
          key={view}
          to="/w/$workspaceId/campaigns"
          params={{ workspaceId }}
          search={view === 'all' ? rest : { ...rest, view }}
          activeOptions={{ exact: true }}
          activeProps={{}}
          aria-current={view === current ? 'page' : undefined}
          className={`${views.view} ${styles.tab}`}
        >
          {campaignViews[view].name}
        </Link>
      ))}
    </Group>
  );
}
