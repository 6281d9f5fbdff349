import { Text, Title } from '@mantine/core';
import type { SystemState } from '../api/generated/system.ts';
import { DataTable } from '../parts/data-table.tsx';
import { formatDay } from '../parts/format-time.ts';

type Kind = keyof SystemState['retentionDays'];

const kinds: Record<Kind, { name: string; setting: string; table?: 'deliveries' | 'events' }> = {
  ledger: { name: 'Delivery log', setting: 'CARILLON_KEEP_LEDGER_DAYS', table: 'deliveries' },
  events: { name: 'Events of users', setting: 'CARILLON_KEEP_EVENTS_DAYS', table: 'events' },
  runs: { name: 'Runs with their figures', setting: 'CARILLON_KEEP_RUNS_DAYS' },
  interactions: { name: 'Reports of devices', setting: 'CARILLON_KEEP_INTERACTIONS_DAYS' },
  pushRequests: { name: 'Push requests', setting: 'CARILLON_KEEP_PUSH_REQUESTS_DAYS' },
  messages: { name: 'Callbacks, emails and event batches', setting: 'CARILLON_KEEP_MESSAGES_DAYS' },
  operations: { name: 'File operations', setting: 'CARILLON_KEEP_OPERATIONS_DAYS' },
  audit: { name: 'Audit log', setting: 'CARILLON_KEEP_AUDIT_DAYS' },
  apiLog: { name: 'API log', setting: 'CARILLON_KEEP_API_LOG_DAYS' },
};

/** What is kept for how long, and the days that are there of what goes by the day. */
export function RetentionTable({ state: { retentionDays, database } }: { state: SystemState }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Retention
      </Title>
      <DataTable
        label="Retention"
        minWidth={640}
        rows={Object.keys(kinds) as Kind[]}
        keyOf={(kind) => kind}
        columns={[
          {
            key: 'name',
            title: 'Records',
            cell: (kind) => (
              <>
                {kinds[kind].name}
                <Text size="xs" c="dimmed">
                  {kinds[kind].setting}
                </Text>
              </>
            ),
          },
          {
            key: 'kept',
            title: 'Kept',
            isNumber: true,
            cell: (kind) => `${retentionDays[kind].toLocaleString('en')} days`,
          },
          {
            key: 'days',
            title: 'Partitions',
            cell: (kind) => <Partitions span={database.days.find(({ table }) => table === kinds[kind].table)} />,
          },
        ]}
      />
    </section>
  );
}

function Partitions({ span }: { span: SystemState['database']['days'][number] | undefined }) {
  if (span === undefined) return '–';
  return (
    <>
      {span.days.toLocaleString('en')} daily partitions
      <Text size="xs" c="dimmed">
        {formatDay(span.oldest)} to {formatDay(span.newest)}
      </Text>
    </>
  );
}
