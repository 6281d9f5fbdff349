import { Alert, Button, Code, Group, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AppAccess, CreatedIdentityKey, IdentityKey } from '../api/generated/app-access.ts';
import { consoleClient } from '../console.ts';
import { Copyable, CopyTextButton } from '../parts/copyable.tsx';
import { Failure } from '../parts/failure.tsx';
import { AskedForm } from '../parts/forms/asked-form.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Section } from '../parts/section.tsx';
import { Ago } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** The keys that verify identity tokens. Two are valid at a time, so that one can be replaced without a gap. */
export function IdentityKeys({ access }: { access: AppAccess }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const mayWrite = useMay('keys.write');
  const [made, setMade] = useState<CreatedIdentityKey>();
  const renew = () => queries.invalidateQueries({ queryKey: ['app-access', workspaceId] });
  const { identityKeys } = access;
  const isFull = identityKeys.length >= access.maxIdentityKeys;
  return (
    <Section title="Identity keys">
      <Text size="sm" mb="xs">
        Your server signs a token for the user who is signed in there, and the app sends it. Two keys are valid at a
        time: add the new one, sign with it, and remove the old one a day later.
      </Text>
      {made && <CreatedKeyAlert made={made} />}
      {identityKeys.length > 0 && <KeyTable keys={identityKeys} onChanged={renew} />}
      {mayWrite && !isFull && (
        <AskedForm label="New identity key">
          {(onLeave) => (
            <KeyForm
              onLeave={onLeave}
              onMade={async (created) => {
                setMade(created);
                onLeave();
                await renew();
              }}
            />
          )}
        </AskedForm>
      )}
    </Section>
  );
}

function CreatedKeyAlert({ made: { key, secret } }: { made: CreatedIdentityKey }) {
  return (
    <Alert title="Identity key added" role="status" mb="sm">
      <Stack gap="xs">
        <Text size="sm">
          The kid of tokens is <Code>{key.id}</Code>.
        </Text>
        {secret !== null && (
          <>
            <Text size="sm">The secret is shown only once. Keep it on your server.</Text>
            <Copyable text={secret} label="identity secret" />
          </>
        )}
      </Stack>
    </Alert>
  );
}

function KeyTable({ keys, onChanged }: { keys: IdentityKey[]; onChanged: () => Promise<unknown> }) {
  const { id: workspaceId } = useWorkspace();
  const mayWrite = useMay('keys.write');
  return (
    <DataTable
      label="Identity keys"
      minWidth={560}
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'kid',
          title: 'kid',
          cell: ({ id }) => (
            <Group gap={4} wrap="nowrap">
              <Code>{id}</Code>
              <CopyTextButton text={id} label={`kid ${id}`} />
            </Group>
          ),
        },
        { key: 'algorithm', title: 'Algorithm', cell: ({ algorithm }) => algorithm },
        { key: 'created', title: 'Added', cell: ({ createdAt }) => <Ago at={createdAt} /> },
        ...(mayWrite
          ? [
              {
                key: 'change',
                title: 'Actions',
                cell: ({ id }: IdentityKey) => (
                  <ConfirmButton
                    label="Remove"
                    size="compact-xs"
                    ariaLabel={`Remove identity key ${id}`}
                    title="Remove the identity key?"
                    hits="Tokens under it are refused from now on. Users who are signed in stay signed in."
                    onConfirmed={async () => {
                      await consoleClient.apps.removeIdentityKey({ workspaceId, id });
                      await onChanged();
                      showToast({ text: 'Identity key removed' });
                    }}
                  />
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

type KeyFormProps = { onLeave: () => void; onMade: (made: CreatedIdentityKey) => Promise<void> };

function KeyForm({ onLeave, onMade }: KeyFormProps) {
  const { id: workspaceId } = useWorkspace();
  const [algorithm, setAlgorithm] = useState<IdentityKey['algorithm']>('HS256');
  const add = useMutation({
    mutationFn: (publicKey: string | undefined) =>
      consoleClient.apps.addIdentityKey({ workspaceId, algorithm, ...(publicKey === undefined ? {} : { publicKey }) }),
    onSuccess: onMade,
  });
  return (
    <form
      aria-label="New identity key"
      onSubmit={(event) => {
        event.preventDefault();
        const publicKey = new FormData(event.currentTarget).get('publicKey');
        add.mutate(publicKey === null ? undefined : String(publicKey).trim());
      }}
    >
      <Stack gap="sm" mt="sm" maw={560}>
        <NativeSelect
          label="Algorithm"
          value={algorithm}
          data={[
            { value: 'HS256', label: 'HS256: Carillon makes a shared secret' },
            { value: 'ES256', label: 'ES256: you keep the private key' },
          ]}
          onChange={(event) => setAlgorithm(event.currentTarget.value as IdentityKey['algorithm'])}
        />
        {algorithm === 'ES256' && (
          <Textarea name="publicKey" label="Public key" description="P-256, in PEM" required autosize minRows={4} />
        )}
        {add.error !== null && <Failure error={add.error} />}
        <Group>
          <Button type="submit" loading={add.isPending}>
            Add identity key
          </Button>
          <Button variant="default" onClick={onLeave}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
