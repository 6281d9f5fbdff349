import { Text, Title } from '@mantine/core';
import type { QueueState } from '../api/generated/system.ts';
import { DataTable } from '../parts/data-table.tsx';
import { formatAge } from '../parts/format-duration.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useWorkspace } from '../shell/workspace.ts';

const names: Record<string, [name: string, about: string]> = {
  runs: ['Runs', 'runs whose audience is still to be found; running ones are being sent'],
  chunks: ['Chunks', 'parts of campaigns'],
  retries: ['Retries', 'deliveries that a provider has not accepted yet'],
  'segment-files': ['Files of segments', 'to be downloaded and read'],
  callbacks: ['Callbacks', 'about file operations'],
  'event-batches': ['Batches of events', 'for the receivers of event streams'],
  mails: ['Emails', 'reports of file operations'],
  erasures: ['User deletions', 'after the configured delay'],
  'wake-ups': ['Wake-ups', 'hints to look at once; the work is in the rows above'],
};

// The server stops counting there.
const maxCounted = 100_000;

/** What waits, what is worked and what went wrong, per kind of work. */
export function QueueTable({ queues, now }: { queues: QueueState[]; now: string }) {
  const count = (of: QueueState, number: number) => (
    <QueueLink name={of.name}>{`${number.toLocaleString('en')}${number >= maxCounted ? ' or more' : ''}`}</QueueLink>
  );
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Queues
      </Title>
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
                {names[name]?.[0] ?? name}
                <Text size="xs">{names[name]?.[1]}</Text>
              </>
            ),
          },
          { key: 'waiting', title: 'Waiting', isNumber: true, cell: (queue) => count(queue, queue.waiting) },
          {
            key: 'oldest',
            title: 'Oldest since',
            cell: ({ oldestAt }) => (oldestAt === null ? '–' : formatAge(oldestAt, now)),
          },
          { key: 'running', title: 'In progress', isNumber: true, cell: (queue) => count(queue, queue.running) },
          { key: 'later', title: 'Scheduled', isNumber: true, cell: (queue) => count(queue, queue.later) },
          {
            key: 'failed',
            title: 'Failed in the last 24 hours',
            isNumber: true,
            cell: (queue) => count(queue, queue.failed),
          },
        ]}
      />
    </section>
  );
}

/** Where the rows behind a queue are seen, as far as this workspace has some. */
function QueueLink({ name, children }: { name: string; children: string }) {
  const { id: workspaceId } = useWorkspace();
  const params = { workspaceId };
  // Of nothing there are no rows to see.
  switch (children === '0' ? undefined : name) {
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
