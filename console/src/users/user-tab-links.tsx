import { getRouteApi } from '@tanstack/react-router';
import { TabLink, TabLinks } from '../parts/tab-links.tsx';
import { userTabs } from './user-search.ts';
import type { UserTab } from './user-search.ts';

const route = getRouteApi('/w/$workspaceId/people/$userId');

/** The parts of a user's page. The campaign that was asked about stays chosen when another part is looked at. */
export function UserTabLinks() {
  const { workspaceId, userId } = route.useParams();
  const { tab: current = 'summary', ...rest } = route.useSearch();
  return (
    <TabLinks label="User">
      {(Object.keys(userTabs) as UserTab[]).map((tab) => (
        <TabLink
          key={tab}
          to="/w/$workspaceId/people/$userId"
          params={{ workspaceId, userId }}
          search={tab === 'summary' ? rest : { ...rest, tab }}
          resetScroll={false}
          isCurrent={tab === current}
        >
          {userTabs[tab]}
        </TabLink>
      ))}
    </TabLinks>
  );
}
