import { Button, Card, Code, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleKey, CreatedKey } from '../api/generated/keys.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { CopyableBlock, CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/ago.tsx';
import { Time } from '../parts/time.tsx';
import { showToast } from '../parts/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { CreateKeyForm } from './create-key-form.tsx';
import { keyKinds } from './key-kinds.ts';
import { CreatedKeyAlert } from './created-key-alert.tsx';
import { RotateButton } from './rotate-button.tsx';

/** Makes, shows once, rotates and revokes what callers of the API identify themselves by. */
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
        title="Keys"
        about={'What callers of the API identify themselves by. The kind of a key decides what it opens.'}
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
