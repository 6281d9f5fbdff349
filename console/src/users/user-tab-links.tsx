import { Group } from '@mantine/core';
import { Link, getRouteApi } from '@tanstack/react-router';
import styles from '../parts/tab-links.module.css';
import views from '../parts/views.module.css';
import { userTabs } from './user-search.ts';
import type { UserTab } from './user-search.ts';

const route = getRouteApi('/w/$workspaceId/people/$userId');

/** The parts of a user's page. The campaign that was asked about stays chosen when another part is looked at. */
export function UserTabLinks() {
  const { workspaceId, userId } = route.useParams();
  const { tab: current = 'summary', ...rest } = route.useSearch();
  return (
    <Group component="nav" gap="lg" className={`${views.views} ${styles.tabs}`} {...{ 'aria-label': 'User' }}>
      {(Object.keys(userTabs) as UserTab[]).map((tab) => (
        <Link
          key={tab}
          to="/w/$workspaceId/people/$userId"
          params={{ workspaceId, userId }}
          search={tab === 'summary' ? rest : { ...rest, tab }}
          activeOptions={{ exact: true }}
          activeProps={{}}
          resetScroll={false}
          aria-current={tab === current ? 'page' : undefined}
          className={`${views.view} ${styles.tab}`}
        >
          {userTabs[tab]}
        </Link>
      ))}
    </Group>
  );
}
