import {
  Button,
  Card,
  Code,
  Group,
  SimpleGrid,
  Stack,
  Text,
  Title,
  NativeSelect,
  NumberInput,
  TextInput,
  Alert,
} from '@mantine/core';
import { useQuery, useQueryClient, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleKey, CreatedKey, KeyKind } from './api/generated/keys.ts';
import { consoleClient } from './console.ts';
import { CopyableBlock, CopyTextButton, Copyable } from './parts/copyable.tsx';
import { EmptyState } from './parts/empty-state.tsx';
import { Failure } from './parts/failure.tsx';
import { ConfirmButton } from './parts/forms/confirm-button.tsx';
import { resetSent } from './parts/forms/reset-sent.ts';
import { DataTable } from './parts/lists/data-table.tsx';
import { Loaded } from './parts/loaded.tsx';
import { PageHeader } from './parts/page-header.tsx';
import { StatusBadge } from './parts/status-badge.tsx';
import { Ago, Time } from './parts/text/time.tsx';
import { showToast } from './parts/toast/toast-list.ts';
import { useMay } from './session/use-session.ts';
import { useWorkspace } from './shell/workspace.ts';

/** Creates, rotates and revokes API keys. A secret is shown once. */
export function KeysPage() {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const mayWrite = useMay('keys.write');
  const [made, setMade] = useState<CreatedKey>();
  const [isAsked, ask] = useState(false);
  const keys = useQuery({ queryKey: ['keys', workspace.id], queryFn: () => consoleClient.keys.list(workspace.id) });
  const renew = () => queries.invalidateQueries({ queryKey: ['keys', workspace.id] });
  const show = (key: CreatedKey) => {
    setMade(key);
    ask(false);
    showToast({ text: 'Key created; copy its secret now' });
    void renew();
    window.scrollTo({ top: 0 });
  };
  return (
    <Stack gap="lg">
      <PageHeader
        about={'Keys authenticate API calls. A key’s type decides what it can access.'}
        actions={mayWrite && !isAsked && <Button onClick={() => ask(true)}>New key</Button>}
      />
      {made && <CreatedKeyAlert made={made} />}
      {mayWrite && isAsked && <CreateKeyForm workspaceId={workspace.id} onMade={show} onLeave={() => ask(false)} />}
      <Loaded query={keys}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No keys yet" command="npm run carillon -- keys create --kind push">
              Create one here or on the command line.
            </EmptyState>
          ) : (
            <KeyTable keys={rows} workspaceId={workspace.id} onChanged={renew} onMade={show} />
          )
        }
      </Loaded>
      <Kinds />
    </Stack>
  );
}

type KeyTableProps = {
  keys: ConsoleKey[];
  workspaceId: string;
  onChanged: () => Promise<unknown>;
  onMade: (made: CreatedKey) => void;
};

function KeyTable({ keys, workspaceId, onChanged, onMade }: KeyTableProps) {
  const mayWrite = useMay('keys.write');
  return (
    <DataTable
      label="Keys"
      minWidth={820}
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Name',
          cell: ({ id, name }) => (
            <Group gap={4} wrap="nowrap">
              <Text size="sm" fw={500}>
                {name}
              </Text>
              <CopyTextButton text={id} label={`id of ${name}`} />
            </Group>
          ),
        },
        { key: 'kind', title: 'Kind', cell: ({ kind }) => keyKinds[kind].name },
        { key: 'hint', title: 'Secret', cell: ({ hint }) => <Code style={{ whiteSpace: 'nowrap' }}>{hint}</Code> },
        { key: 'created', title: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
        {
          key: 'used',
          title: 'Last used',
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Ago at={lastUsedAt} />),
        },
        {
          key: 'change',
          title: 'Actions',
          cell: (key) => (
            <Group gap="xs">
              <StateOf apiKey={key} />
              {mayWrite && key.archivedAt === null && (
                <>
                  {key.endsAt === null && <RotateButton workspaceId={workspaceId} apiKey={key} onMade={onMade} />}
                  <ConfirmButton
                    label="Revoke"
                    size="compact-xs"
                    ariaLabel={`Revoke key ${key.name}`}
                    title={`Revoke “${key.name}”?`}
                    hits={<Hits apiKey={key} />}
                    onConfirmed={async () => {
                      await consoleClient.keys.revoke({ workspaceId, id: key.id });
                      await onChanged();
                      showToast({ text: `“${key.name}” is revoked` });
                    }}
                  />
                </>
              )}
            </Group>
          ),
        },
      ]}
    />
  );
}

