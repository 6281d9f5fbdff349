import { Button, Code, Group, Text, Title } from '@mantine/core';
import type { CampaignRuns } from '../api/generated/campaign.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';

type RunTableProps = { runs: CampaignRuns; page: number; onPage: (page: number) => void };

/** The sendings of a campaign; of a recurring one its child executions. */
export function RunTable({ runs: { runs, total, perPage }, page, onPage }: RunTableProps) {
  const pages = Math.max(1, Math.ceil(total / perPage));
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Sendings: {total.toLocaleString('en')}
      </Title>
      {total === 0 ? (
        <Text size="sm">Sending has not started.</Text>
      ) : (
        <DataTable
          label="Sendings"
          minWidth={820}
          rows={runs}
          keyOf={({ id }) => id}
          columns={[
            {
              key: 'id',
              title: 'Execution',
              cell: ({ id, statusReason }) => (
                <>
                  <Code>{id}</Code> <CopyTextButton text={id} label="execution id" />
                  {statusReason !== null && <Text size="xs">{statusReason}</Text>}
                </>
              ),
            },
            { key: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
            {
              key: 'started',
              title: 'Began',
              cell: ({ startedAt, dueAt }) =>
                startedAt !== null ? <Time at={startedAt} /> : dueAt !== null ? <Time at={dueAt} /> : '–',
            },
            { key: 'ended', title: 'Ended', cell: ({ endedAt }) => (endedAt === null ? '–' : <Time at={endedAt} />) },
            { key: 'accepted', title: 'Accepted', isNumber: true, cell: (run) => run.accepted.toLocaleString('en') },
            { key: 'waiting', title: 'Waiting', isNumber: true, cell: (run) => run.waiting.toLocaleString('en') },
            {
              key: 'not',
              title: 'Not delivered',
              isNumber: true,
              cell: (run) => run.notDelivered.toLocaleString('en'),
            },
          ]}
        />
      )}
      {pages > 1 && (
        <Group justify="space-between" mt="xs">
          <Text size="sm">
            Page {page} of {pages}
          </Text>
          <Group gap="xs">
            <Button variant="default" disabled={page === 1} onClick={() => onPage(page - 1)}>
              Newer
            </Button>
            <Button variant="default" disabled={page >= pages} onClick={() => onPage(page + 1)}>
              Older
            </Button>
          </Group>
        </Group>
      )}
    </section>
  );
}
