import { Group, Stack, Text } from '@mantine/core';
import type { Overview } from '../api/generated/overview.ts';
import { formatAge } from '../parts/format-duration.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { OverviewCard } from './overview-card.tsx';

/** Whether somebody works, and whether work waits: of the whole installation. */
export function WorkCard({ overview }: { overview: Overview }) {
  const { work, now } = overview;
  const { id: workspaceId } = useWorkspace();
  const seesSystem = useMay('system.read');
  const rows = [
    ['Waiting for a worker', countOf(work.waiting) + (work.oldestAt ? `, since ${formatAge(work.oldestAt, now)}` : '')],
    ['In progress', countOf(work.running)],
    ['Scheduled for later', countOf(work.later)],
    ['Nodes that send', `${work.sendingNodes} of ${work.nodes}`],
    ['Last seen', work.seenAt === null ? 'Not recently' : `${formatAge(work.seenAt, now)} ago`],
  ] as const;
  return (
    <OverviewCard
      title="Queue and nodes"
      more={
        seesSystem && (
          <RouteLink to="/w/$workspaceId/system" params={{ workspaceId }}>
            System
          </RouteLink>
        )
      }
    >
      <Stack gap="xs">
        {rows.map(([name, value]) => (
          <Group key={name} justify="space-between" gap="xs">
            <Text size="sm">{name}</Text>
            <Text size="sm">{value}</Text>
          </Group>
        ))}
        <Text size="xs" c="dimmed">
          Parts of campaigns and retries, across all workspaces.
        </Text>
      </Stack>
    </OverviewCard>
  );
}

// The server stops counting there.
const maxCounted = 100_000;

function countOf(count: number): string {
  return count >= maxCounted ? `${count.toLocaleString('en')} or more` : count.toLocaleString('en');
}
