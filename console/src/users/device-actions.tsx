import { Group } from '@mantine/core';
import type { DeviceAction } from '../api/users.ts';
import type { UserDevice } from '../api/generated/users.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { showToast } from '../parts/toast-list.ts';

type DeviceActionsProps = {
  workspaceId: string;
  userId: string;
  device: UserDevice;
  onChanged: () => Promise<unknown>;
};

const words: Record<DeviceAction, { label: string; hits: string }> = {
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

const done: Record<DeviceAction, string> = {
  block: 'blocked',
  unblock: 'unblocked',
  'opt-out': 'opted out',
  'opt-in': 'opted in',
  keep: 'kept',
  remove: 'removed',
};

/** What takes a change back. A device that was removed comes again when its app registers it. */
const opposites: Partial<Record<DeviceAction, DeviceAction>> = {
  block: 'unblock',
  unblock: 'block',
  'opt-out': 'opt-in',
  'opt-in': 'opt-out',
};

/** What can be made of a device in its state. */
export function DeviceActions({ workspaceId, userId, device, onChanged }: DeviceActionsProps) {
  return (
    <Group gap="xs" wrap="nowrap">
      {actionsOf(device).map((action) => (
        <ConfirmButton
          key={action}
          size="compact-xs"
          color={action === 'block' || action === 'remove' ? 'red.9' : 'accent'}
          label={words[action].label}
          ariaLabel={`${words[action].label} ${device.deviceId}`}
          title={`${words[action].label} ${device.deviceId}?`}
          hits={words[action].hits}
          onConfirmed={async () => {
            const change = async (to: DeviceAction) => {
              await consoleClient.users.changeDevice({ workspaceId, id: userId, deviceRowId: device.id, action: to });
              await onChanged();
            };
            await change(action);
            const back = opposites[action];
            showToast({
              text: `${device.deviceId} ${done[action]}`,
              ...(back && { undo: () => change(back), undone: `${device.deviceId} ${done[back]}` }),
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
