import { Button, Card, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeviceBehaviour, VirtualDevice } from '../api/generated/sandbox.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { RouteLink } from '../parts/links.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { AskedForm } from '../parts/forms/asked-form.tsx';

const behaviours: Record<DeviceBehaviour, string> = {
  works: 'Accepts messages',
  gone: 'Dead token: the provider says it is gone',
  invalid: 'Invalid token',
  rejected: 'Message rejected',
  busy: 'Provider busy',
  limited: 'Gets too many messages (FCM, Huawei)',
  sporadic: 'Refused twice, then accepted (FCM)',
  malformed: 'Malformed token (FCM)',
  throttled: 'Throttled browser',
  outdated: 'Subscribed with an older key (browser)',
  silent: 'No answer',
};

/** Virtual devices with their newest messages, which can be shown, clicked and closed. */
export function VirtualDevices({ workspaceId }: { workspaceId: string }) {
  const devices = useQuery({
    queryKey: ['virtual-devices', workspaceId],
    queryFn: () => consoleClient.sandbox.listDevices(workspaceId),
    refetchInterval: 1000,
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Virtual devices
      </Title>
      <Loaded query={devices}>
        {(all) => (
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
            {all.map((device) => (
              <Device key={device.id} workspaceId={workspaceId} device={device} />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
      <AskedForm label="Add device">{(onLeave) => <AddDevice workspaceId={workspaceId} onLeave={onLeave} />}</AskedForm>
    </section>
  );
}

type DeviceProps = { workspaceId: string; device: VirtualDevice };

function Device({ workspaceId, device }: DeviceProps) {
  const { id, userId, customerId, deviceId, platform, state, behaviour, messages } = device;
  const queries = useQueryClient();
  const queryKey = ['virtual-devices', workspaceId];
  const change = useMutation({
    mutationFn: (next: DeviceBehaviour) => consoleClient.sandbox.changeDevice({ workspaceId, id, behaviour: next }),
    onSuccess: (all) => queries.setQueryData(queryKey, all),
  });
  return (
    <Card withBorder component="article" aria-label={`${platformNames[platform]} of ${customerId}, ${deviceId}`}>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={600}>
          {platformNames[platform]} of{' '}
          <RouteLink to="/w/$workspaceId/people/$userId" params={{ workspaceId, userId }}>
            {customerId}
          </RouteLink>
        </Text>
        <StatusBadge status={state} />
      </Group>
      <Text size="xs">{deviceId}</Text>
      <Stack gap="xs" my="sm">
        {messages.length === 0 && <Text size="sm">No messages yet.</Text>}
        {messages.map((message) => (
          <Message key={message.id} workspaceId={workspaceId} message={message} />
        ))}
      </Stack>
      <Group align="end" gap="xs">
        <NativeSelect
          size="xs"
          label="Behaviour"
          aria-label={`Behaviour of ${deviceId}`}
          value={behaviour}
          disabled={change.isPending}
          data={Object.entries(behaviours).map(([value, label]) => ({ value, label }))}
          onChange={(event) => change.mutate(event.currentTarget.value as DeviceBehaviour)}
        />
        <ConfirmButton
          label="Remove"
          size="xs"
          ariaLabel={`Remove ${deviceId}`}
          title={`Remove ${deviceId}?`}
          hits="The device and its token are deleted; its user is kept."
          onConfirmed={async () => {
            await consoleClient.users.changeDevice({ workspaceId, id: userId, deviceRowId: id, action: 'remove' });
            await queries.invalidateQueries({ queryKey });
          }}
        />
      </Group>
      {change.error !== null && <Failure error={change.error} />}
    </Card>
  );
}

const reports = [
  { kind: 'impression', label: 'Show', done: 'shown' },
  { kind: 'click', label: 'Click', done: 'clicked' },
  { kind: 'close', label: 'Close', done: 'closed' },
] as const;

function Message({ workspaceId, message }: { workspaceId: string; message: VirtualDevice['messages'][number] }) {
  const [reported, setReported] = useState<string>();
  const report = useMutation({
    mutationFn: async ({ kind }: (typeof reports)[number]) =>
      consoleClient.sandbox.report({ workspaceId, id: message.id, kind }),
    onSuccess: (_nothing, { done }) => setReported(done),
  });
  return (
    <div>
      <Text size="sm" fw={600}>
        {message.title}
      </Text>
      <Text size="sm">{message.body}</Text>
      <Text size="xs" component="div">
        <Ago at={message.receivedAt} />
      </Text>
      <Group gap="xs" mt={4}>
        {reports.map((each) => (
          <Button
            key={each.kind}
            size="compact-xs"
            variant="default"
            aria-label={`${each.label} ${message.title}`}
            onClick={() => report.mutate(each)}
          >
            {each.label}
          </Button>
        ))}
        <Text size="xs" role="status">
          {reported}
        </Text>
      </Group>
      {report.error !== null && <Failure error={report.error} />}
    </div>
  );
}

function AddDevice({ workspaceId, onLeave }: { workspaceId: string; onLeave: () => void }) {
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: consoleClient.sandbox.addDevice,
    onSuccess: (all) => queries.setQueryData(['virtual-devices', workspaceId], all),
  });
  return (
    <form
      aria-label="Add a virtual device"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const device = {
          customerId: String(fields.get('customerId')).trim(),
          platform: String(fields.get('platform')) as VirtualDevice['platform'],
          behaviour: String(fields.get('behaviour')) as DeviceBehaviour,
        };
        add.mutate({ workspaceId, ...device }, { onSuccess: onLeave });
      }}
    >
      <Group align="end" gap="sm" mt="sm">
        <TextInput name="customerId" label="User id" required />
        <NativeSelect
          name="platform"
          label="Platform"
          data={Object.entries(platformNames).map(([value, label]) => ({ value, label }))}
        />
        <NativeSelect
          name="behaviour"
          label="Behaviour"
          data={Object.entries(behaviours).map(([value, label]) => ({ value, label }))}
        />
        <Button type="submit" loading={add.isPending}>
          Add device
        </Button>
        <Button variant="default" onClick={onLeave}>
          Cancel
        </Button>
      </Group>
      {add.error !== null && <Failure error={add.error} />}
    </form>
  );
}
