import { getRouteApi } from '@tanstack/react-router';
import type { CampaignReport } from '../api/generated/campaign-answers.ts';
import { RouteLink } from '../parts/route-link.tsx';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

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
