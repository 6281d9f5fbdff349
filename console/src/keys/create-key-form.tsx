import { Button, Card, Group, NativeSelect, NumberInput, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { CreatedKey, KeyKind } from '../api/generated/keys.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { resetSent } from '../parts/reset-sent.ts';
import { keyKinds } from './key-kinds.ts';

type CreateKeyFormProps = { workspaceId: string; onMade: (made: CreatedKey) => void; onLeave: () => void };

const kinds = Object.keys(keyKinds) as KeyKind[];

export function CreateKeyForm({ workspaceId, onMade, onLeave }: CreateKeyFormProps) {
  const [kind, setKind] = useState<KeyKind>('push');
  const create = useMutation({
    mutationFn: (fields: FormData) =>
      consoleClient.keys.create({
        workspaceId,
        kind,
        name: String(fields.get('name')),
        ...(kind === 'oauth' ? { accessTokenMinutes: Number(fields.get('minutes')) } : {}),
      }),
    onSuccess: onMade,
  });
  return (
    <Card withBorder>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          const fields = new FormData(form);
          create.mutate(fields, { onSuccess: () => resetSent(form, fields) });
        }}
      >
        <Stack>
          <Title order={2} size="h5">
            Create a key
          </Title>
          {create.error !== null && <Failure error={create.error} />}
          <Group align="flex-end">
            <NativeSelect
              label="Kind"
              value={kind}
              data={kinds.map((value) => ({ value, label: keyKinds[value].name }))}
              onChange={(event) => setKind(event.currentTarget.value as KeyKind)}
            />
            <TextInput name="name" label="Name" placeholder="Shop backend" required maxLength={100} />
            {kind === 'oauth' && (
              <NumberInput
                name="minutes"
                label="Access token lifetime, minutes"
                defaultValue={15}
                min={5}
                max={60}
                hideControls
              />
            )}
            <Button type="submit" loading={create.isPending}>
              Create key
            </Button>
            <Button variant="default" onClick={onLeave}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
