import { Group, Stack } from '@mantine/core';
import { Link, getRouteApi } from '@tanstack/react-router';
import { PageHeader } from '../parts/page-header.tsx';
import styles from '../parts/views.module.css';
import { Calls } from './calls.tsx';
import { EventStreams } from './event-streams.tsx';
import type { LogSearch } from './log-search.ts';
import { CallbackLog, EmailLog } from './message-views.tsx';

const route = getRouteApi('/w/$workspaceId/log');

const views: { name: string; search: LogSearch }[] = [
  { name: 'Calls', search: {} },
  { name: 'Refused', search: { only: 'refused' } },
  { name: 'Calls without a workspace', search: { of: 'nobody' } },
  { name: 'Callbacks', search: { view: 'callbacks' } },
  { name: 'Emails', search: { view: 'mails' } },
  { name: 'Event streams', search: { view: 'streams' } },
];

/** What came in and what went out, for those who integrate. */
export function LogPage() {
  const search = route.useSearch();
  return (
    <Stack gap="md">
      <PageHeader
        title="API log"
        about="Calls are kept for seven days. What is done in the console is in the audit log."
      />
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
