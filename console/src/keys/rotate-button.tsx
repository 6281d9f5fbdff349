import { NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ConsoleKey, CreatedKey } from '../api/generated/keys.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';

const overlaps = [
  { value: '0', label: 'Not at all' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
];

type RotateButtonProps = { workspaceId: string; apiKey: ConsoleKey; onMade: (made: CreatedKey) => void };

/** A new secret for the same callers; the old one works on while they change over. */
export function RotateButton({ workspaceId, apiKey, onMade }: RotateButtonProps) {
  const [overlap, setOverlap] = useState('24');
  return (
    <ConfirmButton
      label="Rotate"
      size="compact-xs"
      color="accent"
      ariaLabel={`Rotate key ${apiKey.name}`}
      title={`Rotate “${apiKey.name}”?`}
      hits={
        <Stack gap="xs">
          <Text size="sm">
            A new key of the same kind and name is created, and its secret is shown once. Calls that still use{' '}
            {apiKey.hint} then fail:
          </Text>
          <NativeSelect
            label="The old key keeps working for"
            value={overlap}
            data={overlaps}
            onChange={(event) => setOverlap(event.currentTarget.value)}
          />
        </Stack>
      }
      onConfirmed={async () =>
        onMade(await consoleClient.keys.rotate({ workspaceId, id: apiKey.id, overlapHours: Number(overlap) }))
      }
    />
  );
}
