import { Anchor, Button, Code, Group, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { ListTools } from '../parts/list-tools.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { SavedViews } from '../parts/saved-views.tsx';
import { Ago } from '../parts/ago.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { actionNames } from './action-names.ts';
import { AuditFilterForm } from './audit-filter-form.tsx';
import { AuditObject } from './audit-object.tsx';
import { readAuditSearch } from './audit-search.ts';

const route = getRouteApi('/w/$workspaceId/audit');

// As many as the server answers at once.
const pageSize = 100;

/** Who did what, when, to which object. */
export function AuditPage() {
  const { id: workspaceId, name } = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isFiltered = Object.keys(search).length > 0;
  const audit = useInfiniteQuery({
    queryKey: ['audit', workspaceId, search],
    queryFn: ({ pageParam }) =>
      consoleClient.accounts.listAudit({ workspaceId, ...search, ...(pageParam === '' ? {} : { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => (page.length < pageSize ? undefined : page.at(-1)!.id),
  });
  const entries = audit.data?.pages.flat() ?? [];
  return (
    <Stack gap="md">
      <PageHeader title="Audit log" about={`Changes made in the console, in ${name} and to accounts.`} />
      <ListTools
        filters={
          <AuditFilterForm
            key={JSON.stringify(search)}
            search={search}
            onChosen={(next) => void navigate({ search: next })}
          />
        }
      >
        <SavedViews
          screen="audit"
          search={search}
          linkOf={({ search: saved, ...link }) => (
            <RouteLink
              to="/w/$workspaceId/audit"
              params={{ workspaceId }}
              search={readAuditSearch(saved)}
              activeProps={{}}
              {...link}
            />
          )}
        />
      </ListTools>
      {audit.error !== null && <Failure error={audit.error} onRetry={() => void audit.refetch()} />}
      {audit.isSuccess && entries.length === 0 && isFiltered && <EmptyState title="No matching changes" />}
      {audit.isSuccess && entries.length === 0 && !isFiltered && (
        <EmptyState title="No changes yet">
          Every change to a key, campaign, segment or account is listed here.
        </EmptyState>
      )}
      {entries.length > 0 && (
        <DataTable
          label="Audit log"
          rows={entries}
          keyOf={({ id }) => id}
          columns={[
            { key: 'at', title: 'When', cell: ({ at }) => <Ago at={at} clock="real" /> },
            { key: 'who', title: 'Who', cell: ({ actorName }) => actorName },
            { key: 'what', title: 'What', cell: ({ action }) => actionNames[action] ?? <Code>{action}</Code> },
            { key: 'object', title: 'Object', cell: (entry) => <AuditObject entry={entry} /> },
          ]}
        />
      )}
      {entries.length > 0 && (
        <Group justify="flex-end" gap="md">
          <Anchor
            size="sm"
            href={consoleClient.accounts.auditFileUrl({ workspaceId, ...search })}
            download
            underline="always"
          >
            Download CSV (up to 10,000 lines)
          </Anchor>
          {audit.hasNextPage && (
            <Button variant="default" loading={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
              Older
            </Button>
          )}
        </Group>
      )}
    </Stack>
  );
}
