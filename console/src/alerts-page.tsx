import {
  Card,
  Grid,
  Group,
  Stack,
  Text,
  Button,
  Checkbox,
  SimpleGrid,
  TagsInput,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { alertKinds } from './api/generated/alerts.ts';
import type { Alert, AlertKind, AlertSettings } from './api/generated/alerts.ts';
import { consoleClient } from './console.ts';
import { EmptyState } from './parts/empty-state.tsx';
import { Failure } from './parts/failure.tsx';
import { DataTable } from './parts/lists/data-table.tsx';
import { Loaded } from './parts/loaded.tsx';
import { Notice } from './parts/notice.tsx';
import { PageHeader } from './parts/page-header.tsx';
import { RouteLink } from './parts/links.tsx';
import { ToneBadge } from './parts/status-badge.tsx';
import { formatDuration } from './parts/text/format-time.ts';
import { Ago, Time } from './parts/text/time.tsx';
import { showToast } from './parts/toast/toast-list.ts';
import { useMay } from './session/use-session.ts';
import { useWorkspace } from './shell/workspace.ts';

/** Problems that block delivery now, past ones, and the recipients of alerts. */
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
      <PageHeader about="An alert opens within seconds of a problem that blocks delivery, or soon may, and closes when the problem ends." />
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
            {alertKinds[alert.kind].label}, since <Time at={alert.openedAt} />. <AlertLink kind={alert.kind} />
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
        Rejecting providers, delayed queues, failing jobs, late backups, expiring keys and certificates are listed here
        for 90 days.
      </EmptyState>
    );
  return (
    <DataTable
      label="Past alerts"
      minWidth={520}
      rows={alerts}
      keyOf={({ id }) => id}
      columns={[
        { key: 'kind', title: 'About', cell: ({ kind }) => alertKinds[kind].label },
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

/** The link to the screen where the problem can be fixed, for users who may open it. */
function AlertLink({ kind }: { kind: AlertKind }) {
  const { id: workspaceId } = useWorkspace();
  const [seesSystem, seesKeys] = [useMay('system.read'), useMay('keys.read')];
  const { screen } = alertKinds[kind];
  switch (screen) {
    case 'providers':
      return (
        <RouteLink to="/w/$workspaceId/providers" params={{ workspaceId }}>
          Open the providers
        </RouteLink>
      );
    case 'keys':
      return seesKeys ? (
        <RouteLink to="/w/$workspaceId/keys" params={{ workspaceId }}>
          Open the keys
        </RouteLink>
      ) : null;
    case 'system':
      return seesSystem ? (
        <RouteLink to="/w/$workspaceId/system" params={{ workspaceId }}>
          Open the system page
        </RouteLink>
      ) : null;
    default:
      return screen satisfies never;
  }
}

/** The receivers of a workspace's alerts, and the kinds that they get. */
function AlertSettingsForm({ workspaceId }: { workspaceId: string }) {
  const settings = useQuery({
    queryKey: ['alert-settings', workspaceId],
    queryFn: () => consoleClient.alerts.readSettings(workspaceId),
  });
  return (
    <Loaded query={settings}>
      {(data) => <AlertSettingsFields key={JSON.stringify(data)} workspaceId={workspaceId} settings={data} />}
    </Loaded>
  );
}

const kinds = Object.keys(alertKinds) as AlertKind[];

function AlertSettingsFields({ workspaceId, settings }: { workspaceId: string; settings: AlertSettings }) {
  const queries = useQueryClient();
  const [emails, setEmails] = useState(settings.emails);
  const [muted, setMuted] = useState(settings.mutedKinds);
  const store = (next: AlertSettings) =>
    consoleClient.alerts
      .changeSettings({ ...next, webhookUrl: next.webhookUrl ?? '', workspaceId })
      .then((stored) => queries.setQueryData(['alert-settings', workspaceId], stored));
  const change = useMutation({
    mutationFn: store,
    onSuccess: () =>
      showToast({ text: 'Alert settings saved', undo: () => store(settings), undone: 'Settings are as before' }),
  });
  const test = useMutation({
    mutationFn: () => consoleClient.alerts.test(workspaceId),
    onSuccess: () => showToast({ text: 'Test sent; its attempts are in the API log' }),
  });
  const isSet = settings.webhookUrl !== null || settings.emails.length > 0;
  return (
    <Card withBorder component="section" aria-label="Recipients">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const webhookUrl = String(new FormData(event.currentTarget).get('webhookUrl') ?? '').trim();
          change.mutate({ webhookUrl: webhookUrl === '' ? null : webhookUrl, emails, mutedKinds: muted });
        }}
      >
        <Stack gap="sm">
          <Title order={2} size="h5">
            Recipients
          </Title>
          <TextInput
            name="webhookUrl"
            type="url"
            label="Webhook"
            description="Gets a signed POST when an alert opens and when it closes"
            placeholder="https://ops.example.com/alerts"
            defaultValue={settings.webhookUrl ?? ''}
          />
          <TagsInput
            label="Email addresses"
            description="Up to 10 addresses; press Enter after each"
            value={emails}
            onChange={setEmails}
            maxTags={10}
            acceptValueOnBlur
          />
          <Checkbox.Group
            label="Alerts to send"
            value={kinds.filter((kind) => !muted.includes(kind))}
            onChange={(sent) => setMuted(kinds.filter((kind) => !sent.includes(kind)))}
          >
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt={4}>
              {kinds.map((kind) => (
                <Checkbox key={kind} value={kind} label={alertKinds[kind].label} />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
          {(change.error ?? test.error) !== null && <Failure error={(change.error ?? test.error)!} />}
          <Group>
            <Button type="submit" loading={change.isPending}>
              Save
            </Button>
            <Button variant="default" disabled={!isSet} loading={test.isPending} onClick={() => test.mutate()}>
              Send a test
            </Button>
          </Group>
          <Text size="sm" c="dimmed">
            Every attempt is in the API log, under{' '}
            <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={{ view: 'callbacks' }}>
              callbacks
            </RouteLink>{' '}
            and{' '}
            <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={{ view: 'mails' }}>
              emails
            </RouteLink>
            , and can be sent again there.
          </Text>
        </Stack>
      </form>
    </Card>
  );
}
