import { Box, Progress, SimpleGrid, Text } from '@mantine/core';
import type { LimitUse } from '../api/generated/overview.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { OverviewCard } from './overview-card.tsx';
import { windowName } from './window-name.ts';

/** What of its limits the workspace has used. */
export function LimitList({ limits }: { limits: LimitUse[] }) {
  return (
    <OverviewCard title="Limits">
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} spacing="md">
        {limits.map((limit) => (
          <Limit key={limit.id} limit={limit} />
        ))}
      </SimpleGrid>
    </OverviewCard>
  );
}

function Limit({ limit: { id, name, used, most, windowSeconds } }: { limit: LimitUse }) {
  const share = Math.min(100, (used / most) * 100);
  const left = Math.max(0, most - used);
  return (
    <Box>
      <Text size="sm">
        {name}
        {windowName(windowSeconds)}
      </Text>
      <Progress
        my={4}
        value={share}
        color={share >= 90 ? 'red.9' : share >= 70 ? 'orange.9' : 'accent'}
        aria-label={`${name}${windowName(windowSeconds)}: ${left.toLocaleString('en')} left`}
      />
      <Text size="xs" c="dimmed">
        <Rows id={id}>{used.toLocaleString('en')}</Rows> of {most.toLocaleString('en')}
      </Text>
    </Box>
  );
}

/** Segments are listed on their screen; calls stand in the log. */
function Rows({ id, children }: { id: string; children: string }) {
  const { id: workspaceId } = useWorkspace();
  const seesLog = useMay('log.read');
  if (id.startsWith('segment'))
    return (
      <RouteLink to="/w/$workspaceId/segments" params={{ workspaceId }} search={{}}>
        {children}
      </RouteLink>
    );
  if (!seesLog) return children;
  return (
    <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={{}}>
      {children}
    </RouteLink>
  );
}
