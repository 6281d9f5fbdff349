import { Code, Text, Title } from '@mantine/core';
import type { JobNote, SystemNode } from '../api/generated/system.ts';
import { DataTable } from '../parts/data-table.tsx';
import { formatAge } from '../parts/format-duration.ts';
import { ToneBadge } from '../parts/status-badge.tsx';
import { jobNames } from './job-names.ts';

type Row = JobNote & { host: string; id: string };

/** What each node does again and again, and how it went last. */
export function JobTable({ nodes, now }: { nodes: SystemNode[]; now: string }) {
  const rows: Row[] = nodes
    .filter(({ isAlive }) => isAlive)
    .flatMap(({ jobs, host, id }) => jobs.map((job) => ({ ...job, host, id })));
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Jobs
      </Title>
      {rows.length === 0 ? (
        <Text size="sm">No running node has reported any.</Text>
      ) : (
        <DataTable
          label="Jobs"
          rows={rows}
          keyOf={({ id, name }) => `${id} ${name}`}
          columns={[
            {
              key: 'name',
              title: 'Job',
              cell: ({ name }) => (
                <>
                  {jobNames[name] ?? name}{' '}
                  <Text span size="xs" c="dimmed">
                    {name}
                  </Text>
                </>
              ),
            },
            { key: 'host', title: 'On', cell: ({ host }) => host },
            {
              key: 'done',
              title: 'Last run',
              cell: ({ doneAt }) => (doneAt === null ? 'none yet' : `${formatAge(doneAt, now)} ago`),
            },
            { key: 'count', title: 'Processed', isNumber: true, cell: ({ done }) => done.toLocaleString('en') },
            { key: 'fault', title: 'Last error', cell: (job) => <LastFault job={job} now={now} /> },
          ]}
        />
      )}
    </section>
  );
}

function LastFault({ job: { failedAt, doneAt, fault }, now }: { job: JobNote; now: string }) {
  if (failedAt === null) return '–';
  const isFailing = doneAt === null || failedAt > doneAt;
  return (
    <>
      {isFailing && <ToneBadge tone="failed">Fails</ToneBadge>} <Code>{fault}</Code> {formatAge(failedAt, now)} ago
    </>
  );
}
