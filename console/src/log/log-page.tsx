import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { Callbacks } from '../segment/message-log.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { Calls } from './calls.tsx';
import type { LogSearch } from './log-search.ts';
import { Mails } from './mails.tsx';

const route = getRouteApi('/w/$workspaceId/log');

const views: { name: string; search: LogSearch }[] = [
  { name: 'Calls', search: {} },
  { name: 'Calls of no workspace', search: { of: 'nobody' } },
  { name: 'Callbacks', search: { view: 'callbacks' } },
  { name: 'Mails', search: { view: 'mails' } },
];

/** What came in and what went out, for those who integrate. */
export function LogPage() {
  const search = route.useSearch();
  return (
    <Stack gap="md">
      <PageHeader
        title="API log"
        about="Calls are kept for seven days. What is done on the console stands in the audit log instead."
      />
      <Views search={search} />
      {search.view === 'callbacks' ? <AllCallbacks /> : search.view === 'mails' ? <Mails /> : <Calls search={search} />}
    </Stack>
  );
}

function Views({ search: { view, of } }: { search: LogSearch }) {
  const { workspaceId } = route.useParams();
  return (
    <Group component="nav" gap="md" {...{ 'aria-label': 'Views' }}>
      {views.map(({ name, search }) => {
        const isCurrent = search.view === view && search.of === of;
        return (
          <RouteLink
            key={name}
            to="/w/$workspaceId/log"
            params={{ workspaceId }}
            search={search}
            activeProps={{}}
            aria-current={isCurrent ? 'page' : undefined}
            style={{ fontWeight: isCurrent ? 700 : 400, textDecoration: isCurrent ? 'none' : 'underline' }}
          >
            {name}
          </RouteLink>
        );
      })}
    </Group>
  );
}

function AllCallbacks() {
  const { id: workspaceId } = useWorkspace();
  const callbacks = useQuery({
    queryKey: ['callbacks', workspaceId],
    queryFn: () => consoleClient.listCallbacks(workspaceId),
    refetchInterval: 5000,
  });
  return (
    <Loaded query={callbacks}>
      {(all) =>
        all.length === 0 ? (
          <EmptyState title="No callback was asked for">
            A file segment with a <code>callback_url</code> is told of here when its file was worked.
          </EmptyState>
        ) : (
          <Callbacks callbacks={all} workspaceId={workspaceId} />
        )
      }
    </Loaded>
  );
}
