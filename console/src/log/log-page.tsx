import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { ConsoleCallback } from '../api/generated/segment-answers.ts';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/links.tsx';
import styles from '../parts/views.module.css';
import { useWorkspace } from '../shell/workspace.ts';
import { Callbacks } from './callbacks.tsx';
import { Calls } from './calls.tsx';
import { Emails } from './emails.tsx';
import { EventStreams } from './event-streams.tsx';
import type { LogSearch } from './log-search.ts';

const route = getRouteApi('/w/$workspaceId/log');

const views: { name: string; search: LogSearch }[] = [
  { name: 'Calls', search: {} },
  { name: 'Refused', search: { only: 'refused' } },
  { name: 'Calls without a workspace', search: { of: 'nobody' } },
  { name: 'Callbacks', search: { view: 'callbacks' } },
  { name: 'Emails', search: { view: 'mails' } },
  { name: 'Event streams', search: { view: 'streams' } },
];

/** API calls, callbacks, emails and event streams, for integrators. */
export function LogPage() {
  const search = route.useSearch();
  return (
    <Stack gap="md">
      <PageHeader about="Calls are kept for seven days. Changes made in the console are in the audit log." />
      <Views search={search} />
      {search.view === 'callbacks' ? (
        <CallbackLog search={search} />
      ) : search.view === 'mails' ? (
        <EmailLog search={search} />
      ) : search.view === 'streams' ? (
        <EventStreams search={search} />
      ) : (
        <Calls search={search} />
      )}
    </Stack>
  );
}

function Views({ search: { view, of, only } }: { search: LogSearch }) {
  const { workspaceId } = route.useParams();
  return (
    <Group component="nav" gap="lg" className={styles.views!} {...{ 'aria-label': 'Views' }}>
      {views.map(({ name, search }) => {
        const isCurrent = search.view === view && search.of === of && (search.only === only || of !== undefined);
        return (
          <Link
            key={name}
            to="/w/$workspaceId/log"
            params={{ workspaceId }}
            search={search}
            activeProps={{}}
            aria-current={isCurrent ? 'page' : undefined}
            className={styles.view!}
          >
            {name}
          </Link>
        );
      })}
    </Group>
  );
}

/** Callbacks, newest first. The address holds filter and page. */
function CallbackLog({ search }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const query = queryOf({ workspaceId, search });
  const page = useQuery({
    queryKey: ['callbacks', workspaceId, 'page', query],
    queryFn: () => consoleClient.messages.listCallbacks(query),
    refetchInterval: 5000,
  });
  return (
    <Stack gap="sm">
      <Filters search={search} />
      <Loaded query={page}>
        {({ callbacks, next }) => (
          <>
            {callbacks.length === 0 ? <NoCallback search={search} /> : <CallbackPage callbacks={callbacks} />}
            <Older search={search} next={next} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function CallbackPage({ callbacks }: { callbacks: ConsoleCallback[] }) {
  const { id: workspaceId } = useWorkspace();
  return <Callbacks callbacks={callbacks} workspaceId={workspaceId} />;
}

function NoCallback({ search: { state } }: { search: LogSearch }) {
  return state === 'failed' ? (
    <EmptyState title="No failed callbacks" />
  ) : (
    <EmptyState title="No callbacks yet">
      A file segment with a <code>callback_url</code> is listed here once its file has been processed.
    </EmptyState>
  );
}

/** Emails, with the same parameters. */
function EmailLog({ search }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const query = queryOf({ workspaceId, search });
  const page = useQuery({
    queryKey: ['mails', workspaceId, 'page', query],
    queryFn: () => consoleClient.messages.listEmails(query),
    refetchInterval: 5000,
  });
  return (
    <Stack gap="sm">
      <Filters search={search} />
      <Loaded query={page}>
        {({ emails, next }) => (
          <>
            <Emails emails={emails} />
            <Older search={search} next={next} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function queryOf({ workspaceId, search: { state, after } }: { workspaceId: string; search: LogSearch }) {
  return {
    workspaceId,
    ...(state === 'failed' ? { only: 'failed' as const } : {}),
    ...(after === undefined ? {} : { after }),
  };
}

function Filters({ search: { view, state } }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const base: LogSearch = view === undefined ? {} : { view };
  const filters: { name: string; search: LogSearch; isCurrent: boolean }[] = [
    { name: 'All', search: base, isCurrent: state === undefined },
    { name: 'Failed', search: { ...base, state: 'failed' }, isCurrent: state === 'failed' },
  ];
  return (
    <Group component="nav" gap="md" {...{ 'aria-label': 'Filter' }}>
      {filters.map(({ name, search, isCurrent }) => (
        <RouteLink
          key={name}
          to="/w/$workspaceId/log"
          params={{ workspaceId }}
          search={search}
          activeProps={{}}
          aria-current={isCurrent ? 'page' : undefined}
          style={{ fontWeight: isCurrent ? 600 : 400 }}
        >
          {name}
        </RouteLink>
      ))}
    </Group>
  );
}

function Older({ search, next }: { search: LogSearch; next: string | null }) {
  const { id: workspaceId } = useWorkspace();
  if (next === null) return null;
  return (
    <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={{ ...search, after: next }} activeProps={{}}>
      Older
    </RouteLink>
  );
}
