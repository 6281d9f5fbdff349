import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { resetSent } from '../parts/reset-sent.ts';

/** A platform, and a provider where it is not the usual one. */
const kinds = [
  { value: 'ANDROID', label: 'Android (FCM token)' },
  { value: 'ANDROID hms', label: 'Android (Huawei token)' },
  { value: 'iOS', label: 'iOS (APNs token)' },
  { value: 'iOS fcm', label: 'iOS (FCM token)' },
  { value: 'web', label: 'Web (PushSubscription)' },
  { value: 'web fcm', label: 'Web (FCM token)' },
];

type AddDeviceFormProps = { workspaceId: string; userId: string; onAdded: () => Promise<unknown>; onLeave: () => void };

/** A device for tests, such as the phone on the desk: the same registration that an app sends. */
export function AddDeviceForm({ workspaceId, userId: id, onAdded, onLeave }: AddDeviceFormProps) {
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
        const [platform, provider] = kind.split(' ');
        add.mutate(
          { deviceId, attributes: { platform, push_provider: provider, push_id: token } },
          { onSuccess: () => resetSent(form, fields) },
        );
      }}
    >
      <Group align="end" gap="sm" mt="sm">
        <TextInput name="device" label="Device name" required />
        <NativeSelect name="platform" label="Platform" data={kinds} />
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
