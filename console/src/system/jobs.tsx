import { Code, Text } from '@mantine/core';
import type { JobNote, SystemNode, QueueState } from '../api/generated/system.ts';
import { DataTable } from '../parts/lists/data-table.tsx';
import { RouteLink } from '../parts/links.tsx';
import { Section } from '../parts/section.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { formatAge } from '../parts/text/format-time.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { jobNames } from './job-names.ts';
import styles from './job-table.module.css';

type JobRow = JobNote & { host: string; id: string };

/** The jobs of each node with their latest result, failed ones first. The others are in one line, which opens. */
export function JobTable({ nodes, now }: { nodes: SystemNode[]; now: string }) {
  const rows: JobRow[] = nodes
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

function Jobs({ label, rows, now }: { label: string; rows: JobRow[]; now: string }) {
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

const queueNames: Record<string, [name: string, about: string]> = {
  runs: ['Runs', 'Waiting for their audience, or being sent'],
  chunks: ['Chunks', 'Parts of campaigns'],
  retries: ['Retries', 'Messages that a provider has not accepted yet'],
  'segment-files': ['Segment files', 'To be downloaded and read'],
  callbacks: ['Callbacks', 'About file operations'],
  'event-batches': ['Event batches', 'For the receivers of event streams'],
  mails: ['Emails', 'Reports of file operations'],
  erasures: ['User deletions', 'After the configured delay'],
};

// The server counts up to this number.
const maxCounted = 100_000;

/** Waiting, running and failed work by kind. Kinds without work show only their name. */
export function QueueTable({ queues, now }: { queues: QueueState[]; now: string }) {
  const busy = queues.filter(({ waiting, running, later, failed }) => waiting + running + later + failed > 0);
  const idle = queues.filter((queue) => !busy.includes(queue)).map(({ name }) => queueNames[name]?.[0] ?? name);
  return (
    <Section title="Queues">
      {busy.length > 0 && <BusyQueues queues={busy} now={now} />}
      {idle.length > 0 && (
        <Text size="sm" c="dimmed" mt={busy.length > 0 ? 'xs' : 0}>
          {busy.length === 0 ? 'All are empty' : 'Empty'}: {idle.join(', ')}
        </Text>
      )}
    </Section>
  );
}

function BusyQueues({ queues, now }: { queues: QueueState[]; now: string }) {
  const count = (of: QueueState, number: number) =>
    number === 0 ? (
      0
    ) : (
      <QueueLink name={of.name}>{`${number.toLocaleString('en')}${number >= maxCounted ? ' or more' : ''}`}</QueueLink>
    );
  return (
    <DataTable
      label="Queues"
      minWidth={720}
      rows={queues}
      keyOf={({ name }) => name}
      columns={[
        {
          key: 'name',
          title: 'Work',
          cell: ({ name }) => (
            <>
              {queueNames[name]?.[0] ?? name}
              <Text size="xs" c="dimmed">
                {queueNames[name]?.[1]}
              </Text>
            </>
          ),
        },
        { key: 'waiting', title: 'Waiting', isNumber: true, cell: (queue) => count(queue, queue.waiting) },
        {
          key: 'oldest',
          title: 'Oldest',
          isNumber: true,
          cell: ({ oldestAt }) => (oldestAt === null ? '–' : formatAge(oldestAt, now)),
        },
        { key: 'running', title: 'In progress', isNumber: true, cell: (queue) => count(queue, queue.running) },
        { key: 'later', title: 'Scheduled', isNumber: true, cell: (queue) => count(queue, queue.later) },
        { key: 'failed', title: 'Failed in 24 h', isNumber: true, cell: (queue) => count(queue, queue.failed) },
      ]}
    />
  );
}

/** A link to the rows of a queue, if this workspace has some. */
function QueueLink({ name, children }: { name: string; children: string }) {
  const { id: workspaceId } = useWorkspace();
  const params = { workspaceId };
  switch (name) {
    case 'runs':
    case 'chunks':
      return (
        <RouteLink to="/w/$workspaceId/campaigns" params={params} search={{}}>
          {children}
        </RouteLink>
      );
    case 'retries':
      return (
        <RouteLink to="/w/$workspaceId/deliveries" params={params} search={{ outcome: 'WAITING' }}>
          {children}
        </RouteLink>
      );
    case 'segment-files':
      return (
        <RouteLink to="/w/$workspaceId/segments" params={params} search={{}}>
          {children}
        </RouteLink>
      );
    case 'event-batches':
      return (
        <RouteLink to="/w/$workspaceId/log" params={params} search={{ view: 'streams' }}>
          {children}
        </RouteLink>
      );
    case 'callbacks':
    case 'mails':
      return (
        <RouteLink to="/w/$workspaceId/log" params={params} search={{ view: name as 'callbacks' | 'mails' }}>
          {children}
        </RouteLink>
      );
    default:
      return children;
  }
}
