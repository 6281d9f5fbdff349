import { getRouteApi } from '@tanstack/react-router';
import { TabLink, TabLinks } from '../parts/tab-links.tsx';
import { campaignViews } from './campaign-filters.ts';
import type { CampaignFilters, CampaignView } from './campaign-filters.ts';

const route = getRouteApi('/w/$workspaceId/campaigns');

/** Campaigns by how they stand; the filters go along. */
export function CampaignViews({ filters }: { filters: CampaignFilters }) {
  const { workspaceId } = route.useParams();
  const { view: current = 'all', page: _page, ...rest } = filters;
  return (
    <TabLinks label="Views">
      {(Object.keys(campaignViews) as CampaignView[]).map((view) => (
        <TabLink
          key={view}
          to="/w/$workspaceId/campaigns"
          params={{ workspaceId }}
          search={view === 'all' ? rest : { ...rest, view }}
          isCurrent={view === current}
        >
          {campaignViews[view].name}
        </TabLink>
      ))}
    </TabLinks>
  );
}
