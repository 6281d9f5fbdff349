import { Group, Stack, Text, Title } from '@mantine/core';
import type { Alert } from '../api/generated/alerts.ts';
import { RouteLink } from '../parts/links.tsx';
import { Ago } from '../parts/text/time.tsx';

type OpenAlertsProps = { alerts: Alert[]; workspaceId: string; onChosen: () => void };

const maxShown = 5;

/** The open alerts, newest first, with what to do about each. */
export function OpenAlerts({ alerts, workspaceId, onChosen }: OpenAlertsProps) {
  return (
    <Stack gap="sm">
      <Group justify="space-between" wrap="nowrap">
        <Title order={2} size="h6">
          Open alerts
        </Title>
        <RouteLink to="/w/$workspaceId/alerts" params={{ workspaceId }} onClick={onChosen} activeProps={{}}>
          All alerts
        </RouteLink>
      </Group>
      {alerts.length === 0 && <Text size="sm">No problem blocks delivery.</Text>}
      {alerts.slice(0, maxShown).map(({ id, what, todo, openedAt }) => (
        <div key={id} style={{ overflowWrap: 'anywhere' }}>
          <Text size="sm" fw={600}>
            {what}
          </Text>
          <Text size="sm">{todo}</Text>
          <Text size="xs" c="dimmed" component="div">
            <Ago at={openedAt} />
          </Text>
        </div>
      ))}
      {alerts.length > maxShown && (
        <Text size="sm">{`And ${(alerts.length - maxShown).toLocaleString('en')} more.`}</Text>
      )}
    </Stack>
  );
}
