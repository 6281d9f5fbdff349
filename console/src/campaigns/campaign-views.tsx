import { Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { RouteLink } from '../parts/route-link.tsx';
import { campaignViews } from './campaign-filters.ts';
import type { CampaignFilters, CampaignView } from './campaign-filters.ts';

const route = getRouteApi('/w/$workspaceId/campaigns');

/** Campaigns by how they stand; the filters go along. */
export function CampaignViews({ filters }: { filters: CampaignFilters }) {
  const { workspaceId } = route.useParams();
  const { view: current = 'all', page: _page, ...rest } = filters;
  return (
    <Group component="nav" gap="md" {...{ 'aria-label': 'Views' }}>
      {(Object.keys(campaignViews) as CampaignView[]).map((view) => (
        <RouteLink
          key={view}
          to="/w/$workspaceId/campaigns"
          params={{ workspaceId }}
          search={view === 'all' ? rest : { ...rest, view }}
          activeProps={{}}
          aria-current={view === current ? 'page' : undefined}
          style={{ fontWeight: view === current ? 700 : 400, textDecoration: view === current ? 'none' : 'underline' }}
        >
          {campaignViews[view].name}
        </RouteLink>
      ))}
    </Group>
  );
}
