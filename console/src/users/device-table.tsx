import { Code, Group, Text, Title, Button, NativeSelect, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { deviceKinds, providers } from '../api/generated/providers.ts';
import type { UserDevice } from '../api/generated/users.ts';
import type { DeviceAction } from '../api/users.ts';
import { consoleClient } from '../console.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { Failure } from '../parts/failure.tsx';
import { AskedForm } from '../parts/forms/asked-form.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { resetSent } from '../parts/forms/reset-sent.ts';
import { DataTable } from '../parts/lists/data-table.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago, Time } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { SuspicionNote } from './suspicion-note.tsx';

type DeviceTableProps = {
  workspaceId: string;
  userId: string;
  devices: UserDevice[];
  onChanged: () => Promise<unknown>;
};

/** A user's devices and the state of their tokens. */
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
                    {provider && ` by ${providers[provider].short}`}, {deviceId}
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

type DeviceActionsProps = {
  workspaceId: string;
  userId: string;
  device: UserDevice;
  onChanged: () => Promise<unknown>;
};

const actionWords: Record<DeviceAction, { label: string; hits: string }> = {
  block: { label: 'Block', hits: 'Nothing is sent to it until it is unblocked, whatever its app registers.' },
  unblock: { label: 'Unblock', hits: 'It returns to the state it would have without the block.' },
  'opt-out': {
    label: 'Opt out',
    hits: 'No message is sent to it until its app reports that the user wants them again.',
  },
  'opt-in': { label: 'Opt in', hits: 'Messages are sent to it, as if its app had reported that the user wants them.' },
  keep: {
    label: 'Keep',
    hits: 'Its failed sends are forgotten. If it left the audience because of them, messages are sent to it again.',
  },
  remove: { label: 'Remove', hits: 'The device and its token are deleted; its app can register it again.' },
};

const doneWords: Record<DeviceAction, string> = {
  block: 'blocked',
  unblock: 'unblocked',
  'opt-out': 'opted out',
  'opt-in': 'opted in',
  keep: 'kept',
  remove: 'removed',
};

/** The reverse action. A removed device returns when its app registers it. */
const opposites: Partial<Record<DeviceAction, DeviceAction>> = {
  block: 'unblock',
  unblock: 'block',
  'opt-out': 'opt-in',
  'opt-in': 'opt-out',
};

/** The actions that a device's state allows. */
function DeviceActions({ workspaceId, userId, device, onChanged }: DeviceActionsProps) {
  return (
    <Group gap="xs" wrap="nowrap">
      {actionsOf(device).map((action) => (
        <ConfirmButton
          key={action}
          size="compact-xs"
          color={action === 'block' || action === 'remove' ? 'red.9' : 'accent'}
          label={actionWords[action].label}
          ariaLabel={`${actionWords[action].label} ${device.deviceId}`}
          title={`${actionWords[action].label} ${device.deviceId}?`}
          hits={actionWords[action].hits}
          onConfirmed={async () => {
            const change = async (to: DeviceAction) => {
              await consoleClient.users.changeDevice({ workspaceId, id: userId, deviceRowId: device.id, action: to });
              await onChanged();
            };
            await change(action);
            const back = opposites[action];
            showToast({
              text: `${device.deviceId} ${doneWords[action]}`,
              ...(back && { undo: () => change(back), undone: `${device.deviceId} ${doneWords[back]}` }),
            });
          }}
        />
      ))}
    </Group>
  );
}

function actionsOf({ state, suspicion }: UserDevice): DeviceAction[] {
  const usual = actionsOfState(state);
  return suspicion ? ['keep', ...usual] : usual;
}

function actionsOfState(state: UserDevice['state']): DeviceAction[] {
  switch (state) {
    case 'ACTIVE':
      return ['opt-out', 'block', 'remove'];
    case 'OPTED_OUT':
      return ['opt-in', 'block', 'remove'];
    case 'BLOCKED':
      return ['unblock', 'remove'];
    case 'GONE':
      return ['block', 'remove'];
  }
}

/** The value is the index of the kind. */
const addedKinds = deviceKinds.map(({ platform, address }, index) => ({
  value: String(index),
  label: `${platformNames[platform]} (${address})`,
}));

type AddDeviceFormProps = { workspaceId: string; userId: string; onAdded: () => Promise<unknown>; onLeave: () => void };

/** Adds a device for tests, by the registration that an app sends. */
function AddDeviceForm({ workspaceId, userId: id, onAdded, onLeave }: AddDeviceFormProps) {
  const add = useMutation({
    mutationFn: async (device: { deviceId: string; attributes: Record<string, unknown> }) => {
      await consoleClient.users.addDevice({ workspaceId, id, ...device });
      await onAdded();
    },
  });
  return (
    <form
      aria-label="Add a device"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const fields = new FormData(form);
        const [deviceId, kind, token] = ['device', 'platform', 'token'].map((name) =>
          String(fields.get(name)).trim(),
        ) as [string, string, string];
        const { registeredAs: platform, provider } = deviceKinds[Number(kind)]!;
        add.mutate(
          { deviceId, attributes: { platform, push_provider: provider, push_id: token } },
          { onSuccess: () => resetSent(form, fields) },
        );
      }}
    >
      <Group align="end" gap="sm" mt="sm">
        <TextInput name="device" label="Device name" required />
        <NativeSelect name="platform" label="Platform" data={addedKinds} />
        <TextInput name="token" label="Device token" required style={{ flexGrow: 1 }} />
        <Button type="submit" variant="default" loading={add.isPending}>
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
