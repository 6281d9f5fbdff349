import { Alert, Button, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AppAccess } from '../api/generated/app-access.ts';
import type { ConsoleKey } from '../api/generated/keys.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { AskedForm } from '../parts/forms/asked-form.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { resetSent } from '../parts/forms/reset-sent.ts';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Section } from '../parts/section.tsx';
import { Ago } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { ConnectPhone } from './connect-phone.tsx';
import { IdentityKeys } from './identity-keys.tsx';
import { InstallationTable } from './installation-table.tsx';
import { TestBrowser } from './test-browser.tsx';

// A developer who starts an app watches this list.
const watchMilliseconds = 3_000;

/** What apps need to register themselves, and the installations that did. */
export function AppsPage() {
  const { id: workspaceId } = useWorkspace();
  const mayReadUsers = useMay('people.read');
  const mayAddDevices = useMay('people.write');
  const access = useQuery({
    queryKey: ['app-access', workspaceId],
    queryFn: () => consoleClient.apps.readAccess(workspaceId),
  });
  const installations = useQuery({
    queryKey: ['installations', workspaceId],
    queryFn: () => consoleClient.apps.listInstallations(workspaceId),
    refetchInterval: watchMilliseconds,
    enabled: mayReadUsers,
  });
  return (
    <Stack gap="lg">
      <PageHeader about="Apps and sites register themselves with a public app key. They need no server of yours for that." />
      <AppKeys />
      <Loaded query={access}>
        {(data) => (
          <>
            <AccessForm key={JSON.stringify([data.webOrigins, data.attributes])} access={data} />
            <IdentityKeys access={data} />
            {mayAddDevices && <TestBrowser publicKey={data.webPushPublicKey} />}
          </>
        )}
      </Loaded>
      {mayReadUsers && (
        <Section title="Newest installations">
          <Loaded query={installations}>
            {(rows) =>
              rows.length === 0 ? (
                <EmptyState title="No app has registered itself yet">
                  An app that starts with the app key appears here within seconds.
                </EmptyState>
              ) : (
                <InstallationTable installations={rows} hasUsers />
              )
            }
          </Loaded>
        </Section>
      )}
    </Stack>
  );
}

/** The keys of kind app. They are public, so each is shown whole. */
function AppKeys() {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const mayWrite = useMay('keys.write');
  const queryKey = ['keys', workspaceId];
  const keys = useQuery({ queryKey, queryFn: () => consoleClient.keys.list(workspaceId) });
  const renew = () => queries.invalidateQueries({ queryKey });
  return (
    <Section title="App keys">
      <Text size="sm" mb="xs">
        The key ships in the app, so everyone can read it. It registers installations, and reads nothing.
      </Text>
      <Loaded query={keys}>
        {(all) => {
          const rows = all.filter(({ kind, archivedAt }) => kind === 'app' && archivedAt === null);
          return rows.length === 0 ? (
            <EmptyState title="No app key yet" command="npm run carillon -- keys create --kind app">
              Create one here or on the command line.
            </EmptyState>
          ) : (
            <>
              <KeyTable keys={rows} onChanged={renew} />
              <AskedForm label="Connect a phone">
                {(onLeave) => <ConnectPhone keys={rows} onLeave={onLeave} />}
              </AskedForm>
            </>
          );
        }}
      </Loaded>
      {mayWrite && (
        <AskedForm label="New app key">{(onLeave) => <KeyForm onLeave={onLeave} onMade={renew} />}</AskedForm>
      )}
    </Section>
  );
}

function KeyTable({ keys, onChanged }: { keys: ConsoleKey[]; onChanged: () => Promise<unknown> }) {
  const { id: workspaceId } = useWorkspace();
  const mayWrite = useMay('keys.write');
  return (
    <DataTable
      label="App keys"
      minWidth={760}
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        { key: 'name', title: 'Name', cell: ({ name }) => name },
        { key: 'key', title: 'Public key', cell: ({ hint, name }) => <Copyable text={hint} label={`key ${name}`} /> },
        {
          key: 'used',
          title: 'Last used',
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Ago at={lastUsedAt} />),
        },
        ...(mayWrite
          ? [
              {
                key: 'change',
                title: 'Actions',
                cell: ({ id, name }: ConsoleKey) => (
                  <ConfirmButton
                    label="Revoke"
                    size="compact-xs"
                    ariaLabel={`Revoke key ${name}`}
                    title={`Revoke “${name}”?`}
                    hits="Apps with this key register nothing from now on, and their users cannot sign in. Devices that are registered still receive messages."
                    onConfirmed={async () => {
                      await consoleClient.keys.revoke({ workspaceId, id });
                      await onChanged();
                      showToast({ text: `“${name}” is revoked` });
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

function KeyForm({ onLeave, onMade }: { onLeave: () => void; onMade: () => Promise<unknown> }) {
  const { id: workspaceId } = useWorkspace();
  const create = useMutation({
    mutationFn: async (name: string) => {
      await consoleClient.keys.create({ workspaceId, kind: 'app', name });
      await onMade();
    },
    onSuccess: () => {
      showToast({ text: 'App key created' });
      onLeave();
    },
  });
  return (
    <form
      aria-label="New app key"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate(String(new FormData(event.currentTarget).get('name')).trim());
      }}
    >
      <Group align="end" gap="sm" mt="sm">
        <TextInput name="name" label="Name" placeholder="Shop app" required maxLength={100} />
        <Button type="submit" loading={create.isPending}>
          Create key
        </Button>
        <Button variant="default" onClick={onLeave}>
          Cancel
        </Button>
      </Group>
      {create.error !== null && <Failure error={create.error} />}
    </form>
  );
}

const linesOf = (text: FormDataEntryValue | null): string[] =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The sites that may use the key, and the attributes that apps may write. */
function AccessForm({ access }: { access: AppAccess }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const mayWrite = useMay('keys.write');
  const change = useMutation({
    mutationFn: async (next: Pick<AppAccess, 'webOrigins' | 'attributes'>) => {
      const { webOrigins, attributes } = next;
      const stored = await consoleClient.apps.changeAccess({ workspaceId, webOrigins, attributes });
      queries.setQueryData(['app-access', workspaceId], stored);
    },
    onSuccess: () => showToast({ text: 'Access of apps saved' }),
  });
  return (
    <form
      aria-label="Access of apps"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const fields = new FormData(form);
        const next = { webOrigins: linesOf(fields.get('origins')), attributes: linesOf(fields.get('attributes')) };
        change.mutate(next, { onSuccess: () => resetSent(form, fields) });
      }}
    >
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Textarea
          name="origins"
          label="Sites"
          description="Origins that may use the key, one a line, such as https://shop.example"
          defaultValue={access.webOrigins.join('\n')}
          readOnly={!mayWrite}
          autosize
          minRows={3}
        />
        <Textarea
          name="attributes"
          label="Attributes that apps may write"
          description="One a line. favourite_team is stored as app:favourite_team"
          defaultValue={access.attributes.join('\n')}
          readOnly={!mayWrite}
          autosize
          minRows={3}
        />
      </SimpleGrid>
      {change.error !== null && (
        <Alert color="red" mt="sm">
          <Failure error={change.error} />
        </Alert>
      )}
      {mayWrite && (
        <Button type="submit" mt="sm" loading={change.isPending}>
          Save access
        </Button>
      )}
    </form>
  );
}
