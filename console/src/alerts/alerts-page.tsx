import { Card, Grid, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Alert } from '../api/generated/alerts.ts';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatDuration } from '../parts/format-duration.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/ago.tsx';
import { Time } from '../parts/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { AlertLink } from './alert-link.tsx';
import { AlertSettingsForm } from './alert-settings-form.tsx';
import { kindNames } from './kind-names.ts';

/** What keeps messages from people now, what did before, and who is told. */
export function AlertsPage() {
  const { id: workspaceId } = useWorkspace();
  const mayChange = useMay('settings.write');
  const alerts = useQuery({
    queryKey: ['alerts', workspaceId],
    queryFn: () => consoleClient.alerts.list(workspaceId),
    refetchInterval: 3000,
  });
  return (
    <Stack gap="lg">
      <PageHeader
        title="Alerts"
        about="Opened within seconds when something keeps messages from people, or soon may, and closed when it is over."
      />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: mayChange ? 7 : 12 }}>
          <Loaded query={alerts}>
            {(found) => (
              <Stack gap="lg">
                <OpenAlerts alerts={found.filter(({ closedAt }) => closedAt === null)} />
                <PastAlerts alerts={found.filter(({ closedAt }) => closedAt !== null)} />
              </Stack>
            )}
          </Loaded>
        </Grid.Col>
        {mayChange && (
          <Grid.Col span={{ base: 12, lg: 5 }}>
            <AlertSettingsForm workspaceId={workspaceId} />
          </Grid.Col>
        )}
      </Grid>
    </Stack>
  );
}

function OpenAlerts({ alerts }: { alerts: Alert[] }) {
  return (
    <Stack component="section" gap="sm" aria-label="Open alerts" role="region">
      {alerts.length === 0 && (
        <Card withBorder>
          <Group gap="sm" justify="space-between">
            <Text size="md">No problem is known.</Text>
            <ToneBadge tone="done">All clear</ToneBadge>
          </Group>
        </Card>
      )}
      {alerts.map((alert) => (
        <Notice key={alert.id} tone="error" title={alert.what}>
          <Text size="md">{alert.todo}</Text>
          <Text size="sm" mt={6} component="div">
            {kindNames[alert.kind]}, since <Time at={alert.openedAt} />. <AlertLink kind={alert.kind} />
          </Text>
        </Notice>
      ))}
    </Stack>
  );
}

function PastAlerts({ alerts }: { alerts: Alert[] }) {
  if (alerts.length === 0)
    return (
      <EmptyState title="No past alerts">
        Refusing providers, old queues, failing jobs, late backups, ending keys and certificates are listed here for 90
        days.
      </EmptyState>
    );
  return (
    <DataTable
      label="Past alerts"
      minWidth={520}
      rows={alerts}
      keyOf={({ id }) => id}
      columns={[
        { key: 'kind', title: 'About', cell: ({ kind }) => kindNames[kind] },
        {
          key: 'what',
          title: 'What it was',
          cell: ({ what }) => <span style={{ overflowWrap: 'anywhere' }}>{what}</span>,
        },
        { key: 'opened', title: 'Opened', cell: ({ openedAt }) => <Ago at={openedAt} /> },
        {
          key: 'lasted',
          title: 'Lasted',
          isNumber: true,
          cell: ({ openedAt, closedAt }) => formatDuration(Date.parse(closedAt!) - Date.parse(openedAt)),
        },
      ]}
    />
  );
}
