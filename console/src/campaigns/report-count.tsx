import { getRouteApi } from '@tanstack/react-router';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { countText } from './figure-text.ts';
import type { ReportSearch } from './report-search.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

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
