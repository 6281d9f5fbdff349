import { Code, Group, Text, Title } from '@mantine/core';
import type { UserDevice } from '../api/generated/users.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames, providerNames } from '../parts/platform-names.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/ago.tsx';
import { Time } from '../parts/time.tsx';
import { useMay } from '../session/use-session.ts';
import { AskedForm } from '../parts/asked-form.tsx';
import { SuspicionNote } from './suspicion-note.tsx';
import { AddDeviceForm } from './add-device-form.tsx';
import { DeviceActions } from './device-actions.tsx';

type DeviceTableProps = {
  workspaceId: string;
  userId: string;
  devices: UserDevice[];
  onChanged: () => Promise<unknown>;
};

/** A person's devices, and whether their tokens take messages. */
export function DeviceTable({ workspaceId, userId, devices, onChanged }: DeviceTableProps) {
  const mayChange = useMay('people.write');
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Devices
      </Title>
      {devices.length === 0 ? (
        <Text size="sm">No devices are known, so no push reaches this user.</Text>
      ) : (
        <DataTable
          label="Devices"
          minWidth={760}
          rows={devices}
          keyOf={({ id }) => id}
          columns={[
            {
              key: 'device',
              title: 'Device',
              cell: ({ deviceId, platform, provider, ...device }) => (
                <>
                  <Text size="sm">
                    {platformNames[platform]}
                    {provider && ` by ${providerNames[provider]}`}, {deviceId}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {[device.model, device.osVersion, device.appVersion && `app ${device.appVersion}`]
                      .filter(Boolean)
                      .join(' · ')}
                  </Text>
                </>
              ),
            },
            { key: 'state', title: 'State', cell: (device) => <TokenState device={device} /> },
            {
              key: 'token',
              title: 'Device token',
              cell: ({ pushId, pushIdType, deviceId }) => (
                <Group gap="xs" wrap="nowrap">
                  <Code>{pushId.length > 28 ? `${pushId.slice(0, 20)}…${pushId.slice(-6)}` : pushId}</Code>
                  <CopyTextButton text={pushId} label={`token of ${deviceId}`} />
                  {pushIdType === 'fid' && (
                    <Text size="xs" c="dimmed">
                      Installation id
                    </Text>
                  )}
                </Group>
              ),
            },
            { key: 'since', title: 'Registered', cell: ({ registeredAt }) => <Ago at={registeredAt} /> },
            ...(mayChange
              ? [
                  {
                    key: 'change',
                    title: 'Actions',
                    cell: (device: UserDevice) => <DeviceActions {...{ workspaceId, userId, device, onChanged }} />,
                  },
                ]
              : []),
          ]}
        />
      )}
      {mayChange && (
        <AskedForm label="Add device">
          {(onLeave) => <AddDeviceForm {...{ workspaceId, userId, onLeave }} onAdded={onChanged} />}
        </AskedForm>
      )}
    </section>
  );
}

function TokenState({ device }: { device: UserDevice }) {
  return (
    <>
      <StatusBadge status={device.state} />
      <Text size="xs" c="dimmed" component="div">
        {explain(device)} {device.goneAt !== null && <Time at={device.goneAt} />}
        {device.blockedAt !== null && <Time at={device.blockedAt} />}
      </Text>
      {device.suspicion && <SuspicionNote suspicion={device.suspicion} />}
    </>
  );
}

function explain({ state, goneReason, blockReason, isProvisional, suspicion }: UserDevice): string {
  switch (state) {
    case 'ACTIVE':
      return isProvisional ? 'Accepts quiet messages; the user has not been asked yet' : 'Accepts messages';
    case 'OPTED_OUT':
      return 'The user turned messages off';
    case 'BLOCKED':
      return `Blocked by the API${blockReason === null ? '' : ` (${blockReason})`},`;
    case 'GONE':
      if (suspicion?.hasLeft) return 'Left the audience after too many failed sends,';
      return `The provider reported it gone (${goneReason ?? 'no reason given'}),`;
  }
}
