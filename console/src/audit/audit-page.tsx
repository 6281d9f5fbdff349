import { Button, Code, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { AuditEntry } from '../api/generated/account.ts';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Time } from '../parts/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';

// As many as the server answers at once.
const pageSize = 100;

/** Who did what, when, to which object. */
export function AuditPage() {
  const { id: workspaceId, name } = useWorkspace();
  const audit = useInfiniteQuery({
    queryKey: ['audit', workspaceId],
    queryFn: ({ pageParam }) =>
      consoleClient.accounts.listAudit({ workspaceId, ...(pageParam === '' ? {} : { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => (page.length < pageSize ? undefined : page.at(-1)!.id),
  });
  const entries = audit.data?.pages.flat() ?? [];
  return (
    <>
      <PageHeader title="Audit log" about={`Changes made in the console: in ${name}, and to accounts.`} />
      {audit.error !== null && <Failure error={audit.error} />}
      {audit.isSuccess && entries.length === 0 && (
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
            { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
            { key: 'who', title: 'Who', cell: ({ actorName }) => actorName },
            { key: 'what', title: 'What', cell: ({ action }) => <Code>{action}</Code> },
            { key: 'object', title: 'Object', cell: (entry) => <ObjectOf entry={entry} /> },
          ]}
        />
      )}
      {audit.hasNextPage && (
        <Button variant="default" mt="md" loading={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
          Older
        </Button>
      )}
    </>
  );
}

function ObjectOf({ entry }: { entry: AuditEntry }) {
  const detail = Object.entries(entry.detail)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {entry.objectName ?? entry.objectId ?? '–'}
      </Text>
      {entry.objectName !== null && entry.objectId !== null && <Text size="xs">{entry.objectId}</Text>}
      {detail !== '' && <Text size="xs">{detail}</Text>}
    </>
  );
}
