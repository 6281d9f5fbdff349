import { CarillonError } from '@carillon/client';
import { Button, Group, Stack, TextInput, NativeSelect, SimpleGrid, FileButton, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { GivenKey } from '../api/credentials.ts';
import type { ProviderCredentialState } from '../api/generated/credentials.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { useWorkspace } from '../shell/workspace.ts';

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

/** What each provider gives its customers to identify themselves by. */
function KeyFields({ provider }: { provider: ProviderCredentialState['provider'] }) {
  switch (provider) {
    case 'fcm':
      return (
        <KeyFileField
          name="keyFile"
          label="Key file of the service account"
          description="Firebase console: Project settings, Service accounts, Generate new private key. Paste the JSON or choose the file."
          accept=".json,application/json"
        />
      );
    case 'apns':
      return (
        <>
          <KeyFileField
            name="privateKey"
            label="Key (.p8)"
            description="Apple developer account: Keys, with Apple Push Notifications service. Paste the file or choose it."
            accept=".p8,.pem"
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput name="keyId" label="Key id" description="Ten letters and digits" required />
            <TextInput name="teamId" label="Team id" description="Ten letters and digits" required />
            <TextInput name="topic" label="Bundle id" description="For example com.example.shop" required />
            <NativeSelect
              name="environment"
              label="Environment"
              description="Builds from Xcode use the sandbox"
              data={[
                { value: 'production', label: 'Production' },
                { value: 'sandbox', label: 'Sandbox' },
              ]}
            />
          </SimpleGrid>
        </>
      );
    case 'webpush':
      return (
        <>
          <TextInput
            name="subject"
            label="Contact"
            description="Where push services report problems: mailto:push@your-company.com or an https address, on the internet. Without keys below, another contact leaves the keys in use as they are"
            required
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput
              name="publicKey"
              label="Public key"
              description="65 bytes in base64url; leave empty for a new pair"
            />
            <TextInput
              name="privateKey"
              label="Private key"
              description="32 bytes in base64url; leave empty for a new pair"
              autoComplete="off"
            />
          </SimpleGrid>
        </>
      );
    case 'hms':
      return (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            name="clientId"
            label="Client id"
            description="AppGallery Connect: Project settings, General information"
            required
          />
          <TextInput
            name="clientSecret"
            label="Client secret"
            description="On the same page"
            autoComplete="off"
            required
          />
          <TextInput name="projectId" label="Project id" description="Messages are sent for the project" />
          <TextInput name="huaweiAppId" label="App id" description="Or, without a project id, for this app alone" />
        </SimpleGrid>
      );
    default:
      return provider satisfies never;
  }
}

type KeyFileFieldProps = { name: string; label: string; description: string; accept: string };

/** A key that is pasted, or read from a file. It stays in its field and is sent once. */
function KeyFileField({ name, label, description, accept }: KeyFileFieldProps) {
  const [text, setText] = useState('');
  return (
    <Stack gap={4} align="flex-start">
      <Textarea
        name={name}
        label={label}
        description={description}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        rows={5}
        required
        autoComplete="off"
        spellCheck={false}
        w="100%"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
      />
      <FileButton accept={accept} onChange={(file) => void file?.text().then(setText)}>
        {(props) => (
          <Button {...props} variant="default" size="compact-sm">
            Choose the file
          </Button>
        )}
      </FileButton>
    </Stack>
  );
}

/** What a change of the credential hits, in words with numbers. */
export function hitsOf({ devices, runs }: ProviderCredentialState['hits']): string {
  const reached = devices === 1 ? '1 device is' : `${devices.toLocaleString('en')} devices are`;
  const sends = runs === 0 ? 'no send is' : runs === 1 ? '1 send is' : `${runs.toLocaleString('en')} sends are`;
  return `${reached} reached through it; ${sends} under way.`;
}
