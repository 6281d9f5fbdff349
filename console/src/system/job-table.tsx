import { Code, Text } from '@mantine/core';
import type { JobNote, SystemNode } from '../api/generated/system.ts';
import { DataTable } from '../parts/data-table.tsx';
import { formatAge } from '../parts/format-duration.ts';
import { ToneBadge } from '../parts/status-badge.tsx';
import { jobNames } from './job-names.ts';
import { Section } from '../parts/section.tsx';
import styles from './job-table.module.css';

type Row = JobNote & { host: string; id: string };

/** What each node does again and again, and how it went last: first what fails; of the others one line, which opens. */
export function JobTable({ nodes, now }: { nodes: SystemNode[]; now: string }) {
  const rows: Row[] = nodes
    .filter(({ isAlive }) => isAlive)
    .flatMap(({ jobs, host, id }) => jobs.map((job) => ({ ...job, host, id })));
  const failing = rows.filter(isFailing);
  const well = rows.filter((row) => !isFailing(row));
  return (
    <Section title="Jobs">
      {rows.length === 0 && <Text size="sm">No running node has reported any.</Text>}
      {failing.length > 0 && <Jobs label="Failing jobs" rows={failing} now={now} />}
      {well.length > 0 && (
        <details>
          <summary className={styles.summary}>
            {well.length.toLocaleString('en')} {well.length === 1 ? 'job runs' : 'jobs run'} as planned
          </summary>
          <Jobs label="Jobs" rows={well} now={now} />
        </details>
      )}
    </Section>
  );
}

function isFailing({ failedAt, doneAt }: JobNote): boolean {
  return failedAt !== null && (doneAt === null || failedAt > doneAt);
}

function Jobs({ label, rows, now }: { label: string; rows: Row[]; now: string }) {
  return (
    <DataTable
      label={label}
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
          cell: ({ doneAt }) => (doneAt === null ? 'None yet' : `${formatAge(doneAt, now)} ago`),
        },
        { key: 'count', title: 'Processed', isNumber: true, cell: ({ done }) => done.toLocaleString('en') },
        { key: 'fault', title: 'Last error', cell: (job) => <LastFault job={job} now={now} /> },
      ]}
    />
  );
}

function LastFault({ job, now }: { job: JobNote; now: string }) {
  if (job.failedAt === null) return '–';
  return (
    <>
      {isFailing(job) && <ToneBadge tone="failed">Fails</ToneBadge>} <Code>{job.fault}</Code>{' '}
      {formatAge(job.failedAt, now)} ago
    </>
  );
}