function StateOf({ apiKey: { archivedAt, endsAt } }: { apiKey: ConsoleKey }) {
  if (archivedAt !== null) return <StatusBadge status="REVOKED" />;
  if (endsAt === null) return null;
  return (
    <Text size="xs" component="div">
      Rotated, ends <Time at={endsAt} />
    </Text>
  );
}

function Hits({ apiKey: { hint, kind, lastUsedAt } }: { apiKey: ConsoleKey }) {
  return (
    <>
      Every call with {hint} {kind === 'oauth' && 'and with the access tokens it got '}fails from now on, for good.{' '}
      {lastUsedAt === null ? (
        'It was never used.'
      ) : (
        <>
          It was last used <Ago at={lastUsedAt} />.
        </>
      )}
    </>
  );
}

function Kinds() {
  const workspace = useWorkspace();
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        What each kind is for
      </Title>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {Object.entries(keyKinds).map(([kind, { name, means, curl }]) => (
          <Card withBorder key={kind}>
            <Title order={3} size="h5" mb={4}>
              {name}
            </Title>
            <Text size="sm" mb="xs">
              {means}
            </Text>
            <CopyableBlock text={curl(workspace)} label={`curl for a ${name} key`} />
          </Card>
        ))}
      </SimpleGrid>
    </section>
  );
}

type Kind = { name: string; means: string; curl: (workspace: { id: string; dbName: string }) => string };

/** The types of keys: the access of each, and an example call. */
const keyKinds: Record<KeyKind, Kind> = {
  oauth: {
    name: 'OAuth 2.0',
    means:
      'Gets access tokens, which are sent as Bearer tokens on every API. The key itself is sent to the token endpoint only.',
    curl: ({ id }) => `KEY='…'
curl ${location.origin}/v1/oauth/token \\
  -d grant_type=client_credentials \\
  -d client_id=${id} \\
  -d client_secret="$KEY"`,
  },
  data: {
    name: 'Data',
    means: 'People, devices, events and segments, by Basic authentication: the workspace id is the user name.',
    curl: ({ id, dbName }) => `KEY='…'
curl ${location.origin}/v1/customer/${id} \\
  -u "${id}:$KEY" \\
  -H 'Content-Type: application/json' \\
  -H 'SVC-DBNAME: ${dbName}' \\
  -d '{"type":"customer","customer_id":"ada","attributes":{"first_name":"Ada"}}'`,
  },
  push: {
    name: 'Push',
    means: 'Signs push requests: SHA-256 of workspace id, campaign name and this key. The key itself is never sent.',
    curl: ({ id }) => `KEY='…'
printf '%s' "${id}|Hello from Carillon|$KEY" | openssl dgst -sha256 -r | cut -c1-64`,
  },
  campaigns: {
    name: 'Campaigns',
    means: 'Campaigns, their search, executions and figures, V1 and V5, by Basic authentication.',
    curl: ({ id }) => `KEY='…'
curl ${location.origin}/v5/campaigns/search \\
  -u "${id}:$KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"limit":15,"page":1}'`,
  },
  app: {
    name: 'App',
    means:
      'Ships in apps and sites, so everyone can read it: it registers devices and signs users in with tokens of your server, and reads nothing.',
    curl: () => `KEY='…'
curl ${location.origin}/v1/app/installations \\
  -H "Authorization: Bearer $KEY" \\
  -H "Carillon-Installation-Secret: $(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=')" \\
  -H 'Content-Type: application/json' \\
  -d '{"installation_id":"my-first-installation","platform":"WEB"}'`,
  },
};

type CreateKeyFormProps = { workspaceId: string; onMade: (made: CreatedKey) => void; onLeave: () => void };

const kindOrder = Object.keys(keyKinds) as KeyKind[];

function CreateKeyForm({ workspaceId, onMade, onLeave }: CreateKeyFormProps) {
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
              data={kindOrder.map((value) => ({ value, label: keyKinds[value].name }))}
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

/** The secret of a new key. It cannot be shown again. */
function CreatedKeyAlert({ made: { key, secret, curl } }: { made: CreatedKey }) {
  return (
    <Alert title={`${keyKinds[key.kind].name} key “${key.name}”`} role="status">
      <Stack gap="xs">
        <Text size="sm">It is shown only once. Copy it before you leave this screen.</Text>
        <Copyable text={secret} label="secret" />
        <Text size="sm">A call that works with it:</Text>
        <CopyableBlock text={curl} label="curl command" />
      </Stack>
    </Alert>
  );
}

const overlaps = [
  { value: '0', label: 'Not at all' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
];

type RotateButtonProps = { workspaceId: string; apiKey: ConsoleKey; onMade: (made: CreatedKey) => void };

/** Creates a new secret for the same callers. The old one stays valid while they switch. */
function RotateButton({ workspaceId, apiKey, onMade }: RotateButtonProps) {
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
