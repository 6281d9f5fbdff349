import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { renderSVG } from 'uqr';
import type { ConsoleKey } from '../api/generated/keys.ts';
import { Copyable } from '../parts/copyable.tsx';

/** The link that the sample apps for Android and iPhone open: from then on they register here. */
export function makeConnectLink({ key, host }: { key: string; host: string }): string {
  return `carillon-sample://connect?${new URLSearchParams({ key, host }).toString()}`;
}

/** True for an address that only this computer reaches. */
const isOwnComputer = (host: string): boolean => /^https?:\/\/(localhost|127\.|\[::1\])/.test(host);

/** Registers a phone with a sample app: its camera reads the link as a QR code. */
export function ConnectPhone({ keys, onLeave }: { keys: ConsoleKey[]; onLeave: () => void }) {
  const [id, setId] = useState(keys[0]!.id);
  const [host, setHost] = useState(location.origin);
  const key = keys.find((one) => one.id === id) ?? keys[0]!;
  const link = makeConnectLink({ key: key.hint, host: host.trim().replace(/\/$/, '') });
  // Four modules of white around the code, as its standard wants: the console may be dark.
  const picture = renderSVG(link, { border: 4 });
  return (
    <Group align="start" gap="lg" mt="sm">
      <img
        src={`data:image/svg+xml,${encodeURIComponent(picture)}`}
        alt="QR code that connects the sample app"
        width={180}
        height={180}
      />
      <Stack gap="sm" maw={420}>
        <Text size="sm">
          Install a sample app (samples/android or samples/ios), then point the phone’s camera at the code. The phone
          appears below within seconds. Some cameras open web addresses only; send them the link.
        </Text>
        {keys.length > 1 && (
          <NativeSelect
            label="App key"
            data={keys.map(({ id: value, name }) => ({ value, label: name }))}
            value={key.id}
            onChange={(event) => setId(event.currentTarget.value)}
          />
        )}
        <TextInput
          label="Address that the phone reaches"
          value={host}
          onChange={(event) => setHost(event.currentTarget.value)}
          error={isOwnComputer(host) ? 'Only this computer reaches it; use its address in the Wi-Fi' : undefined}
        />
        <Copyable text={link} label="link of the sample app" />
        <Group>
          <Button variant="default" size="xs" onClick={onLeave}>
            Hide code
          </Button>
        </Group>
      </Stack>
    </Group>
  );
}
