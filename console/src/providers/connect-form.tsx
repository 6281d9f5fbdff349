import { CarillonError } from '@carillon/client';

import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import type { GivenKey } from '../api/credentials.ts';
import type { ProviderCredentialState } from '../api/generated/credentials.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Failure } from '../parts/failure.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { hitsOf } from './hits-of.ts';
import { KeyFields } from './key-fields.tsx';

type ConnectFormProps = { state: ProviderCredentialState; onConnected: () => Promise<unknown> };

/** Takes a key and connects it; one that takes the place of another asks first and names what it hits. */
export function ConnectForm({ state, onConnected }: ConnectFormProps) {
  const { provider, name, connected, hits } = state;
  const { id: workspaceId } = useWorkspace();
  const form = useRef<HTMLFormElement>(null);
  const connect = useMutation({
    mutationFn: (more: { unasked?: 'store' }) =>
      consoleClient.credentials.connect({ ...readKey(provider, new FormData(form.current!)), ...more, workspaceId }),
    onSuccess: onConnected,
  });
  const isUnasked = connect.error instanceof CarillonError && connect.error.code === 'PROVIDER_NOT_ASKED';
  return (
    <form
      ref={form}
      autoComplete="off"
      aria-label={`Connect ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (connected === null) connect.mutate({});
      }}
    >
      <Stack gap="sm" maw={640}>
        <KeyFields provider={provider} />
        {provider === 'webpush' && connected !== null && !connected.isSimulated && (
          <TextInput
            name="inPlaceOf"
            label="Key that is replaced"
            description={`Browsers subscribed with it receive nothing more. To replace ${connected.summary.publicKey}, type its first eight characters; leave empty where the key stays`}
            autoComplete="off"
          />
        )}
        {connect.error !== null && <Failure error={connect.error} what="Not connected" />}
        <Group gap="xs">
          {connected === null ? (
            <Button type="submit" loading={connect.isPending}>
              Check and connect
            </Button>
          ) : (
            <ConfirmButton
              label="Check and replace"
              color="accent"
              title={`Replace the credential of ${name}?`}
              hits={
                <>
                  {hitsOf(hits)} It is replaced only if the provider accepts the new one.
                  {provider === 'webpush' &&
                    ' With another public key, subscribed browsers receive nothing until they subscribe again.'}
                </>
              }
              onConfirmed={async () => {
                // What is wrong with the key is said beside its fields.
                await connect.mutateAsync({}).catch(() => {});
              }}
            />
          )}
          {isUnasked && (
            <Button variant="default" loading={connect.isPending} onClick={() => connect.mutate({ unasked: 'store' })}>
              Store it anyway
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function readKey(provider: ProviderCredentialState['provider'], fields: FormData): GivenKey {
  const text = (name: string) => String(fields.get(name) ?? '').trim();
  switch (provider) {
    case 'fcm':
      return { provider, keyFile: text('keyFile') };
    case 'apns':
      return {
        provider,
        privateKey: text('privateKey'),
        teamId: text('teamId'),
        keyId: text('keyId'),
        topic: text('topic'),
        environment: text('environment') === 'sandbox' ? 'sandbox' : 'production',
      };
    case 'webpush': {
      const keys = { publicKey: text('publicKey'), privateKey: text('privateKey') };
      return {
        provider,
        subject: text('subject'),
        ...(keys.publicKey === '' && keys.privateKey === '' ? {} : { keys }),
        ...(text('inPlaceOf') === '' ? {} : { inPlaceOf: text('inPlaceOf') }),
      };
    }
    case 'hms': {
      const [projectId, huaweiAppId] = [text('projectId'), text('huaweiAppId')];
      return {
        provider,
        clientId: text('clientId'),
        clientSecret: text('clientSecret'),
        ...(projectId === '' ? {} : { projectId }),
        ...(huaweiAppId === '' ? {} : { huaweiAppId }),
      };
    }
    default:
      return provider satisfies never;
  }
}
