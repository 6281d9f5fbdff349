import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { TabLink, TabLinks } from '../parts/tab-links.tsx';
import { suspectedDevicesQuery } from './suspected-devices-query.ts';

const route = getRouteApi('/w/$workspaceId/people');

/** The search for one user, and the devices of all users that are suspected: "Suspected devices: 3". */
export function UserListTabs() {
  const { workspaceId } = route.useParams();
  const { view } = route.useSearch();
  const newest = useQuery(suspectedDevicesQuery({ workspaceId }));
  const count = newest.data && `: ${newest.data.devices.length}${newest.data.next === null ? '' : ' or more'}`;
  return (
    <TabLinks label="Users">
      <TabLink to="/w/$workspaceId/people" params={{ workspaceId }} search={{}} isCurrent={view === undefined}>
        Find a user
      </TabLink>
      <TabLink
        to="/w/$workspaceId/people"
        params={{ workspaceId }}
        search={{ view: 'suspected' }}
        isCurrent={view === 'suspected'}
      >
        Suspected devices{count}
      </TabLink>
    </TabLinks>
  );
}
