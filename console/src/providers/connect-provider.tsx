import { CarillonError } from '@carillon/client';
import { Button, Group, Stack, TextInput, NativeSelect, SimpleGrid, FileButton, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { GivenKey } from '../api/credentials.ts';
import type { ProviderCredentialState } from '../api/generated/credentials.ts';
import type { ProviderName } from '../api/generated/overview.ts';
import { providerForms } from '../api/generated/provider-forms.ts';
import type { KeyField } from '../api/generated/provider-forms.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { useWorkspace } from '../shell/workspace.ts';

type ConnectFormProps = { state: ProviderCredentialState; onConnected: () => Promise<unknown> };

/** Connects a credential. If it replaces another one, the form asks first and names the effect. */
export function ConnectForm({ state, onConnected }: ConnectFormProps) {
  const { provider, name, connected, hits } = state;
  const { subscribedWith } = providerForms[provider];
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
        {subscribedWith && connected !== null && !connected.isSimulated && (
          <TextInput
            name="inPlaceOf"
            label={subscribedWith.label}
            description={subscribedWith.hint.replace(/\{(\w+)\}/g, (_, member) => connected.summary[member] ?? '')}
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
                  {describeHits(hits)} It is replaced only if the provider accepts the new one.
                  {subscribedWith && ` ${subscribedWith.warning}`}
                </>
              }
              onConfirmed={async () => {
                // Faults of the key are shown next to its fields.
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

/** Reads the form's values. Empty fields are not sent. */
function readKey(provider: ProviderName, given: FormData): GivenKey {
  const { fields, subscribedWith } = providerForms[provider];
  const key: Record<string, string | Record<string, string>> = {};
  const text = (name: string) => String(given.get(name) ?? '').trim();
  for (const { name, within, isOptional } of fields) {
    const isTogether =
      within !== undefined && fields.some((other) => other.within === within && text(other.name) !== '');
    if (isTogether) key[within] = { ...(key[within] as Record<string, string> | undefined), [name]: text(name) };
    else if (within === undefined && (!isOptional || text(name) !== '')) key[name] = text(name);
  }
  if (subscribedWith && text('inPlaceOf') !== '') key.inPlaceOf = text('inPlaceOf');
  return { ...key, provider };
}

/** The credentials that each provider issues. Narrow fields that follow each other share a row. */
function KeyFields({ provider }: { provider: ProviderName }) {
  const rows: KeyField[][] = [];
  for (const field of providerForms[provider].fields) {
    const before = rows.at(-1);
    if (before && !isWide(field) && !isWide(before[0]!)) before.push(field);
    else rows.push([field]);
  }
  return rows.map((row) => {
    const inputs = row.map((field) => <KeyInput key={field.name} field={field} />);
    return isWide(row[0]!) ? inputs : <SimpleGrid key={row[0]!.name} cols={{ base: 1, sm: 2 }} children={inputs} />;
  });
}

const isWide = ({ kind, isWide }: KeyField): boolean => kind === 'file' || isWide === true;

function KeyInput({ field: { name, kind, label, hint, isOptional, accept = '', choices = {} } }: { field: KeyField }) {
  const named = { name, label, description: hint };
  switch (kind) {
    case 'file':
      return <KeyFileField {...{ ...named, accept }} />;
    case 'choice':
      return (
        <NativeSelect {...named} data={Object.entries(choices).map(([value, text]) => ({ value, label: text }))} />
      );
    case 'secret':
      return <TextInput {...named} autoComplete="off" required={!isOptional} />;
    case 'text':
      return <TextInput {...named} required={!isOptional} />;
    default:
      return kind satisfies never;
  }
}

type KeyFileFieldProps = { name: string; label: string; description: string; accept: string };

/** A key that is pasted or read from a file. It stays in its field and is sent once. */
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

/** Describes the effect of a changed credential, with numbers. */
export function describeHits({ devices, runs }: ProviderCredentialState['hits']): string {
  const reached = devices === 1 ? '1 device is' : `${devices.toLocaleString('en')} devices are`;
  const sends = runs === 0 ? 'no send is' : runs === 1 ? '1 send is' : `${runs.toLocaleString('en')} sends are`;
  return `${reached} reached through it; ${sends} under way.`;
}
